package cmd

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// visited is a cluster that counts the visits that it gets.
type visited struct {
	fakeCluster
	visits int
}

func (v *visited) Visit(context.Context, string, func(kclient.VisitStep)) (*kclient.Visit, error) {
	v.visits++
	d := v.answers[len(v.answers)-1].Groups[0].Classic
	return &kclient.Visit{Visitor: "streamctl-1", Joined: time.Now(), Gone: true, After: d}, nil
}

// On a terminal a person is asked; only a yes changes anything.
func TestAnswersOfAPerson(t *testing.T) {
	for answer, want := range map[string]struct{ code, visits int }{"y\n": {0, 1}, "yes\n": {0, 1}, "n\n": {1, 0}, "": {1, 0}, "\n": {1, 0}} {
		c := &visited{fakeCluster: fakeCluster{answers: []*snapshot.Snapshot{fixture(t, "classic-learners")}}}
		d := fakeDeps(t, c)
		d.io.In, d.io.InTTY, d.io.ErrTTY = strings.NewReader(answer), true, true
		got := runWith(t, d, "rebalance", "shop")
		if got.code != want.code || c.visits != want.visits || !strings.Contains(got.err, "Ask group shop for a rebalance? [y/N] ") {
			t.Errorf("%q: exit code %d, %d visits: %s", answer, got.code, c.visits, got.err)
		}
		if want.code == 1 && (got.out != "" || !strings.Contains(got.err, "not confirmed, nothing was done") || strings.Contains(got.err, "record:")) {
			t.Errorf("%q: %s%s", answer, got.out, got.err)
		}
	}
}

// What was confirmed is what is done: a group that has changed while the
// question stood is left alone, but for --force.
func TestAGroupThatChangesWhileAskedIsLeftAlone(t *testing.T) {
	shown := fixture(t, "classic-learners")
	moved := with(t, shown, func(s *snapshot.Snapshot) {
		list := s.Group("shop").Classic.Members
		list[0].Assignment, list[1].Assignment = list[1].Assignment, list[0].Assignment
	})
	for _, force := range []bool{false, true} {
		c := &visited{fakeCluster: fakeCluster{answers: []*snapshot.Snapshot{shown, moved}}}
		d := fakeDeps(t, c)
		d.io.In, d.io.InTTY, d.io.ErrTTY = strings.NewReader("y\n"), true, true
		args := []string{"rebalance", "shop"}
		if force {
			args = append(args, "--force")
		}
		got := runWith(t, d, args...)
		if force && (got.code != 0 || c.visits != 1) || !force && (got.code != 1 || c.visits != 0 || !strings.Contains(flat(got.err), "has changed since it was shown (its members or their tasks are others)")) {
			t.Errorf("force %v: exit code %d, %d visits: %s", force, got.code, c.visits, got.err)
		}
	}
}

// A replacement begins with the instances that were shown, or not at all.
func TestReplaceOfAGroupThatChangesWhileAsked(t *testing.T) {
	for _, changed := range []bool{false, true} {
		c := clicksGroup(t)
		now := with(t, c.answers[0], func(s *snapshot.Snapshot) {
			if changed {
				k := s.Group("clicks").Classic
				k.Members = k.Members[:len(k.Members)-1]
			}
		})
		c.answers = []*snapshot.Snapshot{c.answers[0], now}
		d := fakeDeps(t, c)
		d.io.In, d.io.InTTY, d.io.ErrTTY = strings.NewReader("y\n"), true, true
		got := runWith(t, d, "replace", "clicks", "--with", "1", "--timeout", "300ms")
		if changed != strings.Contains(flat(got.err), "has changed since it was shown") || changed != (len(c.written) == 0) || !changed && got.code != 4 || changed && got.code != 1 {
			t.Errorf("changed %v: exit code %d, %d records: %s", changed, got.code, len(c.written), got.err)
		}
	}
}

// The record names who, what, when and why, on one line of words that no name can break.
func TestRecordOfAChange(t *testing.T) {
	c := &visited{fakeCluster: fakeCluster{answers: []*snapshot.Snapshot{fixture(t, "classic-learners")}}}
	d := fakeDeps(t, c)
	d.who = func() string { return "alice@ops-1" }
	d.now = func() time.Time { return time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC) }
	ctx := newChange(d, "rebalance", true)
	ctx.flags.reason = "a\x1b[31mb\nc"
	var out strings.Builder
	d.io.Err = &out
	ctx.record("shop")
	if got := out.String(); !strings.HasPrefix(got, "record: 2026-11-30T06:00:00Z alice@ops-1: rebalance shop, because a") || strings.ContainsAny(strings.TrimRight(got, "\n"), "\x1b\n") {
		t.Errorf("%q", got)
	}
}
