package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/snapshot"
	"github.com/streamctl/streamctl/internal/ui"
)

func TestErrorsArePrintedOneALine(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errs.Silent(3), ""},
		{fmt.Errorf("write: %w", syscall.EPIPE), ""},
		{errors.New("group \"a\x1b[31m\u202e\" not\nfound"), "error: group \"a\uFFFD[31m\uFFFD\" not found\n"},
		{
			errs.WithCode(errors.Join(errs.WithHint(errors.New("a"), "try x"), errors.Join(errors.New("b"), errs.WithHint(errors.New("c"), "try x"))), 1),
			"error: a\nerror: b\nerror: c\nhint: try x\n",
		},
		{fmt.Errorf("read: %w", errs.WithHint(errors.New("refused"), "ask")), "error: read: refused\nhint: ask\n"},
	} {
		var b strings.Builder
		printError(&ui.Streams{Err: &b}, c.err)
		if b.String() != c.want {
			t.Errorf("got %q, want %q", b.String(), c.want)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	for line, want := range map[string]int{"help": 0, "help describe group": 0, "--help": 0, "get groups -h": 0, "help nosuch": 2, "--version": 0, "version --client": 0} {
		got := runWith(t, fakeDeps(t, nil), strings.Fields(line)...)
		if got.code != want || (want == 0) != (got.out != "") {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", line, got.code, got.out, got.err)
		}
	}
}

// Flags that a context cannot hold come from the environment too, a flag given
// wins, and a bad value is bad usage that names the variable.
func TestFlagsFromTheEnvironment(t *testing.T) {
	c := func() *fakeCluster {
		return &fakeCluster{answers: []*snapshot.Snapshot{fixture(t, "classic-learners")}}
	}
	if got := runWith(t, fakeDeps(t, c(), "STREAMCTL_OUTPUT=name"), "get", "groups"); got.out != "shop\n" {
		t.Errorf("STREAMCTL_OUTPUT: %q", got.out)
	}
	if got := runWith(t, fakeDeps(t, c(), "STREAMCTL_OUTPUT=name"), "get", "groups", "-o", "csv"); !strings.HasPrefix(got.out, "group,") {
		t.Errorf("the flag does not win: %q", got.out)
	}
	if got := runWith(t, fakeDeps(t, c(), "STREAMCTL_FAIL_ON=learning"), "get", "groups"); got.code != 3 {
		t.Errorf("STREAMCTL_FAIL_ON: exit code %d", got.code)
	}
	got := runWith(t, fakeDeps(t, nil, "STREAMCTL_NO_HEADERS=maybe"), "get", "groups")
	if got.code != 2 || !strings.Contains(got.err, "STREAMCTL_NO_HEADERS") {
		t.Errorf("bad value: exit code %d, %q", got.code, got.err)
	}
	if got = runWith(t, fakeDeps(t, c(), "STREAMCTL_GROUP=shop"), "get", "tasks", "-o", "name"); got.code != 0 || !strings.HasPrefix(got.out, "0_0\n") {
		t.Errorf("STREAMCTL_GROUP: exit code %d, %q %q", got.code, got.out, got.err)
	}
}

// The only stream group that is visible is the default, and said; of several
// none is taken.
func TestDefaultGroup(t *testing.T) {
	one := &fakeCluster{answers: []*snapshot.Snapshot{merge(fixture(t, "classic-one-instance"), fixture(t, "plain-mailer"))}}
	if got := runWith(t, fakeDeps(t, one), "get", "members"); got.code != 0 || !strings.Contains(got.err, "group shop (the only stream group that is visible)") {
		t.Errorf("one: exit code %d, %q", got.code, got.err)
	}
	two := &fakeCluster{answers: []*snapshot.Snapshot{zoo(t)}}
	if got := runWith(t, fakeDeps(t, two), "get", "members"); got.code != 1 || got.out != "" || !strings.Contains(got.err, "2 are visible: billing, shop") {
		t.Errorf("two: exit code %d, %q", got.code, got.err)
	}
	if got := runWith(t, fakeDeps(t, two), "get", "members", "--all", "-o", "json"); got.code != 0 || len(document(t, got.out)["items"].([]any)) != 6 {
		t.Errorf("--all: exit code %d, %q", got.code, got.err)
	}
	// Without a name, groups with findings in full, healthy ones in a line each.
	if got := runWith(t, fakeDeps(t, two), "describe", "group"); got.code != 0 || !strings.Contains(got.out, "HEALTHY") {
		t.Errorf("describe group: exit code %d\n%s", got.code, got.out)
	}
}

// --sample looks twice and says what did not move.
func TestFieldCase31SampleLooksTwice(t *testing.T) {
	s := with(t, fixture(t, "classic-one-instance"), func(s *snapshot.Snapshot) {
		for i := range s.Groups[0].Commits {
			s.Groups[0].Commits[i].Offset -= 10
		}
	})
	later := with(t, s, func(s *snapshot.Snapshot) {
		at := s.TakenAt.Add(time.Second)
		s.TakenAt = &at
		for i := range s.Logs {
			if e := s.Logs[i].End; e != nil {
				*e += 100
			}
		}
	})
	c := &fakeCluster{answers: []*snapshot.Snapshot{s, later}}
	got := runWith(t, fakeDeps(t, c), "describe", "group", "shop", "--sample", "30ms", "--timeout", "10ms") // the sample comes on top
	if len(c.queries) != 2 || !strings.Contains(got.out, "no offset moved in 1s") {
		t.Errorf("%d looks, exit code %d\n%s%s", len(c.queries), got.code, got.out, got.err)
	}
}

// A thousand dead brokers do not scroll away what could be read.
func TestPrintManyErrors(t *testing.T) {
	many := func(n int) (out []error) {
		for i := range n {
			out = append(out, errs.WithHint(fmt.Errorf("broker %d is dead", i), fmt.Sprintf("start broker %d", i)))
		}
		return out
	}
	for n, want := range map[int][2]int{1: {1, 1}, 20: {20, 5}, 21: {21, 5}, 22: {21, 5}, 1000: {21, 5}} {
		var b bytes.Buffer
		printError(&ui.Streams{Err: &b}, errors.Join(many(n)...))
		if got := [2]int{strings.Count(b.String(), "error: "), strings.Count(b.String(), "hint: ")}; got != want {
			t.Errorf("%d errors make %v lines, want %v", n, got, want)
		}
		if n > 21 && !strings.Contains(b.String(), fmt.Sprintf("error: and %d more", n-20)) {
			t.Errorf("%d errors: the rest is not counted:\n%s", n, b.String())
		}
	}
}

// A number that only fits by chance is bad usage, not an overflow.
func TestAbsurdStandbys(t *testing.T) {
	for _, n := range []string{"2147483648", "9223372036854775807", "-1"} {
		got := runWith(t, fakeDeps(t, nil), "describe", "group", "--from", filepath.Join("..", "testdata", "snapshot", "classic-learners.json"), "--standbys", n)
		if got.code != errs.Usage || got.out != "" {
			t.Errorf("%s: exit %d, stdout %q", n, got.code, got.out)
		}
	}
}

// Errors, hints and notes break at blanks by the width of a terminal, and never
// elsewhere: a script reads them by the line.
func TestLinesOnStderrBreakOnATerminalOnly(t *testing.T) {
	long := errs.WithHint(errors.New("group \"clicks\": the control topic \"clicks-streamctl-control\" cannot be read by this principal at all"), "ask for READ on it, and for DESCRIBE on the group that it is the topic of, both literal")
	for _, terminal := range []bool{false, true} {
		var b strings.Builder
		d := fakeDeps(t, nil, "COLUMNS=50")
		d.io.Err, d.io.ErrTTY = &b, terminal
		printError(d.io, long)
		d.note("  a note of a lab, with more words than would fit a line of the terminal")
		d.warn("a warning of many words, with more of them than would fit a line")
		lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
		if !terminal && len(lines) != 4 {
			t.Errorf("no terminal: %q", lines)
		}
		for i, l := range lines {
			lead := strings.HasPrefix(l, "error: ") || strings.HasPrefix(l, "hint: ") || strings.HasPrefix(l, "warning: ") || strings.HasPrefix(l, "  ")
			if terminal && (len(l) > 50 || len(lines) < 8 || !lead) {
				t.Errorf("line %d: %q", i, l)
			}
		}
		if got := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(got, strings.Join(strings.Fields(long.Error()), " ")) {
			t.Errorf("words are lost: %q", got)
		}
	}
}
