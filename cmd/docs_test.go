package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/ui"
)

// docs/cli is what the command tree says; make docs writes it again.
func TestDocsAreUpToDate(t *testing.T) {
	dir := filepath.Join("..", "docs", "cli")
	pages, err := markdownPages(newRootCmd(newDeps(&ui.Streams{})))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range pages {
		if strings.Contains(want, "Auto generated") {
			t.Errorf("%s has a date", name)
		}
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			t.Errorf("docs/cli/%s is stale (%v): run make docs", name, err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, ok := pages[f.Name()]; !ok {
			t.Errorf("docs/cli/%s belongs to no command", f.Name())
		}
	}
}

// Every command says what it is and how it is used.
func TestEveryCommandIsDocumented(t *testing.T) {
	root := newRootCmd(newDeps(&ui.Streams{}))
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Short == "" || c.Example == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: short %q, example %q", c.CommandPath(), c.Short, c.Example)
		}
		for _, l := range strings.Split(c.Long, "\n") {
			if len([]rune(l)) > 84 && !strings.HasPrefix(l, " ") {
				t.Errorf("%s: line of %d characters: %s", c.CommandPath(), len([]rune(l)), l)
			}
		}
		for _, k := range c.Commands() {
			walk(k)
		}
	}
	walk(root)
}

// Help texts and hints name only commands that exist in this build.
func TestHelpNamesOnlyCommandsThatExist(t *testing.T) {
	pages, err := markdownPages(newRootCmd(newDeps(&ui.Streams{})))
	if err != nil {
		t.Fatal(err)
	}
	root := newRootCmd(newDeps(&ui.Streams{}))
	example := regexp.MustCompile(`(?m)^[ \t]+streamctl ([a-z][a-z-]*)`)
	seen := 0
	for name, text := range pages {
		for _, m := range example.FindAllStringSubmatch(text, -1) {
			seen++
			if _, rest, err := root.Find([]string{m[1]}); err != nil || len(rest) > 0 {
				t.Errorf("%s shows streamctl %s, which is no command", name, m[1])
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d examples found: not looking in the right place", seen)
	}
}

func TestManPages(t *testing.T) {
	dir := t.TempDir()
	got := runWith(t, newDeps(&ui.Streams{}), "docs", "--dir", filepath.Join(dir, "man"))
	page, err := os.ReadFile(filepath.Join(dir, "man", "streamctl-describe-group.1"))
	if got.code != 0 || err != nil || !strings.Contains(string(page), "streamctl describe group shop") {
		t.Errorf("exit code %d: %v\n%s", got.code, err, got.err)
	}
	if got = runWith(t, newDeps(&ui.Streams{}), "docs"); got.code != 2 {
		t.Errorf("without --dir: exit code %d", got.code)
	}
}
