package assign

import (
	"slices"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
)

// statefulTopology has n stateful tasks, and stateless ones after them.
func statefulTopology(t testing.TB, n, stateless int) *Topology {
	t.Helper()
	top, err := NewTopology([]Subtopology{{ID: "0", Partitions: n, Stateful: true}, {ID: "1", Partitions: stateless}})
	if err != nil {
		t.Fatal(err)
	}
	return top
}

func claims(tasks ...Task) []LearnerTask {
	list := make([]LearnerTask, len(tasks))
	for i, t := range tasks {
		list[i] = LearnerTask{Task: t, Role: model.Active}
	}
	return list
}

func copies(role model.Role, lag int64, tasks ...Task) []LearnerTask {
	list := make([]LearnerTask, len(tasks))
	for i, t := range tasks {
		list[i] = LearnerTask{Task: t, Role: role, Lag: lag}
	}
	return list
}

func shareOf(t *testing.T, r LearnerResult, id string) LearnerShare {
	t.Helper()
	i := slices.IndexFunc(r.Instances, func(s LearnerShare) bool { return s.ID == id })
	if i < 0 {
		t.Fatalf("instance %q is not in the result", id)
	}
	return r.Instances[i]
}

func wantTasks(t *testing.T, what string, got []Task, want ...Task) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: tasks %v, want %v", what, got, want)
	}
}

// An instance that its members speak of differently leaves, and is expired, only
// when all say so.
func TestLearnerMembersOfOneInstance(t *testing.T) {
	worker := func(id string, tasks ...Task) []LearnerWorker {
		return []LearnerWorker{{ID: id, Generation: 1, Tasks: claims(tasks...)}}
	}
	group := func(leavingOnes, expiredOnes int) LearnerResult {
		in := LearnerInput{Settings: DefaultLearnerSettings(), Topology: statefulTopology(t, 3, 1)}
		in.Instances = []LearnerInstance{
			{ID: "a", Workers: worker("a/1", 0, 3)}, {ID: "b", Workers: worker("b/1", 2)}, {ID: "a", Workers: worker("a/2", 1)},
		}
		for i, n := range []int{0, 2} {
			in.Instances[n].Leaving, in.Instances[n].Expired = i < leavingOnes, i < expiredOnes
		}
		return Learner(in)
	}
	for _, c := range []struct{ leaving, expired, stays, active, learned int }{
		{leaving: 1, stays: 1, active: 3},
		{leaving: 2, active: 2, learned: 2}, // the stateless task is revoked and goes at once
		{leaving: 2, expired: 1, active: 2, learned: 2},
		{leaving: 2, expired: 2},
	} {
		r := group(c.leaving, c.expired)
		a, b := shareOf(t, r, "a"), shareOf(t, r, "b")
		if a.Stays != (c.stays > 0) || len(a.Active) != c.active || len(b.Learner) != c.learned || len(a.Workers) != 2 {
			t.Errorf("%+v: a %+v, b %+v", c, a, b)
		}
	}
}

func TestLearnerNobody(t *testing.T) {
	in := LearnerInput{Settings: DefaultLearnerSettings(), Topology: statefulTopology(t, 2, 0)}
	if r := Learner(in); len(r.Instances) != 0 || len(r.Unassigned) != 2 || r.MarksVoid {
		t.Errorf("without instances: %+v", r)
	}
	in.Instances = []LearnerInstance{{ID: "no workers"}, {ID: "a", Leaving: true, Expired: true, Workers: []LearnerWorker{{ID: "1", Tasks: claims(0)}}}}
	r := Learner(in)
	if len(r.Instances) != 1 || !r.MarksVoid {
		t.Errorf("all expired: %+v", r)
	}
	wantTasks(t, "all expired, without owner", r.Unassigned, 0, 1)
	in.Instances[1].Leaving = false // so expired does not count
	in.Instances[1].Workers[0].Tasks = append(claims(-1, 99, 1), LearnerTask{Task: 0, Role: model.Standby, Lag: LearnerLagUnknown})
	wantTasks(t, "with tasks that nobody knows", shareOf(t, Learner(in), "a").Active, 0, 1)
}

