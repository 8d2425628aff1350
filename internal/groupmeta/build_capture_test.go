package groupmeta_test

import (
	"fmt"
	"testing"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

// captured is what the README of testdata/snapshot says about a capture, as the
// model shows it.
type captured struct {
	kind, state                       string
	active, standby, learner, moving  int
	lag, remaining, findings, members string
}

func TestCapturesOfRealGroups(t *testing.T) {
	want := map[string]captured{
		"classic-empty":             {"classic topics", "Empty", 0, 0, 0, 0, "0", "-", "empty", ""},
		"classic-halfway":           {"classic protocol", "Stable", 12, 0, 2, 0, "0", "100490", "learning unbalanced", "pod-a/T1 pod-a/T2 pod-b/T1 pod-b/T2"},
		"classic-learners":          {"classic protocol", "Stable", 12, 0, 2, 0, "0", "99976", "learning unbalanced", "pod-a/T1 pod-a/T2 pod-b/T1 pod-b/T2"},
		"classic-mixed":             {"classic protocol", "Stable", 12, 0, 0, 0, "0", "-", "mixed-versions", "pod-new/T1 pod-new/T2 pod-old/T1 pod-old/T2"},
		"classic-old":               {"classic protocol", "Stable", 12, 0, 0, 0, "0", "-", "", "pod-old/T1 pod-old/T2"},
		"classic-one-instance":      {"classic protocol", "Stable", 12, 0, 0, 0, "0", "-", "", "pod-a/T1 pod-a/T2"},
		"classic-preparing":         {"classic assignment", "PreparingRebalance", 12, 0, 0, 0, "0", "-", "rebalancing", "pod-a/T1 pod-a/T2 pod-b/T1 pod-b/T2 pod-c/T1 pod-c/T2"},
		"classic-standbys":          {"classic protocol", "Stable", 12, 12, 0, 0, "0", "40000", "", "pod-a/T1 pod-a/T2 pod-b/T1 pod-b/T2"},
		"plain-audit-sink":          {"consumer protocol", "Stable", 0, 0, 0, 0, "-", "-", "", "audit-sink-1"},
		"plain-mailer":              {"consumer protocol", "Stable", 0, 0, 0, 0, "-", "-", "", "mailer-1"},
		"streams-empty-4.3.1":       {"streams type", "Empty", 0, 0, 0, 0, "0", "-", "empty", ""},
		"streams-empty-4.4.0":       {"streams type", "Empty", 0, 0, 0, 0, "0", "-", "empty", ""},
		"streams-not-ready-4.3.1":   {"streams type", "NotReady", 0, 0, 0, 0, "0", "-", "not-ready", "pod-a/T1 pod-a/T2"},
		"streams-not-ready-4.4.0":   {"streams type", "NotReady", 0, 0, 0, 0, "0", "-", "not-ready", "pod-a/T1 pod-a/T2"},
		"streams-reconciling-4.3.1": {"streams type", "Reconciling", 7, 0, 0, 5, "0", "-", "converging moving", "pod-a/T1 pod-a/T2 pod-b/T1 pod-b/T2"},
		"streams-reconciling-4.4.0": {"streams type", "Reconciling", 6, 0, 0, 6, "0", "-", "converging moving", "pod-a/T1 pod-a/T2 pod-b/T1 pod-b/T2"},
		"streams-restoring-4.4.0":   {"streams type", "Stable", 12, 0, 0, 0, "0", "235962", "restoring", "pod-a/T1 pod-a/T2 pod-b/T1 pod-b/T2"},
		"streams-stable-4.3.1":      {"streams type", "Stable", 12, 0, 0, 0, "0", "-", "", "pod-a/T1 pod-a/T2 pod-b/T1 pod-b/T2"},
		"streams-stable-4.4.0":      {"streams type", "Stable", 12, 0, 0, 0, "0", "-", "", "pod-a/T1 pod-a/T2 pod-b/T1 pod-b/T2"},
		"streams-stable-one-4.3.1":  {"streams type", "Stable", 12, 0, 0, 0, "0", "-", "", "pod-a/T1 pod-a/T2"},
		"streams-stable-one-4.4.0":  {"streams type", "Stable", 12, 0, 0, 0, "0", "-", "", "pod-a/T1 pod-a/T2"},
		"streams-standbys-4.3.1":    {"streams type", "Stable", 12, 12, 0, 0, "0", "-", "", "pod-a/T1 pod-a/T2 pod-b/T1 pod-b/T2"},
		"streams-standbys-4.4.0":    {"streams type", "Stable", 12, 12, 0, 0, "0", "0", "", "pod-a/T1 pod-a/T2 pod-b/T1 pod-b/T2"},
	}
	seen := 0
	for name, s := range captures(t) {
		w, ok := want[name]
		if !ok {
			t.Errorf("%s: nothing is written down about it", name)
			continue
		}
		seen++
		g := build(t, s, groupmeta.BuildOptions{})
		got := captured{
			fmt.Sprint(g.Kind, " ", g.KindBasis), g.State, g.Totals.Active, g.Totals.Standby, g.Totals.Learner, g.Totals.Moving,
			num(g.Totals.Lag), num(g.Totals.RemainingRecords), codes(g), names(g),
		}
		if got != w {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, w)
		}
		if len(g.Errors) > 0 || g.Totals.Unassigned > 0 {
			t.Errorf("%s: errors %v, unassigned %v", name, g.Errors, g.Unassigned)
		}
	}
	if seen != len(want) {
		t.Errorf("%d captures of %d are there", seen, len(want))
	}
}

// The two warm-ups of a real scale-out, with what is certain and what is
// inferred about them.
func TestCapturedScaleOut(t *testing.T) {
	g := build(t, captures(t)["classic-learners"], groupmeta.BuildOptions{})
	learner, active := holding(t, g, "pod-b", "0_0"), holding(t, g, "pod-a", "0_0")
	if learner.Role != model.Learner || !learner.Inferred || learner.Restore.Position != nil || num(learner.Restore.RemainingRecords) != "49860" || learner.Restore.State != model.Restoring {
		t.Errorf("learner %+v", learner)
	}
	if active.Tags[1] != model.BeingLearned || !active.Inferred || active.Restore.State != model.Running {
		t.Errorf("active %+v", active)
	}
	if other := holding(t, g, "pod-a", "0_4"); other.Inferred || len(other.Tags) != 1 {
		t.Errorf("a task that nobody learns: %+v", other)
	}
	if n := g.NextRebalance; n == nil || n.InMs != 599915 || g.Positions.AsOf == nil {
		t.Errorf("next %+v, positions %+v", g.NextRebalance, g.Positions)
	}
	if g.Timing.StandbysSource != "estimate" || *g.Timing.Standbys != 0 {
		t.Errorf("timing %+v", g.Timing)
	}
}
