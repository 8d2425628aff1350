package cmd

import (
	"cmp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/ui"
)

// The help of streamctl shows every command under a heading, everyday ones
// first.
func TestHelp(t *testing.T) {
	got := runWith(t, newDeps(&ui.Streams{}), "--help")
	if got.code != 0 {
		t.Fatalf("exit code %d: %s", got.code, got.err)
	}
	at := 0
	for _, want := range []string{"\nSee:\n  get ", "\n  describe ", "\n  wait ", "\nKeep and compare:\n", "\n  can-i ", "\n  help ", "\nFlags:\n"} {
		i := strings.Index(got.out[at:], want)
		if i < 0 {
			t.Fatalf("no %q after byte %d:\n%s", want, at, got.out)
		}
		at += i
	}
	for _, bad := range []string{"\nMore:\n", "Additional help topics"} {
		if strings.Contains(got.out, bad) {
			t.Errorf("%q: a command has no place:\n%s", bad, got.out)
		}
	}
	if got = runWith(t, newDeps(&ui.Streams{}), "get", "--help"); !strings.Contains(got.out, "  streamctl get COMMAND\n") || !strings.Contains(got.out, "\nFlags of every command:\n") {
		t.Errorf("get --help:\n%s", got.out)
	}
}

// No line of any help is wider than the terminal, or than 80 columns in a pipe.
func TestHelpFitsTheTerminal(t *testing.T) {
	seen := 0
	for _, width := range []int{0, 70, 80, 200} {
		d := newDeps(&ui.Streams{OutTTY: width > 0, Size: func() int { return width }})
		limit := cmp.Or(width, 80)
		var walk func(*cobra.Command)
		walk = func(c *cobra.Command) {
			words := append(strings.Fields(c.CommandPath())[1:], "--help")
			got := runWith(t, d, words...)
			if got.code != 0 {
				t.Fatalf("%v: exit code %d: %s", words, got.code, got.err)
			}
			for l := range strings.Lines(got.out) {
				seen++
				l = strings.TrimRight(l, "\n")
				example := strings.HasPrefix(l, "  ") && strings.Contains(c.Example, l)
				if n := render.Width(l); n > limit && (limit >= 80 || !example) {
					t.Errorf("%d columns, %v: %d in %q", width, words, n, l)
				}
			}
			for _, k := range c.Commands() {
				walk(k)
			}
		}
		walk(newRootCmd(d))
	}
	if seen < 4000 {
		t.Errorf("only %d lines of help", seen)
	}
}

// Help breaks prose and the meanings of a list, and leaves other lines as they
// are; pages show lists as lists and other lines as code.
func TestPassages(t *testing.T) {
	long := "Some words that are\nbroken anew.\n\n  one    the first\n         of all\n  other  the second\nAfter it.\n\n  key: value\n    deeper: 1"
	for _, c := range []struct{ name, got, want string }{
		{"help", helpText(long, 24), "Some words that are\nbroken anew.\n\n  one    the first of\n         all\n  other  the second\nAfter it.\n\n  key: value\n    deeper: 1\n"},
		{"wide help", helpText(long, 80), "Some words that are broken anew.\n\n  one    the first of all\n  other  the second\nAfter it.\n\n  key: value\n    deeper: 1\n"},
		{"page", pageText(long), "Some words that are\nbroken anew.\n\n- `one`: the first of all\n- `other`: the second\n\nAfter it.\n\n```\n  key: value\n    deeper: 1\n```"},
		{"nothing", pageText(""), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n%q\nwant\n%q", c.name, c.got, c.want)
		}
	}
}
