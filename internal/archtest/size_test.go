package archtest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const maxLines = 400

// long lists the files that may be longer, with the reason.
func long() map[string]string {
	return map[string]string{}
}

func TestFileSize(t *testing.T) {
	allowed := long()
	for _, s := range sources(t) {
		b, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(s.file)))
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(b, []byte("\n"))
		_, listed := allowed[s.file]
		switch {
		case lines > maxLines && !listed:
			t.Errorf("%s has %d lines: split it by thing, or list it with a reason", s.file, lines)
		case lines <= maxLines && listed:
			t.Errorf("%s has %d lines and needs its exception no longer", s.file, lines)
		}
	}
}

// Names of files that say nothing about what is inside.
func TestFileNames(t *testing.T) {
	for _, s := range sources(t) {
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(s.file), ".go"), "_test")
		if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "types", "misc"}, name) {
			t.Errorf("%s: name it by the thing it holds", s.file)
		}
	}
}
