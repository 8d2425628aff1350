package groupmeta

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ParseBytes reads bytes that a person typed: an even number of hex digits and
// nothing else is hex, all other text base64. White space does not count.
func ParseBytes(s string) ([]byte, error) {
	s = strings.Join(strings.Fields(s), "")
	if b, err := hex.DecodeString(s); err == nil {
		return b, nil
	}
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		return nil, fmt.Errorf("neither hex nor base64: %w", err)
	}
	return b, nil
}

// lineInput is one line of the batch form of decode.
type lineInput struct {
	Kind string  `json:"kind"`
	Hex  *string `json:"hex"`
}

// lineOutput is the line that answers it.
type lineOutput struct {
	Kind          string     `json:"kind"`
	FormatVersion *int       `json:"format_version"`
	Decoded       any        `json:"decoded,omitempty"`
	TrailingBytes int        `json:"trailing_bytes,omitempty"`
	Error         *lineError `json:"error,omitempty"`
}

type lineError struct {
	Message string  `json:"message"`
	Field   *string `json:"field"`  // null: the line itself is at fault
	Offset  *int    `json:"offset"` // bytes from the start of the structure
}

// DecodeLine answers one line of the batch form of decode, a JSON object with
// kind and hex, with a JSON object that has kind, format_version and decoded
// or error, without a line end. Bytes left over in a known version give both.
// The error is what the line calls error; the line is there in any case.
func DecodeLine(line []byte) ([]byte, error) {
	out, err := decodeLine(line)
	if err != nil {
		out.Error = newLineError(err)
	}
	b, marshalErr := MarshalASCII(out)
	return b, errors.Join(err, marshalErr)
}

// RefuseLine is the answer to a line that is not even looked at.
func RefuseLine(why error) []byte {
	b, err := MarshalASCII(lineOutput{Error: newLineError(why)})
	if err != nil { // text always marshals
		return []byte(`{"error":{}}`)
	}
	return b
}

func decodeLine(line []byte) (lineOutput, error) {
	var in lineInput
	if err := json.Unmarshal(line, &in); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			err = errors.New("it is " + wrong.Value)
			if wrong.Field != "" {
				err = fmt.Errorf("%q is %s", wrong.Field, wrong.Value)
			}
		}
		return lineOutput{}, fmt.Errorf("not a JSON object with kind and hex: %w", err)
	}
	out := lineOutput{Kind: in.Kind}
	if in.Hex == nil {
		return out, errors.New(`no "hex" in the line`)
	}
	b, err := hex.DecodeString(*in.Hex)
	if err != nil {
		return out, fmt.Errorf("%q is not hex: %w", "hex", err)
	}
	d, err := Decode(in.Kind, b)
	if d.FormatVersion != 0 || d.Document != nil {
		out.FormatVersion = &d.FormatVersion
	}
	out.TrailingBytes = d.TrailingBytes
	if !isNewer(err) {
		out.Decoded = d.Document
	}
	return out, err
}

func newLineError(err error) *lineError {
	e := &lineError{Message: err.Error()}
	if d, ok := errors.AsType[*DecodeError](err); ok {
		e.Field, e.Offset = &d.Field, &d.Offset
	} else if isNewer(err) {
		field, offset := "version", 0
		e.Field, e.Offset = &field, &offset
	}
	return e
}

// isNewer reports whether the bytes are of a version that is newer than this
// build.
func isNewer(err error) bool {
	_, streams := errors.AsType[*NewerFormatError](err)
	_, ours := errors.AsType[*StreamVersionError](err)
	return streams || ours
}

// MarshalASCII writes v as JSON on one line in which all text beyond ASCII is
// escaped as UTF-16 units, so that nothing in it reaches a terminal.
func MarshalASCII(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	raw := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		switch {
		case r == 0x7f || r >= 0x80 && r <= 0xffff:
			out = fmt.Appendf(out, `\u%04x`, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = append(out, byte(r))
		}
		raw = raw[size:]
	}
	return out, nil
}
