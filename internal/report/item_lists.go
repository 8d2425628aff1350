package report

import (
	"cmp"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// ItemOptions is what a list of instances, members or tasks knows besides its
// groups.
type ItemOptions struct {
	TakenAt   *time.Time // when there are no groups to take it from
	ClusterID string
	Errors    []model.ReadError // besides those of the groups
}

func (o *ItemOptions) read(groups []*model.Group) Read {
	r := readOfAll(groups, o.Errors)
	r.TakenAt = cmp.Or(o.TakenAt, r.TakenAt)
	if o.ClusterID != "" {
		r.ClusterID = &o.ClusterID
	}
	return r
}

// InstanceList is what `get instances` shows.
type InstanceList struct {
	Head
	Items []InstanceItem `json:"items"` // by group, name
	Read

	groups []*model.Group
}

// InstanceItem is an instance of a list.
type InstanceItem struct {
	Group string `json:"group"`
	InstanceFields
}

// NewInstanceList makes the list of the instances of groups.
func NewInstanceList(groups []*model.Group, o ItemOptions) *InstanceList {
	groups = sortedGroups(groups)
	l := &InstanceList{Head: head("InstanceList"), Items: []InstanceItem{}, Read: o.read(groups), groups: groups}
	for _, g := range groups {
		for i := range g.Instances {
			l.Items = append(l.Items, InstanceItem{Group: g.ID, InstanceFields: newInstanceFields(g, &g.Instances[i])})
		}
	}
	return l
}

// Text writes the table.
func (l *InstanceList) Text(p *render.Page) { p.Rows(l.Grid()) }

// Grid is a row an instance.
func (l *InstanceList) Grid() *render.Grid {
	g := render.NewGrid(
		render.Column{Head: "INSTANCE", Key: "instance_name", Cap: nameCap, In: render.InText},
		render.Column{Head: "PROCESS", Key: "instance", In: render.InFull},
		groupColumn(l.groups),
		render.Column{Head: "HOST", In: render.InFull},
		render.Column{Head: "ENDPOINT", In: render.InFull},
		render.Column{Head: "RACK", In: render.InFull},
		render.Column{Head: "CLIENT TAGS", In: render.InWide},
		render.Column{Head: workersHeadOf(l.groups), Key: "workers", Right: true, Drop: 2},
		render.Column{Head: "ACTIVE", Right: true},
		render.Column{Head: "TARGET", Key: "target_active", Right: true, In: render.InFull},
		render.Column{Head: "STANDBY", Right: true},
		render.Column{Head: "LEARNER", Right: true},
		render.Column{Head: "EXPECTED", Key: "expected_active", Right: true, Drop: 3},
		render.Column{Head: "BALANCED", Drop: 4},
		render.Column{Head: "LEAVING", In: render.InFull},
		render.Column{Head: "LAG", Right: true, Drop: 1},
	)
	for _, group := range l.groups {
		t := traitsOf(group, group.Instances)
		for i := range group.Instances {
			in := &group.Instances[i]
			expected, _ := expectedCells(in)
			learner := roleNum(group, in.Learner)
			if t.inferred[in.ID] {
				learner = learner.Suffix("~")
			}
			leaving := in.Leaving != nil
			balanced := render.Dash()
			if in.Expected > 0 {
				balanced = render.Bool(&in.Balanced)
			}
			g.Row(
				render.Text(instanceName(in)), render.Text(in.ID), render.Text(group.ID), hostCell(in.Host), render.Text(in.Endpoint),
				render.Text(in.Rack), render.List(tagTexts(in.Tags), " "), render.Num(len(in.Members)), roleNum(group, in.Active),
				render.OptNum(in.TargetActive), roleNum(group, in.Standby), learner, expected, balanced,
				render.Bool(&leaving), render.OptNum(in.Lag),
			)
		}
	}
	return g
}

// groupColumn shows the group where there are several.
func groupColumn(groups []*model.Group) render.Column {
	c := render.Column{Head: "GROUP", Cap: nameCap, Drop: 1}
	if len(groups) < 2 {
		c.In = render.InFull
	}
	return c
}

// MemberList is what `get members` shows.
type MemberList struct {
	Head
	Items []MemberItem `json:"items"` // by group, instance, member
	Read

	groups []*model.Group
}

// MemberItem is a member of a list.
type MemberItem struct {
	Group    string `json:"group"`
	Instance string `json:"instance"`
	MemberFields
}

// NewMemberList makes the list of the members of groups.
func NewMemberList(groups []*model.Group, o ItemOptions) *MemberList {
	groups = sortedGroups(groups)
	l := &MemberList{Head: head("MemberList"), Items: []MemberItem{}, Read: o.read(groups), groups: groups}
	for _, g := range groups {
		for i := range g.Instances {
			in := &g.Instances[i]
			for j := range in.Members {
				l.Items = append(l.Items, MemberItem{Group: g.ID, Instance: in.ID, MemberFields: newMemberFields(&in.Members[j])})
			}
		}
	}
	return l
}

// Text writes the table.
func (l *MemberList) Text(p *render.Page) { p.Rows(l.Grid()) }

// Grid is a row a member.
func (l *MemberList) Grid() *render.Grid {
	static := false
	for _, group := range l.groups {
		static = static || traitsOf(group, group.Instances).static
	}
	id := render.InFull
	if static {
		id = render.InAll
	}
	g := render.NewGrid(
		render.Column{Head: "MEMBER", Key: "member_name", Cap: memberCap, In: render.InText},
		render.Column{Head: "MEMBER ID", Key: "member", In: render.InFull},
		groupColumn(l.groups),
		render.Column{Head: "PROCESS", Key: "instance", In: render.InFull},
		render.Column{Head: "CLIENT ID", In: render.InFull},
		render.Column{Head: "INSTANCE-ID", Key: "instance_id", Cap: nameCap, In: id},
		render.Column{Head: "HOST", Drop: 5},
		render.Column{Head: "ADDRESS", In: render.InFull},
		render.Column{Head: "ACTIVE", Right: true},
		render.Column{Head: "STANDBY", Right: true, Drop: 2},
		render.Column{Head: "LEARNER", Right: true, Drop: 2},
		render.Column{Head: "METADATA", Drop: 4},
		render.Column{Head: "EPOCH", Right: true, In: render.InFull},
		render.Column{Head: "TARGET EPOCH", Right: true, In: render.InFull},
		render.Column{Head: "LAG", Right: true, Drop: 3},
		render.Column{Head: "NOTE", Key: "notes"},
	)
	for _, group := range l.groups {
		for i := range group.Instances {
			in := &group.Instances[i]
			for j := range in.Members {
				m := &in.Members[j]
				c := countRoles(m.Tasks)
				g.Row(
					render.Text(shortName(m)), render.Text(m.ID), render.Text(group.ID), render.Text(in.ID), render.Text(m.ClientID),
					render.Text(m.InstanceID), hostCell(m.Host), hostCell(m.Address), roleNum(group, c.active), roleNum(group, c.standby), roleNum(group, c.learner),
					render.Text(versionText(m)), render.OptNum(m.Epoch), render.OptNum(m.TargetEpoch), render.OptNum(memberLag(m)), noteCell(m),
				)
			}
		}
	}
	return g
}

// hostCell is a host, without the "/" that brokers put before addresses where
// people read it.
func hostCell(host string) render.Cell {
	if host == "" {
		return render.Dash()
	}
	return render.Text(host).Shown(strings.TrimPrefix(host, "/"))
}
