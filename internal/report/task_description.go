package report

import (
	"slices"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// TaskDescription is what `describe task` shows. Its own fields are those of
// the active copy; nobody runs the task when Role is null.
type TaskDescription struct {
	Head
	Of
	ID         string                 `json:"id"`
	Role       *string                `json:"role"`
	Instance   *string                `json:"instance"`
	Member     *string                `json:"member"`
	Tags       []string               `json:"tags"`
	Inferred   bool                   `json:"inferred"`
	Reason     *string                `json:"reason"` // of its active copy: always null
	TargetOnly bool                   `json:"target_only"`
	Release    bool                   `json:"release"`
	Partitions []model.TopicPartition `json:"partitions"`
	Restore    Restore                `json:"restore"`
	Lag        *Lag                   `json:"lag"`
	Copies     []Copy                 `json:"copies"` // one a holder, the active first
	Read

	g       *model.Group
	id      model.TaskID
	holders []holder
	o       DescribeOptions
}

// Copy is a task on one holder.
type Copy struct {
	Instance string `json:"instance"` // process id
	Member   string `json:"member"`
	Task
}

// NewTaskDescription makes the report of one task of g; false when the group
// has no such task.
func NewTaskDescription(g *model.Group, id model.TaskID, o DescribeOptions) (*TaskDescription, bool) {
	d := &TaskDescription{
		Head: head("TaskDescription"), Of: ofGroup(g), ID: id.String(), Tags: []string{}, Copies: []Copy{},
		Restore: newRestore(&model.Restore{}), Read: readOf(g), g: g, id: id, o: o,
	}
	for _, h := range holdersByTask(g) {
		if h.task.ID != id {
			continue
		}
		d.holders = append(d.holders, h)
		d.Copies = append(d.Copies, Copy{Instance: h.instance.ID, Member: h.member.ID, Task: newTask(h.task)})
		if len(d.Partitions) == 0 {
			d.Partitions = h.task.Partitions
		}
	}
	if i := slices.IndexFunc(d.holders, func(h holder) bool { return h.task.Role == model.Active && !h.task.TargetOnly }); i >= 0 {
		c := d.Copies[i]
		d.Role, d.Instance, d.Member = &c.Role, &c.Instance, &c.Member
		d.Tags, d.Inferred, d.Release = c.Tags, c.Inferred, c.Release
		d.Partitions, d.Restore, d.Lag = c.Partitions, c.Restore, c.Lag
	}
	known := len(d.holders) > 0 || slices.Contains(g.Unassigned, id) || slices.Contains(g.Moving, id)
	return d, known
}

// Text writes the screen.
func (d *TaskDescription) Text(p *render.Page) {
	s := newScreen(p, d.g, d.o)
	s.partHeadline(d.ID, "task")
	s.partVerdict([]string{"task " + d.ID}, d.waits()...)
	p.Blank()
	p.Facts(0, d.facts(s))
	if len(d.holders) > 0 {
		s.block(d.copyGrid())
	}
	var list []*model.PartitionOffset
	for i := range d.g.Offsets {
		if slices.Contains(d.Partitions, d.g.Offsets[i].TopicPartition) {
			list = append(list, &d.g.Offsets[i])
		}
	}
	if len(list) > 0 {
		s.block(s.offsetGrid(list))
		for _, line := range offsetLegend(list) {
			p.Line(2, line)
		}
	}
}

// waits is the finding of a task that does not run yet, or is not known to; the
// group has one for all tasks of an instance.
func (d *TaskDescription) waits() []model.Finding {
	for _, h := range d.holders {
		t := h.task
		if t.Role != model.Active || t.TargetOnly {
			continue
		}
		f := model.Finding{Code: model.FindingRestoring, Severity: model.SeverityOf(model.FindingRestoring)}
		switch name := shortName(h.member); {
		case d.g.StateUntold(t):
			f.Text = name + " has not said yet whether it has to restore"
		case t.Restore.State == model.Restoring && !d.g.AsOfLastRound():
			f.Text = name + " restores it before it can run"
		default:
			continue
		}
		return []model.Finding{f}
	}
	return nil
}

func (d *TaskDescription) facts(s *screen) []render.Fact {
	var out []render.Fact
	add := func(label, text string) { out = append(out, render.Fact{Label: label, Text: text}) }
	v := views(d.g, func(h holder) bool { return h.task.ID == d.id })
	i := slices.IndexFunc(v, func(v *taskView) bool { return v.id == d.id })
	if i < 0 {
		return out
	}
	switch a := v[i].active; {
	case a != nil:
		add("Runs on", s.p.Name(shortName(a.member)))
		r := &a.task.Restore
		text := restoreWord(d.g, a.task)
		if r.Note != "" {
			text += " (" + render.Escape(r.Note) + ")"
		}
		if r.Basis != "" && r.Basis != model.RestoreNone {
			text += ", by " + r.Basis
			if d.g.AsOfLastRound() {
				text += " as of the last round"
			}
		}
		add("State", text)
	case v[i].nobody:
		add("Runs on", "nobody")
	default:
		add("Runs on", "nobody at the moment: it moves")
	}
	if text := s.positions(); text != "" {
		add("Positions", text)
	}
	return out
}

// copyGrid is a row a holder with everything known about its copy.
func (d *TaskDescription) copyGrid() *render.Grid {
	where := "OFFSET-SUM"
	if d.g.Kind == model.Worker {
		where = "POSITION"
	}
	g := render.NewGrid(
		render.Column{Head: "MEMBER", Cap: memberCap},
		render.Column{Head: "ROLE"},
		render.Column{Head: where, Right: true},
		render.Column{Head: "END", Right: true, Drop: 1},
		render.Column{Head: "RESTORE", Drop: 2},
		render.Column{Head: "TO RESTORE", Right: true},
		render.Column{Head: "BYTES", Right: true, Drop: 3},
		render.Column{Head: "TAGS", Drop: 4},
		render.Column{Head: "PROCESS", In: render.InWide},
		render.Column{Head: "HOST", In: render.InWide},
	)
	for _, h := range d.holders {
		t := h.task
		role := roleWord(t)
		if t.TargetOnly {
			role += " (target)"
		}
		g.Row(render.Text(shortName(h.member)), render.Text(role), offsetSum(d.g, t), render.OptNum(t.Restore.End), restoreCell(d.g, t),
			remaining(t), bytesCell(t), render.List(tagWords(t, true), ","), render.Text(h.instance.ID), render.Text(h.member.Host))
	}
	return g
}

// Grid is a row a holder.
func (d *TaskDescription) Grid() *render.Grid {
	g := heldColumns()
	for _, h := range d.holders {
		g.Row(taskCells(d.g, h)...)
	}
	return g
}
