package groupmeta

import (
	"maps"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
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
	names := b.x.internalTopics(b.in.ID, changelogSuffix)
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
			readers[strings.TrimSuffix(t, repartitionSuffix)] = s
		}
	}
	var left []string
	for _, c := range changelogs {
		s := readers[strings.TrimSuffix(c, changelogSuffix)]
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
// belong to, sorted: those with as many tasks. One that is known to have state
// comes before one that may be stateless only in so far as the latter counts
// only where no other would do.
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

// maxFits bounds how many ways to share changelogs out are tried.
const maxFits = 4096

// fitSums gives for each changelog the sub-topologies that it can belong to, by
// trying every way to share them out: each sub-topology with state has at
// least one changelog, and no reported sum is beyond its ends. Of those ways
// the ones count in which most copies are caught up exactly, since a sum that
// equals the sum of the ends is hardly chance.
func (b *groupBuilder) fitSums(keys []subtopologyKey, changelogs []string) [][]subtopologyKey {
	owners := make([][]subtopologyKey, len(changelogs))
	ways := 1
	for range changelogs {
		if ways *= len(keys); ways > maxFits {
			for i := range owners {
				owners[i] = keys
			}
			return owners
		}
	}
	f := b.newSumFit(keys, changelogs)
	best, fits := -1, [][]int(nil)
	for way := range ways {
		share := make([]int, len(changelogs))
		for i := range share {
			share[i] = way % len(keys)
			way /= len(keys)
		}
		exact, ok := f.judge(share)
		switch {
		case !ok || exact < best:
		case exact > best:
			best, fits = exact, [][]int{share}
		default:
			fits = append(fits, share)
		}
	}
	if len(fits) == 0 {
		for i := range owners {
			owners[i] = keys
		}
		return owners
	}
	for i := range owners {
		at := make(map[int]bool)
		for _, share := range fits {
			at[share[i]] = true
		}
		for _, k := range slices.Sorted(maps.Keys(at)) {
			owners[i] = append(owners[i], keys[k])
		}
	}
	return owners
}

// sumFit is what fitSums compares.
type sumFit struct {
	keys  int
	needs []bool      // the sub-topology has state and no changelog yet
	base  [][]int64   // ends of the changelogs it has already, by partition
	ends  [][]int64   // by changelog and partition; nil: not all read
	sums  [][]taskSum // reported, by sub-topology
}

type taskSum struct {
	partition int32
	sum       int64
}

func (b *groupBuilder) newSumFit(keys []subtopologyKey, changelogs []string) *sumFit {
	f := &sumFit{keys: len(keys)}
	index := make(map[subtopologyKey]int, len(keys))
	for i, k := range keys {
		index[k] = i
		s := b.subs[k]
		f.needs = append(f.needs, s.state && len(s.changelogs) == 0)
		base := make([]int64, s.partitions())
		for _, c := range s.changelogs {
			ends := b.endsOf(c)
			for p := range base {
				if base == nil || ends == nil || p >= len(ends) {
					base = nil
					break
				}
				base[p] += ends[p]
			}
		}
		f.base = append(f.base, base)
	}
	for _, c := range changelogs {
		f.ends = append(f.ends, b.endsOf(c))
	}
	f.sums = make([][]taskSum, len(keys))
	for i := range b.members {
		for id, sum := range b.members[i].sums {
			if k, ok := index[keyOf(id)]; ok && sum > 0 && sum != SumOverflow {
				f.sums[k] = append(f.sums[k], taskSum{id.Partition, sum})
			}
		}
	}
	return f
}

// endsOf gives the ends of all partitions of a topic; nil when some are not
// known.
func (b *groupBuilder) endsOf(topic string) []int64 {
	out := make([]int64, b.x.partitions(topic))
	for p := range out {
		l := b.x.logs[model.TopicPartition{Topic: topic, Partition: int32(p)}]
		if l == nil || l.End == nil {
			return nil
		}
		out[p] = *l.End
	}
	return out
}

// judge says whether a way to share out is possible, and how many reported
// sums are exactly the ends, or one less: a transaction marker at the end.
func (f *sumFit) judge(share []int) (exact int, ok bool) {
	for k := range f.keys {
		if f.needs[k] && !slices.Contains(share, k) {
			return 0, false
		}
		for _, s := range f.sums[k] {
			end, known := f.end(share, k, s.partition)
			switch {
			case !known:
			case s.sum > end:
				return 0, false
			case s.sum == end || s.sum == end-1:
				exact++
			}
		}
	}
	return exact, true
}

func (f *sumFit) end(share []int, k int, partition int32) (int64, bool) {
	p := int(partition)
	if p < 0 || p >= len(f.base[k]) {
		return 0, false
	}
	end := f.base[k][p]
	for i, owner := range share {
		if owner != k {
			continue
		}
		if p >= len(f.ends[i]) {
			return 0, false
		}
		end += f.ends[i][p]
	}
	return end, true
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
