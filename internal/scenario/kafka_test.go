package scenario_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/scenario"
)

// recordedFiles are the files of recorded scenarios with their numbers of lines.
func recordedFiles() map[string]int {
	return map[string]int{
		"assign/high-availability.jsonl":        300,
		"assign/high-availability-chains.jsonl": 490,
		"assign/streams-sticky.jsonl":           300,
		"assign/streams-sticky-chains.jsonl":    240,
		"assign/streams-sticky-4.4.jsonl":       300,
		"assign/more.jsonl":                     144,
		"assign/wide.jsonl":                     57,
		"live/classic-rounds.jsonl":             146,
	}
}

// recordedLines calls do with each line of a file below testdata and returns
// how many there were.
func recordedLines(t *testing.T, file string, do func(line int, data []byte)) int {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		n++
		do(n, lines.Bytes())
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return n
}

// The answer to every recorded scenario is the recorded one, to the byte: all
// fields, all lists in order, all keys in order.
func TestRecordedScenarios(t *testing.T) {
	for file, want := range recordedFiles() {
		t.Run(filepath.Base(file), func(t *testing.T) {
			different := 0
			n := recordedLines(t, file, func(line int, data []byte) {
				var recorded struct {
					Name   string
					Result json.RawMessage
				}
				if err := json.Unmarshal(data, &recorded); err != nil {
					t.Fatal(err)
				}
				s, err := scenario.ParseKafka(line, data)
				if err != nil {
					t.Fatal(err)
				}
				a, err := assign.Find(s.Assignor, s.KafkaVersion)
				if err != nil {
					t.Fatal(err)
				}
				r, err := a.Assign(s.Group)
				if err != nil {
					t.Fatal(err)
				}
				if got := s.AppendResult(nil, r); !bytes.Equal(got, recorded.Result) {
					if different++; different <= 3 {
						t.Errorf("%s\ngot  %s\nwant %s", recorded.Name, got, recorded.Result)
					}
				}
			})
			if n != want || different > 0 {
				t.Errorf("%d lines, %d of them different; want %d, 0", n, different, want)
			}
		})
	}
}
