package groupmeta

import (
	"maps"
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

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
