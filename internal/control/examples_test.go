package control_test

import (
	"os"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/control"
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
	if len(blocks) != 4 {
		t.Fatalf("%d examples, want one a record", len(blocks))
	}
	again := []func([]byte) (control.Record, error){
		func(b []byte) (control.Record, error) { return rewrite(b, control.DecodeMode, control.Mode.Record) },
		func(b []byte) (control.Record, error) { return rewrite(b, control.DecodeLeaving, of(control.Leaving.Record)) },
		func(b []byte) (control.Record, error) { return rewrite(b, control.DecodeStandbys, control.Standbys.Record) },
		func(b []byte) (control.Record, error) { return rewrite(b, control.DecodeStatus, of(control.Status.Record)) },
	}
	keys := []string{"mode", "leaving/" + anInstance, "standbys", "status/" + anInstance}
	for i, block := range blocks {
		want, _, _ := strings.Cut(block, "\n```")
		got, err := again[i]([]byte(want))
		if err != nil {
			t.Errorf("%s: %v", keys[i], err)
			continue
		}
		if got.Key != keys[i] || string(got.Value) != want {
			t.Errorf("key %s:\n%s\nwant %s:\n%s", got.Key, got.Value, keys[i], want)
		}
	}
}

func rewrite[T any](value []byte, decode func([]byte) (T, error), record func(T) (control.Record, error)) (control.Record, error) {
	v, err := decode(value)
	if err != nil {
		return control.Record{}, err
	}
	return record(v)
}

// of binds the instance that a record is about.
func of[T any](record func(T, string) (control.Record, error)) func(T) (control.Record, error) {
	return func(v T) (control.Record, error) { return record(v, anInstance) }
}
