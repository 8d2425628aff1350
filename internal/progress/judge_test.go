package progress

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// waitFor polls a script of groups once a second until the goal is met, lost or
// the timeout ends, and returns how long that took in the test's own time.
func waitFor(t *testing.T, goal Goal, timeout time.Duration, script func(since time.Duration) *model.Group) (Status, time.Duration, error) {
	t.Helper()
	var last Status
	var took time.Duration
	var err error
	synctest.Test(t, func(*testing.T) {
		begin := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		j := NewJudge(goal)
		err = Poll(ctx, time.Second, time.Now,
			func(context.Context) (*model.Group, error) { return script(time.Since(begin)), nil },
			func(at time.Time, g *model.Group, _ error) (bool, error) {
				last = j.Look(g, at)
				return last.Met || last.Lost != "", nil
			})
		took = time.Since(begin)
	})
	return last, took, err
}

// Rolling restarts: the next node must not go down before the group has
// settled.
func TestFieldCase24StableMeansSettled(t *testing.T) {
	script := func(since time.Duration) *model.Group {
		g := group("pod-a/T1: 0_0 0_1", "pod-b/T1: 1_0")
		if since >= 20*time.Second && since < 25*time.Second {
			return in(g, model.StatePreparingRebalance)
		}
		return g
	}
	s, took, err := waitFor(t, Goal{For: Stable, Settle: 30 * time.Second}, time.Hour, script)
	if err != nil || !s.Met {
		t.Fatalf("not met: %v %+v", err, s)
	}
	if took < 54*time.Second || took > 56*time.Second {
		t.Errorf("took %s, want about 55s", took)
	}
	_, took, err = waitFor(t, Goal{For: Stable, Settle: 30 * time.Second}, 40*time.Second, script)
	if !errors.Is(err, context.DeadlineExceeded) || took != 40*time.Second {
		t.Errorf("with 40s to wait: %v after %s, want the deadline", err, took)
	}
}

func TestStableWatchesTheAssignmentToo(t *testing.T) {
	script := func(since time.Duration) *model.Group {
		if since < 10*time.Second {
			return group("pod-a/T1: 0_0 0_1", "pod-b/T1: 1_0")
		}
		return group("pod-a/T1: 0_0", "pod-b/T1: 0_1 1_0")
	}
	s, took, err := waitFor(t, Goal{For: Stable, Settle: 30 * time.Second}, time.Hour, script)
	if err != nil || !s.Met || took != 40*time.Second {
		t.Errorf("met %v after %s (%v), want 30s after the change at 10s", s.Met, took, err)
	}
}

func TestStableAndPlannedRebalances(t *testing.T) {
	for _, c := range []struct {
		name string
		next *model.NextRebalance
		want string
	}{
		{"none", nil, ""},
		{"at once", &model.NextRebalance{}, "at once"},
		{"within the settle time", &model.NextRebalance{RawMs: 1, InMs: 20_000}, "due in 20s"},
		{"minutes away does not count", &model.NextRebalance{RawMs: 1, InMs: 252_000}, ""},
		{"overdue", &model.NextRebalance{RawMs: 1, InMs: -5_000}, "overdue by 5s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := group("pod-a/T1: 0_0")
			g.NextRebalance = c.next
			j := NewJudge(Goal{For: Stable, Settle: 30 * time.Second})
			j.Look(g, start)
			s := j.Look(g, start.Add(time.Minute))
			if s.Met != (c.want == "") || !strings.Contains(s.Sentence(), c.want) {
				t.Errorf("met %v, %q; want %q", s.Met, s.Sentence(), c.want)
			}
		})
	}
}

