package cmd

import (
	"slices"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/report"
)

// workersWith is a group of workers, one an instance, with these active tasks,
// and one learner that has records to go where there is one.
func workersWith(active map[string][]int32, learner string, left int64) *model.Group {
	g := &model.Group{ID: "clicks", Kind: model.Worker, State: model.StateStable, AssignmentBasis: model.AssignmentCurrent}
	g.Positions.Basis = model.PositionsStatus
	yes := true
	task := func(n int32, role model.Role, r model.Restore) model.Task {
		return model.Task{ID: model.TaskID{Subtopology: "0", Partition: n}, Role: role, Stateful: &yes, Restore: r}
	}
	for _, name := range []string{"pod-a", "pod-c"} {
		tasks, there := active[name]
		if !there {
			continue
		}
		m := model.Member{ID: name + "-w0", Name: name + "/w0"}
		for _, n := range tasks {
			m.Tasks = append(m.Tasks, task(n, model.Active, model.Restore{State: model.Running, Reported: true}))
		}
		if name == learner {
			m.Tasks = append(m.Tasks, task(2, model.Learner, model.Restore{State: model.Restoring, Reported: true, RemainingRecords: &left}))
		}
		g.Instances = append(g.Instances, model.Instance{ID: name, Name: name, Members: []model.Member{m}})
	}
	return g
}

// The wait in the document of a drain says how the instance went, and what
// restored cold, as wait --for drained does.
func TestTheWaitOfADrain(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		said    control.Status
		there   bool // it is in the group at the last look
		left    int64
		want    string // "": null
		cold    []string
		notMine bool // it is one of two targets
	}{
		"drained":         {said: control.Status{Left: control.LeftDrained}, want: "drained"},
		"stopped":         {said: control.Status{Left: control.LeftStopped}, want: "stopped"},
		"still there":     {said: control.Status{Leaving: true}, there: true},
		"no last word":    {said: control.Status{Leaving: true}},
		"at its deadline": {said: control.Status{Left: control.LeftExpired, Expired: true}, left: 50_000, want: "expired", cold: []string{"0_2"}},
		"one of two":      {said: control.Status{Left: control.LeftDrained}, notMine: true},
	} {
		c.said.Marks = []string{"m1"}
		m := &marking{targets: []target{{in: &model.Instance{ID: "pod-c", Name: "pod-c"}, mark: control.Leaving{Mark: "m1"}}}}
		if c.notMine {
			m.targets = append(m.targets, target{in: &model.Instance{ID: "pod-d", Name: "pod-d"}, mark: control.Leaving{Mark: "m1"}})
		}
		w := &drainWait{m: m, drain: m.newDrain()}
		w.drain.Begin(workersWith(map[string][]int32{"pod-a": {1}, "pod-c": {2}}, "", 0))
		marked := control.State{Leaving: map[string]control.Leaving{"pod-c": {Mark: "m1"}}, Status: map[string]control.Status{"pod-c": {Marks: []string{"m1"}, Leaving: true}}}
		w.drain.Look(workersWith(map[string][]int32{"pod-a": {1}, "pod-c": {2}}, "pod-a", c.left), &marked, start)
		last := map[string][]int32{"pod-a": {1, 2}}
		if c.there {
			last["pod-c"] = nil
		}
		w.s = &steered{g: workersWith(last, "", 0)}
		w.state = control.State{Status: map[string]control.Status{"pod-c": c.said}}
		w.look = w.drain.Look(w.s.g, &w.state, start.Add(time.Second))
		res := report.ChangeResult{Leaving: &report.Leaving{}}
		w.fill(&res, time.Second)
		left := ""
		if res.Wait.Left != nil {
			left = *res.Wait.Left
		}
		if left != c.want || !slices.Equal(res.Wait.Cold, c.cold) {
			t.Errorf("%s: left %q, want %q; cold %v, want %v (met %v)", name, left, c.want, res.Wait.Cold, c.cold, res.Wait.Met)
		}
	}
}
