package groupmeta

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// Keys of a streams group's configuration (broker-facts.md, section 5).
const (
	configStandbys  = "streams.num.standby.replicas"
	configSession   = "streams.session.timeout.ms"
	configHeartbeat = "streams.heartbeat.interval.ms"
)

// streamsTiming reads timeouts and standbys off the group's configuration.
func (b *groupBuilder) streamsTiming() {
	t := &b.g.Timing
	for i := range b.in.Configs {
		c := &b.in.Configs[i]
		if c.Value == nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(*c.Value), 10, 64)
		if err != nil {
			continue
		}
		source := model.SourceBrokerDefault
		if strings.Contains(c.Source, "GROUP") {
			source = model.SourceGroupConfig
		}
		switch c.Key {
		case configStandbys:
			standbys := int(min(max(n, 0), 1<<30))
			t.Standbys, t.StandbysSource = &standbys, source
		case configSession:
			t.SessionMs = &n
			t.Source = strongerSource(t.Source, source)
		case configHeartbeat:
			t.HeartbeatMs = &n
			t.Source = strongerSource(t.Source, source)
		}
	}
	if b.o.Standbys != nil {
		n := *b.o.Standbys
		t.Standbys, t.StandbysSource = &n, model.SourceUser
	}
}

func strongerSource(a, b string) string {
	if a == model.SourceGroupConfig {
		return a
	}
	return cmp.Or(b, a)
}

// notReadyReasons compares the topology with the topics: what is missing, and
// internal topics with other partitions than wanted (field case 55).
func (b *groupBuilder) notReadyReasons() []string {
	d := b.in.Streams
	if d == nil || d.Topology == nil {
		return nil
	}
	var out []string
	seen := make(map[string]bool)
	say := func(s string) {
		if s != "" && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	subs := slices.Clone(d.Topology.Subtopologies)
	slices.SortFunc(subs, func(x, y snapshot.StreamsSubtopology) int { return model.CompareSubtopologies(x.ID, y.ID) })
	for _, s := range subs {
		for _, t := range sortedTopics(s.SourceTopics) {
			say(b.missingReason("source topic", t))
		}
	}
	for _, s := range subs {
		internal := slices.Concat(s.RepartitionSources, s.Changelogs)
		slices.SortFunc(internal, func(x, y snapshot.StreamsTopic) int { return strings.Compare(x.Name, y.Name) })
		for _, t := range internal {
			say(b.missingReason("internal topic", t.Name))
			if n := b.x.partitions(t.Name); n > 0 && t.Partitions > 0 && n != t.Partitions {
				say(fmt.Sprintf("%s has %s, wanted %d", t.Name, model.Count(int(n), "partition"), t.Partitions))
			}
		}
	}
	return out
}

// missingReason says that a topic is not there, and whether that is sure.
func (b *groupBuilder) missingReason(what, topic string) string {
	switch b.x.topicState(topic) {
	case topicMissing:
		return what + " " + topic + " is missing"
	case topicHidden, topicNotListed:
		return what + " " + topic + " is missing or not visible"
	}
	return ""
}