func TestConverged(t *testing.T) {
	look := func(g *model.Group) Status { return NewJudge(Goal{For: Converged}).Look(g, start) }
	if s := look(group("pod-a/T1: 0_0 0_1s", "pod-b/T1: 0_1 0_0s")); !s.Met {
		t.Errorf("standbys only: %q", s.Sentence())
	}
	if s := look(group("pod-a/T1: 0_0", "pod-b/T1: 0_0l")); s.Met || s.Blockers[0].Copy != "uuid-pod-b" {
		t.Errorf("a learner is there: %+v", s)
	}
	g := group("pod-a/T1: 0_0")
	g.NextRebalance = &model.NextRebalance{RawMs: 1, InMs: 600_000}
	if s := look(g); s.Met || !strings.Contains(s.Sentence(), "planned in 10m") {
		t.Errorf("a rebalance is planned: %q", s.Sentence())
	}
	g = group("b1/T1: 0_0 0_1", "b2/T1:")
	g.Kind = model.Streams
	task(g, "b1/T1", "0_1").LeavesTo = "id-b2/T1"
	if s := look(g); s.Met || !strings.Contains(s.Sentence(), "task 0_1: is to be given up by b1/T1") {
		t.Errorf("current and target differ: %q", s.Sentence())
	}
	g = group("b1/T1: 0_0")
	g.Epoch, g.AssignmentEpoch = ptr(int32(6)), ptr(int32(5))
	if s := look(g); s.Met {
		t.Error("the assignment is behind the group's epoch, yet met")
	}
}

// A transaction marker at the end is never consumed: lag 1 must not hold up a
// gate that allows 1.
func TestFieldCase48CaughtUpAllowsMaxLag(t *testing.T) {
	g := group("pod-a/T1: 0_0")
	g.Offsets = []model.PartitionOffset{{TopicPartition: model.TopicPartition{Topic: "orders"}, Committed: ptr(int64(100)), LogEnd: ptr(int64(101)), Lag: ptr(int64(1))}}
	if s := NewJudge(Goal{For: CaughtUp, MaxLag: 1}).Look(g, start); !s.Met {
		t.Errorf("max lag 1: %q", s.Sentence())
	}
	if s := NewJudge(Goal{For: CaughtUp, MaxLag: 0}).Look(g, start); s.Met || s.Sentence() != "partition orders-0: lags 1 record" {
		t.Errorf("max lag 0: %q", s.Sentence())
	}
	g.Offsets[0].Lag, g.Offsets[0].Problem = nil, "NOT_LEADER_OR_FOLLOWER"
	if s := NewJudge(Goal{For: CaughtUp, MaxLag: 1}).Look(g, start); s.Met {
		t.Error("a lag that is not known counts as caught up")
	}
	g.Offsets = nil
	if s := NewJudge(Goal{For: CaughtUp, MaxLag: 1}).Look(g, start); s.Met {
		t.Error("no offsets at all count as caught up")
	}
}

func TestDrained(t *testing.T) {
	goal := Goal{For: Drained, Instance: "uuid-pod-c"}
	j := NewJudge(goal)
	s := j.Look(group("pod-a/T1: 0_0 0_1l", "pod-c/T1: 0_1 0_2"), start)
	if s.Met || len(s.Blockers) != 2 || s.Blockers[0].Copy != "uuid-pod-a" {
		t.Fatalf("still owns two: %+v", s)
	}
	if s = j.Look(in(group("pod-a/T1: 0_0 0_1 0_2", "pod-c/T1:"), model.StatePreparingRebalance), start); s.Met {
		t.Error("met during a rebalance")
	}
	if s = j.Look(group("pod-a/T1: 0_0 0_1", "pod-c/T1:"), start); s.Met || s.Sentence() != "task 0_2: has no owner" {
		t.Errorf("0_2 has no owner: %+v", s)
	}
	if s = j.Look(group("pod-a/T1: 0_0 0_1 0_2", "pod-c/T1:"), start); !s.Met {
		t.Errorf("drained: %q", s.Sentence())
	}
	if s = j.Look(group("pod-a/T1: 0_0 0_1 0_2"), start); !s.Met {
		t.Errorf("drained and gone: %q", s.Sentence())
	}
	if s = NewJudge(goal).Look(group("pod-a/T1: 0_0"), start); s.Lost == "" {
		t.Error("an instance that is not there is not an error")
	}
	j = NewJudge(goal)
	j.Look(group("pod-a/T1: 0_0", "pod-c/T1: 0_1 0_2"), start)
	if s = j.Look(group("pod-a/T1: 0_0 0_1 0_2"), start); s.Lost != "pod-c is gone with 2 tasks not handed over: 0_1 0_2" {
		t.Errorf("gone with tasks: %+v", s)
	}
}

