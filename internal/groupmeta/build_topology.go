package groupmeta

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// subtopologyKey names a sub-topology within its group.
type subtopologyKey struct{ topology, id string }

func keyOf(t model.TaskID) subtopologyKey { return subtopologyKey{t.Topology, t.Subtopology} }

func (k subtopologyKey) task(partition int32) model.TaskID {
	return model.TaskID{Topology: k.topology, Subtopology: k.id, Partition: partition}
}

func (k subtopologyKey) String() string {
	if k.topology != "" {
		return k.topology + "__" + k.id
	}
	return k.id
}

func (k subtopologyKey) compare(o subtopologyKey) int { return k.task(0).Compare(o.task(0)) }

// subtopologyParts is what is known about a sub-topology.
type subtopologyParts struct {
	sources      map[string]bool // all topics it reads, repartition topics too
	repartitions map[string]bool // those of sources that are repartition topics
	sinks        []string
	changelogs   []string // mapped to it, sorted
	stores       []string // by the leader's word only
	seen         map[int32]bool
	counted      int32 // tasks by the partitions of its topics; 0 when not known
	state        bool  // some member reports or stands by for state of it
	stateful     *bool
	inferred     bool // changelogs or stateful were worked out
	complete     bool // changelogs are all that it has
}

func (b *groupBuilder) sub(k subtopologyKey) *subtopologyParts {
	s := b.subs[k]
	if s == nil {
		s = &subtopologyParts{sources: make(map[string]bool), repartitions: make(map[string]bool), seen: make(map[int32]bool)}
		b.subs[k] = s
	}
	return s
}

// subKeys are the keys of subs, sorted.
func (b *groupBuilder) subKeys() []subtopologyKey {
	return slices.SortedFunc(maps.Keys(b.subs), subtopologyKey.compare)
}

// classicTopology gathers the topology of a classic group: sources from the
// pairing, changelogs from the user's description or from what is certain.
func (b *groupBuilder) classicTopology() {
	b.topologyFromTasks()
	b.g.Topology.Source = ""
	if len(b.subs) > 0 {
		b.g.Topology.Source = "assignment"
	}
	switch {
	case b.o.Topology != nil:
		b.topologyFromFile(b.o.Topology)
	case b.plugIn != nil:
		b.topologyFromStatus()
	}
	b.countTasks()
	if b.o.Topology == nil && b.plugIn == nil {
		b.mapChangelogs()
	}
	b.finishTopology()
}

// topologyFromTasks reads off the members' tasks which sub-topology reads
// which topics and which tasks there are.
func (b *groupBuilder) topologyFromTasks() {
	for i := range b.members {
		m := &b.members[i]
		for j := range m.Tasks {
			t := &m.Tasks[j]
			s := b.sub(keyOf(t.ID))
			s.seen[t.ID.Partition] = true
			for _, p := range t.Partitions {
				s.sources[p.Topic] = true
			}
			if t.Role != model.Active {
				s.state = true
			}
		}
		for id, sum := range m.sums {
			s := b.sub(keyOf(id))
			s.seen[id.Partition] = true
			if sum != SumRunning || m.Metadata.UsedVersion >= firstWithSums {
				s.state = true
			}
		}
	}
	for _, s := range b.subs {
		for t := range s.sources {
			if strings.HasPrefix(t, b.in.ID+"-") && strings.HasSuffix(t, RepartitionSuffix) {
				s.repartitions[t] = true
			}
		}
	}
}

// countTasks takes the number of tasks from the topics: the most partitions of
// any topic that the sub-topology reads.
func (b *groupBuilder) countTasks() {
	for _, s := range b.subs {
		for t := range s.sources {
			s.counted = max(s.counted, b.x.partitions(t))
		}
	}
}

// maxPartition is the highest partition of a task that is counted. No topic has
// as many partitions: a higher number is not one of Kafka's, and the tasks below
// it would cost memory that nobody has.
const maxPartition = 1_000_000 - 1

// partitions is the number of tasks as far as known.
func (s *subtopologyParts) partitions() int32 {
	n := s.counted
	for p := range s.seen {
		if p >= n && p <= maxPartition {
			n = p + 1
		}
	}
	return n
}

// beyond is a task seen that is not counted, by its partition; negative when
// there is none.
func (s *subtopologyParts) beyond() int32 {
	most := int32(-1)
	for p := range s.seen {
		if p > maxPartition {
			most = max(most, p)
		}
	}
	return most
}

// finishTopology writes what is known into the model.
func (b *groupBuilder) finishTopology() {
	t := &b.g.Topology
	for _, k := range b.subKeys() {
		s := b.subs[k]
		if p := s.beyond(); p >= 0 {
			b.uncertain("task %s is not counted: no topic has so many partitions", k.task(p))
		}
		out := model.Subtopology{
			ID: k.id, Topology: k.topology,
			RepartitionSinkTopics:   sortedTopics(s.sinks),
			RepartitionSourceTopics: slices.Sorted(maps.Keys(s.repartitions)),
			ChangelogTopics:         sortedTopics(s.changelogs),
			Stores:                  s.stores,
			Partitions:              s.partitions(),
			Stateful:                s.stateful,
			Inferred:                s.inferred,
		}
		for topic := range s.sources {
			if !s.repartitions[topic] {
				out.SourceTopics = append(out.SourceTopics, topic)
			}
		}
		slices.Sort(out.SourceTopics)
		t.Subtopologies = append(t.Subtopologies, out)
	}
	slices.Sort(t.Uncertain)
	t.Uncertain = slices.Compact(t.Uncertain)
	b.tagStateful()
}

// tagStateful tells each task whether it has state.
func (b *groupBuilder) tagStateful() {
	for i := range b.members {
		for j := range b.members[i].Tasks {
			t := &b.members[i].Tasks[j]
			if s := b.subs[keyOf(t.ID)]; s != nil {
				t.Stateful = s.stateful
			}
			if t.Stateful != nil && *t.Stateful {
				addTag(t, model.IsStateful)
			}
		}
	}
}

// addTag adds a tag in the order of the draft's table.
func addTag(t *model.Task, tag model.Tag) {
	if slices.Contains(t.Tags, tag) {
		return
	}
	order := []model.Tag{model.IsStateful, model.IsLearner, model.BeingLearned, model.IsReady, model.IsLeaving}
	tags := append(slices.Clone(t.Tags), tag)
	slices.SortFunc(tags, func(a, b model.Tag) int { return slices.Index(order, a) - slices.Index(order, b) })
	t.Tags = tags
}

// uncertain adds a line to what stays uncertain about the topology.
func (b *groupBuilder) uncertain(format string, args ...any) {
	b.g.Topology.Uncertain = append(b.g.Topology.Uncertain, fmt.Sprintf(format, args...))
}
