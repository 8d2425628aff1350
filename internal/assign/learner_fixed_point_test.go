package assign

import (
	"fmt"
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

// still reports whether the last round changed nothing and leaves nothing to do.
func still(before, after *LearnerResult) bool {
	if len(before.Instances) != len(after.Instances) || after.AnotherRound {
		return false
	}
	for i := range after.Instances {
		a, b := &after.Instances[i], &before.Instances[i]
		if a.ID != b.ID || len(a.Learner) > 0 || !slices.Equal(a.Active, b.Active) || !slices.Equal(a.Standby, b.Standby) {
			return false
		}
	}
	return true
}

// settle runs rounds without events until nothing is left to do; learners become
// ready one a round or all at once. It checks invariant 6.
func (l *simLife) settle(all bool) {
	l.t.Helper()
	bound, known := 2, map[string]bool{}
	for rounds := 0; ; rounds++ {
		if len(l.insts) == 0 {
			return
		}
		ready := l.unready()
		if !all && len(ready) > 1 {
			ready = ready[:1]
		}
		for _, x := range ready {
			x.finish()
		}
		before, members := l.last, len(l.insts)
		l.play()
		for _, s := range before.Instances { // those still running after the last event
			for _, t := range s.Learner {
				known[fmt.Sprint(s.ID, t)] = true
			}
		}
		for _, s := range l.last.Instances {
			for _, t := range s.Learner {
				known[fmt.Sprint(s.ID, t)] = true
			}
		}
		if still(&before, &l.last) && len(l.insts) == members {
			break
		}
		bound = len(known) + 2
		if all && l.set.MaxLearners == 0 {
			bound = 4
		}
		if rounds >= bound {
			l.t.Fatalf("invariant 6: no fixed point after %d rounds (bound %d)\n%s", rounds, bound, l.picture())
		}
	}
	l.checkFixedPoint()
}

// checkFixedPoint checks invariant 7, and that one more round changes nothing.
func (l *simLife) checkFixedPoint() {
	l.t.Helper()
	staying, workers := 0, 0
	for _, s := range l.last.Instances {
		if s.Stays {
			staying++
			workers += len(s.Workers)
		}
	}
	all := int64(l.top.Len())
	standbys := map[Task]int{}
	exact := map[string]model.Range{} // [⌈e/r⌉, ⌊e·r⌋]
	lows, highs, possible := 0, 0, true
	for _, s := range l.last.Instances {
		for _, t := range s.Standby {
			standbys[t]++
		}
		switch {
		case s.Stays && !s.Bounds.Has(len(s.Active)):
			l.t.Fatalf("invariant 7: %q has %d actives, bounds %v", s.ID, len(s.Active), s.Bounds)
		case s.Stays:
			e := all * int64(len(s.Workers)) * 1000
			r := int64(workers) * l.set.Factor
			low, high := int((e+r-1)/r), int(e*l.set.Factor/(int64(workers)*1_000_000))
			exact[s.ID] = model.Range{Low: low, High: high}
			lows, highs, possible = lows+low, highs+high, possible && low <= high
		case len(s.Active)+len(s.Standby) > 0:
			l.t.Fatalf("invariant 7: %q does not stay and is not empty\n%s", s.ID, l.picture())
		}
	}
	for _, s := range l.last.Instances {
		if possible && lows <= int(all) && int(all) <= highs && s.Stays && !exact[s.ID].Has(len(s.Active)) {
			l.t.Fatalf("invariant 7: %q has %d actives, %v is possible", s.ID, len(s.Active), exact[s.ID])
		}
	}
	for t := range Task(all) {
		if want := min(l.set.Standbys, staying-1); staying > 0 && l.top.Stateful(t) && standbys[t] != want {
			l.t.Fatalf("invariant 7: task %d has %d standbys, want %d\n%s", t, standbys[t], want, l.picture())
		}
	}
	before, moves := l.last, l.moves
	l.play()
	if !still(&before, &l.last) || l.moves != moves {
		l.t.Fatalf("a fixed point moved\n%s", l.picture())
	}
}
