package scenario

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// Error says what is wrong with a scenario.
type Error struct {
	Line  int    // number of the line in its file, from 1
	Field string // for example "processes[2].consumers[0].owned[1]"; "" when the whole line is at fault
	Text  string
}

func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("line %d: %s", e.Line, e.Text)
	}
	return fmt.Sprintf("line %d: field %q: %s", e.Line, e.Field, e.Text)
}

// decode reads one JSON object; the error is an *Error without a line.
func decode(data []byte, into any) *Error {
	err := json.Unmarshal(data, into)
	if err == nil {
		return nil
	}
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case ok && wrong.Field == "":
		return &Error{Text: "no scenario: a JSON " + wrong.Value + " where an object belongs"}
	case ok:
		return &Error{Field: cmp.Or(placeAt(data, wrong.Offset), wrong.Field), Text: fmt.Sprintf("a JSON %s where %s belongs", wrong.Value, jsonWord(wrong.Type.Kind()))}
	}
	return &Error{Text: "no scenario: " + err.Error()}
}

// jsonWord names what belongs in a field.
func jsonWord(k reflect.Kind) string {
	switch k {
	case reflect.Int64:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "text"
}

// checker keeps the first complaint about a scenario.
type checker struct{ err *Error }

func (c *checker) fail(field, format string, args ...any) {
	if c.err == nil {
		c.err = &Error{Field: field, Text: fmt.Sprintf(format, args...)}
	}
}

// number reads a number from 0 to limit; one that is missing is def.
func (c *checker) number(field string, n *int64, def, limit int64) int64 {
	switch {
	case n == nil:
		return def
	case *n < 0:
		c.fail(field, "%d is negative", *n)
	case *n > limit:
		c.fail(field, "%d is more than %d", *n, limit)
	default:
		return *n
	}
	return def
}

// must complains about a field that is not there.
func (c *checker) must(field string, there bool) {
	if !there {
		c.fail(field, "it is missing")
	}
}
