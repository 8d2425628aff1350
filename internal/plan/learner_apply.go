package plan

import (
	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// apply hands the round to the workers and keeps what each instance had before.
// It returns the leaving instances that own nothing any more.
func (s *learnerSim) apply(res *assign.LearnerResult, before map[int32]map[assign.Task]*learnerTask) (drained []*learnerInst) {
	by := make(map[string]*learnerInst, len(s.insts))
	for _, i := range s.insts {
		if !i.gone {
			by[i.id] = i
		}
	}
	for _, share := range res.Instances {
		i := by[share.ID]
		had := i.best()
		before[i.party] = had
		workers := make(map[string]*learnerWorker, len(i.workers))
		for _, w := range i.workers {
			workers[w.id] = w
		}
		for _, ws := range share.Workers {
			w := workers[ws.ID]
			w.tasks = make(map[assign.Task]*learnerTask, len(ws.Tasks))
			slab := make([]learnerTask, len(ws.Tasks))
			for n := range ws.Tasks {
				a := &ws.Tasks[n]
				slab[n] = s.given(a, had[a.Task])
				w.tasks[a.Task] = &slab[n]
			}
		}
		if i.leaving && len(share.Active) == 0 {
			drained = append(drained, i)
		}
	}
	return drained
}

// best is the strongest thing that an instance has of each task.
func (i *learnerInst) best() map[assign.Task]*learnerTask {
	if len(i.workers) == 1 {
		return i.workers[0].tasks
	}
	n := 0
	for _, w := range i.workers {
		n += len(w.tasks)
	}
	out := make(map[assign.Task]*learnerTask, n)
	for _, w := range i.workers {
		for t, x := range w.tasks {
			if y := out[t]; y == nil || strength(x.role) > strength(y.role) {
				out[t] = x
			}
		}
	}
	return out
}

func strength(r model.Role) int {
	switch r {
	case model.Active:
		return 2
	case model.Learner:
		return 1
	}
	return 0
}

// given is a task as a worker has it after the round. An active that has to be
// restored runs once it is; its instance is its owner from now on.
func (s *learnerSim) given(a *assign.LearnerAssigned, old *learnerTask) learnerTask {
	x := learnerTask{role: a.Role, tagged: a.BeingLearned, gaveUp: a.Release, lag: s.ends[a.Task]}
	if old != nil {
		x.lag = old.lag
		x.ready = a.Role == model.Learner && old.role == model.Learner && old.ready
	}
	if a.Role == model.Learner && x.lag <= s.set.AcceptableLag {
		x.ready = true
	}
	if a.Role == model.Active {
		x.lag = 0
	}
	return x
}

func (s *learnerSim) outcome(res *assign.LearnerResult) []outcome {
	out := make([]outcome, len(s.rec.parties))
	by := make(map[string]int32, len(s.insts))
	for _, i := range s.insts {
		if !i.gone || i.leaving {
			by[i.id] = i.party
		}
	}
	for _, share := range res.Instances {
		out[by[share.ID]] = outcome{active: sorted(share.Active), standby: sorted(share.Standby), learner: sorted(share.Learner)}
	}
	return out
}
