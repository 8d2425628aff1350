package assign

import (
	"fmt"
	"testing"
)

// benchGroup is a settled group with one standby a task; a tenth of the tasks is
// stateless.
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
