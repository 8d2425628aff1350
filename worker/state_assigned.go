package worker

import (
	"time"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

// The pauses before a ready learner that a round left waiting asks again, and
// before a leader asks again whose round must be followed by another.
const (
	firstPause   = time.Second
	longestPause = time.Minute
	leaderPause  = 500 * time.Millisecond
)

// assigned takes what the leader gave a worker in a round that the learner
// protocol won.
func (s *state) assigned(n int, generation int32, id string, a *groupmeta.StreamAssignment, led bool, now time.Time) {
	m := s.members[n]
	had := s.best()
	fresh := make(map[model.TaskID]*claim, len(a.Tasks))
	waiting, release, owns := false, false, false
	for i := range a.Tasks {
		t := &a.Tasks[i]
		if _, known := s.subs[t.ID.Subtopology]; !known {
			continue // of a topology that this instance does not run
		}
		c := &claim{role: t.Role}
		switch old := had[t.ID]; t.Role {
		case model.Active:
			c.learned, c.release, c.open = t.Tags.Has(groupmeta.TagBeingLearned), t.Release, !s.leaving
			owns, release = true, release || t.Release
		case model.Learner:
			if old != nil && old.role == model.Learner && old.ready {
				c.ready, c.asked = true, old.asked
				waiting = true
			}
		}
		fresh[t.ID] = c
	}
	withdrawn := s.unmarked != m.said.unmarked // while this round was on
	s.keep(m, fresh, s.mark != nil || withdrawn)
	m.tasks = fresh
	if withdrawn {
		m.unlearn()
	}
	if s.mark == nil {
		s.returnKept()
	}
	if s.epoch == 0 && a.Epoch == 0 && s.sw == nil {
		s.mode = Mode(a.Mode) // no record was ever written: the group decides, not the setting
	}
	m.id, m.generation, m.epoch, m.carried = id, generation, s.epoch, false
	m.in, m.round, m.learnerWon, m.leads = true, false, true, led
	m.refused, m.since = time.Time{}, now
	m.drained = m.said.mark != "" && s.mark != nil && !owns
	if !a.SwitchWaiting {
		m.last, m.switching = a.Instances, false
	}
	m.askAt, m.askFor = time.Time{}, ""
	switch {
	case a.Generation != 0 && a.Generation != generation:
		// A static member that came back was given what it had, without a round.
		m.wish(now, "the assignment is of an older round")
	case release:
		m.wish(now, "a task is released")
	case waiting:
		m.pause = min(max(2*m.pause, firstPause), longestPause)
		m.wish(now.Add(m.pause), "a ready learner still waits")
	case led && a.AnotherRound:
		m.wish(now.Add(leaderPause), "another round must follow")
	}
	if !waiting {
		m.pause = 0
	}
}

// wish notes that a round shall be asked for, at the earliest time of all.
func (m *member) wish(at time.Time, cause string) {
	if m.askAt.IsZero() || at.Before(m.askAt) {
		m.askAt, m.askFor = at, cause
	}
}

// best is the strongest word of each task over the workers of the instance.
func (s *state) best() map[model.TaskID]*claim {
	rank := map[model.Role]int{model.Active: 0, model.Learner: 1, model.Standby: 2}
	had := map[model.TaskID]*claim{}
	for _, m := range s.members {
		for id, c := range m.tasks {
			if old := had[id]; old == nil || rank[c.role] < rank[old.role] {
				had[id] = c
			}
		}
	}
	return had
}

// assignedByOlder takes a round that an older protocol won: the worker is a
// plain consumer of the tasks all of whose input partitions it got. Whatever
// else it has stays as a copy.
func (s *state) assignedByOlder(n int, generation int32, id string, owned map[string][]int32) {
	m := s.members[n]
	m.toCopies(s.stateful)
	for _, t := range s.topology {
		for _, p := range commonPartitions(owned, t.inputs()) {
			task := model.ClassicTask("", t.ID, p)
			m.tasks[task] = &claim{role: model.Active, open: !s.leaving}
		}
	}
	m.id, m.generation, m.epoch, m.carried = id, generation, s.epoch, false
	m.in, m.round, m.learnerWon, m.leads, m.drained, m.switching = true, false, false, false, false, false
	m.refused, m.askAt, m.pause = time.Time{}, time.Time{}, 0
}

// commonPartitions are the partitions that are owned of every topic.
func commonPartitions(owned map[string][]int32, topics []string) []int32 {
	if len(topics) == 0 {
		return nil
	}
	count := map[int32]int{}
	for _, t := range topics {
		for _, p := range owned[t] {
			count[p]++
		}
	}
	var all []int32
	for _, p := range owned[topics[0]] {
		if count[p] == len(topics) {
			all = append(all, p)
		}
	}
	return all
}

// isDrained says that the instance, leaving, owns nothing after a round that
// all its workers took part in.
func (s *state) isDrained() bool {
	if s.mark == nil {
		return false
	}
	for _, m := range s.members {
		if !m.in || m.round || !m.drained || m.generation != s.members[0].generation {
			return false
		}
	}
	return true
}
