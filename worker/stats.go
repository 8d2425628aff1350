package worker

import (
	"slices"

	"github.com/streamctl/streamctl/internal/groupmeta"
)

// Stats is a look at an instance.
type Stats struct {
	Instance   string
	Generation int32 // of the last round of its first worker; 0: none
	Mode       Mode
	Epoch      int64
	Leaving    bool
	Marks      []string
	Tasks      []TaskStats // by task
}

// TaskStats is one task of an instance.
type TaskStats struct {
	ID         TaskID
	Role       string   // active, standby, learner
	Tags       []string // of the protocol, in the order of its table
	Worker     int      // number of the worker that has it, from 0
	Processing bool     // the first record has come, or can
	Lag        int64    // records still to restore; -1: unknown
}

// Stats is what the instance has and does at the moment.
func (i *Instance) Stats() Stats {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := Stats{Instance: i.id, Generation: i.st.members[0].generation, Mode: i.st.mode, Epoch: i.st.epoch, Leaving: i.st.mark != nil, Marks: []string{}}
	if s.Leaving {
		s.Marks = append(s.Marks, i.st.mark.id)
	}
	for _, t := range i.have() {
		out := TaskStats{ID: taskID(t.id), Role: string(t.role), Tags: tagWords(t.shown(i.st.stateful(t.id), s.Leaving)), Worker: t.worker, Lag: -1}
		if lag, known := i.tasks.Lag(t.id); known {
			out.Lag = lag
		}
		if x := i.slots[t.id]; x != nil {
			out.Processing = x.is == slotActive && x.started
		}
		s.Tasks = append(s.Tasks, out)
	}
	return s
}

// ownRound is the worker's own part of a round, for an observer; i.mu is held.
func (i *Instance) ownRound(n int, generation int32, a *groupmeta.StreamAssignment) *Round {
	in := RoundInstance{ID: i.id, Host: i.c.Host, Leaving: i.st.mark != nil, Expired: i.st.expired, Workers: len(i.st.members)}
	for _, t := range a.Tasks {
		in.Tasks = append(in.Tasks, roundTask(t, i.st.members[n].id))
	}
	slices.SortFunc(in.Tasks, func(a, b RoundTask) int { return a.ID.internal().Compare(b.ID.internal()) })
	return &Round{
		Generation: generation, Epoch: a.Epoch, Mode: Mode(a.Mode), Instances: []RoundInstance{in},
		AnotherRound: a.AnotherRound, SwitchWaiting: a.SwitchWaiting, MarksVoid: a.MarksVoid,
	}
}
