package groupmeta

import (
	"slices"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// instanceStatus is what an instance of a worker group wrote about its tasks in
// the present round.
type instanceStatus struct {
	at    time.Time
	tasks map[model.TaskID]*control.Task
	used  bool // one of its tasks was taken over
}

// readStatus picks the status records that are of the round that the members'
// assignments are of; round is its generation, 0 when they do not say.
func (b *groupBuilder) readStatus(round int32) {
	if b.control == nil {
		return
	}
	b.status = make(map[string]*instanceStatus)
	for i := range b.members {
		m := &b.members[i]
		s, ok := b.control.Status[m.instance]
		if !ok || !m.process || b.status[m.instance] != nil || s.Source != control.SourceWorker || s.Generation == nil || round != 0 && *s.Generation != round {
			continue
		}
		st := &instanceStatus{at: s.At, tasks: make(map[model.TaskID]*control.Task, len(s.Tasks))}
		for k := range s.Tasks {
			st.tasks[s.Tasks[k].ID] = &s.Tasks[k]
		}
		b.status[m.instance] = st
	}
}

// restoreFromStatus reads how far a task is off its instance's status. A status
// that has the task in another role than the group contradicts the group and
// is not used for it. It is false where the status tells nothing.
func (b *groupBuilder) restoreFromStatus(m *builtMember, t *model.Task, s *taskState) bool {
	st := b.status[m.instance]
	if st == nil {
		return false
	}
	said := st.tasks[t.ID]
	if said == nil || said.Role != t.Role || said.Lag == nil {
		return false
	}
	st.used = true
	r := &t.Restore
	r.Basis, r.Reported = model.RestoreStatus, true
	if t.Role == model.Learner && slices.Contains(said.Tags, model.IsReady) {
		addTag(t, model.IsReady)
	}
	if s.end == nil && said.End != nil {
		r.End = said.End
		s = &taskState{end: said.End}
	}
	switch {
	case t.Role == model.Active && *said.Lag == 0:
		r.State, r.Position = model.Running, s.end
		if s.end != nil {
			setRemaining(r, *s.end, s)
		}
		return true
	case said.Position != nil:
		r.Position = said.Position
	case said.End != nil:
		position := max(0, *said.End-*said.Lag)
		r.Position = &position
	case s.end != nil:
		position := max(0, *s.end-*said.Lag)
		r.Position = &position
	}
	r.RemainingRecords = said.Lag
	r.State = model.Restoring
	if r.Position != nil && s.end != nil {
		setRemaining(r, *r.Position, s)
	}
	if *said.Lag == 0 || *r.RemainingRecords == 0 {
		r.State = model.CaughtUp
	}
	return true
}

// statusBasis says where the positions are from, once they were read.
func (b *groupBuilder) statusBasis() {
	if b.g.Kind != model.Worker {
		return
	}
	silent := 0
	for i := range b.members {
		m := &b.members[i]
		st := b.status[m.instance]
		switch {
		case st != nil && st.used:
			b.g.Positions.Basis = model.PositionsStatus
			if at := st.at; b.g.Positions.AsOf == nil || at.After(*b.g.Positions.AsOf) {
				b.g.Positions.AsOf, b.g.Positions.Estimated = &at, false
			}
		case st == nil && len(m.Tasks) > 0:
			silent++
		}
	}
	if b.g.Positions.Basis == model.PositionsStatus && silent > 0 {
		b.g.Notes = append(b.g.Notes, subject(silent, "worker", "wrote", "wrote")+" no status in this round: positions there are from the last join")
	}
}
