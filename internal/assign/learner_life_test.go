package assign

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
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
