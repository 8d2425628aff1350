package control_test

import (
	"os"
	"strings"
	"testing"
)

const anInstance = "7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001"

// The examples of docs/protocol/control.md are read, and written again byte for
// byte.
func TestExamplesOfTheText(t *testing.T) {
	text, err := os.ReadFile("../../docs/protocol/control.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```json\n")[1:]
	if len(blocks) != 5 {
		t.Fatalf("%d examples, want one a record", len(blocks))
	}
	keys := []string{"mode", "leaving/" + anInstance, "standbys", "replace", "status/" + anInstance}
	for i, block := range blocks {
		want, _, _ := strings.Cut(block, "\n```")
		got, err := again(keys[i], []byte(want))
		if err != nil {
			t.Errorf("%s: %v", keys[i], err)
			continue
		}
		if got.Key != keys[i] || string(got.Value) != want {
			t.Errorf("key %s:\n%s\nwant %s:\n%s", got.Key, got.Value, keys[i], want)
		}
	}
}
