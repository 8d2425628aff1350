package assign

import (
	"cmp"
	"slices"
)

// evacuate starts learners of the tasks whose owner does not stay (Learners,
// rule 2), those of owners that wait the least longer first, then from the
// highest task down.
func (r *learnerRound) evacuate() {
	var due []Task
	for t := range Task(len(r.prev)) {
		if owner := r.active[t]; owner != nobody && r.stateful[t] && r.learner[t] == nobody && !r.nodes[owner].stays {
			due = append(due, t)
		}
	}
	slices.SortFunc(due, func(a, b Task) int {
		return cmp.Or(cmp.Compare(r.nodes[r.active[a]].waitMs, r.nodes[r.active[b]].waitMs), cmp.Compare(b, a))
	})
	for i, t := range due {
		if !r.mayLearn() {
			r.waiting = due[i:]
			return
		}
		r.learn(t, r.refuge(t))
	}
}

// refuge is where a task of a leaving instance is learned: on a copy with room
// below its high, else on the lightest instance.
func (r *learnerRound) refuge(t Task) int32 {
	best, bestLag := nobody, uint64(0)
	for _, c := range r.copiesOf(t) {
		if r.loads.room(c.node) == 2 {
			continue
		}
		if best == nobody || cmp.Or(cmp.Compare(c.lag, bestLag), r.loads.compare(c.node, best)) < 0 {
			best, bestLag = c.node, c.lag
		}
	}
	if best == nobody {
		return r.loads.lightest.best()
	}
	return best
}
