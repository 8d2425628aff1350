package cmd

import (
	"slices"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// A group is waited for until all are in it, but one that has died, or hangs, only
// for a moment once the others run all tasks again.
func TestSwitchedWithoutOneThatIsGone(t *testing.T) {
	s := twoOfThree(2)
	s.g.Mode, s.state.Leaving, s.state.Status = "upgrading", nil, nil
	for i := range s.g.Instances {
		s.g.Instances[i].Leaving = nil
	}
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	a := &awaited{switching: &switching{s: s, before: s.g, to: control.Incremental}, whole: began}
	left := twoOfThree(2)
	left.g.Instances, left.g.Mode = left.g.Instances[:2], "upgrading"
	left.g.Unassigned = []model.TaskID{{}}
	a.s = left
	at := func(after time.Duration) bool { return a.withoutGone(began.Add(after), "upgrading") }

	if at(0) || at(time.Minute) {
		t.Error("over while the tasks of pod-c are kept for it")
	}
	left.g.Unassigned = nil
	if at(10*time.Second) || at(14*time.Second) {
		t.Error("pod-c is not waited for")
	}
	left.g.State = model.StatePreparingRebalance
	if at(15 * time.Second) {
		t.Error("over in the middle of a round")
	}
	left.g.State = model.StateStable
	if at(16*time.Second) || at(20*time.Second) {
		t.Error("the time before that round counts")
	}
	a.s = s
	if at(30 * time.Second) {
		t.Error("nobody is missing")
	}
	if a.s = left; at(15*time.Second) || at(16*time.Second) {
		t.Error("the time before pod-c was there counts")
	}
	if !at(21*time.Second) || !slices.Equal(a.gone, []string{"pod-c"}) || *a.pause != 15*time.Second {
		t.Errorf("gone %v, pause %v", a.gone, a.pause)
	}
}

// Members of a group that forms do not say who they are. A switch that is found
// on is then waited for with those that have said something when it began.
func TestSwitchFoundWhileTheGroupForms(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := twoOfThree(0)
	s.g.State, s.state.Mode = model.StatePreparingRebalance, &control.Mode{Mode: control.Upgrading, Epoch: 1, At: at}
	for i := range s.g.Instances {
		s.g.Instances[i] = model.Instance{ID: "client:" + s.g.Instances[i].Name}
	}
	said := func(ago time.Duration, left control.Departure) control.Status {
		return control.Status{Source: control.SourceWorker, At: at.Add(-ago), ClientID: "pod", Left: left}
	}
	s.state.Status = map[string]control.Status{
		"a": said(5*time.Second, ""), "b": said(-5*time.Second, ""), "c": said(5*time.Second, control.LeftStopped), "d": said(time.Hour, ""),
	}
	w := &switching{s: s, before: s.g, to: control.Upgrading, record: *s.state.Mode}
	if !w.onAlready(s) {
		t.Fatal("the switch is not seen")
	}
	if got := w.expected(); len(got) > 0 {
		t.Errorf("%q are waited for in a group that was never seen at rest", got)
	}
	w.found = s
	if got := w.expected(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q are waited for, not a and b", got)
	}
	if got := w.nameOf("b"); got != "pod" {
		t.Errorf("b is called %q", got)
	}
	after := twoOfThree(0)
	after.g.Instances, after.g.Mode = after.g.Instances[:1], "upgrading"
	a := &awaited{switching: w}
	if a.s = after; a.formed("upgrading") {
		t.Error("the group is whole without b")
	}
}
