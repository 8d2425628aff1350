package assign

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// drawnRandom is a source of random groups that rapid can replay.
func drawnRandom(t *rapid.T) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
}

// randomStreams draws a KIP-1071 group of any state.
func randomStreams(tb testing.TB, rnd *rand.Rand) *Group {
	tb.Helper()
	g := &Group{Settings: Settings{Standbys: rnd.IntN(4)}}
	var subs []Subtopology
	for id := range 1 + rnd.IntN(12) {
		subs = append(subs, Subtopology{ID: strconv.Itoa(id), Partitions: rnd.IntN(9), Stateful: rnd.IntN(3) > 0})
	}
	var err error
	if g.Topology, err = NewTopology(subs); err != nil {
		tb.Fatal(err)
	}
	for range 1 + rnd.IntN(12) {
		addProcess(g, rnd, 1+rnd.IntN(4))
	}
	rnd.Shuffle(len(g.Members), func(i, j int) { g.Members[i], g.Members[j] = g.Members[j], g.Members[i] })
	for t := range Task(g.Topology.Len()) {
		if rnd.IntN(6) > 0 {
			m := &g.Members[rnd.IntN(len(g.Members))]
			m.Active = append(m.Active, t)
		}
		for range rnd.IntN(3) {
			if m := &g.Members[rnd.IntN(len(g.Members))]; !slices.Contains(m.Standby, t) {
				m.Standby = append(m.Standby, t)
			}
			if m := &g.Members[rnd.IntN(len(g.Members))]; len(m.Offsets) == 0 || m.Offsets[len(m.Offsets)-1].Task < t {
				m.Offsets = append(m.Offsets, Offset{t, rnd.Int64N(1000)})
			}
		}
	}
	return g
}

// sound says what is wrong with a round: a task that is not active on exactly
// one process, two copies in one process, a standby of a stateless task.
func sound(g *Group, r *Result) string {
	actives := make([]int, g.Topology.Len())
	for i, p := range r.Processes {
		copies := map[Task]bool{}
		for _, t := range p.Active {
			actives[t]++
		}
		for _, t := range slices.Concat(p.Active, p.Standby) {
			if copies[t] {
				return "process " + strconv.Itoa(i) + " has two copies of " + g.Topology.ID(t).String()
			}
			copies[t] = true
		}
		for _, t := range p.Standby {
			if !g.Topology.Stateful(t) {
				return g.Topology.ID(t).String() + " has no state but a standby"
			}
		}
	}
	for t, n := range actives {
		if n != 1 {
			return g.Topology.ID(Task(t)).String() + " is active " + strconv.Itoa(n) + " times"
		}
	}
	return ""
}

// told says what is wrong with what the members of a round are told: together
// they have what their process has; high-availability withholds some actives
// and leaves their state open meanwhile.
func told(g *Group, r *Result) string {
	for i, p := range r.Processes {
		var actives, standbys []Task
		withheld := false
		for k, m := range r.Members {
			if g.Members[k].Process == i {
				actives, standbys = append(actives, m.Active...), append(standbys, m.Standby...)
				withheld = withheld || m.Next == NextNow
			}
		}
		slices.Sort(actives)
		slices.Sort(standbys)
		if withheld {
			outside := func(t Task) bool { return !slices.Contains(p.Active, t) && !slices.Contains(p.Standby, t) }
			if slices.ContainsFunc(actives, outside) || slices.ContainsFunc(standbys, outside) || len(slices.Compact(actives)) == len(p.Active) {
				return "process " + strconv.Itoa(i) + " waits for nothing or is told of foreign tasks"
			}
			continue
		}
		if !slices.Equal(actives, sortedTasks(p.Active)) || !slices.Equal(standbys, sortedTasks(p.Standby)) {
			return "the members of process " + strconv.Itoa(i) + " are not told what it has"
		}
	}
	return ""
}

func sortedTasks(tasks []Task) []Task {
	tasks = slices.Clone(tasks)
	slices.Sort(tasks)
	return tasks
}

func TestAssignorsAreSound(t *testing.T) {
	for _, a := range All() {
		name := a.Name()
		if s, ok := a.(StreamsSticky); ok {
			name += strconv.Itoa(int(s.Variant))
		}
		t.Run(name, rapid.MakeCheck(func(rt *rapid.T) {
			rnd := drawnRandom(rt)
			g := randomStreams(t, rnd)
			switch a.Name() {
			case NameHighAvailability:
				g = randomClassic(t, rnd)
			case NameLearner:
				a, g = randomLearner(t, rnd)
			}
			r, err := a.Assign(g)
			if err != nil {
				rt.Fatal(err)
			}
			if wrong := sound(g, r); wrong != "" {
				rt.Fatal(wrong)
			}
			if wrong := told(g, r); wrong != "" {
				rt.Fatal(wrong)
			}
			again, err := a.Assign(g)
			if err != nil || !reflect.DeepEqual(r, again) {
				rt.Fatal("the second answer is another")
			}
		}))
	}
}

// ordered are the assignors that go by a set of members, with groups for them.
func ordered(tb testing.TB) map[string]func(*rand.Rand) (Assignor, *Group) {
	return map[string]func(*rand.Rand) (Assignor, *Group){
		NameHighAvailability: func(rnd *rand.Rand) (Assignor, *Group) { return HighAvailability{}, randomClassic(tb, rnd) },
		NameLearner:          func(rnd *rand.Rand) (Assignor, *Group) { return randomLearner(tb, rnd) },
	}
}

