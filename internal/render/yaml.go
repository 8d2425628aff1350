package render

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// AppendYAML appends v as one YAML document: the same as AppendJSON's. Every
// string that an older reader could take for something else is quoted.
func AppendYAML(b *bytes.Buffer, v any, quote64 bool) error {
	s := &yamlSink{quote64: quote64}
	if err := newWalker(s).walk(reflect.ValueOf(v)); err != nil {
		return err
	}
	var raw bytes.Buffer
	e := yaml.NewEncoder(&raw)
	e.SetIndent(2)
	if err := e.Encode(s.root); err != nil {
		return fmt.Errorf("write yaml: %w", err)
	}
	if err := e.Close(); err != nil {
		return fmt.Errorf("write yaml: %w", err)
	}
	escapeInvisible(b, raw.Bytes())
	return nil
}

// escapeInvisible writes formatting characters, which the library leaves as
// they are, as escapes. They stand only in double-quoted strings: plain allows
// no others.
func escapeInvisible(b *bytes.Buffer, raw []byte) {
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		switch {
		case r <= unicode.MaxASCII || unicode.IsPrint(r) && !ignorable(r):
			b.Write(raw[:n])
		case r > 0xffff:
			fmt.Fprintf(b, `\U%08X`, r)
		default:
			fmt.Fprintf(b, `\u%04X`, r)
		}
		raw = raw[n:]
	}
}

type yamlSink struct {
	quote64 bool
	root    *yaml.Node
	open    []*yaml.Node
}

func (s *yamlSink) add(n *yaml.Node) {
	if len(s.open) == 0 {
		s.root = n
		return
	}
	top := s.open[len(s.open)-1]
	top.Content = append(top.Content, n)
}

func (s *yamlSink) scalar(tag, value string) {
	s.add(&yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value})
}

func (s *yamlSink) null()          { s.scalar("!!null", "null") }
func (s *yamlSink) boolean(v bool) { s.scalar("!!bool", strconv.FormatBool(v)) }

func (s *yamlSink) integer(n int64, wide bool) {
	if wide && s.quote64 {
		s.text(strconv.FormatInt(n, 10))
		return
	}
	s.scalar("!!int", strconv.FormatInt(n, 10))
}

func (s *yamlSink) float(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		s.null()
		return
	}
	s.scalar("!!float", formatFloat(f, "null"))
}

func (s *yamlSink) text(t string) {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.ToValidUTF8(t, "\uFFFD")}
	if !plain(t) {
		n.Style = yaml.DoubleQuotedStyle
	}
	s.add(n)
}

// plain reports whether a string needs no quotes for any reader of YAML 1.1 or
// 1.2: a letter, then letters, digits and a few marks, and no word of the
// language.
func plain(t string) bool {
	if t == "" || !asciiLetter(t[0]) {
		return false
	}
	for i := range len(t) {
		if c := t[i]; !asciiLetter(c) && (c < '0' || c > '9') && !strings.ContainsRune("-_./", rune(c)) {
			return false
		}
	}
	switch strings.ToLower(t) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf":
		return false
	}
	return true
}

func asciiLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func (s *yamlSink) push(kind yaml.Kind, n int) {
	node := &yaml.Node{Kind: kind}
	if n == 0 {
		node.Style = yaml.FlowStyle
	}
	s.add(node)
	s.open = append(s.open, node)
}

func (s *yamlSink) pop() { s.open = s.open[:len(s.open)-1] }

func (s *yamlSink) openObject(n int) { s.push(yaml.MappingNode, n) }
func (s *yamlSink) key(name string)  { s.text(name) }
func (s *yamlSink) closeObject()     { s.pop() }
func (s *yamlSink) openList(n int)   { s.push(yaml.SequenceNode, n) }
func (s *yamlSink) item()            {}
func (s *yamlSink) closeList()       { s.pop() }
