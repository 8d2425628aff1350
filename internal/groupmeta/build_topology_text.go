package groupmeta

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// Bounds of a topology text: lines longer or texts larger are refused.
const (
	maxTopologyLine = 1 << 20
	maxTopologyText = 32 << 20
)

// Kinds of nodes of a topology description.
const (
	nodeSource    = "source"
	nodeProcessor = "processor"
	nodeSink      = "sink"
)

// ParseTopologyText reads the text that Topology#describe() prints. Topics and
// stores are named as in the text: internal topics without the application id.
// Lines around it, a log prefix too, do no harm. The error says which line is
// wrong, or that there is no sub-topology at all.
func ParseTopologyText(r io.Reader) (*model.Topology, error) {
	p := topologyTextParser{t: &model.Topology{Source: "file", Tree: &model.TopologyTree{}}}
	scanner := bufio.NewScanner(io.LimitReader(r, maxTopologyText))
	scanner.Buffer(make([]byte, 0, 4096), maxTopologyLine)
	for line := 1; scanner.Scan(); line++ {
		if err := p.line(scanner.Text()); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, err
	}
	if len(p.t.Subtopologies) == 0 && len(p.t.Tree.GlobalStores) == 0 {
		return nil, errors.New("no line begins with \"Sub-topology:\": not the text of Topology#describe()")
	}
	p.finish()
	return p.t, nil
}

type topologyTextParser struct {
	t     *model.Topology
	named string // named topology that the lines belong to
	part  *model.TopologyTreePart
	sub   int // index in Subtopologies; -1 in a global store
	node  *model.TopologyNode
}

func (p *topologyTextParser) line(text string) error {
	if at, _, ok := cutKeyword(text, "Sub-topology:", "Source:", "Processor:", "Sink:", "Topology:", "-->", "<--"); ok {
		text = text[at:]
	}
	text = strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(text, "Topology:"):
		p.named = strings.Trim(strings.TrimPrefix(text, "Topology:"), " :")
	case strings.HasPrefix(text, "Sub-topology:"):
		return p.subtopology(strings.TrimSpace(strings.TrimPrefix(text, "Sub-topology:")))
	case strings.HasPrefix(text, "Source:"):
		return p.addNode(nodeSource, strings.TrimPrefix(text, "Source:"))
	case strings.HasPrefix(text, "Processor:"):
		return p.addNode(nodeProcessor, strings.TrimPrefix(text, "Processor:"))
	case strings.HasPrefix(text, "Sink:"):
		return p.addNode(nodeSink, strings.TrimPrefix(text, "Sink:"))
	case strings.HasPrefix(text, "-->"):
		if p.node != nil {
			for _, s := range strings.Split(strings.TrimPrefix(text, "-->"), ",") {
				if s = strings.TrimSpace(s); s != "" && s != "none" {
					p.node.Successors = append(p.node.Successors, s)
				}
			}
		}
	}
	return nil
}

// cutKeyword finds the first of the words that begins the text, or that stands
// in it after a blank: log lines have a prefix.
func cutKeyword(text string, words ...string) (at int, word string, ok bool) {
	at = len(text)
	for _, w := range words {
		i := strings.Index(text, w)
		if i >= 0 && i < at && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t') {
			at, word, ok = i, w, true
		}
	}
	return at, word, ok
}

func (p *topologyTextParser) subtopology(text string) error {
	id, rest, _ := strings.Cut(text, " ")
	if id == "" {
		return errors.New("a sub-topology without a number")
	}
	p.node = nil
	part := model.TopologyTreePart{ID: id}
	if strings.HasPrefix(rest, "for global store") {
		p.t.Tree.GlobalStores = append(p.t.Tree.GlobalStores, part)
		p.part, p.sub = &p.t.Tree.GlobalStores[len(p.t.Tree.GlobalStores)-1], -1
		return nil
	}
	for _, s := range p.t.Subtopologies {
		if s.ID == id && s.Topology == p.named {
			return fmt.Errorf("sub-topology %q is there twice", id)
		}
	}
	p.t.Tree.Subtopologies = append(p.t.Tree.Subtopologies, part)
	p.part = &p.t.Tree.Subtopologies[len(p.t.Tree.Subtopologies)-1]
	p.t.Subtopologies = append(p.t.Subtopologies, model.Subtopology{ID: id, Topology: p.named})
	p.sub = len(p.t.Subtopologies) - 1
	return nil
}

func (p *topologyTextParser) addNode(kind, text string) error {
	if p.part == nil {
		return fmt.Errorf("a %s before the first sub-topology", kind)
	}
	name, what := strings.TrimSpace(text), ""
	if i := strings.LastIndex(name, " ("); i >= 0 && strings.HasSuffix(name, ")") {
		name, what = name[:i], name[i+2:len(name)-1]
	}
	n := model.TopologyNode{Name: name, Kind: kind}
	key, value, _ := strings.Cut(what, ":")
	switch strings.TrimSpace(key) {
	case "topics", "topic":
		n.Topics = bracketList(value)
	case "stores":
		n.Stores = bracketList(value)
	}
	p.part.Nodes = append(p.part.Nodes, n)
	p.node = &p.part.Nodes[len(p.part.Nodes)-1]
	if p.sub >= 0 {
		p.note(&p.t.Subtopologies[p.sub], &n)
	}
	return nil
}

// note gathers the topics of a node in its sub-topology.
func (p *topologyTextParser) note(s *model.Subtopology, n *model.TopologyNode) {
	for _, t := range n.Topics {
		internal := strings.HasSuffix(t, RepartitionSuffix)
		switch {
		case n.Kind == nodeSource && internal:
			s.RepartitionSourceTopics = append(s.RepartitionSourceTopics, t)
		case n.Kind == nodeSource:
			s.SourceTopics = append(s.SourceTopics, t)
		case n.Kind == nodeSink && internal:
			s.RepartitionSinkTopics = append(s.RepartitionSinkTopics, t)
		}
	}
}

// bracketList reads "[a, b]", or one name.
func bracketList(text string) []string {
	text = strings.TrimSpace(text)
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	var out []string
	for _, s := range strings.Split(text, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// finish sorts the topics and says which sub-topologies have stores.
func (p *topologyTextParser) finish() {
	for i := range p.t.Subtopologies {
		s := &p.t.Subtopologies[i]
		s.SourceTopics = sortedTopics(s.SourceTopics)
		s.RepartitionSourceTopics = sortedTopics(s.RepartitionSourceTopics)
		s.RepartitionSinkTopics = sortedTopics(s.RepartitionSinkTopics)
		stateful := len(storesOf(&p.t.Tree.Subtopologies[i])) > 0
		s.Stateful = &stateful
	}
}

// storesOf are the stores of all nodes of a part, sorted.
func storesOf(part *model.TopologyTreePart) []string {
	var out []string
	for _, n := range part.Nodes {
		out = append(out, n.Stores...)
	}
	return sortedTopics(out)
}
