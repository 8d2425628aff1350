package report

import (
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// tree writes the topology (field case 77): the full description where there
// is one, else the topics of each sub-topology.
func (s *screen) tree() {
	t := &s.g.Topology
	s.p.Blank()
	switch {
	case t.Tree != nil:
		for i := range t.Tree.Subtopologies {
			s.part("Sub-topology ", &t.Tree.Subtopologies[i])
		}
		for i := range t.Tree.GlobalStores {
			s.part("Global store, sub-topology ", &t.Tree.GlobalStores[i])
		}
		return
	case len(t.Subtopologies) == 0:
		s.p.Line(0, "no topology is known"+s.treeStatus())
		return
	}
	for i := range t.Subtopologies {
		s.topics(&t.Subtopologies[i])
	}
	if status := s.treeStatus(); status != "" {
		s.p.Line(0, "topics only"+status)
	}
	for _, u := range t.Uncertain {
		s.p.Line(2, "uncertain: "+render.Escape(u))
	}
}

// treeStatus says why there is no full description.
func (s *screen) treeStatus() string {
	switch s.g.Topology.TreeStatus {
	case "NOT_REQUESTED":
		return ": no full description, NOT_REQUESTED (it was not asked for)"
	case "NOT_STORED":
		return ": no full description, NOT_STORED (the broker holds none; clients send it from 4.4 on)"
	case "ERROR":
		return ": no full description, ERROR (the broker could not read it)"
	}
	return ""
}

func (s *screen) part(title string, part *model.TopologyTreePart) {
	s.p.Line(0, title+render.Escape(part.ID))
	for _, n := range part.Nodes {
		text := render.Escape(n.Name) + "  " + render.Escape(n.Kind)
		if len(n.Topics) > 0 {
			text += "  " + escapeAll(n.Topics)
		}
		if len(n.Stores) > 0 {
			text += "  stores " + escapeAll(n.Stores)
		}
		s.branch(1, text)
		for _, next := range n.Successors {
			s.branch(2, "-> "+render.Escape(next))
		}
	}
}

func (s *screen) topics(sub *model.Subtopology) {
	title := "Sub-topology " + render.Escape(subtopologyID(sub))
	if sub.Partitions > 0 {
		title += "  " + render.Count(int(sub.Partitions), "task")
	}
	switch {
	case sub.Stateful == nil:
		title += "  stateful?"
	case *sub.Stateful:
		title += "  stateful"
	default:
		title += "  stateless"
	}
	if sub.Inferred {
		title += "~"
	}
	s.p.Line(0, title)
	var facts []render.Fact
	for _, group := range []struct {
		word string
		list []string
	}{
		{"source", sub.SourceTopics}, {"repartition source", sub.RepartitionSourceTopics},
		{"repartition sink", sub.RepartitionSinkTopics}, {"changelog", sub.ChangelogTopics},
	} {
		for _, topic := range group.list {
			facts = append(facts, render.Fact{Label: group.word, Text: render.Escape(topic)})
		}
	}
	s.p.Facts(2, facts)
}

func (s *screen) branch(depth int, text string) {
	s.p.Styled(2*depth+2, render.Plain, strings.Repeat("  ", depth)+text)
}

func escapeAll(list []string) string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = render.Escape(t)
	}
	return strings.Join(out, ", ")
}
