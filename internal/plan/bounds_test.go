package plan

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// A partition number that no topic has is no reason to count up to it.
func TestBoundOfTasks(t *testing.T) {
	for _, n := range []int32{maxTasks + 1, 20_000_000, math.MaxInt32} {
		stateful := true
		g := &model.Group{ID: "app", Kind: model.Streams, State: model.StateStable}
		g.Topology.Subtopologies = []model.Subtopology{{ID: "0", Partitions: n, Stateful: &stateful}, {ID: "1", Partitions: n, Stateful: &stateful}}
		start := time.Now()
		_, err := FromGroup(g)
		if r, ok := IsRefused(err); !ok || !strings.Contains(r.Error(), "more tasks than the 200,000 that a plan takes") {
			t.Errorf("%d partitions: %v", n, err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%d partitions: %s", n, took)
		}
	}
	g := newMade(t, model.Classic, 4, true, 100).instance(1, 1, 0, 1, 2, 3)
	if _, err := Make(g.in, Options{Changes: []Change{Partitions{"orders", maxTasks + 1}}}); err == nil || !strings.Contains(err.Error(), "more than 200,000 tasks") {
		t.Errorf("more partitions: %v", err)
	}
}

// Threads are bounded all together, however they come.
func TestBoundOfThreads(t *testing.T) {
	for _, kind := range []model.Kind{model.Classic, model.Streams, model.Worker} {
		g := newMade(t, kind, 4, true, 100).instance(1, 2, 0, 1, 2, 3)
		for name, changes := range map[string][]Change{
			"one add":  {Add{Count: 10_000, Threads: 1_000}},
			"two adds": {Add{Count: 100, Threads: 400}, Add{Count: 100, Threads: 400}},
			"as usual": {Add{Count: 10_000, Threads: 5}},
		} {
			_, err := Make(g.in, Options{Changes: changes})
			if bad, ok := errors.AsType[*ChangeError](err); !ok || !strings.Contains(bad.Why, "more than 50,000 threads") {
				t.Errorf("%s, %s: %v", kind, name, err)
			}
		}
	}
}

// A plan ends as soon as it is told to, in whatever draw it is.
func TestStopped(t *testing.T) {
	over := errors.New("over")
	g := newMade(t, model.Classic, 40, true, 100_000).instance(1, 2, every(0, 1, 40)...)
	for _, after := range []int{0, 1, 30} {
		n := 0
		_, err := Make(g.in, Options{Changes: []Change{Add{Count: 1, IDs: []string{testID(9)}}}, Stopped: func() error {
			if n++; n > after {
				return over
			}
			return nil
		}})
		if !errors.Is(err, over) || n != after+1 {
			t.Errorf("after %d: asked %d times, %v", after, n, err)
		}
	}
}

// Many instances that join take time in proportion.
func TestManyJoin(t *testing.T) {
	for _, kind := range []model.Kind{model.Classic, model.Streams, model.Worker} {
		g := newMade(t, kind, 12, true, 100).instance(1, 2, every(0, 1, 12)...)
		p := g.plan(Options{Changes: []Change{Add{Count: 5_000}}, Draws: 1, MaxRounds: 3})
		if n := len(p.After.Instances); n != 5_001 {
			t.Errorf("%s: %d instances", kind, n)
		}
	}
}

// Fewer draws than were meant are said: a gate rests on them.
func TestFewerDraws(t *testing.T) {
	const tasks = 150_000
	g := newMade(t, model.Worker, tasks, false, 0).instance(1, 1, every(0, 1, tasks)...)
	p := g.plan(Options{Changes: []Change{Add{Count: 1}}, MaxRounds: 2})
	if p.NewIDs.Tried >= DefaultDraws || !strings.Contains(p.finding(NoteRange), "of ids tried instead of 32") {
		t.Errorf("%d tried: %q", p.NewIDs.Tried, p.finding(NoteRange))
	}
}

// A restore that no round sees the end of is no reason to reckon with rounds.
func TestRestoreThatNeverEnds(t *testing.T) {
	g := newMade(t, model.Classic, 4, true, 1_000_000).instance(1, 1, 0, 1, 2, 3)
	p := g.plan(Options{Changes: []Change{Add{Count: 1, IDs: []string{testID(2)}}}, Rate: Rate{Records: 0.0001}, MaxRounds: 10})
	if p.Totals.EstimateS != nil || p.Totals.Extrapolated != 0 || p.Converged || !strings.Contains(p.finding(NoteUnfinished), "still to come") {
		t.Errorf("%+v, %q", p.Totals, p.finding(NoteUnfinished))
	}
}

// Times are at most a year: what a person gives is refused, what a group says
// is taken as that.
func TestBoundOfTimes(t *testing.T) {
	for _, key := range []string{KeyProbing, KeySession, KeyHeartbeat, KeyScaleDown} {
		if err := CheckSetting(key, "9223372036854775807"); err == nil || !strings.Contains(err.Error(), "more than a year") {
			t.Errorf("%s: %v", key, err)
		}
		g := newMade(t, model.Classic, 4, true, 100).instance(1, 1, 0, 1).instance(2, 1, 2, 3)
		g.in.Settings = []Setting{{key, "9223372036854775807", "group config"}}
		if p := g.plan(Options{Changes: []Change{Remove{Instance: "P2"}}}); p.Totals.EarliestS < 0 || p.Totals.EarliestS > 200*longestMs/1000 {
			t.Errorf("%s: the last round at %v s", key, p.Totals.EarliestS)
		}
	}
}

// What the group had before its topics grew is judged by the tasks of then.
func TestPartitionsAndBalanceBefore(t *testing.T) {
	g := newMade(t, model.Streams, 6, true, 100).instance(1, 1, 0, 1, 2).instance(2, 1, 3, 4, 5)
	p := g.plan(Options{Changes: []Change{Partitions{"orders", 9}}})
	if p.Before.MaxOverExpected != 1 || p.Before.Instances[testID(1)].Expected != 3 || p.After.Instances[testID(1)].Expected != 4.5 {
		t.Errorf("before %+v, after %+v", p.Before, p.After)
	}
	if met, why := mustCondition(t, "worse").Met(p); met { // 9 tasks cannot lie evener
		t.Errorf("worse: %s", why)
	}
}

// Active tasks that restore already are no consequence of a change, and told.
func TestGroupThatRestores(t *testing.T) {
	in := captured(t, "streams-restoring-4.4.0")
	p, err := Make(in, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.finding(NoteRestoring); !strings.HasPrefix(got, "6 tasks are down already until restored, ≤235,962 records to go (pod-b)") {
		t.Errorf("%q", got)
	}
}

// State that an instance has left on its disk is no standby.
func TestLeftOverState(t *testing.T) {
	in := captured(t, "streams-stable-4.4.0")
	p, err := Make(in, Options{Changes: []Change{Remove{Instance: "pod-b"}}})
	if err != nil {
		t.Fatal(err)
	}
	if p.Totals.TasksDown != 0 || p.moved(HowLeftOver) != 6 || p.moved(HowStandby) != 0 {
		t.Errorf("%+v, %d by left-over state, %d by standbys", p.Totals, p.moved(HowLeftOver), p.moved(HowStandby))
	}
	said := false
	for _, f := range p.Findings {
		said = said || f.Code == NoteAssumed && strings.HasPrefix(f.Text, "6 tasks go to instances that have no standby, but state left over")
	}
	if !said {
		t.Errorf("not told: %v", p.Findings)
	}
}

// The records that a plan restores for nothing are told copy by copy, up to a
// dozen, in the order of the tasks.
func TestDiscardsAreBounded(t *testing.T) {
	r := &run{rec: newRecorder(newMade(t, model.Classic, 30, true, 100).instance(1, 1, every(0, 1, 30)...).in, 0, Rate{})}
	p := &Plan{Group: "app"}
	for i := range 20 {
		r.rec.dropped[holding{every(0, 1, 30)[i], 0}] = 50
	}
	p.discards(r)
	if n := len(p.Findings); n != maxNamed+1 || p.Findings[0].Text != "50 records (0_0 on P1, 50%)" || p.Findings[10].Text != "50 records (0_10 on P1, 50%)" || p.Findings[n-1].Text != "400 records in 8 copies more" {
		t.Errorf("%v", p.Findings)
	}
}

// Every condition word is read, and what is none is told from a bad limit.
func TestConditionWords(t *testing.T) {
	for _, w := range ConditionWords() {
		text := strings.NewReplacer("N", "5", "SIZE", "10GiB").Replace(w)
		if _, err := ParseCondition(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, unknown := range map[string]bool{"": true, "sadness": true, "idle>3": true, "moves": false, "moves>-1": false, "restore>10furlongs": false, "restore>": false} {
		_, err := ParseCondition(text)
		if bad, ok := errors.AsType[*ConditionError](err); !ok || bad.Unknown != unknown {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A trace is of the very plan that Make shows, whatever is asked for.
func TestTraceGoesByTheFactor(t *testing.T) {
	g := newMade(t, model.Classic, 6, true, 100).instance(1, 1, every(0, 1, 6)...).instance(2, 1)
	if rounds, err := Trace(g.in, Options{Factor: 1}); err != nil || len(rounds) != 0 {
		t.Errorf("a plan by learner has no trace of members: %d rounds, %v", len(rounds), err)
	}
	if _, err := Trace(g.in, Options{Assignor: "none"}); err == nil {
		t.Error("an assignor that nobody knows is traced")
	}
}

// With an acceptable lag without end every copy is caught up, also one that has
// begun.
func TestUnlimitedLag(t *testing.T) {
	g := newMade(t, model.Classic, 2, true, 1000).instance(1, 1, 0, 1).instance(2, 1)
	m := &g.in.Instances[1].Members[0]
	m.Standby, m.Reported = []assign.Task{0}, []assign.Offset{{Task: 0, Sum: 5}}
	set := map[string]string{KeyAcceptableLag: "9223372036854775807", KeyStandbys: "1"}
	p := g.plan(Options{Set: set})
	if p.BasedOn.Copies != CopiesCaughtUp || p.Totals.Standbys != 0 || p.Totals.Learners != 0 {
		t.Errorf("copies %s, totals %+v", p.BasedOn.Copies, p.Totals)
	}
	// Likewise one that a newcomer has on its disk, at whatever position.
	p = g.plan(Options{Set: set, Changes: []Change{Add{Count: 1, AllState: true}, Remove{Instance: "P2"}}})
	if p.Totals.Standbys != 0 {
		t.Errorf("totals %+v", p.Totals)
	}
}

// More records than a number holds are the largest number.
func TestMoreRecordsThanANumberHolds(t *testing.T) {
	g := newMade(t, model.Classic, 4, true, math.MaxInt64/2).instance(1, 1, 0, 1, 2, 3)
	p := g.plan(Options{Changes: []Change{Remove{Instance: "P1"}, Add{Count: 1}}})
	if n := p.Totals.RemainingRecords; n == nil || *n != math.MaxInt64 {
		t.Errorf("records %v", n)
	}
}

// An instance that comes back in place of itself takes its tasks from nobody
// else.
func TestComesBackUnderItsID(t *testing.T) {
	g := newMade(t, model.Classic, 4, true, 100).instance(1, 1, 0, 1, 2, 3).instance(2, 1)
	p := g.plan(Options{Changes: []Change{Remove{Instance: "P1"}, Add{Count: 1, IDs: []string{testID(1)}, AllState: true}}})
	for _, r := range p.Rounds {
		for _, m := range r.Moves {
			if m.From == m.To {
				t.Errorf("round %d: %+v", r.Round, m)
			}
		}
	}
}

// What is changed after some rounds has its round, though the bound of rounds is
// reached by then; one after the last instance has gone comes later.
func TestChangesAfterWaits(t *testing.T) {
	g := newMade(t, model.Classic, 12, true, 100_000).instance(1, 1, every(0, 1, 12)...)
	p := g.plan(Options{MaxRounds: 1, Changes: []Change{Add{Count: 1}, Wait{2}, Add{Count: 1}}})
	if n := len(p.After.Instances); n != 3 || p.Rounds[len(p.Rounds)-1].Round < 3 {
		t.Errorf("%d instances, %d rounds", n, len(p.Rounds))
	}
	p = g.plan(Options{Changes: []Change{Remove{Instance: "P1"}, Wait{1}, Add{Count: 1}}})
	if len(p.Rounds) < 2 || p.Rounds[1].AtS < p.Rounds[0].AtS || len(p.Rounds[1].Moves) != 12 {
		t.Errorf("rounds %+v", p.Rounds)
	}
}
