package assign

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// Groups of any size for benchmarks and comparisons; the shapes are those of
// the benchmark of testdata/jvm/AssignOracle.java.

const partitionsEach = 100

func wideTopology(tb testing.TB, tasks int) *Topology {
	tb.Helper()
	var subs []Subtopology
	for id, left := 0, tasks; left > 0; id, left = id+1, left-partitionsEach {
		n := min(partitionsEach, left)
		s := Subtopology{ID: strconv.Itoa(id), Partitions: n, Stateful: true, Sources: []string{"in"}, Changelogs: []string{"log"}}
		s.EndOffsets = slices.Repeat([]int64{1_000_000}, n)
		subs = append(subs, s)
	}
	t, err := NewTopology(subs)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func randomUUID(rnd *rand.Rand) string {
	hi, lo := rnd.Uint64(), rnd.Uint64()
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&0xffffffffffff)
}

// addProcess adds a process with new ids.
func addProcess(g *Group, rnd *rand.Rand, threads int) {
	g.Processes = append(g.Processes, Process{ID: randomUUID(rnd)})
	for range threads {
		g.Members = append(g.Members, Member{ID: randomUUID(rnd), Process: len(g.Processes) - 1})
	}
}

// wideGroup has processes of so many threads; with steady each task is where a
// first round put it and all copies are caught up, with add one process more
// is new.
func wideGroup(tb testing.TB, a Assignor, mode string, tasks, processes, threads int) *Group {
	tb.Helper()
	rnd := rand.New(rand.NewPCG(42, 42))
	g := &Group{Topology: wideTopology(tb, tasks), Settings: DefaultSettings()}
	g.Settings.Standbys = 1
	for range processes {
		addProcess(g, rnd, threads)
	}
	if mode == "scratch" {
		return g
	}
	r, err := a.Assign(g)
	if err != nil {
		tb.Fatal(err)
	}
	settle(g, r)
	if mode == "add" {
		addProcess(g, rnd, threads)
	}
	return g
}

// settle makes what the members got what they have, caught up.
func settle(g *Group, r *Result) {
	for i := range g.Members {
		m, got := &g.Members[i], &r.Members[i]
		m.Owned, m.Active, m.Warmup, m.Offsets = got.Active, got.Active, got.Warmup, nil
		m.Standby = slices.DeleteFunc(slices.Clone(got.Standby), func(t Task) bool { return slices.Contains(got.Warmup, t) })
		for _, t := range got.Active {
			if g.Topology.Stateful(t) {
				m.Offsets = append(m.Offsets, Offset{t, SumRunning})
			}
		}
		for _, t := range got.Standby {
			sub := g.Topology.subtopology(t)
			m.Offsets = append(m.Offsets, Offset{t, g.Topology.subs[sub].EndOffsets[t-g.Topology.first[sub]]})
		}
	}
}
