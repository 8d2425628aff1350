package assign

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/streamctl/streamctl/internal/model"
)

// simSettings draws the settings and the topology of a group.
func simSettings(t *rapid.T, maxTasks int) (LearnerSettings, *Topology) {
	set := LearnerSettings{
		Factor:        rapid.OneOf(rapid.SampledFrom([]int64{1000, 1200, 1500, 2000}), rapid.Int64Range(1000, 4000)).Draw(t, "factor"),
		MaxLearners:   rapid.IntRange(0, 5).Draw(t, "max learners"),
		Standbys:      rapid.IntRange(0, 2).Draw(t, "standbys"),
		AcceptableLag: rapid.SampledFrom([]int64{0, 100}).Draw(t, "acceptable lag"),
	}
	var subs []Subtopology
	left := rapid.IntRange(1, maxTasks).Draw(t, "tasks")
	for n := 0; left > 0; n++ {
		part := rapid.IntRange(1, left).Draw(t, "partitions")
		subs = append(subs, Subtopology{ID: fmt.Sprint(n), Partitions: part, Stateful: rapid.IntRange(0, 3).Draw(t, "stateful") > 0})
		left -= part
	}
	top, err := NewTopology(subs)
	if err != nil {
		t.Fatal(err)
	}
	return set, top
}

// simLife is a group and what is left of its crashed instances.
type simLife struct {
	*learnerSim
	t       *rapid.T
	crashed []*simInstance
	made    int
}

func (l *simLife) arrive() {
	l.made++
	l.join(fmt.Sprintf("i%02d", (l.made*37)%100), rapid.IntRange(1, 4).Draw(l.t, "workers"))
}

func (l *simLife) anyInstance() *simInstance {
	return l.insts[rapid.IntRange(0, len(l.insts)-1).Draw(l.t, "instance")]
}

// progress lets copies restore a little, and some learners become ready.
func (l *simLife) progress() {
	for _, x := range l.unready() {
		x.Lag -= rapid.Int64Range(0, 400).Draw(l.t, "restored")
		if x.Lag <= l.set.AcceptableLag {
			x.finish()
		}
	}
}

// happen lets one thing happen before the next round.
func (l *simLife) happen() {
	if len(l.insts) == 0 {
		l.arrive()
		return
	}
	switch rapid.IntRange(0, 9).Draw(l.t, "event") {
	case 0:
		l.arrive()
	case 1:
		in := l.anyInstance()
		l.crash(in)
		l.crashed = append(l.crashed, in)
	case 2:
		if n := len(l.crashed); n > 0 && l.find(l.crashed[n-1].id) == nil {
			l.restart(l.crashed[n-1])
			l.crashed = l.crashed[:n-1]
		}
	case 3, 4:
		in := l.anyInstance()
		in.leaving, in.remainingMs = true, rapid.Int64Range(-1, 3).Draw(l.t, "remaining")
	case 5:
		l.anyInstance().unmark()
	case 6:
		if in := l.anyInstance(); in.leaving {
			in.expired = true
			if rapid.Bool().Draw(l.t, "gone") {
				l.crash(in)
			}
		}
	case 7:
		l.fence(l.anyInstance())
	case 8:
		ws := l.anyInstance().workers
		ws[rapid.IntRange(0, len(ws)-1).Draw(l.t, "worker")].misses = true
	case 9:
		for _, w := range l.anyInstance().workers {
			w.misses = true
		}
	}
}

// play runs one round and checks what holds in every one.
func (l *simLife) play() {
	l.t.Helper()
	in := l.input()
	before := l.open()
	_, r := l.rebalance()
	if err := checkLearnerRound(in, &r); err != nil {
		l.t.Fatalf("round %d: %v\n%s", l.round, err, l.picture())
	}
	if err := checkLearnerBalance(in); err != nil {
		l.t.Fatalf("round %d: %v", l.round, err)
	}
	if err := checkLearnerWorkers(&r); err != nil {
		l.t.Fatalf("round %d: %v", l.round, err)
	}
	for task, who := range l.open() {
		if len(who) > 1 {
			l.t.Fatalf("round %d: %v process task %d, before %v", l.round, who, task, before[task])
		}
	}
}

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

// picture shows the group for what a failure says.
func (l *simLife) picture() string {
	s := fmt.Sprintf("settings %+v\n", l.set)
	for _, in := range l.insts {
		s += fmt.Sprintf("%s leaving %v expired %v:", in.id, in.leaving, in.expired)
		for _, w := range in.workers {
			s += fmt.Sprintf(" [gen %d", w.Generation)
			for t, x := range w.tasks {
				s += fmt.Sprintf(" %d %s learned=%v ready=%v lag=%d", t, x.Role, x.BeingLearned, x.Ready, x.Lag)
			}
			s += "]"
		}
		s += "\n"
	}
	return s + fmt.Sprintf("last result %+v\n", l.last)
}

// TestLearnerLife lets groups live through joins, crashes, restarts, lost
// memberships, marks, withdrawn marks, deadlines and missed assignments, and
// checks the invariants of stream-protocol.md in every round and at the end.
func TestLearnerLife(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, top := simSettings(t, 24)
		l := &simLife{learnerSim: newLearnerSim(set, top, 1000), t: t}
		for range rapid.IntRange(1, 4).Draw(t, "instances") {
			l.arrive()
		}
		for range rapid.IntRange(1, 14).Draw(t, "rounds") {
			for range rapid.IntRange(0, 2).Draw(t, "events") {
				l.happen()
			}
			l.progress()
			l.play()
		}
		l.settle(rapid.Bool().Draw(t, "all ready at once"))
	})
}
