package report

import (
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// screen writes the text form of one group.
type screen struct {
	p *render.Page
	g *model.Group
	o DescribeOptions

	prediction *Prediction // nil: none is shown

	members   map[string]*model.Member // by id
	instances map[string]*model.Instance
}

func newScreen(p *render.Page, g *model.Group, o DescribeOptions) *screen {
	s := &screen{p: p, g: g, o: o, members: map[string]*model.Member{}, instances: map[string]*model.Instance{}}
	for i := range g.Instances {
		in := &g.Instances[i]
		s.instances[in.ID] = in
		for j := range in.Members {
			s.members[in.Members[j].ID] = &in.Members[j]
		}
	}
	return s
}

// describe writes the whole screen: the answer first, then how old it is, then
// the tables.
func (s *screen) describe() {
	s.headline()
	s.p.Blank()
	s.verdict(s.g.Findings)
	if facts := s.facts(); len(facts) > 0 {
		s.p.Blank()
		s.p.Facts(0, facts)
	}
	switch {
	case s.o.Topology:
		s.tree()
	case s.o.By == ByTopic:
		s.block(s.topicGrid())
	case s.o.By == ByInstance:
		s.block(s.instanceGrid("TOTAL"))
	case s.o.By == BySubtopology:
		s.bySubtopology()
	case s.o.Threads:
		s.block(s.threadGrid(s.g.Instances))
	default:
		s.tables()
	}
}

func (s *screen) tables() {
	if len(s.g.Instances) > 0 {
		s.block(s.instanceGrid("total"))
	}
	if s.p.Wide() {
		s.block(s.threadGrid(s.g.Instances))
		s.block(wideTaskGrid(s.g))
	} else {
		s.taskTable()
	}
	s.offsetTable()
}

// block writes a table after a blank line, unless it has no rows.
func (s *screen) block(g *render.Grid) {
	if g.Len() > 0 {
		s.p.Blank()
		s.p.Table(g)
	}
}

func (s *screen) headline() {
	g := s.g
	kind := kindName(g.Kind)
	switch {
	case g.Kind == model.Streams:
		kind = "streams (KIP-1071)"
	case g.KindBasis.Inferred():
		kind += "~"
	case g.Kind == model.Unknown:
		kind += "?"
	case g.Kind == model.Other && g.ProtocolType != "":
		kind += " (" + render.Escape(g.ProtocolType) + ")"
	}
	state := render.Escape(g.State)
	if s.o.InStateFor > 0 && g.State != model.StateStable {
		state += " for at least " + render.Duration(s.o.InStateFor)
	}
	left := []render.Span{
		{Text: s.p.Name(g.ID), Style: render.Strong}, {Text: kind}, {Text: state, Style: stateStyle(g.State)},
	}
	if g.Mode != "" {
		left = append(left, render.Span{Text: "mode " + render.Escape(g.Mode)})
	}
	s.p.Head(s.cluster(), left...)
}

func (s *screen) cluster() string {
	switch {
	case s.o.Cluster != "":
		return "cluster " + s.p.Name(s.o.Cluster)
	case s.g.ClusterID != "":
		return "cluster " + s.p.Name(s.g.ClusterID)
	}
	return ""
}

// verdict writes OK, or the findings with the worst first.
func (s *screen) verdict(findings []model.Finding) {
	bad := 0
	facts := make([]render.Fact, 0, len(findings))
	for _, f := range findings {
		if f.Severity != model.Info {
			bad++
		}
		facts = append(facts, render.Fact{Label: f.Code, Text: findingText(f), Style: severityStyle(f.Severity)})
	}
	switch {
	case bad == 0 && (s.g.Unread || !s.g.Kind.IsStream()):
		s.p.Styled(0, render.Note, "not a stream group: nothing but its state and members is looked at")
	case bad == 0:
		s.p.Styled(0, render.Good, "OK")
	default:
		s.p.Styled(0, severityStyle(findings[0].Severity), render.Count(len(findings), "finding"))
	}
	s.p.Codes(2, facts)
}

// findingText names the object unless the text does so already or it is the
// group itself.
func findingText(f model.Finding) string {
	what, name, ok := strings.Cut(f.Object, " ")
	if !ok || name == "" || what == "group" || strings.Contains(f.Text, name) {
		return render.Escape(f.Text)
	}
	if what == "instance" || what == "task" || what == "member" {
		return render.Escape(name + ": " + f.Text)
	}
	return render.Escape(f.Object + ": " + f.Text)
}

func severityStyle(s model.Severity) render.Style {
	switch s {
	case model.Bad:
		return render.Problem
	case model.Warn:
		return render.Warning
	}
	return render.Note
}

func worst(g *model.Group) render.Style {
	if len(g.Findings) == 0 {
		return render.Plain
	}
	return severityStyle(g.Findings[0].Severity)
}

func stateStyle(state string) render.Style {
	switch state {
	case model.StateStable:
		return render.Good
	case model.StateEmpty:
		return render.Dim
	case model.StateDead, model.StateNotReady:
		return render.Problem
	}
	return render.Warning
}

// memberName is the short name of a member id.
func (s *screen) memberName(id string) string {
	if m := s.members[id]; m != nil {
		return shortName(m)
	}
	return id
}

// shortName is the member's name in tables, its id when it has none.
func shortName(m *model.Member) string {
	if m.Name != "" {
		return m.Name
	}
	return m.ID
}

// instanceName is the instance's name in tables, its id when it has none.
func instanceName(in *model.Instance) string {
	if in.Name != "" {
		return in.Name
	}
	return in.ID
}

// names joins short names with blanks, at most limit of them.
func (s *screen) names(list []string, limit int) string {
	more := 0
	if len(list) > limit {
		more, list = len(list)-limit, list[:limit]
	}
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = s.p.Name(n)
	}
	text := strings.Join(out, " ")
	if more > 0 {
		text += " and " + render.Int(int64(more)) + " more"
	}
	return text
}
