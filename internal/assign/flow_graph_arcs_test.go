package assign

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// findByEveryPass is flowCycles.find without its shortcut: every pass looks at
// the arcs of every node.
func findByEveryPass(c *flowCycles) int32 {
	n := c.g.nodes()
	for v := range n {
		c.dist[v], c.via[v] = 0, -1
	}
	for pass := 0; pass <= n; pass++ {
		for u := range n {
			for k := c.g.first[u]; k < c.g.first[u+1]; k++ {
				a := c.g.arcs[k]
				if a.left == 0 || c.dist[a.to] <= c.dist[u]+a.cost {
					continue
				}
				c.dist[a.to], c.via[a.to] = c.dist[u]+a.cost, k
				if pass == n {
					return c.onCycle(a.to)
				}
			}
		}
	}
	return -1
}

// randomFlow draws a graph as the rack strategies make it: tasks on clients.
func randomFlow(rnd *rand.Rand) (nodes int, edges []flowEdge) {
	tasks, clients := 1+rnd.IntN(12), 1+rnd.IntN(6)
	has := make([]int64, clients)
	sink := int32(1 + tasks + clients)
	for n := range tasks {
		edges = append(edges, flowEdge{from: 0, to: int32(1 + n), capacity: 1, flow: 1})
	}
	for n := range tasks {
		now := rnd.IntN(clients)
		has[now]++
		for j := range clients {
			e := flowEdge{from: int32(1 + n), to: int32(1 + tasks + j), capacity: 1, cost: rnd.Int64N(4) * 10}
			if j == now {
				e.flow = 1
			} else {
				e.cost++
			}
			edges = append(edges, e)
		}
	}
	for j := range clients {
		edges = append(edges, flowEdge{from: int32(1 + tasks + j), to: sink, capacity: has[j], flow: has[j]})
	}
	return int(sink) + 1, edges
}

func TestCyclesAreThoseOfEveryPass(t *testing.T) {
	cycles := 0
	for seed := range uint64(400) {
		nodes, edges := randomFlow(rand.New(rand.NewPCG(seed, 2)))
		g := newFlowGraph(nodes, edges)
		c := flowCycles{g: g, dist: make([]int64, nodes), via: make([]int32, nodes), dirty: make([]bool, nodes), mark: make([]bool, nodes)}
		for {
			want := findByEveryPass(&c)
			via := slices.Clone(c.via)
			if got := c.find(); got != want || want >= 0 && !slices.Equal(c.via, via) {
				t.Fatalf("seed %d: node %d by %v, want %d by %v", seed, got, c.via, want, via)
			}
			if want < 0 {
				break
			}
			cycles++
			for v := want; ; {
				g.push(c.via[v], 1)
				if v = c.start(v); v == want {
					break
				}
			}
		}
		for k := range g.arcs {
			if g.arcs[k].left < 0 {
				t.Fatalf("seed %d: more flows than may", seed)
			}
		}
	}
	if cycles < 100 {
		t.Errorf("only %d cycles were found: the graphs are too tame", cycles)
	}
}
