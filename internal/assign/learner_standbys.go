package assign

import (
	"cmp"
	"slices"
)

// placeStandbys gives out the standbys (stream-protocol.md, Standbys).
func (r *learnerRound) placeStandbys() {
	if r.set.Standbys <= 0 {
		return
	}
	given := r.given()
	kept := r.keepStandbys(given)
	if r.switchWaits {
		return
	}
	fewest := newLearnerTree(len(r.nodes), func(i int32) bool { return r.nodes[i].stays }, func(a, b int32) bool {
		return r.loads.perWorker(given[a], a, given[b], b) < 0
	})
	var holders []int32
	for t := Task(len(r.prev)) - 1; t >= 0; t-- {
		want := r.set.Standbys - len(kept[t])
		if r.learner[t] != nobody {
			want-- // its ex-owner will be the standby
		}
		if want <= 0 || !r.stateful[t] || r.active[t] == nobody {
			continue
		}
		holders = append(append(holders[:0], kept[t]...), r.active[t])
		if r.learner[t] != nobody {
			holders = append(holders, r.learner[t])
		}
		for _, i := range holders {
			fewest.update(i, false)
		}
		for ; want > 0; want-- {
			i := fewest.best()
			if i == nobody {
				break
			}
			r.standby = append(r.standby, learnerPlace{t, i})
			given[i]++
			holders = append(holders, i)
			fewest.update(i, false)
		}
		r.missing += want
		for _, i := range holders {
			fewest.update(i, r.nodes[i].stays)
		}
	}
}

// given counts the tasks of all roles that each instance got so far.
func (r *learnerRound) given() []int64 {
	given := make([]int64, len(r.nodes))
	for t := range r.active {
		if i := r.active[t]; i != nobody {
			given[i]++
		}
		if i := r.learner[t]; i != nobody {
			given[i]++
		}
	}
	return given
}

// keepStandbys keeps copies that there are already (rule 1) and gives by task
// the instances that keep one.
func (r *learnerRound) keepStandbys(given []int64) [][]int32 {
	kept := make([][]int32, len(r.prev))
	var all []int32
	var list []learnerCopy
	for t := range Task(len(r.prev)) {
		list = list[:0]
		for _, c := range r.copiesOf(t) {
			if c.node != r.active[t] && c.node != r.learner[t] {
				list = append(list, c)
			}
		}
		if ex := r.exOwner(t); ex != nobody && ex != r.learner[t] {
			list = append(list, learnerCopy{task: t, node: ex, exOwner: true})
		}
		slices.SortFunc(list, func(a, b learnerCopy) int {
			return cmp.Or(cmp.Compare(a.lag, b.lag), falseLast(b.exOwner, a.exOwner), cmp.Compare(a.node, b.node))
		})
		from := len(all)
		for _, c := range list[:min(len(list), r.set.Standbys)] {
			all = append(all, c.node)
			r.standby = append(r.standby, learnerPlace{t, c.node})
			given[c.node]++
		}
		kept[t] = all[from:len(all):len(all)]
	}
	return kept
}
