package worker

import (
	"slices"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

// leaveAll lets all instances see a mode record.
func (g *group) leaveAll(mode Mode, epoch int64, allowed time.Duration) {
	g.t.Helper()
	for _, name := range g.names() {
		if news, leave := g.by[name].follow(mode, epoch, allowed, g.now); !news || !leave {
			g.t.Errorf("%s: news %v, leaves %v", name, news, leave)
		}
	}
}

// Restart as it was: after a switch all come back at different times and
// find what they had, learners too.
func TestStateSwitchRestartsAsItWas(t *testing.T) {
	g := threeOf(t)
	g.join("S4")
	g.round()
	const was = "S1[T1,T2] S2[T3,T4] S3[T5] S4[] learns T1"
	g.is(was)
	g.leaveAll(Upgrading, 3, time.Minute)
	g.once()
	back := g.by
	g.number = 0
	g.by = map[string]*state{"S2": back["S2"]}
	md := g.round()["S2/w0"]
	if !md.Carried || md.LastInstances != 4 || md.SwitchRemainingMs.N != 60_000 || md.Mode != groupmeta.StreamUpgrading || md.Epoch != 3 {
		t.Errorf("S2 came back with %+v %+v", md.StreamRound, md.StreamModeState)
	}
	g.is("S2[T3,T4]") // the others' tasks wait for their owners
	g.by["S4"] = back["S4"]
	g.round()
	g.is("S2[T3,T4] S4[] learns T1")
	g.by = back
	g.round()
	g.is(was)
	if a := g.tick("S1"); !a.switched {
		t.Error("S1 does not know that the switch is over")
	}
	md = g.round()["S1/w0"]
	if md.Carried || md.SwitchRemainingMs.Known {
		t.Errorf("after the switch S1 says %+v %+v", md.StreamRound, md.StreamModeState)
	}
}

// One that was drained right before the switch does not come back: nobody waits
// for it.
func TestStateSwitchDoesNotWaitForTheDrained(t *testing.T) {
	g := threeOf(t)
	g.join("S4")
	g.round()
	g.by["S4"].setMark("m", nil, g.now)
	g.round()
	g.is("S1[T1,T2] S2[T3,T4] S3[T5] S4[]")
	delete(g.by, "S4")
	g.leaveAll(Upgrading, 1, time.Minute)
	g.number = 0
	if md := g.round()["S1/w0"]; md.LastInstances != 3 {
		t.Errorf("S1 waits for %d instances", md.LastInstances)
	}
	g.is("S1[T1,T2] S2[T3,T4] S3[T5]")
	if a := g.tick("S1"); !a.switched {
		t.Error("the switch goes on")
	}
}

// Who is back first does not take what those after it come back with, though
// it has caught up with it: for a quarter of the switch's time they are expected.
func TestStateFirstBackTakesNothing(t *testing.T) {
	g := threeOf(t)
	g.join("S4")
	g.round()
	g.is("S1[T1,T2] S2[T3,T4] S3[T5] S4[] learns T1")
	g.caughtUp("S4", 1)
	g.leaveAll(Upgrading, 1, 8*time.Second)
	g.number = 0
	late := g.by
	g.by = map[string]*state{"S4": late["S4"]}
	g.round()
	g.is("S4[] learns T1")
	g.by = late
	g.round()
	g.is("S1[T1,T2] S2[T3,T4] S3[T5] S4[] learns T1")

	g.leaveAll(Incremental, 2, 8*time.Second)
	g.number = 0
	g.by = map[string]*state{"S4": late["S4"]}
	g.now = g.now.Add(2 * time.Second)
	g.round()
	g.is("S4[T1]")
}

// One that stays away does not hold the others for longer than the switch may
// take.
func TestStateSwitchRunsOutOfTime(t *testing.T) {
	g := threeOf(t)
	g.round()
	g.leaveAll(Upgrading, 1, time.Second)
	g.number = 0
	delete(g.by, "S3")
	g.round()
	g.is("S1[T1,T2] S2[T3,T4]")
	g.now = g.now.Add(time.Second)
	if a := g.tick("S2"); a.ask[0] == "" || !a.switched {
		t.Errorf("S2: %+v", a)
	}
	g.tick("S1")
	g.round()
	if got := g.picture(); got != "S1[T1,T2,T5] S2[T3,T4]" && got != "S1[T1,T2] S2[T3,T4,T5]" {
		t.Errorf("got %s", got)
	}
}

// The first that is still refused when the time is up writes the old mode,
// once; all follow.
func TestStateSwitchRollsBack(t *testing.T) {
	g := threeOf(t)
	g.round()
	g.leaveAll(Upgrading, 1, time.Second)
	s := g.by["S1"]
	s.refusedFor(0, g.now)
	if a := g.tick("S1"); a.rollBack || len(a.tryOther) > 0 {
		t.Error("it gave up before the time was up")
	}
	g.now = g.now.Add(time.Second)
	if a := g.tick("S1"); !a.rollBack || s.sw.from != Incremental {
		t.Error("it did not roll back")
	}
	if a := g.tick("S1"); a.rollBack || len(a.tryOther) > 0 {
		t.Error("it rolled back twice")
	}
	g.leaveAll(Incremental, 2, time.Second)
	if m := s.members[0]; m.as != Incremental || m.generation == 0 || !m.carried {
		t.Errorf("after the roll-back %+v", m)
	}
	g.number = 0
	g.round()
	g.is("S1[T1,T2] S2[T3,T4] S3[T5]")
}

// Without the control topic a worker that is refused tries both types in turn.
func TestStateBlindTriesBoth(t *testing.T) {
	g := threeOf(t)
	g.round()
	g.leaveAll(Upgrading, 1, time.Second)
	s := g.by["S1"]
	g.now = g.now.Add(time.Second)
	s.refusedFor(0, g.now)
	g.tick("S1")
	s.sw.blind = true
	for range 3 {
		s.refusedFor(0, g.now)
		if a := g.tick("S1"); len(a.tryOther) > 0 {
			t.Error("it turned at once")
		}
		g.now = g.now.Add(tryPause)
		if a := g.tick("S1"); !slices.Equal(a.tryOther, []int{0}) {
			t.Errorf("it does not try the other type: %+v", a)
		}
	}
}

// What is the same, or only a newer epoch, is no switch.
func TestStateSameModeStays(t *testing.T) {
	g := threeOf(t)
	g.round()
	s := g.by["S1"]
	if news, _ := s.follow(Incremental, 0, time.Second, g.now); news {
		t.Error("nothing new is news")
	}
	if news, leave := s.follow(Incremental, 4, time.Second, g.now); !news || leave {
		t.Error("the same mode by another record is no switch")
	}
	if a := g.tick("S1"); len(a.ask) != 1 {
		t.Error("a new epoch is worth a round")
	}
}

// In mode upgrading a worker stops everything before each join, whichever
// protocol won the last round, and goes on claiming it.
func TestStateUpgradingIsEager(t *testing.T) {
	g := newGroup(t, 3)
	s := g.join("S1", func(c *Config) { c.Settings.Mode = Upgrading })
	s.assignedByOlder(0, 4, "S1/w0", map[string][]int32{"in": {0, 2}})
	g.is("S1[T1,T3]")
	if closed := s.beforeJoin(0); len(closed) != 2 {
		t.Errorf("closed %v", closed)
	}
	md := s.metadata(0, g.now, g.size, g.lagOf("S1"))
	if len(md.Tasks) != 2 || md.Tasks[0].Role != model.Active || md.Generation != 4 {
		t.Errorf("it claims %+v", md.Tasks)
	}
	g.number = 4
	g.round()
	g.is("S1[T1,T2,T3]")
	if closed := s.beforeJoin(0); len(closed) != 3 {
		t.Errorf("it stops %v alone: an older protocol may win again", closed)
	}
	for _, task := range s.metadata(0, g.now, g.size, g.lagOf("S1")).Tasks {
		if task.Role != model.Active || task.Tags.Has(groupmeta.TagBeingLearned) {
			t.Errorf("it says of %s: %s %v", task.ID, task.Role, task.Tags.List())
		}
	}
	g.round()
	if wants, _ := s.wants(); len(wants) != 3 || len(wants[model.ClassicTask("", 0, 0)].owners) != 1 {
		t.Errorf("after the round it wants %+v", wants)
	}
	s.assignedByOlder(0, 6, "S1/w0", map[string][]int32{"in": {1}})
	g.is("S1[T2]")
	if c := s.members[0].tasks[model.ClassicTask("", 0, 0)]; c == nil || c.role != model.Standby {
		t.Error("what an older protocol took away is no copy")
	}
}

func TestCommonPartitions(t *testing.T) {
	owned := map[string][]int32{"a": {0, 1, 3}, "b": {1, 2, 3}}
	if got := commonPartitions(owned, []string{"a", "b"}); !slices.Equal(got, []int32{1, 3}) {
		t.Errorf("got %v", got)
	}
}

// A task that changes worker is opened by one only after the other closed it,
// and no state is deleted while a worker of the instance is in a round.
func TestSlotSteps(t *testing.T) {
	for _, c := range []struct {
		name    string
		is      slot
		want    want
		settled bool
		next    op
	}{
		{"lost by its worker, won by another", slot{is: slotActive, owner: 0}, want{owners: []int{1}}, true, opStop},
		{"then opened by that one", slot{is: slotCopy, owner: 0}, want{owners: []int{1}}, true, opStart},
		{"both claim it: the one that has it goes on", slot{is: slotActive, owner: 0}, want{owners: []int{1, 0}}, true, opNone},
		{"a copy that nobody wants waits for the round to end", slot{is: slotCopy}, want{}, false, opNone},
		{"and is deleted then", slot{is: slotCopy}, want{}, true, opForget},
		{"state at rest stays at rest", slot{is: slotRest}, want{keep: true}, true, opNone},
		{"a copy that is kept rests", slot{is: slotCopy}, want{keep: true}, false, opRest},
		{"but not one that another worker restores", slot{is: slotCopy}, want{keep: true, copies: true}, true, opNone},
		{"a copy begins", slot{is: slotNone}, want{copies: true}, true, opCopy},
		{"a closed active is a copy", slot{is: slotActive, owner: 0}, want{copies: true}, true, opStop},
		{"nothing stays nothing", slot{}, want{}, true, opNone},
	} {
		if got := c.is.next(c.want, c.settled); got != c.next {
			t.Errorf("%s: step %d, want %d", c.name, got, c.next)
		}
	}
}
