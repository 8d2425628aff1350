package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/streamctl/streamctl/internal/errs"
)

// fileParser walks the nodes of a file; it knows the path for its errors.
type fileParser struct{ path string }

type filePair struct {
	key   string
	line  int
	value *yaml.Node
}

func (p fileParser) errorf(line int, format string, args ...any) error {
	return errs.Usagef("%s:%d: %s", p.path, line, fmt.Sprintf(format, args...))
}

// pairs returns the keys of a mapping, each of which may be there once.
func (p fileParser) pairs(n *yaml.Node, what string) ([]filePair, error) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, p.errorf(n.Line, "%s must be keys with values", what)
	}
	var out []filePair
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode {
			return nil, p.errorf(k.Line, "a key must be a plain word")
		}
		if first, ok := seen[k.Value]; ok {
			return nil, p.errorf(k.Line, "%q is there twice, first in line %d", k.Value, first)
		}
		seen[k.Value] = k.Line
		out = append(out, filePair{k.Value, k.Line, n.Content[i+1]})
	}
	return out, nil
}

func (p fileParser) text(n *yaml.Node, what string) (string, error) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return "", nil
	case n.Kind != yaml.ScalarNode:
		return "", p.errorf(n.Line, "%q must be one value", what)
	}
	return n.Value, nil
}

// unknown is the error for a key that does not exist.
func (p fileParser) unknown(kv filePair, known []string, within string) error {
	text := fmt.Sprintf("unknown key %q", kv.key)
	if within != "" {
		text += " in " + within
	}
	hint := ""
	if n := nearest(kv.key, known); n != "" {
		text += fmt.Sprintf(": did you mean %q?", n)
	} else {
		hint = "docs/connecting.md lists every key"
	}
	return errs.WithHint(p.errorf(kv.line, "%s", text), hint)
}

func (p fileParser) contexts(n *yaml.Node) ([]Context, error) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil, nil
	}
	if n.Kind != yaml.SequenceNode {
		return nil, p.errorf(n.Line, "%q must be a list, each entry with a name", fileContexts)
	}
	var out []Context
	for _, item := range n.Content {
		c, err := p.context(item)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(out, func(o Context) bool { return o.Name == c.Name }); i >= 0 {
			return nil, p.errorf(c.Line, "context %q is there twice, first in line %d", c.Name, out[i].Line)
		}
		out = append(out, *c)
	}
	return out, nil
}

func (p fileParser) context(n *yaml.Node) (*Context, error) {
	pairs, err := p.pairs(n, "a context")
	if err != nil {
		return nil, err
	}
	c := &Context{settings: map[string]fileSetting{}}
	for _, kv := range pairs {
		if kv.key == fileName {
			if c.Name, err = p.text(kv.value, fileName); err != nil {
				return nil, err
			}
			c.Line = kv.line
		}
	}
	if c.Name == "" {
		return nil, p.errorf(n.Line, "a context has no name")
	}
	for _, kv := range pairs {
		if kv.key == fileName {
			continue
		}
		if err := p.setting(c, kv); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// setting puts one key of a context into c. Secrets may be named by the file
// or the environment variable that holds them; those are read when the context
// is used.
func (p fileParser) setting(c *Context, kv filePair) error {
	name, suffix := kv.key, ""
	if kv.key == bootstrapServers || kv.key == "bootstrap-servers" {
		name = KeyBootstrap
	}
	key, ok := LookupKey(name)
	for _, sfx := range []string{suffixFile, suffixEnv} {
		if base, cut := strings.CutSuffix(kv.key, sfx); !ok && cut {
			if k, known := LookupKey(base); known && k.Secret {
				key, ok, suffix = k, true, sfx
			}
		}
	}
	if !ok {
		return p.unknown(kv, contextKeys(), fmt.Sprintf("context %q", c.Name))
	}
	s := fileSetting{line: kv.line}
	switch {
	case kv.value.Kind == yaml.SequenceNode && key.Kind == List:
		for _, item := range kv.value.Content {
			v, err := p.text(item, kv.key)
			if err != nil {
				return err
			}
			s.values = append(s.values, Secret(v))
		}
	default:
		v, err := p.text(kv.value, kv.key)
		if err != nil {
			return err
		}
		switch suffix {
		case suffixFile:
			s.fromFile = v
		case suffixEnv:
			s.fromEnv = v
		default:
			s.values = []Secret{Secret(v)}
		}
	}
	if old, twice := c.settings[key.Name]; twice {
		return p.errorf(kv.line, "%q is set twice, also in line %d", key.Name, old.line)
	}
	c.settings[key.Name] = s
	return nil
}

// contextKeys returns every key that a context may have.
func contextKeys() []string {
	out := []string{fileName}
	for _, k := range Keys() {
		out = append(out, k.Name)
		if k.Secret {
			out = append(out, k.Name+suffixFile, k.Name+suffixEnv)
		}
	}
	return out
}
