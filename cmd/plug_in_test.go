package cmd

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// pluggedCluster is a recorded classic group whose leader has our assignor: a
// visit makes it tell of a round, in which it sees the marks of the topic. Nothing
// moves.
type pluggedCluster struct {
	*steeredCluster
	t      *testing.T
	id     string
	visits int
	errs   []error // of the visits in turn; nil or missing: none
}

func plugged(t *testing.T) *pluggedCluster {
	t.Helper()
	s := fixture(t, "classic-standbys")
	p := &pluggedCluster{steeredCluster: &steeredCluster{fakeCluster: fakeCluster{answers: []*snapshot.Snapshot{s}}}, t: t, id: s.Groups[0].ID}
	p.tell()
	return p
}

// tell writes what the leader says of the round that the snapshot shows.
func (p *pluggedCluster) tell() {
	p.t.Helper()
	g, err := groupmeta.Build(p.answers[0], p.id, groupmeta.BuildOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	marks := controlState(&snapshot.Group{Control: p.state}).Leaving
	r := &control.Round{Settings: control.Settings{BalancingFactor: 2000, StandbyReplicas: 1, AcceptableRecoveryLag: 10_000, RejoinPolicy: "eager"}}
	for i := range g.Instances {
		in := control.RoundInstance{ID: g.Instances[i].ID, Workers: int32(len(g.Instances[i].Members)), PlugIn: true}
		if m, marked := marks[in.ID]; marked {
			in.Leaving, in.Marks = true, []string{m.Mark}
		}
		seen := map[model.TaskID]bool{}
		for _, m := range g.Instances[i].Members {
			for _, x := range m.Tasks {
				if !seen[x.ID] {
					seen[x.ID] = true
					in.Tasks = append(in.Tasks, control.Task{ID: x.ID, Role: x.Role, Lag: new(int64)})
				}
			}
		}
		r.Instances = append(r.Instances, in)
	}
	s := control.Status{Source: control.SourcePlugIn, At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Workers: 1, Round: r}
	rec, err := s.Record(g.Instances[0].ID)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.WriteControl(p.t.Context(), p.id, rec); err != nil {
		p.t.Fatal(err)
	}
	p.written = p.written[:len(p.written)-1] // the leader's, not ours
}

func (p *pluggedCluster) Visit(context.Context, string, func(kclient.VisitStep)) (*kclient.Visit, error) {
	p.visits++
	if n := p.visits - 1; n < len(p.errs) && p.errs[n] != nil {
		return &kclient.Visit{}, p.errs[n]
	}
	p.tell()
	return &kclient.Visit{Visitor: "visitor-1", Joined: time.Now(), Gone: true, Took: 700 * time.Millisecond, After: &snapshot.ClassicGroup{State: model.StateStable}}, nil
}

// A mark is written, then a round is asked for, in which it takes effect; the
// same goes for its withdrawal. --no-rebalance leaves it to the next round, and a
// mark that the leader has seen already needs none.
func TestMarkLeavingAsksForARound(t *testing.T) {
	p := plugged(t)
	got := runWith(t, fakeDeps(t, p), "mark-leaving", "pod-a", "-g", p.id, "-o", "json")
	if got.code != 0 || len(p.written) != 1 || p.visits != 1 || !strings.Contains(got.out, `"visitor":"visitor-1"`) || !strings.Contains(got.out, `"took_ms":700`) {
		t.Fatalf("exit code %d, %d records, %d visits\n%s%s", got.code, len(p.written), p.visits, got.out, got.err)
	}
	for _, want := range []string{"then a rebalance is asked for, in which it takes effect", "asking for a rebalance, in which the leader sees the marks"} {
		if !strings.Contains(strings.Join(strings.Fields(got.err), " "), want) {
			t.Errorf("stderr lacks %q\n%s", want, got.err)
		}
	}
	if got = runWith(t, fakeDeps(t, p), "mark-leaving", "pod-a", "-g", p.id); got.code != 0 || len(p.written) != 1 || p.visits != 1 {
		t.Errorf("again: exit code %d, %d records, %d visits\n%s", got.code, len(p.written), p.visits, got.err)
	}
	if !strings.Contains(strings.Join(strings.Fields(got.out), " "), "stays without tasks until it is stopped") {
		t.Errorf("what comes of it: %s", got.out)
	}
	if got = runWith(t, fakeDeps(t, p), "unmark", "pod-a", "-g", p.id); got.code != 0 || len(p.written) != 2 || p.visits != 2 {
		t.Errorf("unmark: exit code %d, %d records, %d visits\n%s", got.code, len(p.written), p.visits, got.err)
	}
	if got = runWith(t, fakeDeps(t, p), "unmark", "pod-a", "-g", p.id); got.code != 0 || len(p.written) != 2 || p.visits != 2 {
		t.Errorf("nothing to withdraw: exit code %d, %d records, %d visits\n%s", got.code, len(p.written), p.visits, got.err)
	}
	for _, args := range [][]string{{"mark-leaving", "pod-a", "--no-rebalance"}, {"unmark", "pod-a", "--no-rebalance"}} {
		got = runWith(t, fakeDeps(t, p), append(args, "-g", p.id)...)
		if got.code != 0 || p.visits != 2 || !strings.Contains(got.err, "next rebalance: none is asked for") {
			t.Errorf("%v: exit code %d, %d visits\n%s", args, got.code, p.visits, got.err)
		}
	}
	if len(p.written) != 4 {
		t.Errorf("%d records", len(p.written))
	}
	if got = runWith(t, fakeDeps(t, p), "mark-leaving", "pod-a", "-g", p.id, "--dry-run"); got.code != 0 || p.visits != 2 || len(p.written) != 4 {
		t.Errorf("dry run: exit code %d, %d visits\n%s", got.code, p.visits, got.err)
	}
}

// A round that is on already is waited for; when one cannot be asked for at all
// the mark stands, and that is said: an error, or, where somebody waits for the
// drain, a warning.
func TestMarkLeavingWhenNoRoundCanBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plugged(t)
		busy := &kclient.VisitError{Group: p.id, Why: "is PreparingRebalance, and only a Stable group is asked for a rebalance", Busy: true}
		p.errs = []error{busy, busy}
		if got := runWith(t, fakeDeps(t, p), "mark-leaving", "pod-a", "-g", p.id); got.code != 0 || p.visits != 3 {
			t.Errorf("busy: exit code %d, %d visits\n%s", got.code, p.visits, got.err)
		}

		p = plugged(t)
		p.errs = slices.Repeat([]error{busy}, 1000)
		c := p.steeredCluster
		c.after = func(*steeredCluster) { // the round that is on sees the mark by itself
			c.after = nil
			p.tell()
		}
		if got := runWith(t, fakeDeps(t, p), "mark-leaving", "pod-a", "-g", p.id); got.code != 0 || p.visits != 1 {
			t.Errorf("seen meanwhile: exit code %d, %d visits\n%s", got.code, p.visits, got.err)
		}

		denied := &kclient.VisitError{Group: p.id, Why: "join", Hint: `needs READ on group "shop"`, Err: errFake}
		for _, c := range []struct {
			args []string
			code int
		}{{nil, 1}, {[]string{"--wait", "--timeout", "3s"}, 4}} {
			p = plugged(t)
			p.errs = []error{denied}
			got := runWith(t, fakeDeps(t, p), append([]string{"mark-leaving", "pod-a", "-g", p.id}, c.args...)...)
			if got.code != c.code || len(p.written) != 1 || !strings.Contains(strings.Join(strings.Fields(got.err), " "), "no rebalance could be asked for") {
				t.Errorf("denied %v: exit code %d, %d records\n%s", c.args, got.code, len(p.written), got.err)
			}
		}
	})
}

// A classic group of which nothing tells that it has the plug-in is refused with
// the text that says how to get it; --force marks it all the same.
func TestMarkLeavingWithoutPlugIn(t *testing.T) {
	p := plugged(t)
	p.state = nil
	got := runWith(t, fakeDeps(t, p), "mark-leaving", "pod-a", "-g", p.id)
	if got.code != 1 || len(p.written) != 0 || p.visits != 0 || !strings.Contains(got.err, "docs/howto/plug-in.md") || !strings.Contains(got.err, "--force marks all the same") {
		t.Errorf("exit code %d, %d records\n%s", got.code, len(p.written), got.err)
	}
	if got = runWith(t, fakeDeps(t, p), "mark-leaving", "pod-a", "-g", p.id, "--force"); got.code != 0 || len(p.written) != 1 || p.visits != 1 || !strings.Contains(got.err, "no instance is known to have the plug-in") {
		t.Errorf("forced: exit code %d, %d records, %d visits\n%s", got.code, len(p.written), p.visits, got.err)
	}
}
