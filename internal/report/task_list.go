package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// TaskList is what `get tasks` shows: a row a task and holder.
type TaskList struct {
	Head
	Items []TaskItem `json:"items"` // by group, task, role
	Read

	groups []*model.Group
}

// TaskItem is a task of a list.
type TaskItem struct {
	Group    string  `json:"group"`
	Instance *string `json:"instance"` // with member and role null: nobody has the task
	Member   *string `json:"member"`
	Role     *string `json:"role"`
	Task
}

// NewTaskList makes the list of the tasks of groups, also of those that nobody
// has.
func NewTaskList(groups []*model.Group, o ItemOptions) *TaskList {
	groups = sortedGroups(groups)
	l := &TaskList{Head: head("TaskList"), Items: []TaskItem{}, Read: o.read(groups), groups: groups}
	for _, g := range groups {
		for _, t := range listedTasks(g) {
			item := TaskItem{Group: g.ID, Task: newTask(t.task)}
			if t.member != nil {
				item.Instance, item.Member, item.Role = &t.instance.ID, &t.member.ID, &item.Task.Role
			}
			l.Items = append(l.Items, item)
		}
	}
	return l
}

// Text writes the table.
func (l *TaskList) Text(p *render.Page) { p.Rows(l.Grid()) }

// listedTasks are the holders of a group by task, with a holder without member
// for each task that nobody has.
func listedTasks(g *model.Group) []holder {
	all := holdersByTask(g)
	nobody := slices.Concat(g.Unassigned, g.Moving)
	for _, id := range nobody {
		all = append(all, holder{task: &model.Task{ID: id}})
	}
	if len(nobody) > 0 {
		slices.SortStableFunc(all, func(a, b holder) int { return a.task.ID.Compare(b.task.ID) })
	}
	return all
}

// Grid is a row a task and holder, and one a task that nobody has.
func (l *TaskList) Grid() *render.Grid { return taskGrid(l.groups) }

func taskGrid(groups []*model.Group) *render.Grid {
	several := render.InFull
	if len(groups) > 1 {
		several = render.InAll
	}
	if len(groups) == 1 {
		several = render.InMachine
	}
	g := render.NewGrid(
		render.Column{Head: "TASK", Cap: nameCap},
		render.Column{Head: "GROUP", Cap: nameCap, In: several},
		render.Column{Head: "ROLE"},
		render.Column{Head: "INSTANCE", In: render.InWide},
		render.Column{Head: "PROCESS", Key: "instance", In: render.InFull},
		render.Column{Head: "MEMBER", Key: "member_name", Cap: memberCap, In: render.InText},
		render.Column{Head: "MEMBER ID", Key: "member", In: render.InMachine},
		render.Column{Head: "HOST", In: render.InFull},
		render.Column{Head: "TAGS", Drop: 3},
		render.Column{Head: "LAG", Right: true},
		render.Column{Head: "OFFSET-SUM", Key: "position", Right: true, In: render.InFull},
		render.Column{Head: "END", Right: true, In: render.InFull},
		render.Column{Head: "RESTORE", Key: "restore", Drop: 2},
		render.Column{Head: "TO RESTORE", Key: "remaining_records", Right: true, Drop: 1},
		render.Column{Head: "BYTES", Key: "remaining_bytes", Right: true, In: render.InFull},
		render.Column{Head: "BASIS", In: render.InFull},
		render.Column{Head: "PARTITIONS", In: render.InFull},
	)
	for _, group := range groups {
		g.Grow(group.Totals.Tasks)
		nobodys := make(map[model.TaskID]bool, len(group.Unassigned))
		for _, id := range group.Unassigned {
			nobodys[id] = true
		}
		for _, t := range listedTasks(group) {
			switch {
			case t.member != nil:
				g.Row(taskCells(group, t)...)
			case nobodys[t.task.ID]:
				g.Row(nobodyCells(group, t.task.ID, "nobody's", render.Problem)...)
			default:
				g.Row(nobodyCells(group, t.task.ID, "moving", render.Warning)...)
			}
		}
	}
	return g
}

func nobodyCells(g *model.Group, id model.TaskID, word string, style render.Style) []render.Cell {
	d := render.Dash()
	return []render.Cell{
		render.Text(id.String()), render.Text(g.ID), d, d, d, d, d, d, render.Text(word).In(style), d, d, d, d, d, d, d, d,
	}
}

