package snapshot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// MaxFileBytes bounds a snapshot file: larger ones are refused.
const MaxFileBytes = 512 << 20

// Read reads the file form. Unknown object keys are ignored, so that an older
// build reads a newer file as far as it goes; another kind or a newer schema
// version is an error. What cannot become a snapshot is read no further than
// to the byte that shows it.
func Read(r io.Reader) (*Snapshot, error) {
	text, line, err := document(r)
	if err != nil {
		return nil, err
	}
	var s Snapshot
	failed := json.Unmarshal(text, &s)
	if failed != nil { // of what kind it is, and how new, is told first
		var head struct {
			Kind          string `json:"kind"`
			SchemaVersion int    `json:"schema_version"`
		}
		if err := json.Unmarshal(text, &head); err != nil {
			return nil, describeTypeError(text, line, err)
		}
		s = Snapshot{Kind: head.Kind, SchemaVersion: head.SchemaVersion}
	}
	if s.Kind != Kind {
		return nil, fmt.Errorf("kind is %q, want %q", s.Kind, Kind)
	}
	if s.SchemaVersion < 1 || s.SchemaVersion > SchemaVersion {
		return nil, fmt.Errorf("schema_version %d, this build reads 1 to %d", s.SchemaVersion, SchemaVersion)
	}
	if failed != nil {
		return nil, describeTypeError(text, line, failed)
	}
	s.Normalize()
	return &s, nil
}

// document reads one JSON object and nothing else. A byte order mark before it
// does no harm. line is the one on which the object begins.
func document(r io.Reader) (text []byte, line int, err error) {
	limit := &io.LimitedReader{R: r, N: MaxFileBytes + 1}
	in := bufio.NewReader(limit)
	if line, err = brace(in); err == nil {
		text, err = object(in, line)
	}
	if limit.N <= 0 {
		return nil, 0, fmt.Errorf("snapshot is larger than %d bytes", MaxFileBytes)
	}
	return text, line, err
}

// brace passes over what may come before an object and gives its line.
func brace(in *bufio.Reader) (line int, err error) {
	if mark, err := in.Peek(3); err == nil && string(mark) == "\ufeff" {
		in.Discard(3) //nolint:errcheck // they have been seen
	}
	for line = 1; ; {
		c, err := in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return 0, errors.New("the file is empty")
		case err != nil:
			return 0, err
		case c == '{':
			return line, in.UnreadByte()
		case c == '\n':
			line++
		case c != ' ' && c != '\t' && c != '\r':
			return 0, fmt.Errorf("line %d: no JSON object begins with %q", line, c)
		}
	}
}

// object reads the object that begins on a line, up to the end of the file.
func object(in io.Reader, line int) ([]byte, error) {
	d := json.NewDecoder(in)
	var text json.RawMessage
	err := d.Decode(&text)
	if err == nil {
		line += bytes.Count(text, []byte("\n"))
		_, err = d.Token()
		if errors.Is(err, io.EOF) {
			return text, nil
		}
		return nil, fmt.Errorf("line %d: something comes after the end of the object", line)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.New("the file ends within the object: it is cut off")
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		before, _ := io.ReadAll(d.Buffered()) // memory: cannot fail
		return nil, fmt.Errorf("line %d: %w", line+bytes.Count(before[:min(int(syntax.Offset), len(before))], []byte("\n")), err)
	}
	return nil, err
}

// describeTypeError words a value of a wrong type without the types of Go.
func describeTypeError(text []byte, line int, err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	line += bytes.Count(text[:min(int(wrong.Offset), len(text))], []byte("\n"))
	return fmt.Errorf("line %d: %q is %s, want %s", line, wrong.Field, wrong.Value, wanted(wrong.Type))
}

// wanted names what JSON has for a type.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "base64 text"
		}
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return wanted(t.Elem())
	}
	return fmt.Sprintf("a whole number of %d bits", t.Bits())
}
