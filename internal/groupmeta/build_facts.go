package groupmeta

import (
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// reported keeps with each member what it said of its state, for predictions.
func (b *groupBuilder) reported() {
	for i := range b.members {
		m := &b.members[i]
		m.Rack = m.rack
		if m.sums == nil {
			continue
		}
		m.Reported = make([]model.OffsetSum, 0, len(m.sums))
		for id, sum := range m.sums {
			m.Reported = append(m.Reported, model.OffsetSum{Task: id, Sum: sum})
		}
		slices.SortFunc(m.Reported, func(x, y model.OffsetSum) int { return x.Task.Compare(y.Task) })
	}
}

// facts gathers what only a prediction needs: the changelogs of every task with
// state, also of those that nobody has, and the racks of the topics.
func (b *groupBuilder) facts() {
	f := &b.g.Facts
	for _, id := range b.topologyTasks() {
		s := b.subs[keyOf(id)]
		if s == nil || s.stateful == nil || !*s.stateful {
			continue
		}
		c := b.changelogState(id)
		f.Logs = append(f.Logs, model.TaskLog{Task: id, End: c.end, Start: c.start, Bytes: c.bytes, Note: c.note})
	}
	if d := b.in.Streams; d != nil && d.Version >= 1 {
		f.KafkaVersion = "4.4"
	}
	if b.g.Kind == model.Classic {
		b.changelogTopics()
	}
	b.topicRacks()
}

// changelogTopics lists the changelogs of the group with their ends.
func (b *groupBuilder) changelogTopics() {
	for _, name := range b.x.internalTopics(b.in.ID, ChangelogSuffix) {
		c := model.ChangelogTopic{Topic: name}
		for p := range b.x.partitions(name) {
			tp := model.TopicPartition{Topic: name, Partition: p}
			var end, bytes *int64
			if l := b.x.logs[tp]; l != nil {
				end = l.End
			}
			if n, ok := b.x.partitionSize(tp); ok {
				bytes = &n
			}
			c.Ends, c.Bytes = append(c.Ends, end), append(c.Bytes, bytes)
		}
		b.g.Facts.Changelogs = append(b.g.Facts.Changelogs, c)
	}
}

// topicRacks notes the racks of the replicas of every topic of the topology;
// none when no broker has a rack.
func (b *groupBuilder) topicRacks() {
	if !slices.ContainsFunc(b.x.s.Brokers, func(x snapshot.Broker) bool { return x.Rack != nil }) {
		return
	}
	racks := make(map[string][][]string)
	for _, s := range b.g.Topology.Subtopologies {
		for _, list := range [][]string{s.SourceTopics, s.RepartitionSourceTopics, s.ChangelogTopics} {
			for _, name := range list {
				t := b.x.topics[name]
				if t == nil || racks[name] != nil {
					continue
				}
				of := make([][]string, len(t.Partitions))
				for i, p := range t.Partitions {
					of[i] = b.racksOf(p.Replicas)
				}
				racks[name] = of
			}
		}
	}
	b.g.Facts.TopicRacks = racks
}

// racksOf are the racks of some brokers; nil when one has none.
func (b *groupBuilder) racksOf(brokers []int32) []string {
	out := make([]string, 0, len(brokers))
	for _, id := range brokers {
		br := b.x.brokers[id]
		if br == nil || br.Rack == nil {
			return nil
		}
		out = append(out, *br.Rack)
	}
	return out
}

// workerSettings are the settings of a worker group by their names.
func workerSettings(s *StreamSettings) []model.Setting {
	const source = model.SourceWorkers
	out := []model.Setting{
		{Key: "acceptable.recovery.lag", Value: strconv.FormatInt(s.AcceptableRecoveryLag, 10), Source: source},
		{Key: "num.standby.replicas", Value: strconv.Itoa(int(s.StandbyReplicas)), Source: source},
		{Key: "rejoin.policy", Value: string(s.RejoinPolicy), Source: source},
		{Key: "stream.worker.balancing.factor", Value: strconv.FormatFloat(float64(s.BalancingFactor)/1000, 'f', -1, 64), Source: source},
	}
	if s.MaxLearners.Known {
		out = append(out, model.Setting{Key: "max.learners", Value: strconv.FormatInt(s.MaxLearners.N, 10), Source: source})
	}
	if s.ScaleDownTimeoutMs.Known {
		out = append(out, model.Setting{Key: "scale.down.timeout.ms", Value: strconv.FormatInt(s.ScaleDownTimeoutMs.N, 10), Source: source})
	}
	slices.SortFunc(out, func(x, y model.Setting) int { return strings.Compare(x.Key, y.Key) })
	return out
}
