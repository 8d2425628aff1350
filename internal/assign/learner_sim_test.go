package assign

import (
	"maps"
	"slices"
	"strconv"

	"github.com/streamctl/streamctl/internal/model"
)

// learnerSim is a group that lives by the rules of stream-protocol.md: its
// workers revoke what they must, join, get their assignment or miss it, and go
// on. It has no clock: whoever uses it says what happens between two rounds.
type learnerSim struct {
	set   LearnerSettings
	top   *Topology
	size  []int64 // by task: records that a cold copy must restore
	insts []*simInstance
	away  []*simInstance // still on their way back after a mode switch
	round int64
	epoch int64
	last  LearnerResult
	moves int // changes of owner, of tasks that had one
	owner map[Task]string
}

type simInstance struct {
	id               string
	leaving, expired bool
	remainingMs      int64
	workers          []*simWorker
}

type simWorker struct {
	LearnerWorker
	tasks  map[Task]*simTask
	misses bool // the next assignment does not reach it
}

type simTask struct {
	LearnerTask
	open    bool // it processes the task
	release bool
}

func newLearnerSim(set LearnerSettings, top *Topology, size int64) *learnerSim {
	s := &learnerSim{set: set, top: top, size: make([]int64, top.Len()), owner: map[Task]string{}}
	for t := range s.size {
		s.size[t] = size
	}
	return s
}

func (s *learnerSim) find(id string) *simInstance {
	for _, in := range s.insts {
		if in.id == id {
			return in
		}
	}
	return nil
}

// join lets a new instance come, without tasks.
func (s *learnerSim) join(id string, workers int) *simInstance {
	in := &simInstance{id: id, remainingMs: LearnerNoDeadline}
	for w := range workers {
		in.workers = append(in.workers, &simWorker{LearnerWorker: LearnerWorker{ID: id + "/" + strconv.Itoa(w+1)}, tasks: map[Task]*simTask{}})
	}
	s.insts = append(s.insts, in)
	return in
}

// own makes a task the worker's, as if it had got it in a round before.
func (w *simWorker) own(t Task) {
	w.tasks[t] = &simTask{LearnerTask: LearnerTask{Task: t, Role: model.Active}, open: true}
}

// crash takes an instance out of the group, as does a shut-down.
func (s *learnerSim) crash(in *simInstance) {
	s.insts = slices.DeleteFunc(s.insts, func(x *simInstance) bool { return x == in })
}

// restart lets a crashed instance come back with the state it had on disk.
func (s *learnerSim) restart(old *simInstance) {
	in := s.join(old.id, len(old.workers))
	for _, w := range old.workers {
		for t, has := range w.tasks {
			if s.top.Stateful(t) {
				in.workers[0].tasks[t] = &simTask{LearnerTask: LearnerTask{Task: t, Role: model.Standby, Lag: has.Lag}}
			}
		}
	}
}

// fence makes an instance lose its membership: it stops its actives first and
// joins again with copies only.
func (s *learnerSim) fence(in *simInstance) { s.crash(in); s.restart(in) }

func (in *simInstance) unmark() {
	in.leaving, in.expired, in.remainingMs = false, false, LearnerNoDeadline
	for _, w := range in.workers {
		for _, t := range w.tasks {
			t.BeingLearned = false
		}
	}
}

// unready lists the learners that are not ready, by instance and task.
func (s *learnerSim) unready() []*simTask {
	var list []*simTask
	for _, in := range s.insts {
		for _, w := range in.workers {
			for _, t := range slices.Sorted(maps.Keys(w.tasks)) {
				if x := w.tasks[t]; x.Role == model.Learner && !x.Ready {
					list = append(list, x)
				}
			}
		}
	}
	return list
}

func (t *simTask) finish() { t.Ready, t.Lag = true, 0 }

// input is what the members say when they join, after they revoked what they
// must.
func (s *learnerSim) input() LearnerInput {
	in := LearnerInput{Settings: s.set, Topology: s.top}
	for _, i := range s.insts {
		li := LearnerInstance{ID: i.id, Leaving: i.leaving, Expired: i.expired, RemainingMs: i.remainingMs}
		for _, w := range i.workers {
			lw := w.LearnerWorker
			for _, t := range slices.Sorted(maps.Keys(w.tasks)) {
				x := w.tasks[t]
				if x.release {
					delete(w.tasks, t)
					continue
				}
				if x.BeingLearned || i.expired || i.leaving && !s.top.Stateful(t) {
					x.open = false
				}
				lw.Tasks = append(lw.Tasks, x.LearnerTask)
			}
			li.Workers = append(li.Workers, lw)
		}
		in.Instances = append(in.Instances, li)
	}
	return in
}

// rebalance is one round: all join, the leader decides, who does not miss it
// goes by what it is told, and a leaving instance without actives shuts down.
func (s *learnerSim) rebalance() (LearnerInput, LearnerResult) {
	in := s.input()
	s.round++
	s.last = Learner(in)
	for _, share := range s.last.Instances {
		i := s.find(share.ID)
		had, reached := i.has(), true
		for n, ws := range share.Workers {
			w := i.workers[n]
			reached = reached && !w.misses
			if !w.misses {
				s.apply(w, ws, had, &s.last)
			}
			w.misses = false
		}
		if i.leaving && reached && len(share.Active) == 0 {
			s.crash(i)
		}
		for _, t := range share.Active {
			if before, had := s.owner[t]; had && before != share.ID {
				s.moves++
			}
			s.owner[t] = share.ID
		}
	}
	return in, s.last
}

// has gives the lag of every task that the instance has state of.
func (in *simInstance) has() map[Task]*simTask {
	has := map[Task]*simTask{}
	for _, w := range in.workers {
		for t, x := range w.tasks {
			if y := has[t]; y == nil || x.Role == model.Active || y.Role != model.Active && x.Role == model.Learner {
				has[t] = x
			}
		}
	}
	return has
}

func (s *learnerSim) apply(w *simWorker, share LearnerWorkerShare, had map[Task]*simTask, r *LearnerResult) {
	w.Generation, w.Epoch, w.Carried = s.round, s.epoch, false
	if !r.SwitchWaiting {
		w.LastInstances, w.SwitchOpen = len(r.Instances), false
	}
	w.tasks = map[Task]*simTask{}
	for _, a := range share.Tasks {
		x := &simTask{LearnerTask: LearnerTask{Task: a.Task, Role: a.Role, Lag: s.size[a.Task], BeingLearned: a.BeingLearned}, release: a.Release}
		if old := had[a.Task]; old != nil {
			x.Lag = old.Lag
			x.Ready = a.Role == model.Learner && old.Role == model.Learner && old.Ready
		}
		if a.Role == model.Active {
			x.Lag, x.open = 0, true
		}
		w.tasks[a.Task] = x
	}
}

// open gives by task the instances that process it.
func (s *learnerSim) open() map[Task][]string {
	open := map[Task][]string{}
	for _, in := range s.insts {
		for _, w := range in.workers {
			for t, x := range w.tasks {
				if x.open && !slices.Contains(open[t], in.id) {
					open[t] = append(open[t], in.id)
				}
			}
		}
	}
	return open
}

// leaveForSwitch makes all instances leave for a mode switch: all closed, and
// with their roles and tags on the way back.
func (s *learnerSim) leaveForSwitch() {
	s.epoch++
	for _, in := range s.insts {
		for _, w := range in.workers {
			w.Carried, w.SwitchOpen, w.LastInstances = true, true, len(s.insts)
			for _, t := range w.tasks {
				t.open = false
			}
		}
	}
	s.away, s.insts = s.insts, nil
}
