package cmd

import (
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/ui"
)

// The help of streamctl shows every command under a heading, everyday ones
// first, and no line of any help is wider than a narrow terminal.
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
	for _, args := range [][]string{{"--help"}, {"get", "--help"}, {"describe", "group", "--help"}, {"wait", "--help"}, {"config", "--help"}} {
		got := runWith(t, newDeps(&ui.Streams{}), args...)
		for _, l := range strings.Split(got.out, "\n") {
			if n := len([]rune(l)); n > 84 {
				t.Errorf("%v: %d characters: %s", args, n, l)
			}
		}
	}
	if got = runWith(t, newDeps(&ui.Streams{}), "get", "--help"); !strings.Contains(got.out, "  streamctl get COMMAND\n") || !strings.Contains(got.out, "\nFlags of every command:\n") {
		t.Errorf("get --help:\n%s", got.out)
	}
}
