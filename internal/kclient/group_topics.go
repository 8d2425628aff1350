package kclient

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// partition names one partition of a topic.
type partition = model.TopicPartition

// topic is a topic that concerns a group, by what was answered so far.
type topic struct {
	name  string
	named map[int32]bool // partitions that a commit or an assignment names
	sized bool           // its bytes are worth knowing: it is a changelog
	meta  *kmsg.MetadataResponseTopic
}

// topic is made known by its first use.
func (r *run) topic(name string) *topic {
	t := r.topics[name]
	if t == nil {
		t = &topic{name: name, named: map[int32]bool{}}
		r.topics[name] = t
	}
	return t
}

// collectTopics gathers the topics that the groups' answers name. assigned
// tells, by group, the partitions that its members run.
func (r *run) collectTopics() (assigned map[*group]map[string][]int32) {
	assigned = map[*group]map[string][]int32{}
	r.topics = map[string]*topic{}
	for _, name := range r.q.Topics {
		r.topic(name).sized = true
	}
	for _, g := range r.groups {
		if (r.q.Commits || r.q.Logs) && !r.q.wantsOffsets(&g.g) {
			continue
		}
		for _, c := range g.g.Commits {
			r.topic(c.Topic).named[c.Partition] = true
		}
		runs := map[string][]int32{}
		if c := g.g.Classic; c != nil && c.ErrorCode == 0 {
			r.classicTopics(c, runs)
		}
		if s := g.g.Streams; s != nil && s.Topology != nil {
			r.topologyTopics(s.Topology)
		}
		if k := g.g.Consumer; k != nil {
			for _, m := range k.Members {
				for _, p := range m.Partitions {
					runs[p.Topic] = append(runs[p.Topic], p.Partition)
				}
			}
		}
		for name, parts := range runs {
			t := r.topic(name)
			for _, p := range parts {
				t.named[p] = true
			}
		}
		assigned[g] = runs
	}
	return assigned
}

// classicTopics takes the topics of the members' frames: subscribed ones, and
// assigned partitions into runs. What does not decode is left to the model.
func (r *run) classicTopics(c *snapshot.ClassicGroup, runs map[string][]int32) {
	if c.ProtocolType != "consumer" && c.ProtocolType != "stream" {
		return
	}
	for i := range c.Members {
		m := &c.Members[i]
		if groupmeta.IsStreamData(m.Metadata) {
			r.workerTopics(m.Metadata)
		} else if len(m.Metadata) > 0 {
			if sub, err := groupmeta.DecodeConsumerSubscription(m.Metadata); err == nil {
				for _, name := range sub.Topics {
					r.topic(name)
				}
				if groupmeta.IsStreamData(sub.UserData) {
					r.workerTopics(sub.UserData)
				}
			}
		}
		if len(m.Assignment) == 0 || groupmeta.IsStreamData(m.Assignment) {
			continue
		}
		if a, err := groupmeta.DecodeConsumerAssignment(m.Assignment); err == nil {
			for _, t := range a.Assigned {
				runs[t.Topic] = append(runs[t.Topic], t.Partitions...)
			}
		}
	}
}

func (r *run) workerTopics(b []byte) {
	m, err := groupmeta.DecodeStreamMetadata(b)
	if err != nil {
		return
	}
	for _, s := range m.Topology {
		r.names(s.SourceTopics, s.RepartitionSourceTopics)
		if r.q.InternalTopics {
			for _, name := range s.ChangelogTopics {
				r.topic(name).sized = true
			}
		}
	}
}

func (r *run) topologyTopics(t *snapshot.StreamsTopology) {
	for _, s := range t.Subtopologies {
		r.names(s.SourceTopics)
		for _, rt := range s.RepartitionSources {
			r.topic(rt.Name)
		}
		if !r.q.InternalTopics {
			continue
		}
		r.names(s.RepartitionSinks)
		for _, ct := range s.Changelogs {
			r.topic(ct.Name).sized = true
		}
	}
}

func (r *run) names(lists ...[]string) {
	for _, l := range lists {
		for _, name := range l {
			r.topic(name)
		}
	}
}

// internalOf are the groups whose internal topics are found by name: KIP-1071
// groups and plain consumer groups, as far as they are known to be that, have
// a topology or no such topics.
func (r *run) internalOf() map[string]bool {
	wanted := map[string]bool{}
	for _, g := range r.groups {
		if g.g.Streams == nil && g.g.Consumer == nil && g.listed&(partStreams|partConsumer) == 0 {
			wanted[g.id] = true
		}
	}
	return wanted
}

// collectInternal finds, among all topics, those named GROUP-…-changelog or
// -repartition of the groups read. A topic of group "app-2" also fits group
// "app"; telling them apart is the model's.
func (r *run) collectInternal() {
	wanted := r.internalOf()
	for name := range r.all {
		changelog := strings.HasSuffix(name, groupmeta.ChangelogSuffix)
		if (changelog || strings.HasSuffix(name, groupmeta.RepartitionSuffix)) && fitsGroup(name, wanted) {
			t := r.topic(name)
			t.sized = t.sized || changelog
		}
	}
}

// fitsGroup reports whether a prefix of name that ends before a "-" is one of
// the groups.
func fitsGroup(name string, groups map[string]bool) bool {
	for i := range len(name) {
		if name[i] == '-' && groups[name[:i]] {
			return true
		}
	}
	return false
}
