package control

import (
	"slices"
	"strconv"

	"github.com/streamctl/streamctl/internal/model"
)

// Task is one task of an instance in a status.
type Task struct {
	ID       model.TaskID
	Role     model.Role
	Tags     []model.Tag // in the order of the draft's table
	Lag      *int64      // records still to restore; nil: unknown
	Position *int64      // sum of what was restored over its changelog partitions; nil: not said
	End      *int64      // sum of the ends that Lag was measured against; nil: not said
	Reason   string      // of learners in a round: one of the Reason… words; "" for none or not said
}

// Why a learner was started (stream-protocol.md, Learners).
const (
	ReasonEvacuation = "evacuation"
	ReasonBalance    = "balance"
	ReasonUnknown    = "unknown"
)

type taskWire struct {
	ID       *string  `json:"id"`
	Role     *string  `json:"role"`
	Tags     []string `json:"tags"`
	Lag      *int64   `json:"lag"`
	Position *int64   `json:"position,omitempty"`
	End      *int64   `json:"end,omitempty"`
}

// roundTaskWire is a task in the leader's round.
type roundTaskWire struct {
	ID     *string  `json:"id"`
	Role   *string  `json:"role"`
	Tags   []string `json:"tags"`
	Lag    *int64   `json:"lag"`
	Reason *string  `json:"reason"`
}

func sortedTasks(tasks []Task) []Task {
	tasks = slices.Clone(tasks)
	slices.SortFunc(tasks, func(a, b Task) int { return a.ID.Compare(b.ID) })
	return tasks
}

func tasksWire(tasks []Task) []taskWire {
	out := make([]taskWire, len(tasks))
	for i := range tasks {
		t := &tasks[i]
		out[i] = taskWire{ref(t.ID.String()), ref(string(t.Role)), tagsWire(t.Tags), t.Lag, t.Position, t.End}
	}
	return out
}

func roundTasksWire(tasks []Task) []roundTaskWire {
	tasks = sortedTasks(tasks)
	out := make([]roundTaskWire, len(tasks))
	for i := range tasks {
		t := &tasks[i]
		out[i] = roundTaskWire{ref(t.ID.String()), ref(string(t.Role)), tagsWire(t.Tags), t.Lag, orNull(t.Reason)}
	}
	return out
}

// tagOrder are the draft's tags in the order of its table.
func tagOrder() []model.Tag {
	return []model.Tag{model.IsStateful, model.IsLearner, model.BeingLearned, model.IsReady, model.IsLeaving}
}

func tagsWire(tags []model.Tag) []string {
	out := []string{}
	for _, t := range tagOrder() {
		if slices.Contains(tags, t) {
			out = append(out, string(t))
		}
	}
	return out
}

func (f *fields) tasks(field string, list []taskWire) []Task {
	f.list(field, list == nil, len(list), maxTasks)
	out := make([]Task, 0, min(len(list), maxTasks))
	for i := range list {
		w := &list[i]
		var one fields
		t := one.task(w.ID, w.Role, w.Tags, w.Lag)
		t.Position = one.optionalNumber("position", w.Position)
		t.End = one.optionalNumber("end", w.End)
		out = append(out, t)
		if f.take(field, i, &one) {
			return nil
		}
	}
	return f.inOrder(field, out)
}

func (f *fields) roundTasks(field string, list []roundTaskWire) []Task {
	f.list(field, list == nil, len(list), maxTasks)
	out := make([]Task, 0, min(len(list), maxTasks))
	for i := range list {
		w := &list[i]
		var one fields
		t := one.task(w.ID, w.Role, w.Tags, w.Lag)
		if t.Reason = one.optionalText("reason", w.Reason); t.Reason != "" && t.Reason != ReasonEvacuation && t.Reason != ReasonBalance {
			t.Reason = ReasonUnknown // of a newer software
		}
		out = append(out, t)
		if f.take(field, i, &one) {
			return nil
		}
	}
	return f.inOrder(field, out)
}

// inOrder sorts tasks and refuses a list that names one twice.
func (f *fields) inOrder(field string, tasks []Task) []Task {
	slices.SortStableFunc(tasks, func(a, b Task) int { return a.ID.Compare(b.ID) })
	for i := 1; i < len(tasks); i++ {
		if tasks[i].ID == tasks[i-1].ID {
			f.wrong(field, "has task %s twice", tasks[i].ID)
			return nil
		}
	}
	return tasks
}

func (f *fields) task(id, role *string, tags []string, lag *int64) Task {
	t := Task{
		ID:   f.taskID("id", id),
		Role: model.Role(need(f, "role", role)),
		Lag:  f.optionalNumber("lag", lag),
	}
	f.list("tags", tags == nil, len(tags), MaxID)
	t.Tags = []model.Tag{}
	for _, tag := range tagOrder() {
		if slices.Contains(tags, string(tag)) { // others are of a newer software
			t.Tags = append(t.Tags, tag)
		}
	}
	switch {
	case role != nil && t.Role != model.Active && t.Role != model.Standby && t.Role != model.Learner:
		f.wrong("role", "is none of active, standby, learner")
	case !soundTags(t.Role, t.Tags):
		f.wrong("tags", "do not go together with each other or with the role")
	}
	return t
}

// soundTags reports whether tags keep the column "needs" of the draft's table.
func soundTags(role model.Role, tags []model.Tag) bool {
	has := func(t model.Tag) bool { return slices.Contains(tags, t) }
	switch role {
	case model.Active:
		return !has(model.IsLearner) && !has(model.IsReady) && (has(model.IsStateful) || !has(model.BeingLearned) && !has(model.IsLeaving))
	case model.Learner:
		return has(model.IsStateful) && has(model.IsLearner) && !has(model.BeingLearned) && !has(model.IsLeaving)
	}
	return !has(model.IsLearner) && !has(model.IsReady) && !has(model.BeingLearned) && !has(model.IsLeaving)
}

// taskID reads a task id whose subtopology is a number, written in its shortest
// form.
func (f *fields) taskID(field string, p *string) model.TaskID {
	s := need(f, field, p)
	if p == nil {
		return model.TaskID{}
	}
	id, err := model.ParseTaskID(s)
	if err == nil {
		n, bad := strconv.ParseInt(id.Subtopology, 10, 32)
		if bad == nil && n >= 0 && model.ClassicTask("", int32(n), id.Partition).String() == s {
			return id
		}
	}
	f.wrong(field, "is not a task id like 0_1")
	return model.TaskID{}
}
