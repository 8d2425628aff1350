package groupmeta

import "github.com/streamctl/streamctl/internal/model"

// taskState is what the cluster knows about a task's changelogs together.
type taskState struct {
	end, start, bytes *int64
	note              string
}

// readRestore tells for each task with state how far its local copy is. Every
// number is an upper bound: offsets of a compacted log are fewer records.
func (b *groupBuilder) readRestore() {
	for i := range b.members {
		for j := range b.members[i].Tasks {
			b.members[i].Tasks[j].Restore = model.Restore{State: model.RestoreUnknown, Basis: model.RestoreNone}
		}
	}
	b.reported()
	if b.o.SkipOffsets {
		b.restoreOfWorkers()
		return
	}
	b.facts()
	states := make(map[model.TaskID]*taskState, len(b.taskIDs))
	for i := range b.members {
		m := &b.members[i]
		for j := range m.Tasks {
			t := &m.Tasks[j]
			if t.Stateful != nil && !*t.Stateful {
				t.Restore.State = model.Running
				continue
			}
			s := states[t.ID]
			if s == nil {
				s = b.changelogState(t.ID)
				states[t.ID] = s
			}
			t.Restore.End, t.Restore.LogBytes, t.Restore.Note = s.end, s.bytes, s.note
			switch b.g.Kind {
			case model.Classic:
				restoreFromSum(m, t, s)
				b.restoreFromPlugIn(m, t, s)
			case model.Streams:
				b.restoreFromOffset(m, t, s)
			case model.Worker:
				if !b.restoreFromStatus(m, t, s) {
					b.restoreFromLag(m, t, s)
				}
			}
		}
	}
	b.statusBasis()
}

// restoreOfWorkers tells what restores where no log was read: a worker says in
// the control topic how far it is, ends included.
func (b *groupBuilder) restoreOfWorkers() {
	if b.g.Kind != model.Worker || b.control == nil {
		return
	}
	for i := range b.members {
		m := &b.members[i]
		for j := range m.Tasks {
			t, logs := &m.Tasks[j], &taskState{}
			switch {
			case t.Stateful != nil && !*t.Stateful:
				t.Restore.State = model.Running
			case !b.restoreFromStatus(m, t, logs):
				b.restoreFromLag(m, t, logs)
			}
		}
	}
}

// changelogState sums up the changelog partitions of a task. Where one of them
// is not known, or it is not sure which they are, the sums are not known.
func (b *groupBuilder) changelogState(id model.TaskID) *taskState {
	s := b.subs[keyOf(id)]
	out := &taskState{}
	if s == nil {
		return out
	}
	var end, start, bytes int64
	ends, starts, sizes := len(s.changelogs) > 0, true, true
	for _, c := range s.changelogs {
		tp := model.TopicPartition{Topic: c, Partition: id.Partition}
		switch b.x.topicState(c) {
		case topicMissing:
			out.note = "changelog missing"
		case topicHidden:
			out.note = "changelog not visible"
		}
		l := b.x.logs[tp]
		if l == nil {
			ends = false
			continue
		}
		ends = addKnown(&end, l.End) && ends
		starts = addKnown(&start, l.Start) && starts
		if n, ok := b.x.partitionSize(tp); ok {
			bytes = addSaturated(bytes, n)
		} else {
			sizes = false
		}
	}
	if !s.complete {
		if len(s.changelogs) > 0 || s.state {
			out.note = "changelog not certain"
		}
		return out
	}
	if !ends {
		return out
	}
	out.end = &end
	if starts {
		out.start = &start
	}
	if sizes {
		out.bytes = &bytes
	}
	return out
}

// restoreFromSum reads the offset sum of a classic member: as old as its last
// join, and -2 for a task that ran then.
func restoreFromSum(m *builtMember, t *model.Task, s *taskState) {
	r := &t.Restore
	sum, reported := m.sums[t.ID]
	r.Reported = reported
	switch {
	case !reported && t.Role == model.Active:
		return
	case !reported:
		if m.sums != nil { // it had nothing when it joined: all is to come
			setRemaining(r, 0, s)
			if t.Role == model.Learner {
				r.State = model.Restoring
			}
		}
		return
	case sum == SumRunning:
		r.Basis = model.RestoreOffsetSum
		r.Position = s.end
		r.State = model.CaughtUp
		if t.Role == model.Active {
			r.State = model.Running
		}
		if s.end != nil {
			setRemaining(r, *s.end, s)
		}
		return
	case sum < 0:
		return
	case sum == SumOverflow:
		r.Basis, r.Position, r.Note = model.RestoreOffsetSum, &sum, "the sum overflowed"
		return
	}
	r.Basis, r.Position = model.RestoreOffsetSum, &sum
	judgePosition(r, sum, s)
}

// judgePosition sets state and distance from a position.
func judgePosition(r *model.Restore, position int64, s *taskState) {
	if s.end == nil {
		return
	}
	if position > *s.end {
		r.Note = "position beyond the end"
	}
	setRemaining(r, position, s)
	r.State = model.Restoring
	if position >= *s.end {
		r.State = model.CaughtUp
	}
}

// setRemaining sets the distance to the end, at most what the log holds, and
// the log's bytes in that proportion.
func setRemaining(r *model.Restore, position int64, s *taskState) {
	if s.end == nil {
		return
	}
	remaining, all := max(0, *s.end-position), *s.end
	if s.start != nil {
		all = max(0, *s.end-*s.start)
		remaining = min(remaining, all)
	}
	r.RemainingRecords = &remaining
	if s.bytes != nil {
		bytes := model.Proportion(*s.bytes, remaining, all)
		r.RemainingBytes = &bytes
	}
}

// restoreFromOffset reads the task offset of a streams member (4.4 and later).
// A task that it runs without telling an offset is running; a copy without one
// is unknown, never 0 (field cases 13 and 14).
func (b *groupBuilder) restoreFromOffset(m *builtMember, t *model.Task, s *taskState) {
	r := &t.Restore
	if t.TargetOnly {
		return
	}
	sum, reported := m.sums[t.ID]
	r.Reported = reported
	if sum == SumRunning && t.Role == model.Active {
		r.State, r.Basis = model.Running, model.RestoreTaskOffset
	}
	if !reported || sum < 0 {
		return
	}
	if end, ok := m.ends[t.ID]; ok && s.end == nil && end >= 0 {
		r.End = &end
		s = &taskState{end: &end}
	}
	r.Basis, r.Position = model.RestoreTaskOffset, &sum
	judgePosition(r, sum, s)
	if t.Role == model.Active && r.State == model.CaughtUp {
		r.State = model.Running
	}
}

// restoreFromLag reads the lag that a worker reported when it joined.
func (b *groupBuilder) restoreFromLag(m *builtMember, t *model.Task, s *taskState) {
	r := &t.Restore
	lag, reported := m.sums[t.ID]
	r.Reported = reported
	if !reported {
		return
	}
	if lag == SumRunning {
		r.State, r.Basis, r.Position = model.Running, model.RestoreStatus, s.end
		if s.end != nil {
			setRemaining(r, *s.end, s)
		}
		return
	}
	r.Basis = model.RestoreStatus
	r.RemainingRecords = &lag
	r.State = model.Restoring
	if lag == 0 {
		r.State = model.CaughtUp
	}
	if s.end != nil {
		position := max(0, *s.end-lag)
		r.Position = &position
		setRemaining(r, position, s)
	}
}
