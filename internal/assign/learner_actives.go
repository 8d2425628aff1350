package assign

import "cmp"

// settleOwners gives tasks out by the rules 1 and 2 of the active tasks.
func (r *learnerRound) settleOwners() {
	for t := range Task(len(r.prev)) {
		owner := r.prev[t]
		present := owner != nobody && !r.nodes[owner].expired
		if r.stateful[t] {
			// Rule 1: a ready learner, if its owner revoked the task or has none.
			if c := r.counts[t]; c != nobody && r.copies[c].ready && (!present || r.tagged[t]) {
				r.own(t, r.copies[c].node)
				continue
			}
		} else {
			// A leaving owner has revoked its stateless tasks.
			present = present && r.nodes[owner].stays
		}
		if present {
			r.own(t, owner) // rule 2
		}
	}
}

func (r *learnerRound) own(t Task, node int32) {
	r.active[t] = node
	r.loads.add(node, 1)
}

// settleLearners lets the learners go on that do (Learners, rule 1). All others
// are copies for the rest of the round.
func (r *learnerRound) settleLearners() {
	for t := range Task(len(r.prev)) {
		c, owner := r.counts[t], r.active[t]
		// A task with a new owner, or with none yet, has no learner that goes on;
		// nor has one whose owner stays and did not tag it.
		if c == nobody || owner == nobody || owner != r.prev[t] || r.nodes[owner].stays && !r.tagged[t] {
			continue
		}
		r.learn(t, r.copies[c].node)
	}
}

func (r *learnerRound) learn(t Task, node int32) {
	r.learner[t] = node
	r.running++
	if owner := r.active[t]; owner != nobody {
		r.loads.add(owner, -1)
	}
	r.loads.add(node, 1)
}

// placeLeft gives out what the rules 1 and 2 left: by rule 3, then by rule 4
// stateful and last stateless tasks, each from the highest task down.
func (r *learnerRound) placeLeft() {
	r.loads.watch()
	last := Task(len(r.prev)) - 1
	for t := last; t >= 0; t-- {
		if r.active[t] == nobody && r.stateful[t] {
			if node := r.bestShot(t); node != nobody {
				r.own(t, node)
			}
		}
	}
	for _, stateful := range []bool{true, false} {
		for t := last; t >= 0; t-- {
			if r.active[t] != nobody || r.stateful[t] != stateful || r.switchWaits && r.prev[t] == nobody {
				continue
			}
			if node := r.loads.lightest.best(); node != nobody {
				r.own(t, node)
			}
		}
	}
	for t := last; t >= 0 && r.switchWaits; t-- {
		// Its owner is not back yet, which is no cause to drop a learner.
		if c := r.counts[t]; c != nobody && r.active[t] == nobody {
			r.learn(t, r.copies[c].node)
		}
	}
}

// bestShot is the staying instance whose copy of the task is the best (rule 3).
// While a switch waits, a task that nobody claims goes to a caught-up copy only.
func (r *learnerRound) bestShot(t Task) int32 {
	best, bestCopy := nobody, learnerCopy{}
	for i, c := range r.copiesOf(t) {
		if r.switchWaits && r.prev[t] == nobody && c.lag > 0 {
			continue
		}
		c.learner = r.first[t]+int32(i) == r.counts[t]
		if best == nobody || r.betterShot(&c, &bestCopy) {
			best, bestCopy = c.node, c
		}
	}
	return best
}

func (r *learnerRound) betterShot(a, b *learnerCopy) bool {
	return cmp.Or(cmp.Compare(a.lag, b.lag), falseLast(a.learner, b.learner), r.loads.compare(a.node, b.node)) < 0
}
