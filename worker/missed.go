package worker

import "time"

// missed takes a record of the mode that the instance has, by whose epoch it has
// not seen others before. The group may have gone to the other mode and back
// meanwhile; then those who followed come back with what they had, and until
// they have a switch is on, for which this instance has nothing to stop
// (docs/protocol/stream-protocol.md, Modes).
func (s *state) missed(allowed time.Duration, now time.Time) {
	s.sw = &modeSwitch{from: s.mode, allowed: allowed, deadline: now.Add(allowed)}
	for _, m := range s.members {
		m.switching = true
	}
}

// unaware says that a worker joined the round that is on before the instance
// heard of the switch that is under way: what it said does not tell of it.
func (s *state) unaware(n int) bool {
	m := s.members[n]
	return s.sw != nil && m.switching && m.said.epoch != s.epoch
}

// longestReturn bounds the time in which all are still expected back.
const longestReturn = 5 * time.Second

// returning says that a mode switch has begun so lately that who is missing is
// most likely on its way: for a quarter of the switch's time, no copy takes the
// place of its owner, however well it has caught up.
func (s *state) returning(now time.Time) bool {
	if s.sw == nil {
		return false
	}
	began := s.sw.deadline.Add(-s.sw.allowed)
	return now.Before(began.Add(min(s.sw.allowed/4, longestReturn)))
}
