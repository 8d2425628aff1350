package snapshot_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/snapshot"
)

const emptySnapshot = `{"kind":"Snapshot","schema_version":1}`

// What a file may look like and still be read.
func TestReadTolerates(t *testing.T) {
	for _, text := range []string{
		emptySnapshot, "\ufeff" + emptySnapshot, "\r\n\t " + emptySnapshot + "\r\n\n",
		`{"kind":"Snapshot","schema_version":1,"groups":null,"later":{"x":[1]}}`,
	} {
		if _, err := snapshot.Read(strings.NewReader(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What is wrong is named with its line, in words of JSON.
func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "the file is empty",
		"\n \ufeff":                              `line 2: no JSON object begins with 'ï'`,
		"\n[]":                                   `line 2: no JSON object begins with '['`,
		"null":                                   `line 1: no JSON object begins with 'n'`,
		"{\n\"kind\":\nNaN}":                     "line 3: invalid character 'N' looking for beginning of value",
		emptySnapshot[:20]:                       "the file ends within the object: it is cut off",
		emptySnapshot + "\n{}":                   "line 1: something comes after the end of the object",
		`{"kind":"Snapshot","schema_version":2}`: "schema_version 2, this build reads 1 to 1",
		`{"kind":7}`:                             `line 1: "kind" is number, want text`,
		"\n{\"kind\":\"Snapshot\",\"schema_version\":1,\n\"groups\":[{\"coordinator\":4294967296}]}":  `line 3: "groups.coordinator" is number 4294967296, want a whole number of 32 bits`,
		`{"kind":"Snapshot","schema_version":1,"groups":[{"classic":{"members":[{"metadata":[]}]}}]}`: "",
		`{"kind":"Snapshot","schema_version":1,"groups":{}}`:                                          `line 1: "groups" is object, want a list`,
		`{"kind":"Snapshot","schema_version":1,"groups":[7]}`:                                         `line 1: "groups" is number, want an object`,
		`{"kind":"Snapshot","schema_version":1,"groups":` + strings.Repeat("[", 20000):                "line 1: invalid character '[' exceeded max depth",
	} {
		_, err := snapshot.Read(strings.NewReader(text))
		switch {
		case want == "":
		case err == nil:
			t.Errorf("%.80q: no error, want %q", text, want)
		case err.Error() != want:
			t.Errorf("%.80q: %q, want %q", text, err, want)
		}
	}
}

// endless is a source that never ends.
type endless struct{ s string }

func (e endless) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat(e.s, len(p)/len(e.s)+1)), nil
}

// A source that never ends, such as a device, is left at the byte that shows
// that it holds no snapshot.
func TestReadStopsEarly(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, s := range []string{"\x00", "[", "7", `{"a":[`, "{}"} {
		if _, err := snapshot.Read(endless{s}); err == nil {
			t.Errorf("%q without an end: no error", s)
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("%d bytes for files that hold no snapshot", n)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("is a directory") }

func TestReadPassesErrorsOn(t *testing.T) {
	for _, r := range []io.Reader{broken{}, io.MultiReader(strings.NewReader(emptySnapshot[:9]), broken{})} {
		if _, err := snapshot.Read(r); err == nil || fmt.Sprint(err) != "is a directory" {
			t.Errorf("%v", err)
		}
	}
}
