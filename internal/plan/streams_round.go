package plan

import "github.com/streamctl/streamctl/internal/assign"

// settle lets every member reach its target.
func (s *streamsSim) settle() {
	for _, m := range s.members {
		m.active, m.standby = sorted(m.targetActive), sorted(m.targetStandby)
	}
}

func (s *streamsSim) outcome() []outcome {
	out := make([]outcome, len(s.rec.parties))
	for _, m := range s.members {
		o := &out[m.proc.party]
		o.active, o.standby = append(o.active, m.targetActive...), append(o.standby, m.targetStandby...)
	}
	for i := range out {
		out[i].active, out[i].standby = sorted(out[i].active), sorted(out[i].standby)
	}
	return out
}

// had tells how far the copies of a process are now.
func (s *streamsSim) had() func(int32, assign.Task) (int64, bool) {
	by := make(map[int32]*streamsProc, len(s.procs))
	for _, p := range s.procs {
		by[p.party] = p
	}
	return func(party int32, t assign.Task) (int64, bool) {
		if by[party] == nil {
			return 0, false
		}
		n, ok := by[party].position[t]
		return n, ok
	}
}

// learnPositions takes what the members got as restored from now on.
func (s *streamsSim) learnPositions() {
	for _, m := range s.members {
		for _, list := range [][]assign.Task{m.targetActive, m.targetStandby} {
			for _, t := range list {
				if s.top.Stateful(t) {
					m.proc.position[t] = s.ends[t]
				}
			}
		}
	}
}

// owners tells who has which task by the target there is.
func (s *streamsSim) owners() map[assign.Task]*streamsMember {
	out := make(map[assign.Task]*streamsMember, s.top.Len())
	for _, m := range s.members {
		for _, t := range m.targetActive {
			out[t] = m
		}
	}
	return out
}

// unowned reckons how long tasks that change hands have no owner: an owner lets
// go at its heartbeat, the new one is told at its own; a standby that becomes
// active takes a step more. Between two threads of an instance it is the same.
// Phases are not visible, so it is a range.
func (s *streamsSim) unowned(r *streamsRound, had map[assign.Task]*streamsMember) *Unowned {
	moved, promoted := 0, false
	for _, m := range s.members {
		for _, t := range m.targetActive {
			from := s.rec.owner[t]
			if from == nobody || from == m.proc.party && had[t] == m {
				continue
			}
			moved++
			promoted = promoted || from != m.proc.party && has(s.rec.parties[m.proc.party].standby, t)
		}
	}
	if moved == 0 {
		return nil
	}
	steps := 1.0
	if promoted {
		steps++
	}
	if r.unownedByLeaver {
		steps++ // the target is made at a heartbeat of those who stay
	}
	return &Unowned{Tasks: moved, LeastS: 0, MostS: seconds(steps * float64(s.set.heartbeatMs))}
}

// finish says what a new epoch would do although nobody changed: the broker's
// assignor promises no fixed point.
func (s *streamsSim) finish(bool) error {
	if !s.shown {
		return nil
	}
	s.settle()
	res, err := s.target()
	if err != nil {
		return err
	}
	moves := 0
	for i, m := range s.members {
		moves += len(minus(res.Members[i].Active, m.targetActive))
	}
	if moves > 0 {
		s.rec.note(NoteUnstable, "a new epoch would give %s to other members although nobody changed: the broker's assignor promises no fixed point", count(moves, "active task"))
	}
	return nil
}
