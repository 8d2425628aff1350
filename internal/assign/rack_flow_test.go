package assign

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// rackCase is a problem of spreading tasks over clients by racks.
type rackCase struct {
	clients, racks, groups int
	rackOf, group, was     []int32
	base                   []int64
	extra                  int64
}

func randomRackCase(rnd *rand.Rand, most int) rackCase {
	c := rackCase{clients: 1 + rnd.IntN(most), racks: 1 + rnd.IntN(4), groups: 1 + rnd.IntN(4), extra: rnd.Int64N(3)}
	for range c.clients {
		c.rackOf = append(c.rackOf, int32(rnd.IntN(c.racks)))
	}
	scale := []int64{1, 10}[rnd.IntN(2)]
	for g := range c.groups {
		for range 1 + rnd.IntN(3*most) {
			c.group = append(c.group, int32(g))
			c.was = append(c.was, int32(rnd.IntN(c.clients)))
			for range c.racks {
				c.base = append(c.base, rnd.Int64N(3)*scale)
			}
		}
	}
	return c
}

func (c rackCase) cost(t, j int) int64 {
	cost := c.base[t*c.racks+int(c.rackOf[j])]
	if int32(j) != c.was[t] {
		cost += c.extra
	}
	return cost
}

func (c rackCase) flow(groups bool) *rackFlow {
	group := make([]int32, len(c.group))
	n := 1
	if groups {
		group, n = c.group, c.groups
	}
	return newRackFlow(c.clients, c.rackOf, c.racks, n, group, c.was, c.base, c.extra)
}

// has is by client its number of tasks.
func (c rackCase) has() []int64 {
	has := make([]int64, c.clients)
	for _, j := range c.was {
		has[j]++
	}
	return has
}

// share is how many tasks of a group a client may get.
func (c rackCase) share(g, j int) int64 {
	size := 0
	for _, x := range c.group {
		if int(x) == g {
			size++
		}
	}
	return int64(math.Ceil(float64(c.has()[j]) / float64(len(c.group)) * float64(size)))
}

// byArcs solves it on the whole graph, as Kafka does.
func (c rackCase) byArcs(groups bool) []int32 {
	n, m := len(c.group), c.clients
	has, base := c.has(), 1+n
	var edges []flowEdge
	for t := range n {
		e := flowEdge{from: 0, to: int32(1 + t), capacity: 1}
		if !groups {
			e.flow = 1
		}
		edges = append(edges, e)
	}
	for t := range n {
		for j := range m {
			e := flowEdge{from: int32(1 + t), to: int32(base + j), capacity: 1, cost: c.cost(t, j)}
			if groups {
				e.to += c.group[t] * int32(m)
			} else if c.was[t] == int32(j) {
				e.flow = 1
			}
			edges = append(edges, e)
		}
	}
	last := base
	if groups {
		last = base + c.groups*m
		for g := range c.groups {
			for j := range m {
				edges = append(edges, flowEdge{from: int32(base + g*m + j), to: int32(last + j), capacity: c.share(g, j)})
			}
		}
	}
	sink := last + m
	for j := range m {
		e := flowEdge{from: int32(last + j), to: int32(sink), capacity: has[j]}
		if !groups {
			e.flow = has[j]
		}
		edges = append(edges, e)
	}
	g := newFlowGraph(sink+1, edges)
	if groups {
		g.fill()
	}
	g.cancel()
	on := make([]int32, n)
	for t := range n {
		on[t] = -1
		for j := range m {
			if g.flow(g.first[1+t]+1+int32(j)) > 0 {
				on[t] = int32(j)
			}
		}
	}
	return on
}

func (c rackCase) byPlaces(groups bool) []int32 {
	f := c.flow(groups)
	if !groups {
		f.startAsIs()
	} else {
		f.shares, f.share, f.flow = true, make([]int64, len(f.places)), make([]int64, len(f.places))
		f.total, f.out = c.has(), make([]int64, c.clients)
		for x := range f.places {
			f.share[x] = c.share(x/c.clients, x%c.clients)
		}
		f.fill()
	}
	f.cancel()
	return f.on
}

// The short cut over places finds the same cycles, one after the other.
func TestRackFlowIsThatOfAllArcs(t *testing.T) {
	moved := [2]int{}
	for seed := range uint64(1500) {
		c := randomRackCase(rand.New(rand.NewPCG(seed, 4)), []int{3, 8}[seed%2])
		for k, groups := range []bool{false, true} {
			got, want := c.byPlaces(groups), c.byArcs(groups)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, groups %t: %v, want %v, was %v", seed, groups, got, want, c.was)
			}
			if !slices.Equal(got, c.was) {
				moved[k]++
			}
		}
	}
	if moved[0] < 500 || moved[1] < 500 {
		t.Errorf("the cases are too tame: in %v something moved", moved)
	}
}
