package progress

import (
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// draining is a worker group; learners have a number of records to restore,
// given by member and task.
func drainGroup(left map[string]int64, lines ...string) *model.Group {
	g := group(lines...)
	g.Kind, g.Positions.Basis = model.Worker, model.PositionsStatus
	g.Facts.Settings = []model.Setting{{Key: "acceptable.recovery.lag", Value: "100"}}
	eachTask(g, func(_ *model.Instance, m *model.Member, t *model.Task) {
		t.Stateful = ptr(true)
		t.Restore = model.Restore{State: model.Running, Reported: true}
		n, ok := left[m.Name+" "+t.ID.String()]
		if ok {
			t.Restore = model.Restore{State: model.Restoring, Reported: true, RemainingRecords: &n, Position: ptr(50_000 - n), End: ptr(int64(50_000))}
		}
	})
	return g
}

const myMark = "mark-1"

// marked is a control topic in which pod-c is marked, and says what it honours.
func marked(honours ...string) *control.State {
	s := &control.State{
		Leaving: map[string]control.Leaving{"uuid-pod-c": {Mark: myMark, Who: "alice@ops"}},
		Status:  map[string]control.Status{},
	}
	if honours != nil {
		s.Status["uuid-pod-c"] = control.Status{Marks: honours, Generation: ptr(int32(41)), Leaving: true}
	}
	return s
}

// gone is a control topic whose mark the instance withdrew.
func gone() *control.State {
	s := marked(myMark)
	s.Leaving = nil
	st := s.Status["uuid-pod-c"]
	st.Left = control.LeftDrained
	s.Status["uuid-pod-c"] = st
	return s
}

func newTestDrain(before *model.Group) *Drain {
	d := NewDrain([]DrainTarget{{ID: "uuid-pod-c", Name: "pod-c", Mark: myMark}})
	d.Begin(before)
	return d
}

func at(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }

// An instance hands its tasks over as learners get ready: the lines of the
// screens, and a good end.
func TestFieldCase21DrainLookByLook(t *testing.T) {
	begin := []string{"pod-a/T1: 0_0 0_2l", "pod-b/T1: 0_1 0_5l 1_5l", "pod-c/T1: 0_2 0_5 1_5"}
	left := map[string]int64{"pod-a/T1 0_2": 30_000, "pod-b/T1 0_5": 20_000, "pod-b/T1 1_5": 10_000}
	d := newTestDrain(drainGroup(nil, "pod-a/T1: 0_0", "pod-b/T1: 0_1", "pod-c/T1: 0_2 0_5 1_5"))
	l := d.Look(drainGroup(left, begin...), marked(myMark), at(0))
	if l.Met || l.Owns != 3 || l.Ready != 0 || *l.ToRestore != 60_000 || l.Rate != nil || *l.Round != 41 || len(l.Waiting) != 0 {
		t.Fatalf("at first %+v", l)
	}
	left = map[string]int64{"pod-a/T1 0_2": 20_000, "pod-b/T1 0_5": 10_000, "pod-b/T1 1_5": 90}
	l = d.Look(drainGroup(left, begin...), marked(myMark), at(10))
	if l.Ready != 1 || l.Rate == nil || *l.Rate != 2991 || l.Left == nil || *l.Left != 20*time.Second {
		t.Fatalf("one ready: %+v", l)
	}
	left = map[string]int64{"pod-a/T1 0_2": 20_000, "pod-b/T1 0_5": 8_112}
	l = d.Look(drainGroup(left, "pod-a/T1: 0_0 0_2l", "pod-b/T1: 0_1 0_5l 1_5", "pod-c/T1: 0_2 0_5"), marked(myMark), at(11))
	if l.Owns != 2 || len(l.Moved) != 1 || l.Moved[0].Warm != Yes || l.Moved[0].ToName != "pod-b" {
		t.Fatalf("one moved: %+v", l)
	}
	if text := l.StillOwns(false); text != "still owns 0_2 (learner on pod-a, 20,000 to go), 0_5 (learner on pod-b, 8,112 to go)" {
		t.Error(text)
	}
	l = d.Look(drainGroup(nil, "pod-a/T1: 0_0 0_2", "pod-b/T1: 0_1 0_5 1_5", "pod-c/T1:"), marked(myMark), at(20))
	if !l.Met || l.Owns != 0 || len(l.Moved) != 2 || len(l.Blockers) != 0 {
		t.Fatalf("drained: %+v", l)
	}
	for _, h := range d.HandOvers() {
		if h.Warm != Yes {
			t.Errorf("%s went to a running owner, and counts as %s", h.Task, h.Warm)
		}
	}
}

// A copy that stands still while another of its instance moves waits its turn;
// one on an instance where nothing moves does not.
func TestDrainCopyWaitsItsTurn(t *testing.T) {
	tasks := []string{"pod-a/T1: 0_0 0_2l 0_5l", "pod-b/T1: 0_1 1_5l", "pod-c/T1: 0_2 0_5 1_5"}
	d := newTestDrain(drainGroup(nil, tasks...))
	var l DrainLook
	for i := range 3 {
		left := map[string]int64{"pod-a/T1 0_2": 30_000 - int64(i)*1000, "pod-a/T1 0_5": 20_000, "pod-b/T1 1_5": 10_000}
		l = d.Look(drainGroup(left, tasks...), marked(myMark), at(i))
	}
	want := []string{
		"0_2: pod-a restores at 1,000/s, 28,000 to go",
		"0_5: waits its turn on pod-a, 20,000 to go",
		"1_5: pod-b restores at 0/s for 2s, 10,000 to go",
	}
	for i := range want {
		if got := l.Tasks[i].Holds(); got != want[i] {
			t.Errorf("%q, want %q", got, want[i])
		}
	}
}

// Without a word of the instance nothing is drained, whoever owns the tasks.
func TestDrainNeedsToBeHonoured(t *testing.T) {
	after := drainGroup(nil, "pod-a/T1: 0_0 0_2", "pod-c/T1:")
	d := newTestDrain(drainGroup(nil, "pod-a/T1: 0_0", "pod-c/T1: 0_2"))
	for i, s := range []*control.State{marked(), marked("another mark")} {
		l := d.Look(after, s, at(i))
		if l.Met || l.Over || len(l.Waiting) != 1 || !strings.Contains(l.Waiting[0], "not honoured yet") || len(l.Blockers) != 1 {
			t.Errorf("status %d: %+v", i, l)
		}
	}
	if l := d.Look(after, marked(myMark), at(2)); !l.Met {
		t.Errorf("honoured: %+v", l)
	}
}

// How an instance ends: by itself, or with what it owned.
func TestDrainOfAnInstanceThatIsGone(t *testing.T) {
	before := drainGroup(nil, "pod-a/T1: 0_0", "pod-c/T1: 0_2 0_5")
	taken := func() *model.Group { return drainGroup(nil, "pod-a/T1: 0_0 0_2 0_5") }
	d := newTestDrain(before)
	d.Look(before, marked(myMark), at(0))
	if l := d.Look(taken(), gone(), at(1)); !l.Met || !d.Gone("uuid-pod-c") || len(l.Moved) != 2 {
		t.Errorf("it withdrew its mark as it went: %+v", l)
	}

	d = newTestDrain(before)
	d.Look(before, marked(myMark), at(0))
	if l := d.Look(taken(), marked(myMark), at(1)); l.Met || l.Over || len(l.Lost) != 0 {
		t.Errorf("one look is not enough to call it dead: %+v", l)
	}
	l := d.Look(taken(), marked(myMark), at(2))
	if l.Met || !l.Over || len(l.Lost) != 1 || l.Lost[0] != "pod-c is gone with 2 tasks not handed over: 0_2 0_5" {
		t.Errorf("dead: %+v", l)
	}

	d = newTestDrain(before)
	d.Look(before, marked(myMark), at(0))
	back := drainGroup(nil, "pod-a/T1: 0_0 0_2", "pod-c/T1: 0_5")
	back.Instances[1].Members[0].ID = "id-of-another-start"
	if l := d.Look(back, gone(), at(1)); len(l.Lost) != 1 || !strings.Contains(l.Lost[0], "died and came back") {
		t.Errorf("came back: %+v", l)
	}

	// A mode switch makes members anew: no proof of a death.
	d = newTestDrain(before)
	d.Look(before, marked(myMark), at(0))
	switched := gone()
	switched.Mode = &control.Mode{Mode: control.Upgrading, Epoch: 1}
	switched.Status["uuid-pod-c"] = control.Status{Epoch: 1, Tasks: []control.Task{{ID: model.ClassicTask("", 0, 5)}}}
	if l := d.Look(back, switched, at(1)); len(l.Lost) != 0 {
		t.Errorf("switched: %+v", l)
	}
	if l := d.Look(back, switched, at(5)); len(l.Lost) != 1 || !strings.Contains(l.Lost[0], "was withdrawn by somebody else") {
		t.Errorf("switched, a while later: %+v", l)
	}

	// It is there and owns nothing any more: about to go, dead or not.
	d = newTestDrain(before)
	empty := drainGroup(nil, "pod-a/T1: 0_0 0_2 0_5", "pod-c/T1:")
	if l := d.Look(empty, gone(), at(0)); !l.Met {
		t.Errorf("about to go: %+v", l)
	}
}

// A mark that somebody else withdrew, or set anew.
func TestDrainUnderAnotherMark(t *testing.T) {
	before := drainGroup(nil, "pod-a/T1: 0_0", "pod-c/T1: 0_2")
	d := newTestDrain(before)
	other := marked(myMark)
	other.Leaving["uuid-pod-c"] = control.Leaving{Mark: "mark-2", Who: "bob@ops", Reason: "mine", At: start}
	l := d.Look(before, other, at(0))
	if len(l.Lost) != 1 || !strings.Contains(l.Lost[0], "by bob@ops at 2026-03-01T12:00:00Z (mine)") {
		t.Errorf("foreign: %+v", l)
	}
	d = newTestDrain(before)
	for i := range 10 {
		if l = d.Look(before, gone(), at(i)); len(l.Lost) != 0 {
			t.Fatalf("after %ds it may still be on its way out: %+v", i, l)
		}
	}
	if l = d.Look(before, gone(), at(10)); len(l.Lost) != 1 || !strings.Contains(l.Lost[0], "withdrawn") {
		t.Errorf("withdrawn: %+v", l)
	}
	d = newTestDrain(before)
	stays := gone()
	stays.Status["uuid-pod-c"] = control.Status{}
	d.Look(before, marked(myMark), at(0))
	d.Look(before, stays, at(1))
	if l = d.Look(before, stays, at(4)); len(l.Lost) != 1 || l.Lost[0] != "the mark of pod-c was withdrawn by somebody else; it still owns 1 task: 0_2" {
		t.Errorf("withdrawn, and it says so: %+v", l)
	}
}

// What goes over without its state is cold, also when the look before was late;
// what nothing tells about stays open.
func TestDrainTellsWhatWasCold(t *testing.T) {
	before := drainGroup(map[string]int64{"pod-a/T1 0_2": 8112}, "pod-a/T1: 0_0 0_2l", "pod-c/T1: 0_2 0_5")
	d := newTestDrain(before)
	d.Look(before, marked(myMark), at(0))
	s := gone()
	s.Status["uuid-pod-c"] = control.Status{Marks: []string{myMark}, Leaving: true, Expired: true, Left: control.LeftExpired}
	after := drainGroup(map[string]int64{"pod-a/T1 0_2": 8000}, "pod-a/T1: 0_0 0_2 0_5")
	task(after, "pod-a/T1", "0_5").Restore = model.Restore{State: model.RestoreUnknown}
	if l := d.Look(after, s, at(1)); !l.Met {
		t.Fatalf("%+v", l)
	}
	h := d.HandOvers()
	if len(h) != 2 || h[0].Warm != No || *h[0].Records != 8000 || h[0].AtMost || h[1].Warm != No {
		t.Errorf("%+v", h)
	}
	if late := d.Expired(); len(late) != 1 || late[0] != "pod-c" {
		t.Errorf("expired: %v", late)
	}
	after = drainGroup(nil, "pod-a/T1: 0_0 0_2 0_5")
	d.Look(after, s, at(2))
	if h = d.HandOvers(); h[0].Warm != No || h[1].Warm != No {
		t.Errorf("cold ones that run by now: %+v", h)
	}

	// A restore that was over before anybody looked was one all the same.
	d = newTestDrain(before)
	d.Look(before, marked(myMark), at(0))
	d.Look(drainGroup(nil, "pod-a/T1: 0_0 0_2 0_5"), s, at(1))
	if h = d.HandOvers(); len(h) != 2 || h[0].Warm != No || *h[0].Records != 8112 || !h[0].AtMost || h[1].Warm != No {
		t.Errorf("restored between two looks: %+v", h)
	}

	// Its new owner says nothing yet, and the mark was in time: open, until it runs.
	d = newTestDrain(before)
	d.Look(before, marked(myMark), at(0))
	after = drainGroup(nil, "pod-a/T1: 0_0 0_2", "pod-c/T1: 0_5")
	task(after, "pod-a/T1", "0_2").Restore = model.Restore{State: model.RestoreUnknown}
	d.Look(after, marked(myMark), at(1))
	if h = d.HandOvers(); len(h) != 1 || h[0].Warm != Unknown {
		t.Errorf("nobody tells: %+v", h)
	}
	d.Look(drainGroup(nil, "pod-a/T1: 0_0 0_2", "pod-c/T1: 0_5"), marked(myMark), at(2))
	if h = d.HandOvers(); h[0].Warm != Yes {
		t.Errorf("a later word: %+v", h)
	}
}

// Gone without its mark is no departure by itself: somebody may have withdrawn
// the mark of a dead instance, or the topic is another.
func TestDrainOfAnInstanceThatDiedWithoutItsMark(t *testing.T) {
	before := drainGroup(map[string]int64{"pod-a/T1 0_5": 900}, "pod-a/T1: 0_0 0_2l 0_5l", "pod-c/T1: 0_2 0_5")
	task(before, "pod-a/T1", "0_2").Restore = model.Restore{State: model.CaughtUp}
	after := func() *model.Group { return drainGroup(nil, "pod-a/T1: 0_0 0_2 0_5") }
	unmarked := gone()
	st := unmarked.Status["uuid-pod-c"]
	st.Left, st.Tasks = "", []control.Task{{ID: model.ClassicTask("", 0, 2)}, {ID: model.ClassicTask("", 0, 5)}}
	unmarked.Status["uuid-pod-c"] = st
	another := &control.State{}
	for name, c := range map[string]struct {
		s    *control.State
		at   int
		lost string
		warm Answer
	}{
		"somebody withdrew it":      {unmarked, 1, "pod-c is gone with 2 tasks not handed over: 0_2 0_5", No},
		"the topic was made anew":   {another, 1, "pod-c is gone with 2 tasks not handed over: 0_2 0_5", No},
		"nobody looked for a while": {another, 25, "pod-c went while nobody could look for 25s, and how is not known; before that it had 2 tasks not handed over: 0_2 0_5", Unknown},
	} {
		d := newTestDrain(before)
		d.Look(before, marked(myMark), at(0))
		l := d.Look(after(), c.s, at(c.at))
		if l.Met || !l.Over || len(l.Lost) != 1 || l.Lost[0] != c.lost || d.Gone("uuid-pod-c") {
			t.Errorf("%s: %+v", name, l)
		}
		if h := d.HandOvers(); len(h) != 2 || h[0].Warm != Yes || h[1].Warm != c.warm {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

// In a rebalance, who owns what is that of before; all marked counts for
// nothing; what stands still is named with its time.
func TestDrainWaits(t *testing.T) {
	before := drainGroup(map[string]int64{"pod-a/T1 0_2": 8112}, "pod-a/T1: 0_0 0_2l", "pod-c/T1: 0_2 0_5")
	d := newTestDrain(before)
	d.Look(before, marked(myMark), at(0))
	l := d.Look(in(drainGroup(nil, "pod-a/T1:", "pod-c/T1:"), model.StatePreparingRebalance), marked(myMark), at(1))
	if !l.Open || l.Met || l.Owns != 2 {
		t.Errorf("in a rebalance: %+v", l)
	}
	s := marked(myMark)
	s.Leaving["uuid-pod-a"] = control.Leaving{Mark: "other"}
	if l = d.Look(before, s, at(30)); !l.Void {
		t.Errorf("all marked: %+v", l)
	}
	l = d.Look(before, marked(myMark), at(60))
	if got := l.Tasks[0].Holds(); got != "0_2: pod-a restores at 0/s for 1m0s, 8,112 to go" {
		t.Error(got)
	}
	if got := l.Tasks[1].Holds(); got != "0_5: no instance learns it yet" {
		t.Error(got)
	}
	if l.Left != nil {
		t.Errorf("time to go where one stands still: %s", *l.Left)
	}
}

// A wait for drained takes an instance for drained that went and says that it had
// no task any more, and one that is gone without that word for dead: under its
// mark, and also when somebody has withdrawn the mark.
func TestWaitForDrainedKnowsMarks(t *testing.T) {
	under := func(g *model.Group, honoured bool) *model.Group {
		g.Control = &model.Control{}
		g.Marks = []model.Mark{{Instance: "uuid-pod-c", ID: myMark, Honoured: honoured}}
		return g
	}
	before := func() *model.Group { return drainGroup(nil, "pod-a/T1: 0_0", "pod-c/T1: 0_2 0_5") }
	after := func() *model.Group { return drainGroup(nil, "pod-a/T1: 0_0 0_2 0_5") }
	j := NewJudge(Goal{For: Drained, Instance: "uuid-pod-c"})
	j.Look(under(before(), true), at(0))
	if s := j.Look(saying(after(), model.InstanceStatus{Instance: "uuid-pod-c", Gone: true, Left: "drained"}), at(1)); !s.Met {
		t.Errorf("gone by itself: %+v", s)
	}
	for name, g := range map[string]*model.Group{
		"its last status still has tasks": saying(after(), model.InstanceStatus{Instance: "uuid-pod-c", Gone: true, Tasks: 2}),
		"no word of it":                   after(),
	} {
		j = NewJudge(Goal{For: Drained, Instance: "uuid-pod-c"})
		j.Look(under(before(), true), at(0))
		if s := j.Look(g, at(1)); s.Met || s.Lost != "pod-c is gone with 2 tasks not handed over: 0_2 0_5" {
			t.Errorf("the mark withdrawn, %s: %+v", name, s)
		}
	}
	j = NewJudge(Goal{For: Drained, Instance: "uuid-pod-c"})
	j.Look(under(before(), true), at(0))
	if s := j.Look(under(after(), false), at(1)); s.Met || s.Lost != "" {
		t.Errorf("at the first look without it: %+v", s)
	}
	if s := j.Look(under(after(), false), at(2)); s.Lost != "pod-c is gone with 2 tasks not handed over: 0_2 0_5" {
		t.Errorf("dead: %+v", s)
	}
	j = NewJudge(Goal{For: Drained, Instance: "uuid-pod-c"})
	empty := under(drainGroup(nil, "pod-a/T1: 0_0 0_2 0_5", "pod-c/T1:"), false)
	if s := j.Look(empty, at(0)); s.Met || len(s.Blockers) != 1 || s.Blockers[0].Why != "its mark is not honoured yet" {
		t.Errorf("not honoured: %+v", s)
	}
}
