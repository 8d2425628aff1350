package groupmeta

import (
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// topologyFromFile takes the sub-topologies from a description that the user
// gave. Where it does not fit what the members run, that is said, and the
// members are believed.
func (b *groupBuilder) topologyFromFile(file *model.Topology) {
	b.g.Topology.Source = "file"
	b.g.Topology.Tree = file.Tree
	described := make(map[subtopologyKey]bool)
	for i := range file.Subtopologies {
		f := &file.Subtopologies[i]
		k := subtopologyKey{f.Topology, f.ID}
		described[k] = true
		s := b.sub(k)
		b.checkSources(k, s, f)
		for _, t := range f.RepartitionSinkTopics {
			s.sinks = append(s.sinks, b.internalName(t))
		}
		var stores []string
		if file.Tree != nil && i < len(file.Tree.Subtopologies) {
			stores = storesOf(&file.Tree.Subtopologies[i])
		}
		b.changelogsOfStores(k, s, stores)
	}
	for _, k := range b.subKeys() {
		if !described[k] {
			b.uncertain("members run sub-topology %s, which the topology file does not have: is it of this application?", k)
		}
	}
}

// checkSources adds the described sources and compares them with those that
// members were given.
func (b *groupBuilder) checkSources(k subtopologyKey, s *subtopologyParts, f *model.Subtopology) {
	known := make(map[string]bool)
	pattern := false
	for _, list := range [][]string{f.SourceTopics, f.RepartitionSourceTopics} {
		for _, t := range list {
			if !legalTopic(t) {
				pattern = true
				continue
			}
			name := b.internalName(t)
			known[name] = true
			if name != t {
				s.repartitions[name] = true
			}
		}
	}
	for t := range s.sources {
		if !known[t] && !pattern {
			b.uncertain("sub-topology %s reads topic %s, which the topology file does not say: is it of this application?", k, t)
		}
	}
	for t := range known {
		s.sources[t] = true
	}
}

// internalName gives an internal topic of a description its application id.
func (b *groupBuilder) internalName(topic string) string {
	full := b.in.ID + "-" + topic
	if b.x.topics[full] != nil || strings.HasSuffix(topic, RepartitionSuffix) && !strings.HasPrefix(topic, b.in.ID+"-") {
		return full
	}
	return topic
}

// changelogsOfStores maps stores to their changelog topics.
func (b *groupBuilder) changelogsOfStores(k subtopologyKey, s *subtopologyParts, stores []string) {
	yes, no := true, false
	s.complete = true
	for _, store := range stores {
		topic := b.in.ID + "-" + store + ChangelogSuffix
		switch b.x.topicState(topic) {
		case topicThere, topicMissing, topicHidden, topicFailed:
			s.changelogs = append(s.changelogs, topic)
		case topicUnknown:
			s.changelogs = append(s.changelogs, topic)
			s.complete = false
		case topicNotListed:
			s.complete = false
			b.uncertain("store %s of sub-topology %s has no changelog topic that is visible: not logged, or a source topic serves (topology.optimization)", store, k)
		}
	}
	switch {
	case len(s.changelogs) > 0, s.state:
		s.stateful = &yes
	case len(stores) == 0:
		s.stateful = &no
	}
}

// legalTopic reports whether a text can be a topic's name, and not a pattern.
func legalTopic(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return s != ""
}