// A switch that is out of time, or whose instances are all back, waits no longer.
func TestLearnerSwitchEnds(t *testing.T) {
	in := LearnerInput{Settings: DefaultLearnerSettings(), Topology: statefulTopology(t, 3, 0)}
	in.Instances = []LearnerInstance{{ID: "a", Workers: []LearnerWorker{{
		ID: "1", Generation: 9, Carried: true, LastInstances: 2, SwitchOpen: true,
		Tasks: append(claims(0), copies(model.Learner, 50000, 2)...),
	}}}}
	r := Learner(in)
	if !r.SwitchWaiting || !r.AnotherRound {
		t.Errorf("one of two is back: %+v", r)
	}
	wantTasks(t, "without owner while it waits", r.Unassigned, 1, 2)
	wantTasks(t, "a learner whose owner is not back goes on", shareOf(t, r, "a").Learner, 2)

	late := in
	late.Instances = slices.Clone(in.Instances)
	w := in.Instances[0].Workers[0]
	w.SwitchOpen = false
	late.Instances[0].Workers = []LearnerWorker{w}
	if r = Learner(late); r.SwitchWaiting || r.AnotherRound || len(r.Unassigned) > 0 {
		t.Errorf("out of time: %+v", r)
	}
	// A claim of the present group counts before a carried one of any generation.
	in.Instances = append(in.Instances, LearnerInstance{ID: "b", Workers: []LearnerWorker{{ID: "2", Generation: 1, Tasks: claims(0)}}})
	r = Learner(in)
	if r.SwitchWaiting || !slices.Contains(shareOf(t, r, "b").Active, 0) {
		t.Errorf("all are back: %+v", r)
	}
	// Of carried ones the higher epoch counts before the generation.
	in.Instances[1].Workers[0] = LearnerWorker{ID: "2", Generation: 1, Carried: true, Epoch: 1, Tasks: claims(0)}
	if r = Learner(in); !slices.Contains(shareOf(t, r, "b").Active, 0) {
		t.Errorf("the higher epoch: %+v", r)
	}
}

// Inside an instance: shares, what stays, and where new tasks go.
func TestLearnerInside(t *testing.T) {
	tasks := func(w LearnerWorkerShare, role model.Role) (list []Task) {
		for _, a := range w.Tasks {
			if a.Role == role {
				list = append(list, a.Task)
			}
		}
		return list
	}
	in := LearnerInput{Settings: LearnerSettings{Factor: 1000, Standbys: 1}, Topology: statefulTopology(t, 12, 0)}
	in.Instances = []LearnerInstance{
		{ID: "a", Workers: []LearnerWorker{
			{ID: "3", Tasks: claims(9, 8, 7, 6)}, // has most, so it has the larger share; 9 is over it
			{ID: "1", Tasks: copies(model.Standby, 0, 0, 1)},
			{ID: "2", Tasks: claims(5)},
		}},
		{ID: "b", Workers: []LearnerWorker{{ID: "4", Tasks: claims(0, 1, 2)}, {ID: "5", Tasks: claims(3, 4)}, {ID: "6", Tasks: claims(10, 11)}}},
	}
	r := Learner(in)
	a := shareOf(t, r, "a")
	wantTasks(t, "a", a.Active, 5, 6, 7, 8, 9)
	wantTasks(t, "worker 1", tasks(a.Workers[0], model.Active), 8, 9) // the rest goes to whoever has the fewest
	wantTasks(t, "worker 2", tasks(a.Workers[1], model.Active), 5)
	wantTasks(t, "worker 3", tasks(a.Workers[2], model.Active), 6, 7)
	// b has one too many. Its task 0 has a copy on a, which becomes the learner
	// where it is, as does the standby of 1.
	wantTasks(t, "a learns", a.Learner, 0)
	wantTasks(t, "worker 1 learns", tasks(a.Workers[0], model.Learner), 0)
	if at := slices.Index(tasks(a.Workers[0], model.Standby), 1); at < 0 {
		t.Errorf("worker 1 stands by for %v", tasks(a.Workers[0], model.Standby))
	}
	least, most := 100, 0
	for _, w := range a.Workers {
		least, most = min(least, len(w.Tasks)), max(most, len(w.Tasks))
	}
	if most-least > 1 {
		t.Errorf("new standbys went past the worker with the fewest tasks: %+v", a.Workers)
	}
}

// The reason of a learner is that of this round.
func TestLearnerReason(t *testing.T) {
	in := LearnerInput{Settings: DefaultLearnerSettings(), Topology: statefulTopology(t, 2, 0)}
	in.Instances = []LearnerInstance{
		{ID: "a", Workers: []LearnerWorker{{ID: "1", Tasks: []LearnerTask{{Task: 0, Role: model.Active, BeingLearned: true}, {Task: 1, Role: model.Active}}}}},
		{ID: "b", Workers: []LearnerWorker{{ID: "2", Tasks: copies(model.Learner, LearnerLagUnknown, 0)}}},
	}
	for _, leaving := range []bool{false, true} {
		in.Instances[0].Leaving, in.Instances[0].RemainingMs = leaving, LearnerNoDeadline
		r := Learner(in)
		for _, x := range shareOf(t, r, "b").Workers[0].Tasks {
			if x.Role != model.Learner || x.Evacuation != leaving {
				t.Errorf("owner leaves %v: %+v", leaving, x)
			}
		}
		if !shareOf(t, r, "a").Workers[0].Tasks[0].BeingLearned {
			t.Errorf("owner leaves %v: its task is not tagged", leaving)
		}
	}
}
