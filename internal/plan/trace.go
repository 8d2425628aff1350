package plan

import (
	"cmp"
	"slices"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// TracedRound is a round of a plan down to the single member, which the
// document sums up per instance.
type TracedRound struct {
	Trigger string
	AtS     float64 // after the change
	Members []TracedMember
}

// TracedMember is what one member was given in a round. Lists are ascending.
type TracedMember struct {
	Process         string // id
	ID              string // drawn for a member that joins, unless the change names it
	Thread          int    // of a classic group; else 0
	Active, Standby []model.TaskID
	Next            assign.Next // classic groups
}

// Trace runs the plan that Make shows, and gives its rounds member by member,
// those of a round by process, thread and id. Groups of workers have none.
func Trace(in *Input, o Options) ([]TracedRound, error) {
	in, assignor, err := prepare(in, &o)
	if err != nil {
		return nil, err
	}
	var rounds []TracedRound
	o.trace = func(sim simulation, round *Round) {
		if s, ok := sim.(interface{ traced() []TracedMember }); ok {
			rounds = append(rounds, TracedRound{Trigger: round.Trigger, AtS: round.AtS, Members: s.traced()})
		}
	}
	_, err = runOnce(in, &o, assignor, firstSeed)
	return rounds, err
}

// tracedSimulation tells of every round of a simulation.
type tracedSimulation struct {
	simulation
	rec  *recorder
	tell func(simulation, *Round)
}

func (s *tracedSimulation) round() (bool, error) {
	more, err := s.simulation.round()
	if n := len(s.rec.rounds); more && err == nil && n > 0 {
		s.tell(s.simulation, &s.rec.rounds[n-1])
	}
	return more, err
}

func (c *classicSim) traced() []TracedMember {
	var out []TracedMember
	for _, p := range c.procs {
		if p.gone {
			continue
		}
		for _, m := range p.members {
			out = append(out, TracedMember{Process: p.id, ID: m.id, Thread: m.thread, Active: taskIDs(c.top, m.active), Standby: taskIDs(c.top, m.standby), Next: m.next})
		}
	}
	return sortTraced(out)
}

func (s *streamsSim) traced() []TracedMember {
	var out []TracedMember
	for _, m := range s.members {
		out = append(out, TracedMember{Process: m.proc.id, ID: m.id, Active: taskIDs(s.top, m.targetActive), Standby: taskIDs(s.top, m.targetStandby)})
	}
	return sortTraced(out)
}

func taskIDs(top *assign.Topology, list []assign.Task) []model.TaskID {
	out := make([]model.TaskID, 0, len(list))
	for _, t := range list {
		out = append(out, top.ID(t))
	}
	slices.SortFunc(out, model.TaskID.Compare)
	return out
}

func sortTraced(list []TracedMember) []TracedMember {
	slices.SortFunc(list, func(a, b TracedMember) int {
		return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.ID, b.ID))
	})
	return list
}
