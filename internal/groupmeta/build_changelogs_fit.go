package groupmeta

import (
	"cmp"
	"maps"
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

// maxFits bounds how many ways to share changelogs out are tried, maxCompared
// how many comparisons that takes.
const (
	maxFits     = 4096
	maxCompared = 4 << 20
)

// fitSums gives for each changelog the sub-topologies that it can belong to, by
// trying every way to share them out: each sub-topology with state has at
// least one changelog, and hardly a reported sum is beyond its ends. Of those
// ways the ones count in which the fewest are beyond and then the most are
// exactly the ends, since that is hardly chance.
func (b *groupBuilder) fitSums(keys []subtopologyKey, changelogs []string) [][]subtopologyKey {
	owners := make([][]subtopologyKey, len(changelogs))
	f := b.newSumFit(keys, changelogs)
	fits := f.best(len(changelogs))
	for i := range owners {
		if fits == nil {
			owners[i] = keys
			continue
		}
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

// best gives the ways that fit best; nil when none does, or there are too many
// to try.
func (f *sumFit) best(changelogs int) [][]int {
	ways, sums := 1, 1
	for _, s := range f.sums {
		sums += len(s)
	}
	for range changelogs {
		if ways *= f.keys; ways > maxFits || ways*sums > maxCompared {
			return nil
		}
	}
	var top fitScore
	var fits [][]int
	for way := range ways {
		share := make([]int, changelogs)
		for i := range share {
			share[i] = way % f.keys
			way /= f.keys
		}
		score, ok := f.judge(share)
		switch c := score.compare(top); {
		case !ok || fits != nil && c < 0:
		case fits == nil || c > 0:
			top, fits = score, [][]int{share}
		default:
			fits = append(fits, share)
		}
	}
	return fits
}

// mapByExactEnds maps the changelogs whose ends equal reported sums of one
// sub-topology and of no other, while no other changelog's ends do. It returns
// those that are left. With it a topology of many parts needs no trying.
func (b *groupBuilder) mapByExactEnds(keys []subtopologyKey, changelogs []string) []string {
	f := b.newSumFit(keys, changelogs)
	ofChangelog, ofKey := make([][]int, len(changelogs)), make([][]int, len(keys))
	for i := range changelogs {
		for k := range keys {
			share := make([]int, len(changelogs))
			for j := range share {
				share[j] = -1
			}
			share[i] = k
			if s := f.compare(share, k); s.exact > s.beyond && s.plausible() {
				ofChangelog[i], ofKey[k] = append(ofChangelog[i], k), append(ofKey[k], i)
			}
		}
	}
	var left []string
	for i, c := range changelogs {
		if len(ofChangelog[i]) == 1 && len(ofKey[ofChangelog[i][0]]) == 1 {
			s := b.subs[keys[ofChangelog[i][0]]]
			s.changelogs = append(s.changelogs, c)
			s.inferred = true
			continue
		}
		left = append(left, c)
	}
	return left
}

// fitScore says how well sums fit the ends of some changelogs.
type fitScore struct{ compared, beyond, exact int }

// plausible reports whether few sums are beyond the ends: one can be, when a
// changelog was made anew or cut off.
func (s fitScore) plausible() bool { return s.beyond <= 1 || s.beyond*4 <= s.compared }

func (s fitScore) compare(o fitScore) int {
	return cmp.Or(cmp.Compare(o.beyond, s.beyond), cmp.Compare(s.exact, o.exact))
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

// judge says whether a way to share out is possible, and how well it fits.
func (f *sumFit) judge(share []int) (all fitScore, ok bool) {
	for k := range f.keys {
		if f.needs[k] && !slices.Contains(share, k) {
			return all, false
		}
		s := f.compare(share, k)
		if !s.plausible() {
			return all, false
		}
		all.compared, all.beyond, all.exact = all.compared+s.compared, all.beyond+s.beyond, all.exact+s.exact
	}
	return all, true
}

// compare compares the sums of one sub-topology with the ends that it would
// have. A sum that is one less than the ends is exact as well: a transaction
// marker is at the end.
func (f *sumFit) compare(share []int, k int) (score fitScore) {
	for _, s := range f.sums[k] {
		end, known := f.end(share, k, s.partition)
		if !known {
			continue
		}
		score.compared++
		switch {
		case s.sum > end:
			score.beyond++
		case s.sum == end || s.sum == end-1:
			score.exact++
		}
	}
	return score
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
