package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// ListOptions says which groups are listed and what is known besides them.
type ListOptions struct {
	TakenAt   *time.Time // when there are no groups to take it from
	ClusterID string
	Errors    []model.ReadError // besides those of the groups

	Kinds    []model.Kind // --kind; empty: the stream kinds
	AllKinds bool         // --all-kinds
	Findings bool         // --findings: only groups with notes
	Lag      bool         // --lag
}

// GroupList is what `get groups` shows.
type GroupList struct {
	Head
	Groups   []GroupRow `json:"groups"` // by group
	NotShown NotShown   `json:"not_shown"`
	Read

	o    ListOptions
	from []*model.Group // of each row
}

// NotShown counts the groups that were left out.
type NotShown struct {
	Consumer int `json:"consumer"`
	Unknown  int `json:"unknown"` // may or may not be Streams apps
}

// GroupRow is one group of a list.
type GroupRow struct {
	Group        string   `json:"group"`
	GroupKind    string   `json:"group_kind"`
	State        string   `json:"state"`
	ProtocolType *string  `json:"protocol_type"`
	Protocol     *string  `json:"protocol"`
	KindBasis    string   `json:"kind_basis"`
	Members      *int     `json:"members"` // null, as the two below, where it could not be read
	Instances    *int     `json:"instances"`
	Tasks        *int     `json:"tasks"`
	Coordinator  *int32   `json:"coordinator"`
	Notes        []string `json:"notes"`
	Lag          *int64   `json:"lag"` // null without --lag
}

// NewGroupList makes the report; the groups may come in any order.
func NewGroupList(groups []*model.Group, o ListOptions) *GroupList {
	l := &GroupList{Head: head("GroupList"), Groups: []GroupRow{}, o: o}
	sorted := slices.SortedFunc(slices.Values(groups), func(a, b *model.Group) int { return strings.Compare(a.ID, b.ID) })
	for _, g := range sorted {
		switch {
		case o.shows(g.Kind):
			row := newGroupRow(g, o.Lag)
			if o.Findings && len(row.Notes) == 0 {
				continue
			}
			l.Groups = append(l.Groups, row)
			l.from = append(l.from, g)
		case g.Kind == model.Unknown:
			l.NotShown.Unknown++
		case !g.Kind.IsStream():
			l.NotShown.Consumer++
		}
	}
	l.Read = readOfAll(sorted, o.Errors)
	if o.TakenAt != nil {
		l.TakenAt = o.TakenAt
	}
	if o.ClusterID != "" {
		l.ClusterID = &o.ClusterID
	}
	return l
}

func (o *ListOptions) shows(k model.Kind) bool {
	if len(o.Kinds) > 0 {
		return slices.Contains(o.Kinds, k) || k == model.Unknown && slices.Contains(o.Kinds, model.Consumer)
	}
	return o.AllKinds || k.IsStream()
}

func newGroupRow(g *model.Group, lag bool) GroupRow {
	r := GroupRow{
		Group: g.ID, GroupKind: kindName(g.Kind), State: g.State, ProtocolType: optional(g.ProtocolType), Protocol: optional(g.Protocol),
		KindBasis: string(cmp.Or(g.KindBasis, model.BasisNone)), Notes: []string{},
	}
	if !g.Unread {
		n := memberCount(g)
		r.Members = &n
	}
	if g.Coordinator != nil {
		r.Coordinator = &g.Coordinator.ID
	}
	if g.Kind.IsStream() && !g.Unread {
		r.Instances, r.Tasks = knownInstances(g), knownTasks(g)
	}
	for _, f := range g.Findings {
		if !slices.Contains(r.Notes, f.Code) {
			r.Notes = append(r.Notes, f.Code)
		}
	}
	if lag {
		r.Lag = newTotals(g).Lag
	}
	return r
}

func memberCount(g *model.Group) int {
	n := 0
	for i := range g.Instances {
		n += len(g.Instances[i].Members)
	}
	return n
}

// knownInstances counts the instances, or is nil when a member's instance can
// only be guessed from its client id.
func knownInstances(g *model.Group) *int {
	for i := range g.Instances {
		if strings.HasPrefix(g.Instances[i].ID, "client:") {
			return nil
		}
	}
	n := len(g.Instances)
	return &n
}

