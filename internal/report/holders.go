package report

import (
	"iter"
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

// holder is one task on one member.
type holder struct {
	instance *model.Instance
	member   *model.Member
	task     *model.Task
}

// eachTask goes through every task of every member, in the model's order.
func eachTask(g *model.Group) iter.Seq[holder] {
	return func(yield func(holder) bool) {
		for i := range g.Instances {
			in := &g.Instances[i]
			for j := range in.Members {
				m := &in.Members[j]
				for k := range m.Tasks {
					if !yield(holder{in, m, &m.Tasks[k]}) {
						return
					}
				}
			}
		}
	}
}

// taskView is a task with everyone that has to do with it.
type taskView struct {
	id      model.TaskID
	active  *holder  // nil when nobody runs it
	target  *holder  // streams groups: who shall run it, where that is another
	copies  []holder // standbys and learners, learners first
	nobody  bool     // unassigned
	moving  bool     // between two owners
	byRound bool     // held by somebody
}

// views gathers the tasks that keep says yes to, in the order of the ids.
func views(g *model.Group, keep func(holder) bool) []*taskView {
	found := map[model.TaskID]*taskView{}
	get := func(id model.TaskID) *taskView {
		v := found[id]
		if v == nil {
			v = &taskView{id: id}
			found[id] = v
		}
		return v
	}
	for _, id := range g.Unassigned {
		get(id).nobody = true
	}
	for _, id := range g.Moving {
		get(id).moving = true
	}
	for h := range eachTask(g) {
		if keep == nil || keep(h) {
			get(h.task.ID)
		}
	}
	for h := range eachTask(g) {
		if v := found[h.task.ID]; v != nil {
			v.add(h)
		}
	}
	out := make([]*taskView, 0, len(found))
	for _, v := range found {
		slices.SortStableFunc(v.copies, func(a, b holder) int { return roleOrder(a.task) - roleOrder(b.task) })
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b *taskView) int { return a.id.Compare(b.id) })
	return out
}

func (v *taskView) add(h holder) {
	v.byRound = true
	switch {
	case h.task.Role == model.Active && h.task.TargetOnly:
		v.target = &h
	case h.task.Role == model.Active:
		v.active = &h
	default:
		v.copies = append(v.copies, h)
	}
}

func roleOrder(t *model.Task) int {
	n := 2
	if t.Role == model.Learner {
		n = 0
	}
	if t.TargetOnly {
		n++
	}
	return n
}

// behind is the input lag, in records, from which a task stands out: Kafka's
// own default of what counts as close enough.
const behind = 10_000

// standsOut tells which holders make a task worth a row of its own. An active
// task of a classic group that had to restore when its member last joined does
// not: that is history, and nothing tells whether it still restores.
func standsOut(g *model.Group) func(holder) bool {
	old := g.AsOfLastRound()
	return func(h holder) bool { return taskStandsOut(h.task, old) || g.StateUntold(h.task) }
}

func taskStandsOut(t *model.Task, old bool) bool {
	switch {
	case t.Role == model.Learner, t.TargetOnly, t.LeavesTo != "", t.Release, t.Uncertain, t.Parked:
		return true
	case slices.Contains(t.Tags, model.BeingLearned), slices.Contains(t.Tags, model.IsLeaving):
		return true
	case t.Role == model.Active && t.Restore.State == model.Restoring && !old:
		return true
	}
	switch t.Restore.Note {
	case "", "changelog not certain", "changelog not visible": // said once, of the topology or the topic
	default:
		return true
	}
	return t.Lag != nil && (t.Lag.BeyondEnd > 0 || t.Lag.Records != nil && *t.Lag.Records >= behind)
}
