package report

import (
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// Of is the group that a described object belongs to.
type Of struct {
	Group     string    `json:"group"`
	GroupKind string    `json:"group_kind"`
	State     string    `json:"state"`
	Positions Positions `json:"positions"`
}

func ofGroup(g *model.Group) Of {
	return Of{Group: g.ID, GroupKind: kindName(g.Kind), State: g.State, Positions: newPositions(g.Positions)}
}

// InstanceDescription is what `describe instance` shows.
type InstanceDescription struct {
	Head
	Of
	Instance
	Stop *Stop `json:"stop"` // whether it may stop now; null in a group that runs no tasks
	Read

	g  *model.Group
	in *model.Instance
	o  DescribeOptions
}

// NewInstanceDescription makes the report of one instance of g.
func NewInstanceDescription(g *model.Group, in *model.Instance, o DescribeOptions) *InstanceDescription {
	return &InstanceDescription{
		Head: head("InstanceDescription"), Of: ofGroup(g), Instance: newInstance(g, in), Stop: newStop(g, in), Read: readOf(g), g: g, in: in, o: o,
	}
}

// Text writes the screen.
func (d *InstanceDescription) Text(p *render.Page) {
	s := newScreen(p, d.g, d.o)
	s.partHeadline(instanceName(d.in), "instance")
	s.partVerdict(append([]string{"instance " + instanceName(d.in), "instance " + d.in.ID}, memberObjects(d.in.Members)...))
	p.Blank()
	facts := s.instanceFacts(d.in)
	if d.Stop != nil {
		facts = append(facts, render.Fact{Label: "Stop now", Text: render.Escape(d.Stop.c.Headline(instanceName(d.in)))})
	}
	p.Facts(0, facts)
	s.block(s.threadGrid([]model.Instance{*d.in}))
	s.block(heldGrid(d.g, d.in.Members))
}

// Grid is a row a task and role of the instance.
func (d *InstanceDescription) Grid() *render.Grid { return heldGrid(d.g, d.in.Members) }

func memberObjects(members []model.Member) []string {
	var out []string
	for i := range members {
		out = append(out, "member "+shortName(&members[i]), "member "+members[i].ID)
	}
	return out
}

// partHeadline is the first line of a describe of something inside a group.
func (s *screen) partHeadline(name, what string) {
	g := s.g
	kind := kindName(g.Kind)
	if g.KindBasis.Inferred() {
		kind += "~"
	}
	s.p.Head(s.cluster(), render.Span{Text: s.p.Name(name), Style: render.Strong}, render.Span{Text: what + " of " + s.p.Name(g.ID)},
		render.Span{Text: kind}, render.Span{Text: render.Escape(g.State), Style: stateStyle(g.State)})
}

// partVerdict writes the findings that name one of these objects, and own, which
// are those of the part alone.
func (s *screen) partVerdict(objects []string, own ...model.Finding) {
	for _, f := range s.g.Findings {
		for _, o := range objects {
			if f.Object == o {
				own = append(own, f)
				break
			}
		}
	}
	s.p.Blank()
	s.verdict(own)
}

func (s *screen) instanceFacts(in *model.Instance) []render.Fact {
	var out []render.Fact
	add := func(label, text string) {
		if text != "" {
			out = append(out, render.Fact{Label: label, Text: text})
		}
	}
	if id, guessed := strings.CutPrefix(in.ID, "client:"); guessed {
		add("Process", "not known; its members share the client id "+render.Escape(id))
	} else {
		add("Process", render.Escape(in.ID))
	}
	add("Host", render.Escape(strings.TrimPrefix(in.Host, "/")))
	add("Endpoint", render.Escape(in.Endpoint))
	add("Rack", render.Escape(in.Rack))
	add("Tags", render.Escape(strings.Join(tagTexts(in.Tags), " ")))
	add("Leaving", leavingText(in.Leaving))
	add("Active", activeText(in))
	add("Copies", render.Count(in.Standby, "standby task")+", "+render.Count(in.Learner, "learner"))
	if in.Lag != nil {
		add("Lag", render.Int(*in.Lag))
	}
	add("Positions", s.positions())
	return out
}

func leavingText(m *model.Mark) string {
	if m == nil {
		return ""
	}
	text := "mark " + render.Escape(m.ID)
	if m.Who != "" {
		text += " by " + render.Escape(m.Who)
	}
	if m.Why != "" {
		text += ": " + render.Escape(m.Why)
	}
	if m.Honoured {
		return text + " (honoured)"
	}
	return text + " (not yet honoured)"
}

func activeText(in *model.Instance) string {
	text := render.Count(in.Active, "task")
	if in.Expected > 0 {
		text += ", expected " + render.Ratio(in.Expected)
		if in.High > 0 {
			text += " (allowed " + render.Int(int64(in.Low)) + " to " + render.Int(int64(in.High)) + ")"
		}
	}
	return text
}

// heldGrid is a row a task of some members, in the order of the tasks.
func heldGrid(g *model.Group, members []model.Member) *render.Grid {
	mine := map[string]bool{}
	for i := range members {
		mine[members[i].ID] = true
	}
	grid := heldColumns()
	for _, h := range holdersByTask(g) {
		if mine[h.member.ID] {
			grid.Row(taskCells(g, h)...)
		}
	}
	return grid
}

func heldColumns() *render.Grid {
	return taskGrid(nil)
}
