package cmd

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/ui"
)

// The command answers recorded scenarios with the recorded result, whatever
// assignor they name. internal/scenario goes through all of them.
func TestAssignAnswersAsRecorded(t *testing.T) {
	const lines = 25 // of each file
	for _, name := range []string{"high-availability", "high-availability-chains", "streams-sticky", "streams-sticky-4.4", "streams-sticky-chains", "more"} {
		var file strings.Builder
		var want []json.RawMessage
		for _, line := range firstLines(t, filepath.Join("..", "testdata", "assign", name+".jsonl"), lines) {
			var s map[string]json.RawMessage
			if err := json.Unmarshal([]byte(line), &s); err != nil {
				t.Fatal(err)
			}
			want = append(want, s["result"])
			delete(s, "result")
			b, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			file.Write(append(b, '\n'))
		}
		got := runWith(t, newDeps(&ui.Streams{In: strings.NewReader(file.String())}), "assign", "--from", "-")
		if got.code != 0 || got.err != "" {
			t.Fatalf("%s: exit code %d: %s", name, got.code, got.err)
		}
		answers := strings.Split(strings.TrimSpace(got.out), "\n")
		if len(answers) != len(want) {
			t.Fatalf("%s: %d answers to %d scenarios", name, len(answers), len(want))
		}
		for i, a := range answers {
			var v struct{ Result json.RawMessage }
			if err := json.Unmarshal([]byte(a), &v); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(value(t, v.Result), value(t, want[i])) {
				t.Errorf("%s: got %s\nwant %s", name, v.Result, want[i])
			}
		}
	}
}

// value is a JSON value, for comparing.
func value(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func firstLines(t *testing.T, path string, n int) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	var out []string
	for len(out) < n && in.Scan() {
		out = append(out, in.Text())
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
