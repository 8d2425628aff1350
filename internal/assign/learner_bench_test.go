package assign

import (
	"fmt"
	"testing"
	"time"
)

// benchGroup is a settled group of stateful tasks, a tenth of them stateless,
// with one standby each, and one more instance that just joined.
func benchGroup(b testing.TB, tasks, instances int) *learnerSim {
	b.Helper()
	top, err := NewTopology([]Subtopology{
		{ID: "0", Partitions: tasks * 9 / 10, Stateful: true},
		{ID: "1", Partitions: tasks / 10},
	})
	if err != nil {
		b.Fatal(err)
	}
	set := LearnerSettings{Factor: 1000, Standbys: 1, AcceptableLag: 10000}
	s := newLearnerSim(set, top, 1_000_000)
	for i := range instances {
		s.join(fmt.Sprintf("%08x-0000-4000-8000-000000000000", uint32(i)*2654435761), 1)
	}
	s.rebalance()
	for _, in := range s.insts {
		for _, w := range in.workers {
			for _, t := range w.tasks {
				t.Lag = 0
			}
		}
	}
	s.rebalance()
	return s
}

func BenchmarkLearner(b *testing.B) {
	for _, size := range []struct{ tasks, instances int }{{1000, 50}, {50_000, 1000}} {
		for _, event := range []string{"scratch", "steady", "add", "mark-tenth"} {
			b.Run(fmt.Sprintf("%dx%d/%s", size.tasks, size.instances, event), func(b *testing.B) {
				s := benchGroup(b, size.tasks, size.instances)
				switch event {
				case "scratch":
					for _, in := range s.insts {
						in.workers[0].tasks = map[Task]*simTask{}
					}
				case "add":
					s.join("ffffffff-0000-4000-8000-000000000000", 1)
				case "mark-tenth":
					for i := range s.insts[:len(s.insts)/10] {
						s.insts[i].leaving = true
					}
				}
				in := s.input()
				b.ReportAllocs()
				for b.Loop() {
					r := Learner(in)
					if len(r.Unassigned) > 0 {
						b.Fatal("tasks without owner")
					}
				}
			})
		}
	}
}

// TestLearnerGrowth makes sure that the time of a round does not grow with tasks
// times instances: ten times the tasks on ten times the instances take some ten
// to twenty times as long, not a hundred.
func TestLearnerGrowth(t *testing.T) {
	fastest := func(tasks, instances int) time.Duration {
		s := benchGroup(t, tasks, instances)
		for i := range s.insts[:instances/10] {
			s.insts[i].leaving = true
		}
		in := s.input()
		best := time.Hour
		for range 7 {
			start := time.Now()
			Learner(in)
			best = min(best, time.Since(start))
		}
		return best
	}
	small, large := fastest(5000, 100), fastest(50_000, 1000)
	if large > 50*small {
		t.Errorf("5,000 tasks on 100 instances take %v, 50,000 on 1,000 %v", small, large)
	}
}
