package assign

import (
	"cmp"
	"slices"
)

// stickyHolder is a member that may have state of a task.
type stickyHolder struct {
	member   int32
	leftOver bool  // 4.4: it only reports an offset
	offset   int64 // 4.4: records; 0 when it reports none
}

// stickyPrevious lists by task who held it as standby before, in the order in
// which the assignor tries them.
type stickyPrevious struct {
	first []int32 // by task, and the number of all at the end
	list  []stickyHolder
}

func (p *stickyPrevious) of(t Task) []stickyHolder { return p.list[p.first[t]:p.first[t+1]] }

// newStickyPrevious reads the members in the given order. Since 4.4 members
// with an offset count too: standbys first, then by offset, the highest first.
func newStickyPrevious(g *Group, order []int32, v StickyVariant) stickyPrevious {
	n := g.Topology.Len()
	p := stickyPrevious{first: make([]int32, n+1)}
	each := func(f func(Task, stickyHolder)) {
		for _, m := range order {
			for _, t := range g.Members[m].Standby {
				f(t, stickyHolder{member: m})
			}
		}
	}
	if v == Sticky44 {
		offsets := newStickyOffsets(n)
		each = func(f func(Task, stickyHolder)) {
			for _, m := range order {
				offsets.read(&g.Members[m])
				for _, t := range g.Members[m].Standby {
					f(t, stickyHolder{member: m, offset: offsets.of(t)})
				}
				for _, o := range g.Members[m].Offsets {
					if !offsets.standby(o.Task) {
						f(o.Task, stickyHolder{member: m, leftOver: true, offset: o.Sum})
					}
				}
			}
		}
	}
	each(func(t Task, _ stickyHolder) { p.first[t+1]++ })
	for t := range n {
		p.first[t+1] += p.first[t]
	}
	p.list = make([]stickyHolder, p.first[n])
	at := slices.Clone(p.first[:n])
	each(func(t Task, h stickyHolder) {
		p.list[at[t]] = h
		at[t]++
	})
	for t := range Task(n) {
		if holders := p.of(t); v == Sticky44 && len(holders) > 1 {
			slices.SortStableFunc(holders, stickyHolder.compare)
		}
	}
	return p
}

func (h stickyHolder) compare(o stickyHolder) int {
	if h.leftOver != o.leftOver {
		if o.leftOver {
			return -1
		}
		return 1
	}
	return cmp.Compare(o.offset, h.offset)
}

// stickyOffsets looks up what one member reports.
type stickyOffsets struct {
	round     int32
	reported  []int32 // by task: the round that set its sum
	isStandby []int32 // by task: the round in which it was a standby
	sum       []int64
}

func newStickyOffsets(n int) *stickyOffsets {
	return &stickyOffsets{reported: make([]int32, n), isStandby: make([]int32, n), sum: make([]int64, n)}
}

func (o *stickyOffsets) read(m *Member) {
	o.round++
	for _, x := range m.Offsets {
		o.reported[x.Task], o.sum[x.Task] = o.round, x.Sum
	}
	for _, t := range m.Standby {
		o.isStandby[t] = o.round
	}
}

func (o *stickyOffsets) of(t Task) int64 {
	if o.reported[t] != o.round {
		return 0
	}
	return o.sum[t]
}

func (o *stickyOffsets) standby(t Task) bool { return o.isStandby[t] == o.round }
