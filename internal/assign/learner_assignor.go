package assign

import (
	"fmt"

	"github.com/streamctl/streamctl/internal/model"
)

// NameLearner is the assignor of our own protocol (stream-protocol.md).
const NameLearner = "learner"

// LearnerAssignor is learner behind the interface of all assignors, for a group
// where nobody leaves and no switch is under way. A member's Active are its
// claims, Warmup its learners, Standby its copies, Offsets how far they are; a
// task that someone learns was tagged so in the round before. What the whole
// protocol knows goes into Learner.
type LearnerAssignor struct {
	Factor      int64 // as in LearnerSettings; 0: the default
	MaxLearners int   // as in LearnerSettings
}

// Name is NameLearner.
func (LearnerAssignor) Name() string { return NameLearner }

// Assign computes one round. A stateless task to be released is not among those
// its member is told any more, and the member joins again at once.
func (a LearnerAssignor) Assign(g *Group) (*Result, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(g.Processes))
	for _, p := range g.Processes {
		if seen[p.ID] {
			return nil, fmt.Errorf("process %q is there twice", p.ID)
		}
		seen[p.ID] = true
	}
	in := a.input(g)
	out := Learner(in)
	return learnerResult(g, &out), nil
}

func (a LearnerAssignor) input(g *Group) LearnerInput {
	in := LearnerInput{Topology: g.Topology, Settings: DefaultLearnerSettings(), Instances: make([]LearnerInstance, len(g.Processes))}
	in.Settings.Standbys, in.Settings.AcceptableLag, in.Settings.MaxLearners = g.Settings.Standbys, g.Settings.AcceptableLag, a.MaxLearners
	if a.Factor > 0 {
		in.Settings.Factor = a.Factor
	}
	for i, p := range g.Processes {
		in.Instances[i] = LearnerInstance{ID: p.ID, RemainingMs: LearnerNoDeadline}
	}
	learned := make(map[Task]bool)
	for k := range g.Members {
		for _, t := range g.Members[k].Warmup {
			learned[t] = true
		}
	}
	for k := range g.Members {
		m := &g.Members[k]
		in.Instances[m.Process].Workers = append(in.Instances[m.Process].Workers, g.worker(m, learned))
	}
	return in
}

// worker is what a member says of its tasks, each once: a claim before a
// learner, that before a copy.
func (g *Group) worker(m *Member, learned map[Task]bool) LearnerWorker {
	w := LearnerWorker{ID: m.ID, Generation: 1}
	lag := make(map[Task]int64, len(m.Offsets))
	for _, o := range m.Offsets {
		sub := g.Topology.subtopology(o.Task)
		at := int(o.Task - g.Topology.first[sub])
		switch ends := g.Topology.subs[sub].EndOffsets; {
		case o.Sum == SumRunning:
			lag[o.Task] = 0
		case o.Sum >= 0 && at < len(ends):
			lag[o.Task] = max(0, ends[at]-o.Sum)
		}
	}
	said := make(map[Task]bool, len(m.Active)+len(m.Standby)+len(m.Warmup))
	say := func(list []Task, role model.Role) {
		for _, t := range list {
			if said[t] || role != model.Active && !g.Topology.Stateful(t) {
				continue
			}
			said[t] = true
			n, known := lag[t]
			if !known {
				n = LearnerLagUnknown
			}
			w.Tasks = append(w.Tasks, LearnerTask{
				Task: t, Role: role, Lag: n, BeingLearned: role == model.Active && learned[t],
				Ready: role == model.Learner && known && n <= g.Settings.AcceptableLag,
			})
		}
	}
	say(m.Active, model.Active)
	say(m.Warmup, model.Learner)
	say(m.Standby, model.Standby)
	return w
}

func learnerResult(g *Group, out *LearnerResult) *Result {
	r := &Result{Processes: make([]ProcessResult, len(g.Processes)), Members: make([]MemberResult, len(g.Members)), Stable: !out.AnotherRound}
	process := make(map[string]int, len(g.Processes))
	for i, p := range g.Processes {
		process[p.ID] = i
	}
	type key struct {
		process int
		id      string
	}
	member := make(map[key]int, len(g.Members))
	for k, m := range g.Members {
		member[key{m.Process, m.ID}] = k
	}
	for _, share := range out.Instances {
		i := process[share.ID]
		p := &r.Processes[i]
		p.Active, p.Warmup = share.Active, share.Learner
		p.Standby = merged(share.Standby, share.Learner)
		r.Stable = r.Stable && len(share.Learner) == 0
		for _, w := range share.Workers {
			m := &r.Members[member[key{i, w.ID}]]
			for _, t := range w.Tasks {
				switch {
				case t.Release:
					m.Next = NextNow
				case t.Role == model.Active:
					m.Active = append(m.Active, t.Task)
				case t.Role == model.Learner:
					m.Warmup = append(m.Warmup, t.Task)
					m.Standby = append(m.Standby, t.Task)
				default:
					m.Standby = append(m.Standby, t.Task)
				}
			}
		}
	}
	return r
}
