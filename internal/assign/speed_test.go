package assign

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

func benchmarkAssignor(b *testing.B, a Assignor, sizes [][2]int) {
	for _, size := range sizes {
		for _, mode := range []string{"scratch", "steady", "add"} {
			b.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], mode), func(b *testing.B) {
				g := wideGroup(b, a, mode, size[0], size[1], 1)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := a.Assign(g); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkHighAvailability(b *testing.B) {
	benchmarkAssignor(b, HighAvailability{}, [][2]int{{100, 10}, {1000, 50}, {5000, 200}, {20000, 1000}, {50000, 1000}, {200000, 10000}})
}

func BenchmarkStreamsSticky43(b *testing.B) {
	benchmarkAssignor(b, StreamsSticky{Variant: Sticky42}, [][2]int{{100, 10}, {5000, 200}, {50000, 1000}})
}

func BenchmarkStreamsSticky44(b *testing.B) {
	benchmarkAssignor(b, StreamsSticky{Variant: Sticky44}, [][2]int{{100, 10}, {5000, 200}, {50000, 1000}})
}

// rackGroup spreads the brokers and the processes over three racks.
func rackGroup(b *testing.B, strategy RackStrategy, tasks, processes int) *Group {
	b.Helper()
	g := wideGroup(b, HighAvailability{}, "steady", tasks, processes, 1)
	racks := []string{"a", "b", "c"}
	g.Settings.RackStrategy = strategy
	replicas := make([][]string, partitionsEach)
	for p := range replicas {
		replicas[p] = []string{racks[p%3]}
	}
	g.TopicRacks = map[string][][]string{"in": replicas, "log": replicas}
	for i := range g.Members {
		g.Members[i].Rack = racks[g.Members[i].Process%3]
	}
	return g
}

func BenchmarkRacks(b *testing.B) {
	for _, size := range [][2]int{{100, 10}, {1000, 50}} {
		for _, strategy := range []RackStrategy{RackMinTraffic, RackBalanceSubtopology} {
			b.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], strategy), func(b *testing.B) {
				g := rackGroup(b, strategy, size[0], size[1])
				b.ReportAllocs()
				for b.Loop() {
					if _, err := (HighAvailability{}).Assign(g); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// The JVM takes 204 s for this; a two-hundredth of that is far more than is
// needed, also on a busy machine.
func TestHighAvailabilityIsFast(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds under load")
	}
	g := wideGroup(t, HighAvailability{}, "add", 20_000, 1000, 1)
	best := time.Hour
	for range 3 {
		start := time.Now()
		if _, err := (HighAvailability{}).Assign(g); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	if best > time.Second {
		t.Errorf("%v, want at most a second", best)
	}
}

// Memory grows with tasks and clients, not with their product: what a task and
// a client cost does not rise with the size of the group.
func TestHighAvailabilityMemory(t *testing.T) {
	const bytesEach = 1000
	for _, size := range [][2]int{{2000, 100}, {20_000, 1000}, {40_000, 8000}} {
		g := wideGroup(t, HighAvailability{}, "add", size[0], size[1], 1)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := (HighAvailability{}).Assign(g); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(bytesEach*(size[0]+size[1])); got > most {
			t.Errorf("%d tasks on %d clients take %d bytes, want at most %d", size[0], size[1], got, most)
		}
	}
}
