package report

import (
	"fmt"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// GroupDescriptionList is what `describe group` shows for several names.
type GroupDescriptionList struct {
	Head
	Items []GroupItem `json:"items"` // by group
	Read

	groups []*model.Group
	o      DescribeOptions
	brief  bool
}

// GroupItem is one described group of several; taken_at, cluster_id and errors
// are its own.
type GroupItem struct {
	Head
	GroupFields
	Read
}

// NewGroupDescriptionList makes the report of several groups. With brief, the
// form of a describe without a name, people see healthy groups in a line each.
func NewGroupDescriptionList(groups []*model.Group, brief bool, o DescribeOptions) *GroupDescriptionList {
	groups = sortedGroups(groups)
	l := &GroupDescriptionList{
		Head: head("GroupDescriptionList"), Items: make([]GroupItem, len(groups)), Read: readOfAll(groups, nil), groups: groups, o: o, brief: brief,
	}
	for i, g := range groups {
		l.Items[i] = GroupItem{Head: head("GroupDescription"), GroupFields: newGroupFields(g), Read: readOf(g)}
	}
	return l
}

// WithErrors adds what kept other groups from being described at all.
func (l *GroupDescriptionList) WithErrors(more []model.ReadError) *GroupDescriptionList {
	l.Read = readOfAll(l.groups, more)
	return l
}

// Text writes the screens one after the other, then the healthy groups.
func (l *GroupDescriptionList) Text(p *render.Page) {
	var healthy []*model.Group
	l.summary(p)
	for i, g := range l.groups {
		if l.brief && g.OK() {
			healthy = append(healthy, g)
			continue
		}
		if !p.Empty() {
			p.Blank()
		}
		s := newScreen(p, g, l.o)
		s.prediction = l.Items[i].Prediction
		s.describe()
	}
	if len(healthy) == 0 {
		return
	}
	if !p.Empty() {
		p.Blank()
	}
	grid := render.NewGrid(
		render.Column{Head: "HEALTHY", Cap: nameCap}, render.Column{Head: "KIND"}, render.Column{Head: "STATE"},
		render.Column{Head: "INST", Right: true, Drop: 2}, render.Column{Head: "MEMBERS", Right: true, Drop: 1},
		render.Column{Head: "TASKS", Right: true}, render.Column{Head: "LAG", Right: true}, render.Column{Head: "NOTES"},
	)
	shown := healthy
	if !p.Wide() {
		shown = healthy[:min(len(healthy), maxRows)]
	}
	for _, g := range shown {
		r := newGroupRow(g, true)
		grid.Row(render.Text(g.ID), kindCell(g), render.Text(g.State).In(stateStyle(g.State)), render.OptNum(r.Instances),
			countCell(g, r.Members), render.OptNum(r.Tasks), lagCell(r.Lag, &g.Totals, true),
			shortNotes(noteTexts(g, r.Notes), 16))
	}
	p.Table(grid)
	if n := len(healthy) - len(shown); n > 0 {
		p.Line(0, render.Int(int64(n))+" more (-o wide)")
	}
}

// summary is the answer for several groups in one line, where nobody asked for
// particular ones.
func (l *GroupDescriptionList) summary(p *render.Page) {
	if !l.brief || len(l.groups) < 2 {
		return
	}
	var names []string
	worst := render.Good
	for _, g := range l.groups {
		if g.OK() {
			continue
		}
		names = append(names, g.ID)
		if style := severityStyle(g.Findings[0].Severity); style == render.Problem || worst == render.Good {
			worst = style
		}
	}
	if len(names) == 0 {
		p.Styled(2, worst, "OK: all "+render.Count(len(l.groups), "group"))
		return
	}
	s := screen{p: p}
	p.Styled(2, worst, fmt.Sprintf("%s of %s %s findings: %s", render.Int(int64(len(names))), render.Count(len(l.groups), "group"),
		plural(len(names), "has", "have"), s.names(names, 8)))
}

// Grid is a row a task and copy of all groups.
func (l *GroupDescriptionList) Grid() *render.Grid { return taskGrid(l.groups) }

// Names are the groups', though the rows of the descriptions are tasks.
func (l *GroupDescriptionList) Names() []string {
	out := make([]string, len(l.groups))
	for i, g := range l.groups {
		out[i] = g.ID
	}
	return out
}

// Notes are remarks for stderr that are no errors.
func (l *GroupDescriptionList) Notes() []string {
	var out []string
	for _, g := range l.groups {
		out = append(out, g.Notes...)
	}
	return out
}
