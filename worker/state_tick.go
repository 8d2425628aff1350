package worker

import (
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// actions are what a look at the clock asks for.
type actions struct {
	ask      map[int]string // workers that shall ask for a round, with the cause
	ready    []readyTask    // learners that became ready
	expire   bool           // the deadline of the mark has passed
	drained  bool
	switched bool  // the mode switch is over for all workers
	rollBack bool  // the switch's time is up and the group does not let it in
	tryOther []int // workers that shall try the other protocol type
}

type readyTask struct {
	worker int
	task   model.TaskID
}

// tryPause is how long a worker that does not know its way in tries one
// protocol type before the other.
const tryPause = time.Second

// longestBreath bounds how long a worker waits after a round before it asks for
// the next. It waits for two heartbeats at the most: a member that has not heard
// what a round gave it joins the next without, and what it was given runs
// nowhere until it hears; in mode upgrading every round is a pause for all.
const longestBreath = 500 * time.Millisecond

// tick looks at the clock and at the lag of the learners. ready is the app's
// word besides the lag; patience, two heartbeats, is how long a worker waits
// before it asks for what another of the instance should have told.
func (s *state) tick(now time.Time, lag lagOf, ready func(model.TaskID) bool, patience time.Duration) actions {
	a := actions{ask: map[int]string{}}
	if s.leaving {
		return a
	}
	if d := s.expiresAt(); !d.IsZero() && !now.Before(d) {
		a.expire = true
		return a
	}
	if s.isDrained() {
		a.drained = true
		return a
	}
	s.tickSwitch(now, &a)
	first := true
	for _, m := range s.members {
		if !m.in || m.round {
			continue
		}
		s.tickLearners(m, now, lag, ready, &a)
		if says := s.says(); says != m.said && says != m.askedOf {
			m.askedOf = says
			if first {
				m.wish(now, "marks or mode changed")
			} else {
				m.wish(now.Add(patience), "marks or mode changed")
			}
		}
		first = false
		if !m.askAt.IsZero() && !now.Before(m.askAt) && !now.Before(m.since.Add(min(patience, longestBreath))) {
			a.ask[m.n] = m.askFor
			m.request++
			m.askAt, m.askFor = time.Time{}, ""
		}
	}
	return a
}

// tickLearners finds learners that caught up, and whether that is worth a
// round: all are ready, or by the eager policy one is.
func (s *state) tickLearners(m *member, now time.Time, lag lagOf, ready func(model.TaskID) bool, a *actions) {
	all, news := true, false
	for _, id := range m.learners() {
		c := m.tasks[id]
		if !c.ready {
			records, known := lag(id)
			c.ready = known && records <= s.set.AcceptableLag && ready(id)
			if c.ready {
				a.ready = append(a.ready, readyTask{m.n, id})
			}
		}
		all = all && c.ready
		news = news || c.ready && !c.asked
	}
	if !news || !all && s.set.RejoinPolicy != RejoinEager {
		return
	}
	for _, c := range m.tasks {
		c.asked = c.asked || c.ready
	}
	m.wish(now, "learners are ready")
}

// tickSwitch watches over a mode switch, and over workers that the group does
// not let in.
func (s *state) tickSwitch(now time.Time, a *actions) {
	over := s.sw != nil
	for _, m := range s.members {
		late := s.sw != nil && !now.Before(s.sw.deadline)
		if m.switching && m.in && late {
			m.switching = false
			m.wish(now, "the time of the mode switch is up")
		}
		over = over && !m.switching
		if m.in || m.refused.IsZero() {
			continue
		}
		switch {
		case s.sw != nil && !late:
		case s.sw != nil && !s.sw.blind:
			if !s.sw.tried {
				s.sw.tried, a.rollBack = true, true
			}
		case now.Sub(m.refused) >= tryPause && !now.Before(s.loyal):
			m.refused = time.Time{}
			a.tryOther = append(a.tryOther, m.n)
		}
	}
	if over {
		s.sw, a.switched = nil, true
	}
}

// refusedFor notes that the group has another protocol type than the worker.
func (s *state) refusedFor(n int, now time.Time) {
	if m := s.members[n]; m.refused.IsZero() {
		m.refused = now
	}
}
