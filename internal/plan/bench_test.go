package plan

import (
	"testing"

	"github.com/streamctl/streamctl/internal/model"
)

// large is a group with its tasks dealt evenly over one-thread instances.
func large(b testing.TB, kind model.Kind, tasks, instances int) *made {
	g := newMade(b, kind, tasks, true, 50_000)
	for i := range instances {
		g.instance(i+1, 1, every(i, instances, tasks)...)
	}
	return g
}

func benchmarkAdd(b *testing.B, kind model.Kind, tasks, instances int, o Options) {
	g := large(b, kind, tasks, instances)
	o.Changes, o.KafkaVersion = []Change{Add{Count: 1}}, "4.3"
	b.ReportAllocs()
	for b.Loop() {
		g.plan(o)
	}
}

func BenchmarkAddLearner1000x50(b *testing.B) { benchmarkAdd(b, model.Worker, 1000, 50, Options{}) }
func BenchmarkAddLearner50000x1000(b *testing.B) {
	benchmarkAdd(b, model.Worker, 50_000, 1000, Options{})
}
func BenchmarkAddSticky1000x50(b *testing.B) { benchmarkAdd(b, model.Streams, 1000, 50, Options{}) }
func BenchmarkAddSticky50000x1000(b *testing.B) {
	benchmarkAdd(b, model.Streams, 50_000, 1000, Options{})
}

// All rounds of one draw.
func BenchmarkAddHighAvailability1000x50(b *testing.B) {
	benchmarkAdd(b, model.Classic, 1000, 50, Options{Draws: 1, MaxRounds: 1000})
}

// One draw, the first 20 rounds and the end.
func BenchmarkAddHighAvailability50000x1000(b *testing.B) {
	benchmarkAdd(b, model.Classic, 50_000, 1000, Options{Draws: 1, MaxRounds: 20})
}

// Beyond the bound the end is the target, and the plan says what was not run.
func TestRoundsBeyondTheBound(t *testing.T) {
	g := large(t, model.Classic, 200, 10)
	all := g.plan(Options{Changes: []Change{Add{Count: 1}}, Draws: 1, MaxRounds: 1000})
	cut := g.plan(Options{Changes: []Change{Add{Count: 1}}, Draws: 1, MaxRounds: 20})
	if !all.Converged || all.Totals.Extrapolated != 0 || cut.Converged || cut.Totals.Extrapolated == 0 || cut.finding(NoteBound) == "" {
		t.Errorf("all %+v, cut %+v, %q", all.Totals, cut.Totals, cut.finding(NoteBound))
	}
	if all.Totals.Moves != cut.Totals.Moves || all.Totals.Rounds < cut.Totals.Rounds-3 || all.Totals.Rounds > cut.Totals.Rounds+3 {
		t.Errorf("%d moves in %d rounds, extrapolated %d in %d", all.Totals.Moves, all.Totals.Rounds, cut.Totals.Moves, cut.Totals.Rounds)
	}
	for id, c := range all.After.Instances {
		if x := cut.After.Instances[id]; x.Active != c.Active || x.Standby != c.Standby {
			t.Errorf("%s ends with %+v, extrapolated %+v", id, c, x)
		}
	}
}

// A streams group that a new epoch would change although nobody changed.
func TestUnstableStreamsGroupIsSaid(t *testing.T) {
	said := 0
	for n := range 40 {
		g := newMade(t, model.Streams, 7+n%5, true, 100).instance(1, 1, every(0, 1, 7+n%5)...).instance(2, 2).instance(3, 1)
		p := g.plan(Options{KafkaVersion: "4.3"})
		if p.finding(NoteUnstable) != "" {
			said++
		}
		if len(p.Rounds) != 0 {
			t.Fatalf("rounds although nobody changed: %+v", p.Rounds)
		}
	}
	if said != 40 { // all of the tasks are on one member
		t.Errorf("said %d times of 40", said)
	}
}
