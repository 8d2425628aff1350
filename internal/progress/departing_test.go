package progress

import (
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// departures is a streams group of two instances on 4.4 with a standby of each
// task, all caught up at 100.
func departures() *model.Group {
	g := streamsGroup(4, true, "pod-a/T1: 0_0 0_1 0_2s 0_3s", "pod-b/T1: 0_2 0_3 0_0s 0_1s")
	ms := int64(1000)
	g.Positions.Basis, g.Timing.HeartbeatMs = model.PositionsHeartbeat, &ms
	g.Instances[0].Active, g.Instances[1].Active = 2, 2
	eachTask(g, func(_ *model.Instance, _ *model.Member, t *model.Task) { reaches(t, 100, 100) })
	return g
}

// reaches says how far the copy of a task is.
func reaches(t *model.Task, position, end int64) {
	left := max(0, end-position)
	t.Restore = model.Restore{State: model.Restoring, Basis: model.RestoreTaskOffset, Position: &position, End: &end, RemainingRecords: &left}
	if left == 0 {
		t.Restore.State = model.CaughtUp
	}
}

func departLook(t *testing.T, d *Departing, g *model.Group, s int) DepartLook {
	t.Helper()
	l, err := d.Look(g, []string{"uuid-pod-a"}, at(s))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestDeparting(t *testing.T) {
	with := func(change func(g *model.Group)) *model.Group {
		g := departures()
		change(g)
		return g
	}
	unknown := model.Restore{State: model.RestoreUnknown}
	for _, c := range []struct {
		name string
		g    *model.Group
		open string
		safe Answer
		need int
		why  string // of the first task that is not ready
	}{
		{"all caught up", departures(), "", Yes, 1, ""},
		{"one restores", with(func(g *model.Group) { reaches(task(g, "pod-b/T1", "0_1"), 30, 100) }), "", No, 1, "the copy on pod-b restores 70 records"},
		{"one has not told", with(func(g *model.Group) { task(g, "pod-b/T1", "0_1").Restore = unknown }), "", No, 1, "the copy on pod-b has not told its position yet"},
		{"a transaction marker behind", with(func(g *model.Group) { reaches(task(g, "pod-b/T1", "0_1"), 99, 100) }), "", Yes, 1, ""},
		{"an empty changelog", with(func(g *model.Group) { task(g, "pod-b/T1", "0_1").Restore = model.Restore{End: ptr[int64](0)} }), "", Yes, 1, ""},
		{"a broker that tells nothing", with(func(g *model.Group) {
			g.Facts.KafkaVersion, g.Positions.Basis = "4.3", model.PositionsNone
			task(g, "pod-b/T1", "0_1").Restore = unknown
		}), "", Unknown, 1, "how far the copy on pod-b is cannot be seen"},
		{"moving", with(func(g *model.Group) { g.State = model.StateReconciling }), "the group is Reconciling", Unknown, 0, ""},
		{"copies that are not placed yet", with(func(g *model.Group) { g.Timing.Standbys = ptr(0) }), "the broker has not placed the copies for num.standby.replicas 0 yet", Unknown, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := departLook(t, NewDeparting(time.Minute), c.g, 0)
			if l.Open != c.open || l.Safe != c.safe {
				t.Fatalf("open %q, safe %s, want %q and %s: %+v", l.Open, l.Safe, c.open, c.safe, l)
			}
			if c.open != "" {
				return
			}
			if l.Raise.Need != c.need || !l.Enough || l.Owns != 2 {
				t.Errorf("need %d, enough %t, owns %d", l.Raise.Need, l.Enough, l.Owns)
			}
			why := ""
			for _, x := range l.Tasks {
				if x.Answer != Yes && why == "" {
					why = x.Why
				}
			}
			if !strings.Contains(why, c.why) || c.why == "" && why != "" {
				t.Errorf("because %q, want %q", why, c.why)
			}
		})
	}
}

// Without a copy it takes one standby more.
func TestDepartingNeedsMore(t *testing.T) {
	g := streamsGroup(2, true, "pod-a/T1: 0_0", "pod-b/T1: 0_1")
	g.Timing.Standbys = ptr(0)
	l := departLook(t, NewDeparting(0), g, 0)
	if l.Enough || l.Safe != No || l.Raise.Need != 1 || len(l.Tasks) != 1 || l.Tasks[0].Why != "pod-b has no copy" {
		t.Errorf("%+v", l)
	}
}

// With producers at work no position is at the present end: what reaches an end
// that was seen within the time for which positions may be old has caught up.
func TestDepartingWhileProducing(t *testing.T) {
	d := NewDeparting(time.Minute)
	look := func(s int, position, end int64) Answer {
		g := departures()
		eachTask(g, func(_ *model.Instance, _ *model.Member, x *model.Task) {
			if x.Role == model.Standby {
				reaches(x, position, end)
			} else {
				reaches(x, end, end)
			}
		})
		return departLook(t, d, g, s).Safe
	}
	if a := look(0, 40, 1000); a != No {
		t.Errorf("far behind: %s", a)
	}
	if a := look(20, 900, 1100); a != No {
		t.Errorf("not yet at an end that was seen: %s", a)
	}
	if a := look(40, 1050, 1200); a != Yes {
		t.Errorf("past the end of 40 s ago: %s", a)
	}
	if a := look(400, 1150, 9000); a != No {
		t.Errorf("past no end of the last minute: %s", a)
	}
}

// What became of the tasks: ready ones are warm, others not, and one that went
// elsewhere is named. Tasks of threads that went before the others count too.
func TestDeparted(t *testing.T) {
	d := NewDeparting(time.Minute)
	g := departures()
	reaches(task(g, "pod-b/T1", "0_1"), 30, 100)
	departLook(t, d, g, 0)
	after := streamsGroup(4, true, "pod-b/T1: 0_2 0_3 0_0 0_1")
	got := d.Departed(after)
	if !got.Settled || len(got.HandOvers) != 2 || len(got.Astray) != 0 || got.HandOvers[0].Warm != Yes || got.HandOvers[1].Warm != No || *got.HandOvers[1].Records != 70 {
		t.Errorf("%+v", got)
	}
	if got := d.Departed(streamsGroup(4, true, "pod-b/T1: 0_2 0_3 0_0")); got.Settled || len(got.Ownerless) != 1 {
		t.Errorf("one without an owner: %+v", got)
	}
	if got := d.Departed(streamsGroup(4, true, "pod-b/T1: 0_2 0_3 0_0", "pod-d/T1: 0_1")); len(got.Astray) != 1 || got.Astray[0].ToName != "pod-d" || got.Astray[0].Warm == Yes {
		t.Errorf("gone astray: %+v", got)
	}
}

// A wait for drained takes an instance of a streams group, marked or not, for
// drained once it is gone and others have its tasks: nobody honours marks there.
func TestWaitForDrainedOfStreamsGroups(t *testing.T) {
	j := NewJudge(Goal{For: Drained, Instance: "uuid-pod-a"})
	g := departures()
	g.Control = &model.Control{}
	g.Marks = []model.Mark{{Instance: "uuid-pod-a", ID: "m-1"}}
	s := j.Look(g, at(0))
	if s.Met || len(s.Blockers) != 2 || strings.Contains(s.Blockers[0].Why, "honoured") {
		t.Errorf("while it is there: %+v", s)
	}
	after := streamsGroup(4, true, "pod-b/T1: 0_2 0_3 0_0 0_1")
	after.Control, after.Marks = g.Control, g.Marks
	if s := j.Look(after, at(1)); !s.Met || s.Lost != "" {
		t.Errorf("gone: %+v", s)
	}
}