// An instance that was never seen with an assignment is not drained, however
// often a rebalance was looked at before.
func TestDrainedNeedsThatTheInstanceWasSeen(t *testing.T) {
	j := NewJudge(Goal{For: Drained, Instance: "client:pod-c-w0"})
	if s := j.Look(in(group("pod-a/T1:", "pod-c/T1:"), model.StatePreparingRebalance), start); s.Met || s.Lost != "" {
		t.Fatalf("in a rebalance: %+v", s)
	}
	if s := j.Look(group("pod-a/T1: 0_0", "pod-c/T1: 0_1"), start); s.Met || s.Lost == "" {
		t.Errorf("it was never there, yet: %+v", s)
	}
}

// A worker that says nothing has crashed, it may be, and its session ends later:
// the group is not stable for all that its state says.
func TestStableAndSilentWorkers(t *testing.T) {
	for _, want := range []Condition{Stable, Converged} {
		g := group("pod-a/T1: 0_0", "pod-b/T1: 0_1")
		g.Findings = []model.Finding{{Code: model.FindingSilent, Object: "instance pod-b", Text: "pod-b has written no status for 12s, the others did"}}
		j := NewJudge(Goal{For: want})
		s := j.Look(g, start)
		quiet := s.Timeless()
		if s.Met || s.Sentence() != "instance pod-b: has written no status for 12s, the others did" || quiet.Sentence() != "instance pod-b: " {
			t.Errorf("%s: met %v, %q", want, s.Met, s.Sentence())
		}
		g.Findings = nil
		if s = j.Look(g, start); !s.Met {
			t.Errorf("%s, all speak: %q", want, s.Sentence())
		}
	}
}

// An instance that went at its deadline was not drained, nor was one that was
// stopped with tasks: how it went is told, and what restores cold for it.
func TestDrainedTellsHowItWent(t *testing.T) {
	for name, c := range map[string]struct{ before, word, left, cold string }{
		"at its deadline":    {"pod-c/T1: 0_1 0_2", "expired", "expired", "0_2"},
		"closed before that": {"pod-c/T1:", "expired", "expired", "0_2"},
		"stopped":            {"pod-c/T1: 0_1 0_2", "stopped", "stopped", "0_2"},
		"stopped once empty": {"pod-c/T1:", "stopped", "drained", ""},
		"drained":            {"pod-c/T1: 0_1 0_2", "drained", "drained", ""},
	} {
		j := NewJudge(Goal{For: Drained, Instance: "uuid-pod-c"})
		g := group("pod-a/T1: 0_0 0_1l", "pod-c/T1: 0_1 0_2")
		task(g, "pod-a/T1", "0_1").Restore = model.Restore{State: model.CaughtUp, Reported: true}
		task(g, "pod-a/T1", "0_1").Tags = []model.Tag{model.IsReady}
		j.Look(g, start)
		after := "pod-a/T1: 0_0 0_1 0_2"
		if c.before == "pod-c/T1:" {
			j.Look(group(after, c.before), start)
		}
		s := j.Look(saying(group(after), model.InstanceStatus{Instance: "uuid-pod-c", Gone: true, Left: c.word}), start)
		if !s.Met || s.Left != c.left || idList(s.Cold) != c.cold {
			t.Errorf("%s: met %v (%s), left %q, cold %q; want %+v", name, s.Met, s.Sentence(), s.Left, idList(s.Cold), c)
		}
	}
	s := NewJudge(Goal{For: Drained, Instance: "uuid-pod-c"}).Look(saying(group("pod-a/T1: 0_0"), model.InstanceStatus{Instance: "uuid-pod-c", Gone: true, Left: "expired"}), start)
	if !s.Met || s.Left != "expired" || s.Cold != nil {
		t.Errorf("gone before the first look: %+v", s)
	}
}
