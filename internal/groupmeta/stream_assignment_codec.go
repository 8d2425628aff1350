package groupmeta

import "github.com/streamctl/streamctl/internal/model"

// The sections of an assignment, numbered from 1.
const (
	assignRound = 1 + iota
	assignMode
	assignTasks
)

// The wire numbers of the reasons for a learner.
const (
	wireReasonUnknown    = 0
	wireReasonEvacuation = 1
	wireReasonBalance    = 2
)

func assignmentSections() []string { return []string{"round", "mode", "tasks"} }

// DecodeStreamAssignment reads what the leader told one worker
// (docs/protocol/assignment.md). The error is a *DecodeError or, when the major
// version is newer than this build, a *StreamVersionError.
func DecodeStreamAssignment(b []byte) (*StreamAssignment, error) {
	r, err := openStream(KindStreamAssignment, streamKindAssignment, b)
	if err != nil {
		return nil, err
	}
	a := &StreamAssignment{Minor: r.minor}
	err = r.sections(assignmentSections(), func(section int) {
		switch section {
		case assignRound:
			r.assignmentRound(a)
		case assignMode:
			a.Mode = r.mode("mode.mode")
			a.Epoch = r.uint63("mode.epoch")
		case assignTasks:
			a.Tasks = r.assignedTasks()
		}
	})
	if err != nil {
		return nil, err
	}
	a.TrailingBytes = r.skipped
	return a, nil
}

// Encode writes the assignment in this build's version. It refuses what
// DecodeStreamAssignment would report.
func (a *StreamAssignment) Encode() ([]byte, error) {
	w := newStreamWriter(KindStreamAssignment, streamKindAssignment, 64+4*len(a.Tasks))
	w.section(assignRound, func() {
		w.flags(a.AnotherRound, a.SwitchWaiting, a.MarksVoid)
		w.number("round.generation", int64(a.Generation), 0)
		w.number("round.instances", int64(a.Instances), 1)
		w.number("round.workers", int64(a.Workers), 1)
		w.uuid("round.leader", a.Leader)
	})
	w.section(assignMode, func() {
		w.mode("mode.mode", a.Mode)
		w.number("mode.epoch", a.Epoch, 0)
	})
	w.section(assignTasks, func() { w.assignedTasks(a.Tasks) })
	return w.finish()
}

func (r *streamReader) assignmentRound(a *StreamAssignment) {
	const another, waiting, void = 1, 2, 4
	flags := r.flags("round.flags", another|waiting|void)
	a.AnotherRound = flags&another != 0
	a.SwitchWaiting = flags&waiting != 0
	a.MarksVoid = flags&void != 0
	a.Generation = r.uint31("round.generation")
	a.Instances = r.uint31From("round.instances", 1)
	a.Workers = r.uint31From("round.workers", 1)
	a.Leader = r.uuid("round.leader")
}

func (r *streamReader) assignedTasks() []AssignedTask {
	return readStreamTasks(r, func(t *AssignedTask) *model.TaskID { return &t.ID }, func(t *AssignedTask, flags byte, at int) {
		t.Role, t.Tags = r.roleAndTags(flags, at)
		t.Release = flags&taskRelease != 0
		if p := releaseProblem(t); p != "" {
			r.fail("tasks.flags", at, "%s", p)
		}
		if t.Role == model.Learner {
			t.Reason = r.reason()
		}
	})
}

// releaseProblem says what is wrong with a task's release flag; "" when nothing.
func releaseProblem(t *AssignedTask) string {
	switch {
	case t.Release && t.Role != model.Active:
		return "release of a task that is not active"
	case t.Release && t.Tags.Has(TagStateful):
		return "release of a stateful task"
	}
	return ""
}

func (r *streamReader) reason() LearnerReason {
	at := r.off
	switch n := r.int8("tasks.reason"); n {
	case wireReasonUnknown:
		return ReasonUnknown
	case wireReasonEvacuation:
		return ReasonEvacuation
	case wireReasonBalance:
		return ReasonBalance
	default:
		if !r.newer {
			r.fail("tasks.reason", at, "unknown reason %d", uint8(n))
		}
		return ReasonUnknown
	}
}

func (w *streamWriter) assignedTasks(tasks []AssignedTask) {
	w.tasks(len(tasks), func(i int) model.TaskID { return tasks[i].ID }, func(i int) {
		t := &tasks[i]
		var more byte
		if t.Release {
			more = taskRelease
		}
		if p := releaseProblem(t); p != "" {
			w.fail("tasks.flags", "task %q: %s", t.ID, p)
		}
		w.taskFlags(t.ID, t.Role, t.Tags, more)
		w.reason(t)
	})
}

func (w *streamWriter) reason(t *AssignedTask) {
	switch {
	case t.Role != model.Learner && t.Reason != "":
		w.fail("tasks.reason", "task %q: a reason %q on a task that is no learner", t.ID, t.Reason)
	case t.Role != model.Learner:
	case t.Reason == ReasonUnknown:
		w.int8(wireReasonUnknown)
	case t.Reason == ReasonEvacuation:
		w.int8(wireReasonEvacuation)
	case t.Reason == ReasonBalance:
		w.int8(wireReasonBalance)
	default:
		w.fail("tasks.reason", "task %q: unknown reason %q", t.ID, t.Reason)
	}
}
