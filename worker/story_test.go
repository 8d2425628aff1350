package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/worker"
)

// The walk-throughs of docs/protocol/stream-protocol.md with real workers. Each
// one brings the group to its start first, by three instances that join one
// after the other; what they end with is called T1 to T5 as the story has it.

// three brings S1[T1,T2] S2[T3,T4] S3[T5] about, led by S1.
func three(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, 5)
	r.labels = []int{3, 4, 5, 1, 2} // by partition
	r.produce(20)
	r.start("S1")
	r.becomes("S1[T1,T2,T3,T4,T5]")
	r.start("S2")
	r.becomes("S1[T1,T2,T5] S2[T3,T4]")
	r.start("S3")
	r.becomes("S1[T1,T2] S2[T3,T4] S3[T5]")
	r.running()
	r.counted()
	r.open()
	return r
}

func TestStoryScaleUp(t *testing.T) {
	t.Parallel()
	r := three(t)
	r.start("S4")
	r.becomes("S1[T1,T2] S2[T3,T4] S3[T5] S4[] learns T1")
	r.start("S5")
	r.becomes("S1[T1,T2] S2[T3,T4] S3[T5] S4[] learns T1 S5[] learns T3")
	r.open(1)
	r.becomes("S1[T2] S2[T3,T4] S3[T5] S4[T1] S5[] learns T3")
	r.open(1, 3)
	r.becomes("S1[T2] S2[T4] S3[T5] S4[T1] S5[T3]")
	r.produce(20)
	r.counted()
	r.noTaskTwice()
}

func TestStoryLeaderCrash(t *testing.T) {
	t.Parallel()
	r := three(t)
	r.start("S4")
	r.becomes("S1[T1,T2] S2[T3,T4] S3[T5] S4[] learns T1")
	r.kill("S1")
	r.becomes("S2[T3,T4] S3[T2,T5] S4[T1]")
	r.produce(20)
	r.running()
	r.counted()
	r.noTaskTwice()
}

func TestStoryScaleDown(t *testing.T) {
	t.Parallel()
	r := three(t)
	s2 := r.live["S2"]
	r.mark("S2", "drain-1", 0)
	r.becomes("S1[T1,T2] learns T3 S2[T3,T4] S3[T5] learns T4")
	r.until("the status honours the mark", func() bool {
		s := r.state().Status[s2.ID()]
		return len(s.Marks) == 1 && s.Marks[0] == "drain-1" && s.Leaving
	})
	r.open(4)
	r.becomes("S1[T1,T2] learns T3 S2[T3] S3[T4,T5]")
	r.open(3, 4)
	r.until("S2 shuts down", func() bool {
		select {
		case <-s2.Done():
			return true
		default:
			return false
		}
	})
	if err := s2.Wait(); err != nil {
		t.Error(err)
	}
	delete(r.live, "S2")
	r.becomes("S1[T1,T2,T3] S3[T4,T5]")
	if r.count(worker.Drained) != 1 || r.count(worker.Expired) != 0 {
		t.Errorf("drained %d times, expired %d times", r.count(worker.Drained), r.count(worker.Expired))
	}
	if m, ok := r.state().Leaving[s2.ID()]; ok {
		t.Errorf("the mark is still there: %+v", m)
	}
	r.produce(20)
	r.running()
	if extra := r.counted(); extra > 0 {
		t.Errorf("%d records were counted twice", extra)
	}
	r.noTaskTwice()
}

func TestStoryFromTheGround(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5)
	strict := func(c *worker.Config) { c.Settings.BalancingFactor = 1000 }
	r.start("S1", strict)
	r.becomes("S1[T1,T2,T3,T4,T5]")
	r.start("S2", strict)
	r.start("S3", strict)
	r.until("2, 2 and 1 tasks", func() bool {
		sizes := map[int]int{}
		for _, in := range r.live {
			n, learns := 0, 0
			for _, task := range in.Stats().Tasks {
				if task.Role == "active" {
					n++
				} else {
					learns++
				}
			}
			if learns > 0 {
				return false
			}
			sizes[n]++
		}
		return sizes[2] == 2 && sizes[1] == 1
	})
	r.produce(20)
	r.running()
	r.counted()
	r.noTaskTwice()
}

// A mark that times out: the instance goes at once, learners take over as they
// are.
func TestStoryTimeout(t *testing.T) {
	t.Parallel()
	r := three(t)
	s2 := r.live["S2"]
	before := time.Now()
	r.mark("S2", "drain-2", 1500*time.Millisecond)
	r.becomes("S1[T1,T2] learns T3 S2[T3,T4] S3[T5] learns T4")
	if err := s2.Wait(); err != nil {
		t.Error(err)
	}
	if took := time.Since(before); took < 1500*time.Millisecond || took > 8*time.Second {
		t.Errorf("it went after %v", took)
	}
	delete(r.live, "S2")
	r.becomes("S1[T1,T2,T3] S3[T4,T5]")
	if r.count(worker.Expired) != 1 {
		t.Errorf("expired %d times", r.count(worker.Expired))
	}
	r.produce(20)
	r.counted()
	r.noTaskTwice()
}

// A mark that is withdrawn: the learners are dropped, the owner keeps its
// tasks; the same id again would change the timeout only.
func TestStoryWithdrawn(t *testing.T) {
	t.Parallel()
	r := three(t)
	r.mark("S2", "drain-3", time.Hour)
	r.becomes("S1[T1,T2] learns T3 S2[T3,T4] S3[T5] learns T4")
	r.mark("S2", "drain-3", 2*time.Hour)
	r.until("the timeout changed", func() bool { return r.count(worker.MarkChanged) == 1 })
	r.write(control.Withdrawal(r.live["S2"].ID()), nil)
	r.becomes("S1[T1,T2] S2[T3,T4] S3[T5]")
	if n := r.count(worker.MarkSeen); n != 1 {
		t.Errorf("%d marks seen", n)
	}
	r.produce(20)
	r.counted()
	r.noTaskTwice()
}

// An instance that keeps its state directory is not drained again at its next
// start: the mark from before is withdrawn.
func TestStoryRestartWithdraws(t *testing.T) {
	t.Parallel()
	r := three(t)
	r.mark("S2", "drain-4", time.Hour)
	r.becomes("S1[T1,T2] learns T3 S2[T3,T4] S3[T5] learns T4")
	id := r.live["S2"].ID()
	r.kill("S2")
	again := r.start("S2")
	if again.ID() != id {
		t.Fatalf("instance %s became %s", id, again.ID())
	}
	r.until("the mark is withdrawn", func() bool { _, there := r.state().Leaving[id]; return !there })
	r.openAll()
	r.until("it is back for good", func() bool { return !again.Stats().Leaving && again.Stats().Generation > 0 })
	r.running()
	r.produce(20)
	r.counted()
	if r.count(worker.MarkSeen) != 1 {
		t.Errorf("%d marks honoured", r.count(worker.MarkSeen))
	}
	if err := again.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
