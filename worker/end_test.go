package worker_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/worker"
)

// An instance that has ended leaves no goroutine behind, however it ended.
// Not parallel: other tests' instances would count.
func TestNothingIsLeftBehind(t *testing.T) {
	for name, end := range map[string]func(*worker.Instance){
		"close": func(in *worker.Instance) { _ = in.Close(context.Background()) },
		"kill":  (*worker.Instance).Kill,
		"close without a broker": func(in *worker.Instance) {
			in.Pause()
			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			defer cancel()
			if err := in.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("close: %v", err)
			}
		},
	} {
		r := newRig(t, 3)
		r.start("a", func(c *worker.Config) { c.Workers = 2 })
		r.running()
		end(r.live["a"])
		r.nothingLeft(name)
	}
}

// The same while its workers are about to join: some have a seat, some are
// opening theirs.
func TestKilledWhileItJoins(t *testing.T) {
	r := newRig(t, 3)
	for n := range 40 {
		in := r.start("a", func(c *worker.Config) { c.Workers = 4 })
		time.Sleep(time.Duration(n) * 50 * time.Microsecond) // each time at another moment
		in.Kill()
	}
	r.nothingLeft("kill")
}

// nothingLeft waits until all goroutines have ended.
func (r *rig) nothingLeft(how string) {
	r.t.Helper()
	began := time.Now()
	r.until(how+": all goroutines end", func() bool {
		left := ours()
		if len(left) > 0 && time.Since(began) > 15*time.Second {
			r.t.Log(strings.Join(left, "\n\n"))
			began = time.Now()
		}
		return len(left) == 0
	})
}

// ours are the stacks of goroutines that run code of the worker runtime.
func ours() []string {
	buf := make([]byte, 1<<20)
	all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	return slices.DeleteFunc(all, func(s string) bool {
		runs := strings.Contains(s, "streamctl/worker.") || strings.Contains(s, "internal/seat.") || strings.Contains(s, "internal/taskrun.") || strings.Contains(s, "internal/controltopic.")
		return !runs || strings.Contains(s, "testing.tRunner(") // the tests themselves, this one and those that wait for their turn
	})
}

// The leader's status has the whole round, every other's its own tasks.
func TestStatusIsPublished(t *testing.T) {
	t.Parallel()
	r := newRig(t, 4)
	r.produce(20)
	a := r.start("a")
	r.becomes("a[T1,T2,T3,T4]")
	r.open()
	b := r.start("b")
	r.becomes("a[T1,T2,T3,T4] b[] learns T1")
	r.until("both statuses tell of the learner", func() bool {
		s := r.state()
		lead, other := s.Status[a.ID()], s.Status[b.ID()]
		if lead.Round == nil || other.Round != nil || len(lead.Round.Instances) != 2 || len(other.Tasks) != 1 {
			return false
		}
		learner := other.Tasks[0]
		planned := lead.Round.Instances[1].Tasks
		return learner.Role == "learner" && learner.Lag != nil && learner.Position != nil && learner.End != nil && *learner.End >= 20 &&
			len(planned) == 1 && planned[0].Reason == "balance" && lead.Round.Topology[0].Partitions == 4 &&
			lead.Generation != nil && *lead.Generation == *lead.Round.Generation && lead.ControlOffset != nil && lead.ControlError == ""
	})
	r.openAll()
	r.becomes("a[T2,T3,T4] b[T1]")
	if err := b.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if left := r.state().Status[b.ID()]; len(left.Tasks) != 0 {
		t.Errorf("an instance that is gone still shows %+v", left.Tasks)
	}
}

// A leader takes away the status of an instance that has been in none of its
// rounds for long enough, and of no other.
func TestStatusOfTheGoneIsRemoved(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	a, b := r.start("a"), r.start("b")
	const gone = "00000000-0000-4000-8000-00000000dead"
	r.until("both have a status", func() bool { s := r.state().Status; return len(s) == 2 })
	left := r.state().Status[b.ID()]
	left.Round = nil
	r.write(left.Record(gone))
	r.until("there are three", func() bool { return len(r.state().Status) == 3 })
	a.KeepStatus(time.Second)
	b.KeepStatus(time.Second)
	r.until("one is removed", func() bool { _, there := r.state().Status[gone]; return !there })
	if s := r.state().Status; len(s) != 2 {
		t.Errorf("%d instances have a status", len(s))
	}
}

// Nothing that happens by itself keeps a quiet group busy: no round follows the
// last one.
func TestQuietGroupStaysQuiet(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5)
	r.start("a")
	r.start("b")
	r.start("c")
	r.until("three have tasks", func() bool {
		for _, in := range r.live {
			if len(in.Stats().Tasks) == 0 {
				return false
			}
		}
		return r.runningTasks() == 5
	})
	r.until("no more learners", func() bool {
		for _, in := range r.live {
			for _, task := range in.Stats().Tasks {
				if task.Role != "active" {
					return false
				}
			}
		}
		return true
	})
	// The round that made the last of them active may still be under way.
	rounds, since := r.count(worker.RoundDone), time.Now()
	r.until("the last round is over", func() bool {
		if n := r.count(worker.RoundDone); n != rounds {
			rounds, since = n, time.Now()
		}
		return time.Since(since) > 10*heartbeat
	})
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if n := r.count(worker.RoundDone); n > rounds {
			t.Fatalf("%d rounds of a quiet group\n%s", n-rounds, r.tail(30))
		}
	}
}
