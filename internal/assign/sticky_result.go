package assign

import "slices"

// result lists what each member and each process got, by subtopology as text.
func (s *sticky) result() *Result {
	res := &Result{Processes: make([]ProcessResult, len(s.procs)), Members: make([]MemberResult, len(s.members))}
	actives := dealOut(len(s.members), func(yield func(Task, int32)) {
		s.eachTask(func(t Task) { yield(t, s.active[t]) })
	})
	standbys := dealOut(len(s.members), func(yield func(Task, int32)) {
		s.eachTask(func(t Task) {
			for k := s.copies[t]; k >= 0; k = s.nodes[k].next {
				if m := s.nodes[k].member; m != s.active[t] {
					yield(t, m)
				}
			}
		})
	})
	for m := range res.Members {
		res.Members[m] = MemberResult{Active: actives[m], Standby: standbys[m]}
	}
	rank := s.textRank()
	for p := range s.procs {
		members := s.procs[p].members
		if len(members) == 0 {
			continue
		}
		r := &res.Processes[p]
		if len(members) == 1 {
			r.Active, r.Standby = actives[members[0]], standbys[members[0]]
			continue
		}
		for _, m := range members {
			r.Active, r.Standby = append(r.Active, actives[m]...), append(r.Standby, standbys[m]...)
		}
		for _, tasks := range [...][]Task{r.Active, r.Standby} {
			slices.SortFunc(tasks, func(a, b Task) int { return int(rank(a)) - int(rank(b)) })
		}
	}
	return res
}

// textRank gives the place of a task by subtopology as text, then partition.
func (s *sticky) textRank() func(Task) int32 {
	start := make([]int32, len(s.subs)) // by subtopology
	n := int32(0)
	for _, i := range s.subs {
		start[i] = n
		n += int32(s.g.Topology.Subtopologies()[i].Partitions)
	}
	return func(t Task) int32 {
		i := s.g.Topology.subtopology(t)
		return start[i] + int32(t-s.g.Topology.first[i])
	}
}
