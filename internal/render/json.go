package render

import (
	"bytes"
	"math"
	"reflect"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// AppendJSON appends v as one JSON document on one line, without a line break
// at the end. It is valid JSON in valid UTF-8 whatever the strings hold:
// control, formatting and invisible characters are escaped, invalid bytes
// become U+FFFD. With quote64 the values of type int64 are strings.
func AppendJSON(b *bytes.Buffer, v any, quote64 bool) error {
	return newWalker(&jsonSink{b: b, quote64: quote64}).walk(reflect.ValueOf(v))
}

type jsonSink struct {
	b       *bytes.Buffer
	quote64 bool
	comma   bool // something stands before at this level
	scratch [32]byte
}

func (s *jsonSink) null() { s.b.WriteString("null") }

func (s *jsonSink) boolean(v bool) { s.b.WriteString(strconv.FormatBool(v)) }

func (s *jsonSink) integer(n int64, wide bool) {
	quoted := wide && s.quote64
	if quoted {
		s.b.WriteByte('"')
	}
	s.b.Write(strconv.AppendInt(s.scratch[:0], n, 10))
	if quoted {
		s.b.WriteByte('"')
	}
}

func (s *jsonSink) float(f float64) { s.b.WriteString(formatFloat(f, "null")) }

// formatFloat keeps a fraction on whole numbers, so that readers see one type.
func formatFloat(f float64, none string) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return none
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func (s *jsonSink) text(t string) { quoteJSON(s.b, t) }

func (s *jsonSink) openObject(int) {
	s.b.WriteByte('{')
	s.comma = false
}

func (s *jsonSink) key(name string) {
	s.item()
	quoteJSON(s.b, name)
	s.b.WriteByte(':')
}

func (s *jsonSink) closeObject() {
	s.b.WriteByte('}')
	s.comma = true
}

func (s *jsonSink) openList(int) {
	s.b.WriteByte('[')
	s.comma = false
}

func (s *jsonSink) item() {
	if s.comma {
		s.b.WriteByte(',')
	}
	s.comma = true
}

func (s *jsonSink) closeList() {
	s.b.WriteByte(']')
	s.comma = true
}

// quoteJSON writes a JSON string. HTML characters stay as they are; what could
// act on a terminal does not.
func quoteJSON(b *bytes.Buffer, s string) {
	b.WriteByte('"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf-1 {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r > unicode.MaxASCII && (unicode.IsPrint(r) && !ignorable(r)) && (r != utf8.RuneError || n > 1) {
			i += n
			continue
		}
		b.WriteString(s[start:i])
		escapeJSON(b, r)
		i += n
		start = i
	}
	b.WriteString(s[start:])
	b.WriteByte('"')
}

func escapeJSON(b *bytes.Buffer, r rune) {
	switch r {
	case '"', '\\':
		b.WriteByte('\\')
		b.WriteByte(byte(r))
	case '\n':
		b.WriteString(`\n`)
	case '\t':
		b.WriteString(`\t`)
	case '\r':
		b.WriteString(`\r`)
	default:
		if r > 0xffff {
			r -= 0x10000
			unit(b, 0xd800+(r>>10))
			unit(b, 0xdc00+(r&0x3ff))
			return
		}
		unit(b, r)
	}
}

func unit(b *bytes.Buffer, u rune) {
	const hex = "0123456789abcdef"
	b.WriteString(`\u`)
	for shift := 12; shift >= 0; shift -= 4 {
		b.WriteByte(hex[u>>shift&0xf])
	}
}
