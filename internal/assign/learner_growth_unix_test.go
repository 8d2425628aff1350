//go:build unix

package assign

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is what this process has used of the processors; unlike the clock it
// does not run faster on a busy machine.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestLearnerGrowth makes sure that the cost of a round does not grow with tasks
// times instances: ten times the tasks on ten times the instances cost some ten
// to twenty times as much, not a hundred.
func TestLearnerGrowth(t *testing.T) {
	cost := func(tasks, instances, rounds int) time.Duration {
		s := benchGroup(t, tasks, instances)
		for i := range s.insts[:instances/10] {
			s.insts[i].leaving = true
		}
		in := s.input()
		start := cpuTime(t)
		for range rounds {
			Learner(in)
		}
		return (cpuTime(t) - start) / time.Duration(rounds)
	}
	small, large := cost(5000, 100, 30), cost(50_000, 1000, 5)
	if large > 50*small {
		t.Errorf("a round of 5,000 tasks on 100 instances costs %v, of 50,000 on 1,000 %v", small, large)
	}
	t.Logf("5,000 on 100: %v; 50,000 on 1,000: %v", small, large)
}
