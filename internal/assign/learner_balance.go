package assign

import (
	"cmp"
	"slices"
)

// learnerBalance moves tasks one at a time from instances with too much
// (Learners, rule 3). Nothing but the planned loads, the learners and what is
// to be released changes meanwhile: owners and copies are settled.
type learnerBalance struct {
	*learnerRound
	withState [][]Task // by node the movable stateful tasks it owns, ascending; the first is movable while mayLearn
	stateless [][]Task // by node the movable stateless ones, ascending
	giver     *learnerTree
	over      int // instances above their high
	under     int // instances below their low

	pairs []learnerPair // movable tasks with a copy, by giver, taker, lag and task
	start map[learnerEnds]int
}

// learnerEnds is a giver and a taker.
type learnerEnds struct{ from, to int32 }

// learnerPair is a task of a giver with a copy on a taker.
type learnerPair struct {
	learnerEnds
	lag  uint64
	task Task
}

func (r *learnerRound) balance() {
	b := &learnerBalance{learnerRound: r}
	for i := range int32(len(r.nodes)) {
		b.count(i, 1)
	}
	if b.over == 0 && b.under == 0 {
		return
	}
	b.findMovable()
	b.findPairs()
	b.watchGivers()
	for b.step() {
	}
}

// count adds by to the numbers of instances outside their bounds that i is
// among.
func (b *learnerBalance) count(i int32, by int) {
	n := &b.nodes[i]
	if !n.stays {
		return
	}
	if b.loads.planned[i] > int64(n.bounds.High) {
		b.over += by
	}
	if b.loads.planned[i] < int64(n.bounds.Low) {
		b.under += by
	}
}

func (b *learnerBalance) findMovable() {
	b.withState, b.stateless = make([][]Task, len(b.nodes)), make([][]Task, len(b.nodes))
	for t := range Task(len(b.active)) {
		owner := b.active[t]
		if owner == nobody || !b.nodes[owner].stays || b.learner[t] != nobody {
			continue
		}
		if b.stateful[t] {
			b.withState[owner] = append(b.withState[owner], t)
		} else {
			b.stateless[owner] = append(b.stateless[owner], t)
		}
	}
}

// findPairs lists which movable tasks have copies where.
func (b *learnerBalance) findPairs() {
	for from, list := range b.withState {
		for _, t := range list {
			for _, c := range b.copiesOf(t) {
				b.pair(t, int32(from), c.node, c.lag)
			}
			if ex := b.exOwner(t); ex != nobody {
				b.pair(t, int32(from), ex, 0)
			}
		}
	}
	slices.SortFunc(b.pairs, func(x, y learnerPair) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to), cmp.Compare(x.lag, y.lag), cmp.Compare(x.task, y.task))
	})
	b.start = make(map[learnerEnds]int)
	for i := range b.pairs {
		if i == 0 || b.pairs[i].learnerEnds != b.pairs[i-1].learnerEnds {
			b.start[b.pairs[i].learnerEnds] = i
		}
	}
}

func (b *learnerBalance) pair(t Task, from, to int32, lag uint64) {
	if from != to {
		b.pairs = append(b.pairs, learnerPair{learnerEnds{from, to}, lag, t})
	}
}

// watchGivers begins to keep the next giver: those above their high before
// those only above their low, then the heaviest.
func (b *learnerBalance) watchGivers() {
	b.giver = newLearnerTree(len(b.nodes), b.gives, func(x, y int32) bool {
		if ox, oy := b.isOver(x), b.isOver(y); ox != oy {
			return ox
		}
		return b.loads.compare(x, y) > 0
	})
}

func (b *learnerBalance) isOver(i int32) bool {
	return b.loads.planned[i] > int64(b.nodes[i].bounds.High)
}

// gives reports whether an instance is above its low and has a movable task.
func (b *learnerBalance) gives(i int32) bool {
	return b.nodes[i].stays && b.loads.planned[i] > int64(b.nodes[i].bounds.Low) &&
		(len(b.stateless[i]) > 0 || b.mayLearn() && len(b.withState[i]) > 0)
}

// step moves one task; false when there is none to move.
func (b *learnerBalance) step() bool {
	from := b.giver.best()
	if from == nobody || !b.isOver(from) && (b.over > 0 || b.under == 0) {
		return false
	}
	to := b.loads.lightest.best()
	if to == from { // all are at their high at least: more tasks than fit
		return false
	}
	t := b.choose(from, to)
	b.count(from, -1)
	b.count(to, -1)
	if b.stateful[t] {
		b.learn(t, to)
	} else {
		b.released[t] = true
		b.loads.add(from, -1)
		b.loads.add(to, 1)
	}
	b.count(from, 1)
	b.count(to, 1)
	b.forget(from)
	if b.stateful[t] && !b.mayLearn() {
		b.watchGivers() // no stateful task is movable from now on
		return true
	}
	b.giver.update(from, b.gives(from))
	b.giver.update(to, b.gives(to))
	return true
}

// choose is the task that moves: of the stateful ones with a copy on the taker
// the one with the smallest lag, else the lowest.
func (b *learnerBalance) choose(from, to int32) Task {
	if b.mayLearn() {
		ends := learnerEnds{from, to}
		if i, ok := b.start[ends]; ok {
			for ; i < len(b.pairs) && b.pairs[i].learnerEnds == ends; i++ {
				if t := b.pairs[i].task; b.learner[t] == nobody {
					b.start[ends] = i + 1
					return t
				}
			}
			delete(b.start, ends)
		}
	}
	switch {
	case len(b.withState[from]) == 0 || !b.mayLearn():
		return b.stateless[from][0]
	case len(b.stateless[from]) == 0:
		return b.withState[from][0]
	}
	return min(b.withState[from][0], b.stateless[from][0])
}

// forget drops what no longer moves from the head of an instance's lists.
func (b *learnerBalance) forget(i int32) {
	for len(b.withState[i]) > 0 && b.learner[b.withState[i][0]] != nobody {
		b.withState[i] = b.withState[i][1:]
	}
	for len(b.stateless[i]) > 0 && b.released[b.stateless[i][0]] {
		b.stateless[i] = b.stateless[i][1:]
	}
}
