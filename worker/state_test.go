package worker

import (
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

// What missed the round that started its learner joins without the tag and
// keeps its task.
func TestStateOwnerMissesTheRound(t *testing.T) {
	g := threeOf(t)
	g.join("S4")
	g.round("S1")
	g.caughtUp("S4", 1)
	g.tick("S4")
	g.round()
	if open := g.by["S1"].members[0].tasks[model.ClassicTask("", 0, 0)].open; !open {
		t.Error("S1 gave T1 up though it was never told")
	}
}

func TestStateDeadline(t *testing.T) {
	g := threeOf(t)
	s := g.by["S2"]
	minute, hour := time.Minute, time.Hour
	if fresh, _ := s.setMark("m", &minute, g.now); !fresh {
		t.Error("a first mark is not new")
	}
	first := g.now
	g.now = g.now.Add(30 * time.Second)
	if fresh, changed := s.setMark("m", &hour, g.now); fresh || !changed || !s.expiresAt().Equal(first.Add(hour)) {
		t.Errorf("the same id again: new %v, changed %v, until %v", fresh, changed, s.expiresAt())
	}
	if fresh, changed := s.setMark("m", &hour, g.now); fresh || changed {
		t.Error("the same record twice is news")
	}
	if fresh, _ := s.setMark("n", &minute, g.now); !fresh || !s.expiresAt().Equal(g.now.Add(minute)) {
		t.Error("another id is no new mark")
	}
	g.tick("S2")
	if md := g.round()["S2/w0"]; md.RemainingMs.N != 60_000 {
		t.Errorf("remaining %+v", md.RemainingMs)
	}
	g.now = g.now.Add(minute)
	if a := g.tick("S2"); !a.expire {
		t.Error("the deadline passed and nothing happened")
	}
	s.closeAll()
	s.expired = true
	if md := g.round()["S2/w0"]; !md.Expired {
		t.Error("it does not say that it is expired")
	}
	g.is("S1[T1,T2,T3] S2[] S3[T4,T5]")
}

// A mark that is withdrawn while a round is on clears what that round brings.
func TestStateWithdrawnInTheMiddle(t *testing.T) {
	g := threeOf(t)
	s := g.by["S2"]
	s.setMark("m", nil, g.now)
	g.round()
	g.is("S1[T1,T2] learns T3 S2[T3,T4] S3[T5] learns T4")
	m := s.members[0]
	m.said.unmarked-- // it joined before the withdrawal
	s.mark = nil
	a := &groupmeta.StreamAssignment{Mode: groupmeta.StreamIncremental, Tasks: []groupmeta.AssignedTask{
		{ID: model.ClassicTask("", 0, 2), Role: model.Active, Tags: groupmeta.TagStateful | groupmeta.TagBeingLearned},
		{ID: model.ClassicTask("", 0, 3), Role: model.Active, Tags: groupmeta.TagStateful | groupmeta.TagBeingLearned},
	}}
	s.assigned(0, g.number, m.id, a, false, g.now)
	g.round()
	g.is("S1[T1,T2] S2[T3,T4] S3[T5]")
}

// A mark that comes between BeforeJoin and the metadata must not make the
// leader take stateless tasks that are still open.
func TestStateSaysOnlyWhatIsClosed(t *testing.T) {
	g := newGroup(t, 1)
	g.size["plain"] = 2
	s := g.join("S1")
	g.round()
	g.is("S1[T1,P1,P2]")
	s.beforeJoin(0)
	s.setMark("m", nil, g.now)
	if md := s.metadata(0, g.now, g.size, g.lagOf("S1")); md.Leaving {
		t.Error("leaving is said while stateless tasks are open")
	}
	s.assigned(0, 9, "S1/w0", &groupmeta.StreamAssignment{Mode: groupmeta.StreamIncremental, Tasks: []groupmeta.AssignedTask{
		{ID: model.ClassicTask("", 1, 0), Role: model.Active},
	}}, false, g.now)
	if a := g.tick("S1"); len(a.ask) != 0 {
		t.Error("it asks for a round before the others can have heard of the last")
	}
	g.breathe()
	if a := g.tick("S1"); len(a.ask) != 1 {
		t.Error("what could not be said is not said later either")
	}
	s.beforeJoin(0)
	if md := s.metadata(0, g.now, g.size, g.lagOf("S1")); !md.Leaving || len(md.Tasks) != 1 {
		t.Errorf("said %+v", md)
	}
}

// Stateless tasks are released and placed by the round that follows at once.
func TestStateRelease(t *testing.T) {
	g := newGroup(t, 0)
	g.size["plain"] = 4
	g.join("S1")
	g.round()
	g.join("S2")
	g.round()
	if a := g.tick("S1"); a.ask[0] != "a task is released" {
		t.Errorf("S1 asks for %v", a.ask)
	}
	g.round()
	g.is("S1[P2,P3,P4] S2[P1]")
}

// A ready learner that a round left waiting asks again, each time after a
// longer pause.
func TestStateAsksAgainLater(t *testing.T) {
	g := newGroup(t, 2)
	s := g.join("S4")
	m := s.members[0]
	g.caughtUp("S4", 1)
	learner := &groupmeta.StreamAssignment{Mode: groupmeta.StreamIncremental, Tasks: []groupmeta.AssignedTask{
		{ID: model.ClassicTask("", 0, 0), Role: model.Learner, Tags: groupmeta.TagStateful | groupmeta.TagLearner},
	}}
	s.assigned(0, 50, "S4/w0", learner, false, g.now)
	g.tick("S4")
	var pauses []time.Duration
	for n := range int32(8) {
		s.assigned(0, 51+n, "S4/w0", learner, false, g.now)
		pauses = append(pauses, m.pause)
		m.said = s.says()
		if a := g.tick("S4"); len(a.ask) > 0 {
			t.Fatalf("asks at once: %v", a.ask)
		}
		g.now = g.now.Add(m.pause)
		if a := g.tick("S4"); len(a.ask) != 1 {
			t.Fatalf("does not ask after %v", m.pause)
		}
	}
	for n := 1; n < len(pauses); n++ {
		if pauses[n] <= pauses[n-1] && pauses[n] != longestPause {
			t.Errorf("pauses %v", pauses)
		}
	}
}

// Stable asks when all learners are ready, eager whenever one is.
func TestStateRejoinPolicies(t *testing.T) {
	for policy, want := range map[RejoinPolicy]int{RejoinStable: 0, RejoinEager: 1} {
		g := newGroup(t, 2)
		s := g.join("S1", func(c *Config) { c.Settings.RejoinPolicy = policy })
		learner := groupmeta.TagStateful | groupmeta.TagLearner
		s.assigned(0, 1, "S1/w0", &groupmeta.StreamAssignment{Mode: groupmeta.StreamIncremental, Tasks: []groupmeta.AssignedTask{
			{ID: model.ClassicTask("", 0, 0), Role: model.Learner, Tags: learner}, {ID: model.ClassicTask("", 0, 1), Role: model.Learner, Tags: learner},
		}}, false, g.now)
		s.members[0].said = s.says()
		g.breathe()
		g.caughtUp("S1", 1)
		if a := g.tick("S1"); len(a.ask) != want {
			t.Errorf("%s: one of two ready asks %d times", policy, len(a.ask))
		}
		g.caughtUp("S1", 2)
		if a := g.tick("S1"); len(a.ask) != 1 {
			t.Errorf("%s: both ready ask %d times", policy, len(a.ask))
		}
	}
}

func TestStateLostKeepsCopiesOnly(t *testing.T) {
	g := threeOf(t)
	g.size["plain"] = 1
	g.round()
	for _, name := range g.names() {
		g.by[name].lost(0)
		for id, c := range g.by[name].members[0].tasks {
			if c.role != model.Standby || id.Subtopology == "1" {
				t.Errorf("%s keeps %s as %s", name, id, c.role)
			}
		}
		if g.by[name].members[0].generation != 0 {
			t.Error("a claim would still count")
		}
	}
}
