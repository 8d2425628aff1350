package groupmeta

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// streamVector is one line of testdata/stream (README there).
type streamVector struct {
	Name         string          `json:"name"`
	Kind         string          `json:"kind"`
	ProtocolType string          `json:"protocol_type"`
	Hex          string          `json:"hex"`
	Expected     json.RawMessage `json:"expected"`
	Error        *vectorError    `json:"error"`

	raw []byte
}

// vectorError is what a decoder must report: a field and an offset, or the
// newer major version.
type vectorError struct {
	Structure  string `json:"structure"`
	Field      string `json:"field"`
	Offset     int    `json:"offset"`
	NewerMajor uint8  `json:"newer_major"`
}

func readStreamVectors(t testing.TB, file string) []streamVector {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "stream", file))
	if err != nil {
		t.Fatal(err)
	}
	var list []streamVector
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v streamVector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if v.raw, err = hex.DecodeString(v.Hex); err != nil {
			t.Fatalf("%s: %s: %v", file, v.Name, err)
		}
		list = append(list, v)
	}
	if err := lines.Err(); err != nil || len(list) < 10 {
		t.Fatalf("%s: %d vectors, %v", file, len(list), err)
	}
	return list
}

func TestStreamMetadataVectors(t *testing.T) {
	for _, v := range readStreamVectors(t, "metadata.jsonl") {
		t.Run(v.Name, func(t *testing.T) {
			m, err := ParseWorkerMetadata(v.ProtocolType, v.raw)
			v.check(t, m, err)
			if v.Error != nil || m.Minor > StreamMinor {
				return
			}
			var back StreamMetadata
			if err := json.Unmarshal(v.Expected, &back); err != nil {
				t.Fatal(err)
			}
			b, err := EncodeWorkerMetadata(v.ProtocolType, &back)
			if err != nil || !bytes.Equal(b, v.raw) {
				t.Errorf("encoding what is expected: %v\ngot  %x\nwant %x", err, b, v.raw)
			}
		})
	}
}

func TestStreamAssignmentVectors(t *testing.T) {
	for _, v := range readStreamVectors(t, "assignment.jsonl") {
		t.Run(v.Name, func(t *testing.T) {
			a, err := ParseWorkerAssignment(v.ProtocolType, v.raw)
			v.check(t, a, err)
			if v.Error != nil || a.Minor > StreamMinor || v.ProtocolType != ProtocolTypeStream {
				return
			}
			var back StreamAssignment
			if err := json.Unmarshal(v.Expected, &back); err != nil {
				t.Fatal(err)
			}
			b, err := back.Encode()
			if err != nil || !bytes.Equal(b, v.raw) {
				t.Errorf("encoding what is expected: %v\ngot  %x\nwant %x", err, b, v.raw)
			}
		})
	}
}

// check compares a decoded value or error with the vector.
func (v *streamVector) check(t *testing.T, value any, err error) {
	t.Helper()
	if v.Error != nil {
		v.checkError(t, err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := plainJSON(t, b), plainJSON(t, v.Expected); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %s\nwant %s", b, v.Expected)
	}
}

func (v *streamVector) checkError(t *testing.T, err error) {
	t.Helper()
	var newer *StreamVersionError
	var e *DecodeError
	switch {
	case v.Error.NewerMajor != 0:
		if !errors.As(err, &newer) || newer.Major != v.Error.NewerMajor || newer.Structure != v.Error.Structure {
			t.Errorf("error %v, want the newer version %d", err, v.Error.NewerMajor)
		}
	case !errors.As(err, &e):
		t.Errorf("error %v, want one of field %q", err, v.Error.Field)
	case e.Structure != v.Error.Structure || e.Field != v.Error.Field || e.Offset != v.Error.Offset:
		t.Errorf("error %v, want %s field %q at offset %d", err, v.Error.Structure, v.Error.Field, v.Error.Offset)
	}
}

// plainJSON reads JSON with numbers as they are written.
func plainJSON(t *testing.T, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The worked examples of docs/protocol are vectors too, byte for byte.
func TestStreamDocsExamples(t *testing.T) {
	row := regexp.MustCompile("(?m)^\\| `([0-9a-f ]+)` \\|")
	for file, name := range map[string]string{"metadata": "worked-example", "assignment": "worked-example"} {
		doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "protocol", file+".md"))
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, m := range row.FindAllStringSubmatch(string(doc), -1) {
			all.WriteString(strings.ReplaceAll(m[1], " ", ""))
		}
		found := false
		for _, v := range readStreamVectors(t, file+".jsonl") {
			if v.Name == name {
				found = true
				if all.String() != v.Hex {
					t.Errorf("%s.md: the bytes of the example\n%s\nare not those of the vector\n%s", file, all.String(), v.Hex)
				}
			}
		}
		if !found {
			t.Errorf("%s.jsonl has no %q", file, name)
		}
	}
}
