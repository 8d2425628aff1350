package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// The story ci.txtar runs the scripts of docs/ci.md as they stand there.
func TestScriptsOfTheCIPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	story, err := txtar.ParseFile(filepath.Join("..", "testdata", "script", "ci.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	scripts := strings.Split(string(page), "```sh\n")[1:]
	if len(scripts) != len(story.Files) {
		t.Fatalf("%d scripts in the page, %d in the story", len(scripts), len(story.Files))
	}
	for i, s := range scripts {
		s, _, _ = strings.Cut(s, "```")
		f := story.Files[i]
		if string(f.Data) != s || !strings.Contains(s, "\n# "+f.Name+" ") {
			t.Errorf("script %d (%s) differs from the story's:\n%s\nstory:\n%s", i+1, f.Name, s, f.Data)
		}
	}
}
