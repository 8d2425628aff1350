package worker

import (
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// setMark takes a mark from the control topic. A mark that is known changes its
// timeout at most, which counts from the first sight of its id.
func (s *state) setMark(id string, timeout *time.Duration, now time.Time) (fresh, changed bool) {
	wait := s.set.ScaleDownTimeout
	if timeout != nil {
		wait = *timeout
	}
	fresh = s.mark == nil || s.mark.id != id
	if fresh {
		s.mark = &mark{id: id, seen: now}
	}
	var deadline time.Time
	if wait >= 0 {
		deadline = s.mark.seen.Add(wait)
	}
	changed = fresh || !deadline.Equal(s.mark.deadline)
	s.mark.deadline = deadline
	return fresh, changed
}

// clearMark takes the withdrawal of a mark: all learners of the instance's
// tasks are to be dropped. It returns the id of the mark, "" for none.
func (s *state) clearMark() string {
	if s.mark == nil {
		return ""
	}
	id := s.mark.id
	s.mark = nil
	s.unmarked++
	s.returnKept()
	for _, m := range s.members {
		m.drained = false
		m.unlearn()
	}
	return id
}

// keep notes what an assignment takes off a worker: the state of a marked
// instance stays, for when it comes back.
func (s *state) keep(m *member, fresh map[model.TaskID]*claim, marked bool) {
	for id := range m.tasks {
		if marked && s.stateful(id) {
			s.kept[id] = true
		}
	}
	for id := range fresh {
		delete(s.kept, id)
	}
	for _, other := range s.members {
		if other == m {
			continue
		}
		for id := range other.tasks {
			delete(s.kept, id)
		}
	}
}

// returnKept makes copies of what was kept, for an instance that stays after
// all.
func (s *state) returnKept() {
	had := s.best()
	for id := range s.kept {
		if had[id] == nil {
			s.members[0].tasks[id] = &claim{role: model.Standby, rests: true}
		}
	}
	clear(s.kept)
}

// unlearn takes beingLearned off all tasks that the worker owns.
func (m *member) unlearn() {
	for _, c := range m.tasks {
		c.learned = false
	}
}

// expiresAt is the deadline of the mark, zero for none.
func (s *state) expiresAt() time.Time {
	if s.mark == nil {
		return time.Time{}
	}
	return s.mark.deadline
}

// startIn takes the mode that the control topic names before the first join. A
// switch to it may be under way for as long as it is allowed to take: who tries
// the old type before could keep the old group alive, and would get all that the
// others carry.
func (s *state) startIn(mode Mode, epoch int64, loyal time.Time) {
	s.mode, s.epoch, s.loyal = mode, epoch, loyal
	for _, m := range s.members {
		m.as = mode
	}
}

// follow takes a mode record. It reports whether the instance has to leave and
// come back under the other protocol type; then everything is closed and
// carried.
func (s *state) follow(mode Mode, epoch int64, allowed time.Duration, now time.Time) (news, leave bool) {
	if mode == s.mode && epoch == s.epoch {
		return false, false
	}
	from, unseen := s.mode, epoch > s.epoch+1
	s.mode, s.epoch = mode, epoch
	if mode == from {
		switch {
		case s.sw == nil && unseen:
			s.missed(allowed, now)
		case s.sw != nil:
			s.sw.deadline, s.sw.allowed, s.sw.tried, s.sw.blind = now.Add(allowed), allowed, false, false
		}
		return true, false
	}
	s.sw = &modeSwitch{from: from, allowed: allowed, deadline: now.Add(allowed)}
	for _, m := range s.members {
		m.carry()
		m.as = mode
	}
	return true, true
}

// carry closes all that a worker has, which keeps its role and its tags; its
// claims rank below all that are made in the group to come.
func (m *member) carry() {
	for id, c := range m.tasks {
		if c.release {
			delete(m.tasks, id)
			continue
		}
		c.open = false
	}
	m.moves++
	m.carried = m.carried || m.generation > 0
	m.in, m.round, m.learnerWon, m.leads, m.drained = false, false, false, false, false
	m.switching, m.refused = true, time.Time{}
	m.askAt, m.askFor = time.Time{}, ""
}

// closeAll closes every task, for an instance that is about to leave.
func (s *state) closeAll() {
	s.leaving = true
	for _, m := range s.members {
		for _, c := range m.tasks {
			c.open = false
		}
	}
}

// want is what shall be of a task on the instance.
type want struct {
	owners []int // workers that have it open, the newest claim first
	copies bool  // it shall be restored
	keep   bool  // its state shall stay as it is, and rest
}

// wants says what shall be of each task; one that is not in it shall be
// closed, with its state only when settled.
func (s *state) wants() (wants map[model.TaskID]want, settled bool) {
	wants = map[model.TaskID]want{}
	settled = true
	for _, m := range s.members {
		settled = settled && m.in && !m.round && m.learnerWon && m.generation == s.members[0].generation
		for id, c := range m.tasks {
			w := wants[id]
			switch {
			case c.role == model.Active && c.open:
				w.owners = append(w.owners, m.n)
				for i := len(w.owners) - 1; i > 0 && s.members[w.owners[i]].generation > s.members[w.owners[i-1]].generation; i-- {
					w.owners[i], w.owners[i-1] = w.owners[i-1], w.owners[i]
				}
			case !s.stateful(id):
			case c.rests:
				w.keep = true
			default:
				w.copies = true
			}
			wants[id] = w
		}
	}
	for id := range s.kept {
		w := wants[id]
		w.keep = true
		wants[id] = w
	}
	return wants, settled
}
