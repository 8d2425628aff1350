package assign

import (
	"cmp"
	"slices"
)

// result writes down what was decided.
func (r *learnerRound) result() LearnerResult {
	res := LearnerResult{
		Instances:       make([]LearnerShare, len(r.nodes)),
		MissingStandbys: r.missing,
		MarksVoid:       r.marksVoid,
		SwitchWaiting:   r.switchWaits,
		AnotherRound:    r.switchWaits || slices.Contains(r.released, true),
	}
	slices.Sort(r.waiting)
	res.Waiting = r.waiting
	for i := range r.nodes {
		n := &r.nodes[i]
		res.Instances[i] = LearnerShare{ID: n.id, Stays: n.stays, Bounds: n.bounds}
	}
	for t := range Task(len(r.active)) {
		if i := r.active[t]; i == nobody {
			res.Unassigned = append(res.Unassigned, t)
		} else {
			share := &res.Instances[i]
			share.Active = append(share.Active, t)
			if r.released[t] {
				share.Release = append(share.Release, t)
			}
		}
		if i := r.learner[t]; i != nobody {
			res.Instances[i].Learner = append(res.Instances[i].Learner, t)
		}
	}
	slices.SortFunc(r.standby, func(a, b learnerPlace) int { return cmp.Compare(a.task, b.task) })
	for _, p := range r.standby {
		res.Instances[p.node].Standby = append(res.Instances[p.node].Standby, p.task)
	}
	for i := range r.nodes {
		res.Instances[i].Workers = r.spread(&r.nodes[i], &res.Instances[i])
	}
	return res
}
