package plan

import (
	"slices"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// learnerSim runs a group of our own protocol (stream-protocol.md): workers
// revoke what they must and join, the leader decides, learners restore, and a
// worker asks for the next round when they are ready.
type learnerSim struct {
	in   *Input
	o    *Options
	set  *settings
	top  *assign.Topology
	ends []int64
	rec  *recorder
	draw *drawer

	insts      []*learnerInst
	generation int64
	now        float64 // ms
	queue      []learnerEvent
	unready    bool // restore times are not known: learners were taken as ready
	missing    int  // standbys that found no instance, in the last round
}

// learnerEvent starts a round.
type learnerEvent struct {
	trigger string
	afterMs float64
	gone    []int32
	waitMs  float64
	waitWhy string
	join    *learnerInst // comes back before the round
}

type learnerInst struct {
	id, name   string
	party      int32
	leaving    bool
	expired    bool
	gone       bool
	deadlineMs float64 // by the plan's clock; negative: none
	workers    []*learnerWorker
}

type learnerWorker struct {
	id    string
	tasks map[assign.Task]*learnerTask
}

type learnerTask struct {
	role                  model.Role
	tagged, ready, gaveUp bool
	lag                   int64
}

func newLearnerSim(in *Input, o *Options, set *settings, rec *recorder, seed uint64) *learnerSim {
	s := &learnerSim{in: in, o: o, set: set, top: in.Topology, ends: in.ends(), rec: rec, draw: newDrawer(seed), generation: 1}
	for i := range in.Instances {
		s.takeOver(&in.Instances[i], int32(i))
	}
	learned := make(map[assign.Task]bool)
	s.each(func(_ *learnerInst, _ *learnerWorker, t assign.Task, x *learnerTask) {
		learned[t] = learned[t] || x.role == model.Learner
	})
	s.each(func(_ *learnerInst, _ *learnerWorker, t assign.Task, x *learnerTask) {
		x.tagged = x.role == model.Active && learned[t]
	})
	return s
}

func (s *learnerSim) takeOver(from *Instance, party int32) {
	i := &learnerInst{id: from.ID, name: from.Name, party: party, leaving: from.Leaving, deadlineMs: -1}
	if from.Leaving {
		if from.RemainingMs >= 0 {
			i.deadlineMs = float64(from.RemainingMs)
		}
	}
	for k := range from.Members {
		m := &from.Members[k]
		w := &learnerWorker{id: m.ID}
		w.tasks = make(map[assign.Task]*learnerTask, len(m.Active)+len(m.Standby)+len(m.Learner))
		var sums map[assign.Task]int64
		if len(m.Standby)+len(m.Learner) > 0 {
			sums = make(map[assign.Task]int64, len(m.Reported))
		}
		for _, r := range m.Reported {
			if sums != nil {
				sums[r.Task] = r.Sum
			}
			if s.in.Kind == model.Classic && r.Sum >= 0 && s.top.Stateful(r.Task) { // left over on disk
				w.tasks[r.Task] = &learnerTask{role: model.Standby, lag: max(0, s.ends[r.Task]-r.Sum)}
			}
		}
		copies := func(list []assign.Task, role model.Role) {
			for _, t := range list {
				x := &learnerTask{role: role, lag: s.ends[t]}
				if sum, ok := sums[t]; ok && sum >= 0 {
					x.lag = max(0, s.ends[t]-sum)
				} else if s.in.Kind != model.Worker && role == model.Standby && s.in.Settled {
					x.lag = 0
				}
				x.ready = role == model.Learner && x.lag <= s.set.AcceptableLag
				w.tasks[t] = x
			}
		}
		copies(m.Standby, model.Standby)
		copies(m.Learner, model.Learner)
		slab := make([]learnerTask, len(m.Active))
		for n, t := range m.Active {
			slab[n].role = model.Active
			w.tasks[t] = &slab[n]
		}
		i.workers = append(i.workers, w)
	}
	s.insts = append(s.insts, i)
}

func (s *learnerSim) each(f func(*learnerInst, *learnerWorker, assign.Task, *learnerTask)) {
	for _, i := range s.insts {
		if i.gone {
			continue
		}
		for _, w := range i.workers {
			for t, x := range w.tasks {
				f(i, w, t, x)
			}
		}
	}
}

// round does the next rebalance: what was asked for, else the one that ready
// learners ask for.
func (s *learnerSim) round() (bool, error) {
	if len(s.queue) == 0 && !s.wait() {
		return false, nil
	}
	e := s.queue[0]
	s.queue = s.queue[1:]
	s.restore(e.afterMs)
	if e.join != nil {
		s.insts = append(s.insts, e.join)
	}
	res := assign.Learner(s.input())
	s.generation++
	before := make(map[int32]map[assign.Task]*learnerTask, len(s.insts))
	drained := s.apply(&res, before)
	s.rec.add(step{trigger: e.trigger, atMs: s.now, outcome: s.outcome(&res), had: s.had(before), gone: e.gone, waitMs: e.waitMs, waitWhy: e.waitWhy})
	s.missing = res.MissingStandbys
	s.follow(&res, drained)
	return true, nil
}

// follow queues what must come next: a release is followed at once, so is the
// departure of an instance that owns nothing any more.
func (s *learnerSim) follow(res *assign.LearnerResult, drained []*learnerInst) {
	var gone []int32
	trigger := ""
	for _, i := range drained {
		i.gone = true
		gone = append(gone, i.party)
		if trigger != "" {
			trigger += ", "
		}
		trigger += i.name + " is drained and leaves"
	}
	switch {
	case len(gone) > 0:
		s.queue = append([]learnerEvent{{trigger: trigger, gone: gone, afterMs: float64(s.set.heartbeatMs)}}, s.queue...)
	case res.AnotherRound:
		s.queue = append([]learnerEvent{{trigger: TriggerHandOver}}, s.queue...)
	}
}

// input is what the members say when they join, after they gave up what they
// must.
func (s *learnerSim) input() assign.LearnerInput {
	in := assign.LearnerInput{Topology: s.top, Settings: assign.LearnerSettings{
		Factor: model.FactorThousandths(s.set.factor), MaxLearners: s.set.maxLearners, Standbys: s.set.Standbys, AcceptableLag: s.set.AcceptableLag,
	}}
	var keys []assign.Task
	for _, i := range s.insts {
		if i.gone {
			continue
		}
		out := assign.LearnerInstance{ID: i.id, Leaving: i.leaving, Expired: i.expired, RemainingMs: assign.LearnerNoDeadline}
		if i.leaving && i.deadlineMs >= 0 {
			out.RemainingMs = int64(max(0, i.deadlineMs-s.now))
		}
		for _, w := range i.workers {
			lw := assign.LearnerWorker{ID: w.id, Generation: s.generation}
			lw.Tasks = make([]assign.LearnerTask, 0, len(w.tasks))
			keys = keys[:0]
			for t := range w.tasks {
				keys = append(keys, t)
			}
			slices.Sort(keys) // no order matters to the assignor, but it sorts them
			for _, t := range keys {
				x := w.tasks[t]
				if x.gaveUp {
					delete(w.tasks, t)
					continue
				}
				lw.Tasks = append(lw.Tasks, assign.LearnerTask{Task: t, Role: x.role, BeingLearned: x.tagged, Ready: x.ready, Lag: x.lag})
			}
			out.Workers = append(out.Workers, lw)
		}
		in.Instances = append(in.Instances, out)
	}
	return in
}

// had tells how far each instance's copy of a task was before the round.
func (s *learnerSim) had(before map[int32]map[assign.Task]*learnerTask) func(int32, assign.Task) (int64, bool) {
	return func(party int32, t assign.Task) (int64, bool) {
		x, ok := before[party][t]
		if !ok {
			return 0, false
		}
		return s.ends[t] - x.lag, true
	}
}

// finish says what is left.
func (s *learnerSim) finish(bounded bool) error {
	if s.missing > 0 {
		s.rec.note(NoteStandbys, "%s find no instance: there are fewer instances than copies wanted", count(s.missing, "standby"))
	}
	if s.unready && s.rec.totals.Learners > 0 {
		s.rec.note(NoteAssumed, "without a restore rate all learners are taken as ready together; give --restore-rate for times")
	}
	if bounded {
		s.rec.note(NoteUnfinished, "no fixed point after %s", count(s.rec.totals.Rounds, "round"))
	}
	return nil
}
