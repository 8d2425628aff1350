package assign

import "github.com/streamctl/streamctl/internal/model"

// PlugInMark is the leaving mark of a process, as the leader of a round sees it.
type PlugInMark struct {
	Expired     bool
	RemainingMs int64 // LearnerNoDeadline: as long as it takes
}

// PlugInGroup is a Kafka Streams app with our assignor, down to its members.
type PlugInGroup struct {
	Group                        // Settings.MaxWarmups bounds the learners that restore
	Factor int64                 // balancing factor r in thousandths
	Marks  map[string]PlugInMark // by process id
	Before *PlugInBefore         // nil: nothing is known of the round before
}

// PlugInTold is what came of a round.
type PlugInTold struct {
	Result      *Result       // what processes and members get; Probing: a follow-up is asked for on the leader's process
	Target      LearnerResult // as it was decided
	Before      *PlugInBefore // what the next round has to know of this one
	LagsUnknown bool          // some lag was unknown, so a follow-up is asked for
}

// PlugInMembers computes one round of such an app: the target, spread over the
// threads, with the tasks that another thread must give up first withheld
// (docs/protocol/plug-in.md).
func PlugInMembers(g *PlugInGroup) (*PlugInTold, error) {
	h, err := newHA(&g.Group)
	if err != nil {
		return nil, err
	}
	in, unknown := h.plugInInput(g)
	told := &PlugInTold{Target: PlugIn(in, g.Before), Before: &PlugInBefore{}, LagsUnknown: unknown}
	res := &Result{Processes: make([]ProcessResult, len(g.Processes)), Members: make([]MemberResult, len(g.Members)), Probing: unknown}
	owner := make(map[Task]string)
	for _, s := range told.Target.Instances {
		for _, t := range s.Active {
			owner[t] = s.ID
		}
	}
	shares := make(map[string]*LearnerShare, len(told.Target.Instances))
	for i := range told.Target.Instances {
		s := &told.Target.Instances[i]
		shares[s.ID] = s
		for _, t := range s.Learner {
			res.Probing = true
			told.Before.Learners = append(told.Before.Learners, PlugInLearner{Task: t, By: s.ID, Owner: owner[t]})
		}
	}
	for _, c := range h.clients {
		id := g.Processes[c.process].ID
		if _, marked := g.Marks[id]; marked {
			told.Before.Leaving = append(told.Before.Leaving, id)
		}
		if s := shares[id]; s != nil {
			res.Processes[c.process] = ProcessResult{Active: s.Active, Standby: merged(s.Standby, s.Learner), Warmup: s.Learner}
		}
	}
	h.handOut(res)
	told.Result = res
	return told, nil
}

// plugInInput is what the members say of themselves (docs/protocol/plug-in.md,
// What the members say); unknown: some lag is.
func (h *ha) plugInInput(g *PlugInGroup) (in LearnerInput, unknown bool) {
	in = LearnerInput{Topology: g.Topology, Settings: LearnerSettings{
		Factor: g.Factor, MaxLearners: g.Settings.MaxWarmups, Standbys: g.Settings.Standbys, AcceptableLag: g.Settings.AcceptableLag,
	}}
	at := make([]int, len(g.Processes))
	for i, p := range g.Processes {
		at[i] = -1
		if h.client[i] < 0 {
			continue
		}
		inst := LearnerInstance{ID: p.ID, RemainingMs: LearnerNoDeadline}
		if m, marked := g.Marks[p.ID]; marked {
			inst.Leaving, inst.Expired, inst.RemainingMs = true, m.Expired, m.RemainingMs
		}
		at[i] = len(in.Instances)
		in.Instances = append(in.Instances, inst)
	}
	for i := range g.Members {
		m := &g.Members[i]
		w := LearnerWorker{ID: m.ID}
		for _, t := range m.Owned {
			w.Tasks = append(w.Tasks, LearnerTask{Task: t, Role: model.Active, Lag: h.claimed(m, t)})
		}
		for _, o := range m.Offsets {
			lag := lagOf(o.Sum, h.end[o.Task])
			switch {
			case o.Sum == SumRunning:
				w.Tasks = append(w.Tasks, LearnerTask{Task: o.Task, Role: model.Active})
			case h.stateful[o.Task]:
				unknown = unknown || lag < 0
				w.Tasks = append(w.Tasks, LearnerTask{Task: o.Task, Role: model.Standby, Lag: max(lag, LearnerLagUnknown)})
			}
		}
		in.Instances[at[m.Process]].Workers = append(in.Instances[at[m.Process]].Workers, w)
	}
	return in, unknown
}

// claimed is how far behind a member is with a task that it owned: 0 when it
// ran.
func (h *ha) claimed(m *Member, t Task) int64 {
	for _, o := range m.Offsets {
		if o.Task == t && o.Sum != SumRunning && h.stateful[t] {
			return max(lagOf(o.Sum, h.end[t]), LearnerLagUnknown)
		}
	}
	return 0
}
