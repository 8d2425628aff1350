package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"
)

// SchemaVersion is the version of the values that this package reads and
// writes.
const SchemaVersion = 1

// MaxValue is the largest value that is read or written, in bytes.
const MaxValue = 1_000_000

// maxDepth is how deep objects and lists of a value may be nested.
const maxDepth = 16

// maxNumber is how many characters a number may have. The time that parsers of
// other languages take for one grows with their square.
const maxNumber = 64

// ValueError says why a value does not decode.
type ValueError struct {
	Field string // for example "tasks[3].lag"; "" when the value as a whole is at fault
	Text  string
}

func (e *ValueError) Error() string {
	if e.Field == "" {
		return e.Text
	}
	return fmt.Sprintf("field %q %s", e.Field, e.Text)
}

func tooLarge(bytes int) error {
	return &ValueError{Text: fmt.Sprintf("has %d bytes, at most %d are read", bytes, MaxValue)}
}

// schema is the first field of every value.
type schema struct {
	Version *int64 `json:"schema_version"`
}

func (s schema) version() *int64 { return s.Version }

func ours() schema {
	v := int64(SchemaVersion)
	return schema{&v}
}

// parse reads the JSON of a value into one of the wire structures.
func parse(value []byte, into interface{ version() *int64 }) error {
	switch {
	case len(value) == 0:
		return &ValueError{Text: "is empty"}
	case len(value) > MaxValue:
		return tooLarge(len(value))
	case !utf8.Valid(value):
		return &ValueError{Text: "is not UTF-8"}
	case tooDeep(value):
		return &ValueError{Text: fmt.Sprintf("is nested more than %d deep", maxDepth)}
	case longNumber(value):
		return &ValueError{Text: fmt.Sprintf("has a number of more than %d characters", maxNumber)}
	}
	if c := bytes.TrimLeft(value, " \t\r\n"); len(c) == 0 || c[0] != '{' {
		return &ValueError{Text: "is not a JSON object"}
	}
	if err := json.Unmarshal(value, into); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return &ValueError{Field: wrong.Field, Text: "cannot be a " + wrong.Value}
		}
		return &ValueError{Text: "is not JSON: " + err.Error()}
	}
	switch v := into.version(); {
	case v == nil:
		return &ValueError{Field: "schema_version", Text: "is missing"}
	case *v != SchemaVersion:
		return &ValueError{Field: "schema_version", Text: fmt.Sprintf("is %d, this streamctl understands %d", *v, SchemaVersion)}
	}
	return nil
}

// outside gives the characters of a JSON text that are not within strings, and
// the quotes that enclose those.
func outside(value []byte) iter.Seq[byte] {
	return func(yield func(byte) bool) {
		quoted, escaped := false, false
		for _, c := range value {
			switch {
			case escaped:
				escaped = false
				continue
			case quoted && c != '"':
				escaped = c == '\\'
				continue
			case c == '"':
				quoted = !quoted
			}
			if !yield(c) {
				return
			}
		}
	}
}

// tooDeep reports whether brackets outside of strings are nested deeper than
// maxDepth.
func tooDeep(value []byte) bool {
	depth := 0
	for c := range outside(value) {
		switch c {
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}

// longNumber reports whether a number outside of strings is longer than maxNumber.
func longNumber(value []byte) bool {
	n := 0
	for c := range outside(value) {
		if strings.IndexByte("0123456789-+.eE", c) < 0 {
			n = 0
		} else if n++; n > maxNumber {
			return true
		}
	}
	return false
}

// compact writes a wire structure the way all values are written.
func compact(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// encode writes a value and makes sure that every reader takes it.
func encode[T any](wire any, decode func([]byte) (T, error)) ([]byte, error) {
	out, err := compact(wire)
	if err != nil {
		return nil, err
	}
	if _, err := decode(out); err != nil {
		return nil, err
	}
	return out, nil
}