func taskCells(g *model.Group, h holder) []render.Cell {
	t := h.task
	word := roleWord(t)
	if t.TargetOnly {
		word += " (target)"
	}
	role := render.Text(string(t.Role)).Shown(word)
	tags := tagWords(t, true)
	for _, extra := range []struct {
		yes  bool
		word string
	}{
		{t.LeavesTo != "", "to be given up"}, {t.Release, "release"}, {t.Parked, "handed over"},
	} {
		if extra.yes {
			tags = append(tags, extra.word)
		}
	}
	return []render.Cell{
		render.Text(t.ID.String()), render.Text(g.ID), role, render.Text(instanceName(h.instance)), render.Text(h.instance.ID),
		render.Text(shortName(h.member)), render.Text(h.member.ID), render.Text(strings.TrimPrefix(h.member.Host, "/")),
		render.List(tags, ","), taskLag(t), offsetSum(g, t), render.OptNum(t.Restore.End), restoreCell(g, t), remaining(t),
		bytesCell(t), render.Text(basisText(g, t)), render.List(partitionTexts(t.Partitions), " "),
	}
}

// offsetSum is where the copy is. What the member did not report is said,
// never shown as 0 (field case 2).
func offsetSum(g *model.Group, t *model.Task) render.Cell {
	r := &t.Restore
	switch {
	case t.TargetOnly, t.Stateful != nil && !*t.Stateful:
		return render.Dash()
	case r.Position != nil && r.State != model.Running:
		return render.Num(*r.Position)
	case r.State == model.Running && g.Kind == model.Worker:
		return render.OptNum(r.Position)
	case r.State == model.Running: // the sum says so, in place of a number
		c := render.OptNum(r.Position)
		return c.Shown("running")
	case !r.Reported && g.Positions.Basis != "" && g.Positions.Basis != model.PositionsNone:
		return render.Dash().Shown("not reported")
	}
	return render.Dash()
}

func restoreCell(g *model.Group, t *model.Task) render.Cell {
	state := restoreWord(g, t)
	c := render.Text(cmp.Or(string(t.Restore.State), string(model.RestoreUnknown))).Shown(state)
	switch {
	case t.Restore.Note != "":
		return c.Shown(state + " (" + t.Restore.Note + ")").In(render.Warning)
	case t.Stateful != nil && !*t.Stateful && t.Restore.State != model.Running:
		return c.Shown(render.None)
	case state == string(model.Restoring):
		return c.In(render.Warning)
	}
	return c
}

// restoreWord is the restore state for people. An active task whose copy was
// almost there in the last round got it for that reason, and nothing newer is
// known of it: ready rather than restoring.
func restoreWord(g *model.Group, t *model.Task) string {
	r := &t.Restore
	if r.State == model.Restoring && t.Role == model.Active && g.AsOfLastRound() && r.RemainingRecords != nil && *r.RemainingRecords <= behind {
		return "ready~"
	}
	return cmp.Or(string(r.State), string(model.RestoreUnknown))
}

// bytesCell is what is left to restore, an upper bound, or for a task that
// restores nothing the size of its state.
func bytesCell(t *model.Task) render.Cell {
	switch {
	case t.Restore.RemainingBytes != nil && *t.Restore.RemainingBytes > 0:
		return render.Size(t.Restore.RemainingBytes).Prefix("≤")
	case t.Restore.LogBytes != nil:
		c := render.Size(t.Restore.RemainingBytes)
		return c.Shown(render.Bytes(*t.Restore.LogBytes))
	}
	return render.Size(t.Restore.RemainingBytes)
}

func basisText(g *model.Group, t *model.Task) string {
	r := &t.Restore
	switch {
	case r.Basis == model.RestoreOffsetSum, r.RemainingRecords != nil && (r.Basis == "" || r.Basis == model.RestoreNone):
		return cmp.Or(g.Positions.Basis, r.Basis)
	case r.Basis == model.RestoreNone:
		return ""
	}
	return r.Basis
}

func partitionTexts(list []model.TopicPartition) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.String()
	}
	return out
}

func sortedGroups(groups []*model.Group) []*model.Group {
	return slices.SortedFunc(slices.Values(groups), func(a, b *model.Group) int { return strings.Compare(a.ID, b.ID) })
}
