package assign

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/streamctl/streamctl/internal/javaorder"
)

// randomClassic draws a group of any state: threads, tags, ends, copies
// everywhere. Processes are sorted by id; no process contradicts itself.
func randomClassic(tb testing.TB, rnd *rand.Rand) *Group {
	tb.Helper()
	g := &Group{Settings: DefaultSettings()}
	s := &g.Settings
	s.Standbys, s.MaxWarmups = rnd.IntN(4), 1+rnd.IntN(6)
	s.AcceptableLag = []int64{0, 100, 10_000, 1_000_000, unlimitedLag}[rnd.IntN(5)]
	var subs []Subtopology
	for id := range 1 + rnd.IntN(4) {
		sub := Subtopology{ID: strconv.Itoa(id * (1 + rnd.IntN(2)*7)), Partitions: rnd.IntN(40), Stateful: rnd.IntN(4) > 0, Sources: []string{"in"}}
		for range sub.Partitions {
			sub.EndOffsets = append(sub.EndOffsets, []int64{0, rnd.Int64N(20_000), rnd.Int64N(5_000_000)}[rnd.IntN(3)])
		}
		if !slices.ContainsFunc(subs, func(o Subtopology) bool { return o.ID == sub.ID }) {
			subs = append(subs, sub)
		}
	}
	var err error
	if g.Topology, err = NewTopology(subs); err != nil {
		tb.Fatal(err)
	}
	tagKeys := rnd.IntN(4)
	for k := range max(tagKeys-1, 0) {
		s.StandbyTags = append(s.StandbyTags, "key"+strconv.Itoa(k))
	}
	most := []int{1, 2, 8}[rnd.IntN(3)] // threads of a process
	for range 1 + rnd.IntN(20) {
		addProcess(g, rnd, 1+rnd.IntN(most))
		tags := map[string]string{}
		for k := range tagKeys {
			if rnd.IntN(8) > 0 {
				tags["key"+strconv.Itoa(k)] = strconv.Itoa(rnd.IntN(3))
			}
		}
		g.Processes[len(g.Processes)-1].Tags = tags
	}
	sortProcesses(g)
	haveCopies(g, rnd)
	return g
}

// haveCopies gives members owned tasks and copies at random.
func haveCopies(g *Group, rnd *rand.Rand) {
	much := rnd.IntN(4)
	for t := range Task(g.Topology.Len()) {
		reported := map[int]bool{}
		report := func(m *Member, sum int64) {
			if !reported[m.Process] && g.Topology.Stateful(t) {
				reported[m.Process] = true
				m.Offsets = append(m.Offsets, Offset{t, sum})
			}
		}
		if m := &g.Members[rnd.IntN(len(g.Members))]; rnd.IntN(8) < 7 {
			m.Owned = append(m.Owned, t)
			report(m, []int64{SumRunning, SumRunning, rnd.Int64N(1_000_000)}[rnd.IntN(3)])
		}
		for range rnd.IntN(1 + much) {
			sum := []int64{0, rnd.Int64N(5_000_000), rnd.Int64N(20_000), SumUnknown}[rnd.IntN(4)]
			report(&g.Members[rnd.IntN(len(g.Members))], sum)
		}
	}
}

func sortProcesses(g *Group) {
	order := make([]int, len(g.Processes))
	for i := range order {
		order[i] = i
	}
	id := func(i int) javaorder.UUID {
		u, err := javaorder.ParseUUID(g.Processes[i].ID)
		if err != nil {
			panic(err)
		}
		return u
	}
	slices.SortFunc(order, func(a, b int) int { return id(a).Compare(id(b)) })
	sorted := make([]Process, len(order))
	place := make([]int, len(order))
	for k, i := range order {
		sorted[k], place[i] = g.Processes[i], k
	}
	for i := range g.Members {
		g.Members[i].Process = place[g.Members[i].Process]
	}
	g.Processes = sorted
}

// The assignor gives what the procedure gives that it shortens.
func TestHighAvailabilityIsTheProcedure(t *testing.T) {
	rounds := 1500
	if testing.Short() {
		rounds = 150
	}
	var moved, tagged, warm int
	for seed := range uint64(rounds) {
		g := randomClassic(t, rand.New(rand.NewPCG(seed, 1)))
		want := runNaive(g)
		got, err := HighAvailability{}.Assign(g)
		if err != nil {
			t.Fatal(err)
		}
		moved += want.movedA + want.movedB
		if len(g.Settings.StandbyTags) > 0 {
			tagged++
		}
		if got.ActiveMovements != want.movedA || got.StandbyMovements != want.movedB {
			t.Fatalf("seed %d: %d and %d movements, want %d and %d", seed, got.ActiveMovements, got.StandbyMovements, want.movedA, want.movedB)
		}
		for i := range g.Processes {
			p := got.Processes[i]
			warm += len(p.Warmup)
			for what, pair := range map[string][2][]Task{
				"target active":  {p.TargetActive, ascending(want.targetA[i])},
				"target standby": {p.TargetStandby, ascending(want.targetB[i])},
				"active":         {p.Active, ascending(want.a[i])},
				"standby":        {p.Standby, ascending(want.b[i])},
				"warm-up":        {p.Warmup, ascending(want.warm[i])},
			} {
				if !slices.Equal(pair[0], pair[1]) {
					t.Fatalf("seed %d: %s of process %d: %v, want %v", seed, what, i, pair[0], pair[1])
				}
			}
		}
	}
	if moved == 0 || tagged == 0 || warm == 0 {
		t.Errorf("the groups are too tame: %d movements, %d with tags, %d warm-ups", moved, tagged, warm)
	}
}

// The same at a size where the shortcuts matter, with threads that differ.
func TestBalanceOfManyClients(t *testing.T) {
	for _, standbys := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(standbys), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(9, 9))
			g := &Group{Topology: wideTopology(t, 3000), Settings: DefaultSettings()}
			g.Settings.Standbys = standbys
			for range 150 {
				addProcess(g, rnd, 1+rnd.IntN(16))
			}
			sortProcesses(g)
			want := runNaive(g)
			got, err := HighAvailability{}.Assign(g)
			if err != nil {
				t.Fatal(err)
			}
			for i := range g.Processes {
				if !slices.Equal(got.Processes[i].TargetActive, ascending(want.targetA[i])) || !slices.Equal(got.Processes[i].TargetStandby, ascending(want.targetB[i])) {
					t.Fatalf("process %d has another target", i)
				}
			}
		})
	}
}
