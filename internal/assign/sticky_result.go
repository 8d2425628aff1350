package assign

// result lists what each member and each process got, by subtopology as text.
func (s *sticky) result() *Result {
	res := &Result{Processes: make([]ProcessResult, len(s.procs)), Members: make([]MemberResult, len(s.members))}
	actives, standbys := s.dealt(len(s.members), func(member int32) int32 { return member })
	for m := range res.Members {
		res.Members[m] = MemberResult{Active: actives[m], Standby: standbys[m]}
	}
	actives, standbys = s.dealt(len(s.procs), func(member int32) int32 { return s.members[member].process })
	for p := range res.Processes {
		res.Processes[p] = ProcessResult{Active: actives[p], Standby: standbys[p]}
	}
	return res
}

// dealt lists the actives and standbys of n things of which of says whose a
// member's are.
func (s *sticky) dealt(n int, of func(member int32) int32) (actives, standbys [][]Task) {
	actives = dealOut(n, func(yield func(Task, int32)) {
		s.eachTask(func(t Task) { yield(t, of(s.active[t])) })
	})
	standbys = dealOut(n, func(yield func(Task, int32)) {
		s.eachTask(func(t Task) {
			for k := s.copies[t]; k >= 0; k = s.nodes[k].next {
				if m := s.nodes[k].member; m != s.active[t] {
					yield(t, of(m))
				}
			}
		})
	})
	return actives, standbys
}
