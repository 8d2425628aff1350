package worker

import (
	"testing"

	"github.com/streamctl/streamctl/internal/model"
)

// The leader's status tells of each task how far behind its holder says that it
// is: the records, 0 for who runs it, and nothing for a task without state.
func TestRoundStatusHasTheLags(t *testing.T) {
	g := newGroup(t, 2)
	g.size["plain"] = 1
	g.join("S1")
	g.round()
	g.join("S2")
	g.round() // S2 hears that it learns
	learner := g.by["S2"].members[0].learners()
	if len(learner) != 1 {
		t.Fatalf("S2 learns %v", learner)
	}
	g.lag["S2"][learner[0]] = 20_700
	g.round()
	got := map[string]map[model.TaskID]int64{}
	for _, in := range g.led.status(g.number).Instances {
		got[in.ID] = map[model.TaskID]int64{}
		for _, task := range in.Tasks {
			lag := int64(-1)
			if task.Lag != nil {
				lag = *task.Lag
			}
			got[in.ID][task.ID] = lag
		}
	}
	first, second := got[g.by["S1"].id], got[g.by["S2"].id]
	if len(first)+len(second) != 4 {
		t.Fatalf("tasks of the round: %v", got)
	}
	if lag, there := second[learner[0]]; !there || lag != 20_700 {
		t.Errorf("the learner's lag is %d, want 20700; %v", lag, got)
	}
	for _, id := range []model.TaskID{model.ClassicTask("", 0, 0), model.ClassicTask("", 0, 1)} {
		if lag, there := first[id]; !there || lag != 0 {
			t.Errorf("the lag of %s at its owner is %d, want 0; %v", id, lag, got)
		}
	}
	for _, has := range []map[model.TaskID]int64{first, second} {
		if lag, there := has[model.ClassicTask("", 1, 0)]; there && lag != -1 {
			t.Errorf("a task without state lags %d; %v", lag, got)
		}
	}
}
