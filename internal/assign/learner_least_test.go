package assign

import (
	"testing"

	"pgregory.net/rapid"
)

// leastMoves is the least number of tasks that must move to come within the
// bounds: what is free, which has to go somewhere, and what must leave the
// others.
func leastMoves(r *LearnerResult, had map[string]int) int {
	free, over, under := 0, 0, 0
	staying := map[string]bool{}
	for _, s := range r.Instances {
		if s.Stays {
			staying[s.ID] = true
			over += max(0, had[s.ID]-s.Bounds.High)
			under += max(0, s.Bounds.Low-had[s.ID])
		}
	}
	for id, n := range had {
		if !staying[id] {
			free += n
		}
	}
	return free + max(over, under-free)
}

// TestLearnerLeastMoves checks invariant 8: after one event from a fixed point
// tasks move exactly as often as the least that reaches the bounds.
func TestLearnerLeastMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, top := simSettings(t, 30)
		event := rapid.SampledFrom([]string{"join", "crash", "mark"}).Draw(t, "event")
		if event != "join" {
			set.Standbys = 0
		}
		l := &simLife{learnerSim: newLearnerSim(set, top, 1000), t: t}
		for range rapid.IntRange(2, 7).Draw(t, "instances") {
			l.arrive()
			l.play()
		}
		l.settle(true)
		had := map[string]int{}
		for _, s := range l.last.Instances {
			had[s.ID] = len(s.Active)
		}
		from := l.moves
		switch event {
		case "join":
			l.arrive()
		case "crash":
			l.crash(l.anyInstance())
		case "mark":
			l.anyInstance().leaving = true
		}
		l.play()
		least := leastMoves(&l.last, had)
		l.settle(rapid.Bool().Draw(t, "all ready at once"))
		if moves := l.moves - from; moves != least {
			t.Fatalf("invariant 8: %d moves after %s, %d are enough\n%s", moves, event, least, l.picture())
		}
	})
}