// knownTasks is how many tasks a group has: not known of one without any that is
// not given its assignment, or whose sub-topologies read topics that are not there.
func knownTasks(g *model.Group) *int {
	unknown := g.AssignmentBasis != model.AssignmentCurrent || slices.ContainsFunc(g.Topology.Subtopologies, func(s model.Subtopology) bool { return s.Partitions == 0 })
	if !g.Kind.IsStream() || g.Totals.Tasks == 0 && unknown {
		return nil
	}
	n := g.Totals.Tasks
	return &n
}

// Summary is the line for stderr that counts what is and is not shown.
func (l *GroupList) Summary() string {
	noun := " stream groups"
	if len(l.o.Kinds) > 0 || l.o.AllKinds {
		noun = " groups"
	}
	if len(l.Groups) == 1 {
		noun = strings.TrimSuffix(noun, "s")
	}
	out := render.Int(int64(len(l.Groups))) + noun
	if n := l.NotShown.Consumer; n > 0 {
		out += "; " + render.Int(int64(n)) + plural(n, " other", " others") + " not shown (--all-kinds)"
	}
	if n := l.NotShown.Unknown; n > 0 {
		out += "; " + render.Int(int64(n)) + plural(n, " may or may not be a Streams app", " may or may not be Streams apps") + ", not shown"
	}
	return out
}

// Text writes the table.
func (l *GroupList) Text(p *render.Page) { p.Rows(l.Grid()) }

// Grid is a row a group.
func (l *GroupList) Grid() *render.Grid {
	lagIn := render.InMachine
	if l.o.Lag {
		lagIn = render.InAll
	}
	g := render.NewGrid(
		render.Column{Head: "GROUP", Cap: nameCap},
		render.Column{Head: "KIND"},
		render.Column{Head: "STATE"},
		render.Column{Head: "INST", Key: "instances", Right: true, Drop: 3},
		render.Column{Head: "MEMBERS", Right: true, Drop: 2},
		render.Column{Head: "TASKS", Right: true, Drop: 1},
		render.Column{Head: "LAG", Right: true, In: lagIn},
		render.Column{Head: "PROTOCOL TYPE", In: render.InFull},
		render.Column{Head: "PROTOCOL", In: render.InFull},
		render.Column{Head: "KIND BASIS", In: render.InFull},
		render.Column{Head: "COORDINATOR", Right: true, In: render.InFull},
		render.Column{Head: "NOTES", Cap: 24, In: render.InDefault},
		render.Column{Head: "NOTES", In: render.InFull},
	)
	g.Grow(len(l.Groups))
	room := l.noteRoom()
	for i := range l.Groups {
		r, from := &l.Groups[i], l.from[i]
		notes := noteTexts(from, r.Notes)
		g.Row(
			render.Text(r.Group), kindCell(from), render.Text(r.State).In(stateStyle(r.State)),
			countCell(from, r.Instances), countCell(from, r.Members), countCell(from, r.Tasks), lagCell(r.Lag, &from.Totals, l.o.Lag),
			optText(r.ProtocolType), optText(r.Protocol), render.Text(r.KindBasis), render.OptNum(r.Coordinator),
			shortNotes(notes, room).In(worst(from)), render.List(r.Notes, ", ").Shown(cmp.Or(strings.Join(notes, ", "), render.None)).In(worst(from)),
		)
	}
	return g
}

// nameCap is the length of names that the default forms are made for.
const nameCap = 20

func optText(s *string) render.Cell {
	if s == nil {
		return render.Dash()
	}
	return render.Text(*s)
}

func kindCell(g *model.Group) render.Cell {
	c := render.Text(kindName(g.Kind))
	switch {
	case g.KindBasis.Inferred():
		return c.Suffix("~")
	case g.Kind == model.Unknown:
		return c.Suffix("?")
	case g.Kind == model.Other && g.ProtocolType != "":
		return c.Shown("other (" + g.ProtocolType + ")")
	}
	return c
}

// countCell is a number that may be unknown, "?" where the group could not be
// read.
func countCell(g *model.Group, n *int) render.Cell {
	if n == nil && g.Unread && len(g.Errors) > 0 {
		return render.Question()
	}
	return render.OptNum(n)
}

func lagCell(lag *int64, t *model.Totals, asked bool) render.Cell {
	switch {
	case lag != nil:
		return render.Num(*lag)
	case asked && t.LagPartial && t.Lag != nil:
		return render.Dash().Shown("≥" + render.Int(*t.Lag))
	}
	return render.Dash()
}
