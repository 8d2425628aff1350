package worker

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/streamctl/streamctl/internal/groupmeta"
)

// workerLabel names a worker within its instance.
func workerLabel(n int) string { return "w" + strconv.Itoa(n) }

func sortedTopology(list []Subtopology) []Subtopology {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Subtopology) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// wire gives the settings as they travel.
func (s *Settings) wire() groupmeta.StreamSettings {
	w := groupmeta.StreamSettings{
		BalancingFactor: s.BalancingFactor, StandbyReplicas: s.StandbyReplicas, AcceptableRecoveryLag: s.AcceptableLag,
		RejoinPolicy: groupmeta.RejoinPolicy(s.RejoinPolicy),
	}
	if s.MaxLearners > 0 {
		w.MaxLearners = groupmeta.SomeInt(s.MaxLearners)
	}
	if s.ScaleDownTimeout >= 0 {
		w.ScaleDownTimeoutMs = groupmeta.SomeInt(s.ScaleDownTimeout.Milliseconds())
	}
	return w
}

// wireTopology gives the topology as it travels, with the partition counts that
// were last seen.
func (s *state) wireTopology(partitions map[string]int32) []groupmeta.StreamSubtopology {
	var list []groupmeta.StreamSubtopology
	for _, t := range s.topology {
		w := groupmeta.StreamSubtopology{
			ID: t.ID, Stateful: t.Stateful(), Partitions: t.tasks(partitions),
			SourceTopics: unique(t.Sources), RepartitionSourceTopics: unique(t.RepartitionSources), RepartitionSinkTopics: unique(t.RepartitionSinks),
		}
		if t.Stateful() {
			w.ChangelogTopics = []string{t.Changelog}
		}
		list = append(list, w)
	}
	return list
}

// tasks is how many tasks the subtopology has, by the partitions of its inputs.
func (s Subtopology) tasks(partitions map[string]int32) int32 {
	var n int32
	for _, t := range s.inputs() {
		n = max(n, partitions[t])
	}
	return n
}

func unique(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
