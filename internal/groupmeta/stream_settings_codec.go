package groupmeta

import (
	"cmp"
	"math"
	"slices"
)

// minBalancingFactor is r = 1 in thousandths.
const minBalancingFactor = 1000

func (r *streamReader) settings() StreamSettings {
	const eager, limited, timeout = 1, 2, 4
	flags := r.flags("settings.flags", eager|limited|timeout)
	s := StreamSettings{RejoinPolicy: RejoinStable}
	if flags&eager != 0 {
		s.RejoinPolicy = RejoinEager
	}
	at := r.off
	s.BalancingFactor = r.uint63("settings.balancing_factor")
	if r.err == nil && s.BalancingFactor < minBalancingFactor {
		r.fail("settings.balancing_factor", at, "%d thousandths is less than 1", s.BalancingFactor)
	}
	s.StandbyReplicas = r.uint31("settings.num_standby_replicas")
	s.AcceptableRecoveryLag = r.uint63("settings.acceptable_recovery_lag")
	at = r.off
	s.MaxLearners = r.optional("settings.max_learners", flags&limited != 0)
	if r.err == nil && s.MaxLearners.Known && s.MaxLearners.N < 1 {
		r.fail("settings.max_learners", at, "%d is less than 1", s.MaxLearners.N)
	}
	s.ScaleDownTimeoutMs = r.optional("settings.scale_down_timeout_ms", flags&timeout != 0)
	return s
}

func (w *streamWriter) settings(s *StreamSettings) {
	if s.RejoinPolicy != RejoinStable && s.RejoinPolicy != RejoinEager {
		w.fail("settings.rejoin_policy", "unknown policy %q", s.RejoinPolicy)
	}
	w.flags(s.RejoinPolicy == RejoinEager, s.MaxLearners.Known, s.ScaleDownTimeoutMs.Known)
	w.number("settings.balancing_factor", s.BalancingFactor, minBalancingFactor)
	w.number("settings.num_standby_replicas", int64(s.StandbyReplicas), 0)
	w.number("settings.acceptable_recovery_lag", s.AcceptableRecoveryLag, 0)
	w.optional("settings.max_learners", s.MaxLearners, 1)
	w.optional("settings.scale_down_timeout_ms", s.ScaleDownTimeoutMs, 0)
}

// smallSubtopology is the size of a subtopology without topics.
const smallSubtopology = 7

func (r *streamReader) topology() []StreamSubtopology {
	const stateful = 1
	n := r.elements("topology.count", smallSubtopology)
	if n == 0 {
		return nil
	}
	list := make([]StreamSubtopology, 0, n)
	next := int64(0)
	for range n {
		at := r.off
		id := next + int64(r.uint31("topology.id"))
		if id > math.MaxInt32 {
			r.fail("topology.id", at, "%d is more than %d", id, math.MaxInt32)
		}
		next = id + 1
		list = append(list, StreamSubtopology{
			ID:                      int32(id),
			Stateful:                r.flags("topology.flags", stateful)&stateful != 0,
			Partitions:              r.uint31("topology.partitions"),
			SourceTopics:            r.texts("topology.source_topics"),
			RepartitionSourceTopics: r.texts("topology.repartition_source_topics"),
			RepartitionSinkTopics:   r.texts("topology.repartition_sink_topics"),
			ChangelogTopics:         r.texts("topology.changelog_topics"),
		})
		if r.err != nil {
			return nil
		}
	}
	return list
}

func (w *streamWriter) topology(list []StreamSubtopology) {
	byID := func(a, b StreamSubtopology) int { return cmp.Compare(a.ID, b.ID) }
	if !slices.IsSortedFunc(list, byID) {
		list = slices.SortedFunc(slices.Values(list), byID)
	}
	w.number("topology.count", int64(len(list)), 0)
	next := int64(0)
	for i := range list {
		s := &list[i]
		if i > 0 && s.ID == list[i-1].ID {
			w.fail("topology.id", "subtopology %d is there twice", s.ID)
		}
		w.number("topology.id", int64(s.ID)-next, 0)
		next = int64(s.ID) + 1
		w.flags(s.Stateful)
		w.number("topology.partitions", int64(s.Partitions), 0)
		w.texts("topology.source_topics", s.SourceTopics)
		w.texts("topology.repartition_source_topics", s.RepartitionSourceTopics)
		w.texts("topology.repartition_sink_topics", s.RepartitionSinkTopics)
		w.texts("topology.changelog_topics", s.ChangelogTopics)
	}
}
