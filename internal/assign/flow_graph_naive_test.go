package assign

import "slices"

// flowGraph is the residual graph of a flow. Its nodes are numbered so that
// every edge leads from a lower to a higher one; node 0 is the source, the last
// the sink. What it finds hangs on the order in which Kafka looks at nodes and
// edges, for the cheapest flow is not unique (assignors.md, 3.8).
type flowGraph struct {
	first []int32 // by node: its first arc, and the number of all at the end
	arcs  []flowArc
}

// flowArc is an edge or the way back along one; the arcs of a node are sorted
// by their end.
type flowArc struct {
	to, back int32 // end; number of the opposite arc
	left     int64 // how much may still flow; on the way back, what flows
	cost     int64
}

// flowEdge is an edge before the graph is made.
type flowEdge struct {
	from, to             int32
	capacity, cost, flow int64
}

// newFlowGraph makes the graph of edges sorted by their two ends.
func newFlowGraph(nodes int, edges []flowEdge) *flowGraph {
	g := &flowGraph{first: make([]int32, nodes+1), arcs: make([]flowArc, 2*len(edges))}
	for _, e := range edges {
		g.first[e.from+1]++
		g.first[e.to+1]++
	}
	for i := range nodes {
		g.first[i+1] += g.first[i]
	}
	at := slices.Clone(g.first[:nodes])
	backs := make([]int32, len(edges))
	for k, e := range edges { // the ways back lead to lower nodes: they come first
		backs[k] = at[e.to]
		at[e.to]++
	}
	for k, e := range edges {
		forth, back := at[e.from], backs[k]
		at[e.from]++
		g.arcs[forth] = flowArc{e.to, back, e.capacity - e.flow, e.cost}
		g.arcs[back] = flowArc{e.from, forth, e.flow, -e.cost}
	}
	return g
}

// flow is what flows along the edge that is the k-th arc.
func (g *flowGraph) flow(k int32) int64 { return g.arcs[g.arcs[k].back].left }

func (g *flowGraph) nodes() int { return len(g.first) - 1 }

func (g *flowGraph) push(k int32, x int64) {
	g.arcs[k].left -= x
	g.arcs[g.arcs[k].back].left += x
}

// fill makes the flow as large as it can be, by breadth-first paths.
func (g *flowGraph) fill() {
	n := g.nodes()
	sink := int32(n - 1)
	via := make([]int32, n) // arc that led to the node
	seen := make([]bool, n)
	queue := make([]int32, 0, n)
	search := func() bool {
		clear(seen)
		seen[0] = true
		queue = append(queue[:0], 0)
		for head := 0; head < len(queue); head++ {
			u := queue[head]
			for k := g.first[u]; k < g.first[u+1]; k++ {
				v := g.arcs[k].to
				if seen[v] || g.arcs[k].left <= 0 {
					continue
				}
				via[v] = k
				if v == sink {
					return true
				}
				seen[v] = true
				queue = append(queue, v)
			}
		}
		return false
	}
	for search() {
		least := g.arcs[via[sink]].left
		for v := sink; v != 0; v = g.arcs[g.arcs[via[v]].back].to {
			least = min(least, g.arcs[via[v]].left)
		}
		for v := sink; v != 0; v = g.arcs[g.arcs[via[v]].back].to {
			g.push(via[v], least)
		}
	}
}

// cancel sends flow round negative cycles until there is none left.
func (g *flowGraph) cancel() {
	n := g.nodes()
	c := flowCycles{g: g, dist: make([]int64, n), via: make([]int32, n), dirty: make([]bool, n), mark: make([]bool, n)}
	for {
		on := c.find()
		if on < 0 {
			return
		}
		least, v := int64(-1), on
		for {
			k := c.via[v]
			if least < 0 || g.arcs[k].left < least {
				least = g.arcs[k].left
			}
			if v = c.start(v); v == on {
				break
			}
		}
		for {
			g.push(c.via[v], least)
			if v = c.start(v); v == on {
				break
			}
		}
	}
}

// flowCycles looks for negative cycles by the method of Bellman and Ford.
type flowCycles struct {
	g     *flowGraph
	dist  []int64
	via   []int32 // arc by which a node was last reached, -1 for none
	dirty []bool  // the node came nearer since its arcs were last looked at
	mark  []bool
}

// start is where the arc begins by which a node was reached.
func (c *flowCycles) start(v int32) int32 { return c.g.arcs[c.g.arcs[c.via[v]].back].to }

// find returns a node on a negative cycle, -1 when there is none. It makes one
// pass more than there are nodes; a node that still comes nearer in the last
// one leads to the cycle. Nodes whose distance has not changed since they were
// last looked at are passed over: they bring no other any nearer.
func (c *flowCycles) find() int32 {
	n := c.g.nodes()
	for v := range n {
		c.dist[v], c.via[v], c.dirty[v] = 0, -1, true
	}
	for pass := 0; pass <= n; pass++ {
		changed := false
		for u := range n {
			if !c.dirty[u] {
				continue
			}
			c.dirty[u] = false
			for k := c.g.first[u]; k < c.g.first[u+1]; k++ {
				a := &c.g.arcs[k]
				if a.left == 0 || c.dist[a.to] <= c.dist[u]+a.cost {
					continue
				}
				c.dist[a.to], c.via[a.to], c.dirty[a.to], changed = c.dist[u]+a.cost, k, true, true
				if pass == n {
					return c.onCycle(a.to)
				}
			}
		}
		if !changed {
			return -1
		}
	}
	return -1
}

// onCycle follows the way to a node back until it meets itself.
func (c *flowCycles) onCycle(v int32) int32 {
	clear(c.mark)
	for c.via[v] >= 0 && !c.mark[v] {
		c.mark[v] = true
		v = c.start(v)
	}
	if c.via[v] < 0 {
		return -1
	}
	return v
}