// Members and processes in another order, and their tasks, give the same
// answer.
func TestAssignorsKnowNoOrder(t *testing.T) {
	for name, draw := range ordered(t) {
		t.Run(name, rapid.MakeCheck(func(rt *rapid.T) {
			rnd := drawnRandom(rt)
			a, g := draw(rnd)
			want, err := a.Assign(g)
			if err != nil {
				rt.Fatal(err)
			}
			other, processes, members := shuffled(g, rnd)
			got, err := a.Assign(other)
			if err != nil {
				rt.Fatal(err)
			}
			for i, k := range processes {
				if !reflect.DeepEqual(got.Processes[k], want.Processes[i]) {
					rt.Fatalf("process %d: %v, want %v", i, got.Processes[k], want.Processes[i])
				}
			}
			for i, k := range members {
				if !reflect.DeepEqual(got.Members[k], want.Members[i]) {
					rt.Fatalf("member %d: %v, want %v", i, got.Members[k], want.Members[i])
				}
			}
		}))
	}
}

// shuffled is a group in another order, with where each process and member is.
func shuffled(g *Group, rnd *rand.Rand) (other *Group, processes, members []int) {
	o := *g
	processes, members = rnd.Perm(len(g.Processes)), rnd.Perm(len(g.Members))
	o.Processes, o.Members = make([]Process, len(processes)), make([]Member, len(members))
	for i, k := range processes {
		o.Processes[k] = g.Processes[i]
	}
	for i, k := range members {
		m := g.Members[i]
		m.Process = processes[m.Process]
		for _, list := range []*[]Task{&m.Owned, &m.Active, &m.Standby, &m.Warmup} {
			*list = slices.Clone(*list)
			rnd.Shuffle(len(*list), func(i, j int) { (*list)[i], (*list)[j] = (*list)[j], (*list)[i] })
		}
		m.Offsets = slices.Clone(m.Offsets)
		rnd.Shuffle(len(m.Offsets), func(i, j int) { m.Offsets[i], m.Offsets[j] = m.Offsets[j], m.Offsets[i] })
		o.Members[k] = m
	}
	if g.Leader >= 0 {
		o.Leader = processes[g.Leader]
	}
	return &o, processes, members
}

// Round after round, with every copy restored in between, a fixed point is
// reached: then nothing moves any more.
func TestAssignorsComeToRest(t *testing.T) {
	for name, draw := range ordered(t) {
		t.Run(name, rapid.MakeCheck(func(rt *rapid.T) {
			a, g := draw(drawnRandom(rt))
			var before *Result
			for round := 0; ; round++ {
				r, err := a.Assign(g)
				if err != nil {
					rt.Fatal(err)
				}
				settle(g, r)
				if before != nil && r.Stable && reflect.DeepEqual(before.Processes, r.Processes) && reflect.DeepEqual(before.Members, r.Members) {
					break
				}
				if before = r; round > 3*g.Topology.Len()+10 {
					rt.Fatalf("no rest after %d rounds", round)
				}
			}
			for range 3 {
				r, err := a.Assign(g)
				if err != nil || !r.Stable || !reflect.DeepEqual(before.Processes, r.Processes) || !reflect.DeepEqual(before.Members, r.Members) {
					rt.Fatalf("at rest, a new round moved something: %v", err)
				}
				settle(g, r)
			}
		}))
	}
}

// randomLearner draws a group of workers in any state, and settings.
func randomLearner(tb testing.TB, rnd *rand.Rand) (Assignor, *Group) {
	tb.Helper()
	g := randomClassic(tb, rnd)
	for i := range g.Members {
		m := &g.Members[i]
		m.Active = m.Owned
		for _, o := range m.Offsets {
			switch {
			case slices.Contains(m.Active, o.Task):
			case rnd.IntN(3) == 0:
				m.Warmup = append(m.Warmup, o.Task)
			default:
				m.Standby = append(m.Standby, o.Task)
			}
		}
	}
	return LearnerAssignor{Factor: 1000 + rnd.Int64N(3000), MaxLearners: rnd.IntN(6)}, g
}

// Round after round, with every copy restored in between, the target is
// reached, and then nothing moves any more.
func TestHighAvailabilityComesToRest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := randomClassic(t, drawnRandom(rt))
		for round := 0; ; round++ {
			r, err := HighAvailability{}.Assign(g)
			if err != nil {
				rt.Fatal(err)
			}
			settle(g, r)
			if r.Stable {
				break
			}
			if round > 3*g.Topology.Len()+10 {
				rt.Fatalf("no rest after %d rounds", round)
			}
		}
		first, err := HighAvailability{}.Assign(g)
		if err != nil {
			rt.Fatal(err)
		}
		for i, p := range first.Processes {
			stateful := slices.DeleteFunc(slices.Clone(p.Active), func(t Task) bool { return !g.Topology.Stateful(t) })
			if !slices.Equal(stateful, p.TargetActive) || !slices.Equal(p.Standby, p.TargetStandby) || len(p.Warmup) > 0 {
				rt.Fatalf("process %d is not at its target: %+v", i, p)
			}
		}
		settle(g, first)
		second, err := HighAvailability{}.Assign(g)
		if err != nil {
			rt.Fatal(err)
		}
		if !first.Stable || !second.Stable || !reflect.DeepEqual(first.Processes, second.Processes) || !reflect.DeepEqual(first.Members, second.Members) {
			rt.Fatal("at rest, a new round moved something")
		}
	})
}
