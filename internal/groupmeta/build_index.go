package groupmeta

import (
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// snapshotIndex finds things in a snapshot. It is made once for all groups of
// a snapshot, does not change it, and does not depend on the order of its
// lists.
type snapshotIndex struct {
	s       *snapshot.Snapshot
	topics  map[string]*snapshot.Topic
	names   []string // of topics that exist, sorted
	missing map[string]int16
	logs    map[model.TopicPartition]*snapshot.Log
	sizes   map[model.TopicPartition]int64 // bytes of the leader's replica, else of the largest
	brokers map[int32]*snapshot.Broker
	groups  map[string]*snapshot.Group
}

func newSnapshotIndex(s *snapshot.Snapshot) *snapshotIndex {
	x := &snapshotIndex{
		s:       s,
		topics:  make(map[string]*snapshot.Topic, len(s.Topics)),
		missing: make(map[string]int16, len(s.Missing)),
		logs:    make(map[model.TopicPartition]*snapshot.Log, len(s.Logs)),
		brokers: make(map[int32]*snapshot.Broker, len(s.Brokers)),
		groups:  make(map[string]*snapshot.Group, len(s.Groups)),
	}
	for i := range s.Topics {
		t := &s.Topics[i]
		switch {
		case t.ErrorCode == codeNone:
			x.topics[t.Name] = t
			x.names = append(x.names, t.Name)
		case len(t.Partitions) == 0:
			x.missing[t.Name] = t.ErrorCode
		}
	}
	slices.Sort(x.names)
	for _, m := range s.Missing {
		x.missing[m.Name] = m.ErrorCode
	}
	for i := range s.Logs {
		l := &s.Logs[i]
		x.logs[model.TopicPartition{Topic: l.Topic, Partition: l.Partition}] = l
	}
	for i := range s.Brokers {
		x.brokers[s.Brokers[i].ID] = &s.Brokers[i]
	}
	for i := range s.Groups {
		x.groups[s.Groups[i].ID] = &s.Groups[i]
	}
	x.indexSizes()
	return x
}

func (x *snapshotIndex) indexSizes() {
	x.sizes = make(map[model.TopicPartition]int64, len(x.s.LogSizes))
	led := make(map[model.TopicPartition]bool, len(x.s.LogSizes))
	for _, z := range x.s.LogSizes {
		tp := model.TopicPartition{Topic: z.Topic, Partition: z.Partition}
		leader, known := x.leader(tp)
		switch {
		case known && leader == z.Broker:
			x.sizes[tp], led[tp] = z.Bytes, true
		case !led[tp]:
			x.sizes[tp] = max(x.sizes[tp], z.Bytes)
		}
	}
}

func (x *snapshotIndex) leader(tp model.TopicPartition) (int32, bool) {
	t := x.topics[tp.Topic]
	if t == nil {
		return 0, false
	}
	if i := int(tp.Partition); i >= 0 && i < len(t.Partitions) && t.Partitions[i].Partition == tp.Partition {
		return t.Partitions[i].Leader, true
	}
	for _, p := range t.Partitions {
		if p.Partition == tp.Partition {
			return p.Leader, true
		}
	}
	return 0, false
}

// partitions is the number of partitions of a topic; 0 when it is not known.
func (x *snapshotIndex) partitions(topic string) int32 {
	if t := x.topics[topic]; t != nil {
		return int32(len(t.Partitions))
	}
	return 0
}

// Ends of the names of internal topics: GROUP-STORE-changelog,
// GROUP-NAME-repartition.
const (
	ChangelogSuffix   = "-changelog"
	RepartitionSuffix = "-repartition"
)

// internalTopics are the topics of a group that end like internal ones, sorted.
// Topics that belong to another group of the snapshot whose id begins with
// this one's and a hyphen are left out.
func (x *snapshotIndex) internalTopics(group, suffix string) []string {
	if group == "" {
		return nil
	}
	prefix := group + "-"
	i, _ := slices.BinarySearch(x.names, prefix)
	var out []string
	for ; i < len(x.names) && strings.HasPrefix(x.names[i], prefix); i++ {
		name := x.names[i]
		if strings.HasSuffix(name, suffix) && len(name) > len(prefix)+len(suffix)-1 && !x.ofLongerGroup(name, len(prefix)) {
			out = append(out, name)
		}
	}
	return out
}

// ofLongerGroup reports whether a longer group id, known in the snapshot, ends
// at a hyphen of the topic name behind from.
func (x *snapshotIndex) ofLongerGroup(topic string, from int) bool {
	for i := from; i < len(topic); i++ {
		if topic[i] == '-' && x.groups[topic[:i]] != nil {
			return true
		}
	}
	return false
}

// partitionSize is the bytes of a partition's log, if it was read.
func (x *snapshotIndex) partitionSize(tp model.TopicPartition) (int64, bool) {
	n, ok := x.sizes[tp]
	return n, ok
}

// topicState says whether a topic is there, and if not why.
type topicState int

const (
	topicThere     topicState = iota // listed by Metadata
	topicUnknown                     // the topics were not read
	topicMissing                     // does not exist
	topicHidden                      // no right to see it; it may or may not exist
	topicFailed                      // another error
	topicNotListed                   // the topics were read and it is not among them
)

func (x *snapshotIndex) topicState(name string) topicState {
	if x.topics[name] != nil {
		return topicThere
	}
	code, ok := x.missing[name]
	switch {
	case !ok && len(x.s.Topics) == 0:
		return topicUnknown
	case !ok:
		return topicNotListed
	case code == codeUnknownTopic:
		return topicMissing
	case code == codeTopicRefused:
		return topicHidden
	}
	return topicFailed
}
