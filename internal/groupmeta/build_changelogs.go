package groupmeta

import (
	"maps"
	"slices"
	"strings"
)

// mapChangelogs finds out which changelog topic belongs to which sub-topology
// of a classic group. Nothing on the wire says it. What is used, in this order:
// a repartition topic and a changelog of the same store name; the number of
// partitions, which is that of the sub-topology's tasks; and the reported
// offset sums, which are at most the sums of the changelogs' ends. What more
// than one sub-topology could own stays unmapped and is said.
func (b *groupBuilder) mapChangelogs() {
	if len(b.subs) == 0 {
		return
	}
	names := b.x.internalTopics(b.in.ID, ChangelogSuffix)
	left := b.mapByStoreName(names)
	byCount := make(map[int32][]string)
	for _, c := range left {
		byCount[b.x.partitions(c)] = append(byCount[b.x.partitions(c)], c)
	}
	unmapped := make(map[subtopologyKey][]string) // candidates that might be its
	for _, n := range slices.Sorted(maps.Keys(byCount)) {
		b.mapByPartitions(n, byCount[n], unmapped)
	}
	b.judgeState(unmapped)
}

// mapByStoreName maps GROUP-STORE-changelog to the sub-topology that reads
// GROUP-STORE-repartition and returns the other changelogs.
func (b *groupBuilder) mapByStoreName(changelogs []string) []string {
	readers := make(map[string]*subtopologyParts)
	for _, s := range b.subs {
		for t := range s.repartitions {
			readers[strings.TrimSuffix(t, RepartitionSuffix)] = s
		}
	}
	var left []string
	for _, c := range changelogs {
		s := readers[strings.TrimSuffix(c, ChangelogSuffix)]
		if s == nil || s.partitions() != b.x.partitions(c) {
			left = append(left, c)
			continue
		}
		s.changelogs = append(s.changelogs, c)
		s.inferred = true
	}
	return left
}

// candidates are the sub-topologies that a changelog of n partitions could
// belong to, sorted: those with n tasks. Where members report state, one that
// may be stateless counts only if no other has n tasks.
func (b *groupBuilder) candidates(n int32) []subtopologyKey {
	var stateful, open []subtopologyKey
	for _, k := range b.subKeys() {
		s := b.subs[k]
		switch {
		case s.partitions() != n:
		case s.state || len(s.changelogs) > 0:
			stateful = append(stateful, k)
		default:
			open = append(open, k)
		}
	}
	if len(stateful) > 0 && b.someoneReports() {
		return stateful
	}
	return slices.SortedFunc(slices.Values(append(stateful, open...)), subtopologyKey.compare)
}

// someoneReports reports whether any member has told about local state, so
// that a sub-topology nobody tells about is likely to have none.
func (b *groupBuilder) someoneReports() bool {
	return slices.ContainsFunc(b.members, func(m builtMember) bool {
		return m.Metadata.UsedVersion >= firstWithSums && len(m.sums) > 0
	})
}

// mapByPartitions maps the changelogs of n partitions among the sub-topologies
// of n tasks.
func (b *groupBuilder) mapByPartitions(n int32, changelogs []string, unmapped map[subtopologyKey][]string) {
	keys := b.candidates(n)
	switch len(keys) {
	case 0:
		for _, c := range changelogs {
			b.uncertain("changelog %s has %d partitions, as no sub-topology has tasks: of another application, perhaps", c, n)
		}
		return
	case 1:
		s := b.subs[keys[0]]
		s.changelogs = append(s.changelogs, changelogs...)
		s.inferred = true
		return
	}
	changelogs = b.mapByExactEnds(keys, changelogs)
	owners := b.fitSums(keys, changelogs)
	for i, c := range changelogs {
		if len(owners[i]) == 1 {
			s := b.subs[owners[i][0]]
			s.changelogs = append(s.changelogs, c)
			s.inferred = true
			continue
		}
		names := make([]string, len(owners[i]))
		for j, k := range owners[i] {
			names[j] = k.String()
			unmapped[k] = append(unmapped[k], c)
		}
		b.uncertain("changelog %s may belong to sub-topology %s (--topology FILE tells)", c, strings.Join(names, " or "))
	}
}

// judgeState decides for each sub-topology whether it has state, and whether
// its changelogs are all known.
func (b *groupBuilder) judgeState(unmapped map[subtopologyKey][]string) {
	yes, no := true, false
	for k, s := range b.subs {
		s.complete = len(s.changelogs) > 0 && len(unmapped[k]) == 0
		switch {
		case s.state:
			s.stateful = &yes
			if len(s.changelogs) == 0 && len(unmapped[k]) == 0 && b.topicsRead(s) {
				b.uncertain("sub-topology %s has state and no changelog of its own: a source topic may serve as its changelog (topology.optimization)", k)
			}
		case len(s.changelogs) > 0:
			s.stateful = &yes
		case len(unmapped[k]) == 0 && b.topicsRead(s) && b.someoneReports():
			s.stateful, s.inferred = &no, true
		}
	}
}

// topicsRead reports whether the cluster's topics were read, so that a topic
// that is not there means something.
func (b *groupBuilder) topicsRead(s *subtopologyParts) bool {
	for t := range s.sources {
		if b.x.topics[t] == nil {
			return false
		}
	}
	return len(s.sources) > 0
}
