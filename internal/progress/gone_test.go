package progress

import (
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// saying gives a group a control topic with a status.
func saying(g *model.Group, st model.InstanceStatus) *model.Group {
	g.Control = &model.Control{Status: []model.InstanceStatus{st}}
	return g
}

// An instance that left before anybody looked is drained when its last word
// tells, whoever reads it; what that word does not tell is said.
func TestDrainedBeforeTheFirstLook(t *testing.T) {
	when := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		st   model.InstanceStatus
		met  bool
		says string
	}{
		"drained":                       {model.InstanceStatus{Left: "drained"}, true, "pod-c was drained and left at 2026-11-30T09:00:00Z"},
		"out of the group for a moment": {model.InstanceStatus{Leaving: true}, false, "instance pod-c is not in the group; its last status, of 2026-11-30T09:00:00Z, has no task but is no farewell"},
		"deadline":                      {model.InstanceStatus{Left: "expired", Leaving: true}, true, "pod-c went at its deadline, at 2026-11-30T09:00:00Z"},
		"stopped":                       {model.InstanceStatus{Left: "stopped"}, true, "pod-c was stopped and left at 2026-11-30T09:00:00Z, without being drained"},
		"no farewell":                   {model.InstanceStatus{}, false, "instance pod-c is not in the group; its last status, of 2026-11-30T09:00:00Z, has no task but is no farewell"},
		"died":                          {model.InstanceStatus{Tasks: 4, Leaving: true}, false, "instance pod-c is not in the group; its last status, of 2026-11-30T09:00:00Z, still has 4 tasks"},
		"another one":                   {model.InstanceStatus{Instance: "uuid-pod-d"}, false, "instance uuid-pod-c is not in the group, and the control topic has no status of it"},
	} {
		if c.st.Instance == "" {
			c.st.Instance = "uuid-pod-c"
		}
		c.st.Gone, c.st.At, c.st.ClientID = true, when, "pod-c"
		s := NewJudge(Goal{For: Drained, Instance: "uuid-pod-c"}).Look(saying(group("pod-a/T1: 0_0 0_1"), c.st), start)
		if text := s.Lost + strings.Join(s.Notes, "; "); s.Met != c.met || !strings.HasPrefix(text, c.says) {
			t.Errorf("%s: met %v, %q", name, s.Met, text)
		}
	}
	g := saying(group("pod-a/T1: 0_0"), model.InstanceStatus{Instance: "uuid-pod-c", Gone: true, Left: "drained"})
	g.Unassigned = []model.TaskID{model.ClassicTask("", 0, 1)}
	if s := NewJudge(Goal{For: Drained, Instance: "uuid-pod-c"}).Look(g, start); s.Met || len(s.Blockers) == 0 {
		t.Errorf("a task without an owner: %+v", s)
	}
}
