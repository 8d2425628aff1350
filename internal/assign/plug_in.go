package assign

import (
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

// PlugInBefore is what a leader knows of the round before (docs/protocol/plug-in.md,
// Learners of the round before).
type PlugInBefore struct {
	Leaving  []string // instances that were under a mark
	Learners []PlugInLearner
}

// PlugInLearner is a learner that a round left running.
type PlugInLearner struct {
	Task      Task
	By, Owner string // instances
}

// PlugIn computes the target of one round of a Kafka Streams app with our
// assignor: the rules of the learner played on until nothing is left that needs
// no restoring (docs/protocol/plug-in.md, The target of a round). Of the workers
// only their number counts: Streams spreads the tasks of a process itself. Roles
// other than claims are copies; tags and generations are none. before is nil
// where nothing is known of the round before.
func PlugIn(in LearnerInput, before *PlugInBefore) LearnerResult {
	p := newPlugInRound(in, before)
	// Each further round makes an active of a learner at least, or gives a
	// stateless task to another.
	for left := 2*len(p.stateful) + 2; ; left-- {
		r := p.round(0) // what has caught up takes over however many there are
		if p.take(&r, false) && left > 0 {
			continue
		}
		r = p.round(in.Settings.MaxLearners)
		if !p.take(&r, true) || left <= 0 {
			return r
		}
	}
}

type plugInRound struct {
	in       LearnerInput
	stateful []bool
	held     []map[Task]LearnerTask // by instance of in
}

func newPlugInRound(in LearnerInput, before *PlugInBefore) *plugInRound {
	p := &plugInRound{in: in, stateful: statefulTasks(in.Topology)}
	p.in.Instances = slices.Clone(in.Instances)
	slices.SortFunc(p.in.Instances, byInstanceID)
	if !slices.ContainsFunc(p.in.Instances, func(i LearnerInstance) bool { return !i.Leaving || !i.Expired }) {
		// A process cannot end itself: when the time of all is up, the work goes on.
		for i := range p.in.Instances {
			p.in.Instances[i].Leaving = false
		}
	}
	p.held = make([]map[Task]LearnerTask, len(p.in.Instances))
	for i := range p.in.Instances {
		p.held[i] = p.gather(&p.in.Instances[i])
	}
	if before != nil {
		for _, l := range before.Learners {
			p.goOn(before, in.Instances, l)
		}
	}
	return p
}

func byInstanceID(a, b LearnerInstance) int {
	switch {
	case a.ID < b.ID:
		return -1
	case a.ID > b.ID:
		return 1
	}
	return 0
}

// gather brings together what the members of an instance say.
func (p *plugInRound) gather(in *LearnerInstance) map[Task]LearnerTask {
	held := make(map[Task]LearnerTask)
	for _, w := range in.Workers {
		for _, t := range w.Tasks {
			if t.Task < 0 || int(t.Task) >= len(p.stateful) {
				continue
			}
			have, had := held[t.Task]
			switch {
			case t.Role == model.Active:
				held[t.Task] = LearnerTask{Task: t.Task, Role: model.Active, Lag: t.Lag}
			case p.stateful[t.Task] && (!had || have.Role != model.Active && (have.Lag < 0 || t.Lag >= 0 && t.Lag < have.Lag)):
				held[t.Task] = LearnerTask{Task: t.Task, Role: model.Standby, Lag: t.Lag}
			}
		}
	}
	return held
}

func (p *plugInRound) find(id string) int {
	return slices.IndexFunc(p.in.Instances, func(i LearnerInstance) bool { return i.ID == id })
}

// goOn lets a learner go on while its process has the copy, and its owner has
// the task and was not unmarked.
func (p *plugInRound) goOn(before *PlugInBefore, marks []LearnerInstance, l PlugInLearner) {
	by, owner := p.find(l.By), p.find(l.Owner)
	if by < 0 || owner < 0 || by == owner || l.Task < 0 || int(l.Task) >= len(p.stateful) || !p.stateful[l.Task] {
		return
	}
	copyOf, has := p.held[by][l.Task]
	claim, owns := p.held[owner][l.Task]
	if !has || copyOf.Role == model.Active || !owns || claim.Role != model.Active {
		return
	}
	leaves := slices.ContainsFunc(marks, func(i LearnerInstance) bool { return i.ID == l.Owner && i.Leaving })
	if slices.Contains(before.Leaving, l.Owner) && !leaves {
		return
	}
	p.held[by][l.Task] = p.learning(l.Task, copyOf.Lag)
	claim.BeingLearned, claim.Lag = true, 0
	p.held[owner][l.Task] = claim
}

func (p *plugInRound) caughtUp(lag int64) bool { return lag >= 0 && lag <= p.in.Settings.AcceptableLag }

func (p *plugInRound) learning(t Task, lag int64) LearnerTask {
	return LearnerTask{Task: t, Role: model.Learner, Ready: p.caughtUp(lag), Lag: lag}
}

// round decides by the rules, from the state so far.
func (p *plugInRound) round(maxLearners int) LearnerResult {
	in := p.in
	in.Settings.MaxLearners = maxLearners
	in.Instances = slices.Clone(p.in.Instances)
	for i := range in.Instances {
		workers := make([]LearnerWorker, len(in.Instances[i].Workers))
		for w := range workers {
			workers[w].ID = in.Instances[i].Workers[w].ID
		}
		for _, t := range p.held[i] {
			workers[0].Tasks = append(workers[0].Tasks, t)
		}
		in.Instances[i].Workers = workers
	}
	return Learner(in)
}

// take takes a result as the state from which the next round starts, without the
// learners that it started and that have not caught up, unless they are wanted
// too; false, and it takes nothing, when no task goes to another at once.
func (p *plugInRound) take(r *LearnerResult, started bool) bool {
	learned, more := make(map[Task]bool), false
	for i := range r.Instances {
		more = more || len(r.Instances[i].Release) > 0
		for _, t := range r.Instances[i].Learner {
			h, has := p.held[i][t]
			ready := has && p.caughtUp(h.Lag)
			more = more || ready
			if started || ready || has && h.Role == model.Learner {
				learned[t] = true
			}
		}
	}
	for i := 0; more && i < len(r.Instances); i++ {
		p.held[i] = p.after(&r.Instances[i], p.held[i], learned)
	}
	return more
}

// after is what an instance has after a round.
func (p *plugInRound) after(s *LearnerShare, had map[Task]LearnerTask, learned map[Task]bool) map[Task]LearnerTask {
	held := make(map[Task]LearnerTask, len(had))
	for t, x := range had {
		if p.stateful[t] {
			held[t] = LearnerTask{Task: t, Role: model.Standby, Lag: x.Lag}
		}
	}
	for _, t := range s.Active {
		if !slices.Contains(s.Release, t) {
			held[t] = LearnerTask{Task: t, Role: model.Active, BeingLearned: learned[t]}
		}
	}
	for _, t := range s.Learner {
		if !learned[t] {
			continue
		}
		lag := LearnerLagUnknown
		if x, has := held[t]; has {
			lag = x.Lag
		}
		held[t] = p.learning(t, lag)
	}
	return held
}
