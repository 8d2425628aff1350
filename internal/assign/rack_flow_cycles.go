package assign

// rackCycles looks for negative cycles by the method of Bellman and Ford, as
// Kafka does: as many passes over the arcs as there are nodes and one more, in
// the order of their beginnings; what still comes nearer in the last one leads
// to the cycle. Within a pass the tasks come first, then places, then clients.
// The tasks of a place always are as far as the place was when it was last
// looked at, less what they cost there.
type rackCycles struct {
	*rackFlow
	source  rackStep   // distance, and the task that led there, -1 for none
	dist    []int64    // by place
	seen    []int64    // by place: dist when its arcs were last looked at
	via     []int32    // by place: task that led there, viaNone or viaClient
	client  []int64    // by client, with shares
	viaOf   []int32    // by client: group of the place that led there, -1 for none
	changed []bool     // by group: a seen changed since the tasks were looked at
	moved   []bool     // by client: its distance changed since its arcs were looked at
	best    []rackStep // by rack, of the group looked at
	step    []rackStep // by client, likewise
	mark    []bool
}

// How a place was reached, if not from a task.
const (
	viaNone   int32 = -1
	viaClient int32 = -2 // from the client's own node
)

// cancel sends flow round negative cycles until there is none left.
func (f *rackFlow) cancel() {
	n := len(f.places)
	c := &rackCycles{
		rackFlow: f, dist: make([]int64, n), seen: make([]int64, n), via: make([]int32, n), client: make([]int64, f.clients),
		viaOf: make([]int32, f.clients), changed: make([]bool, n/f.clients), moved: make([]bool, f.clients),
		best: make([]rackStep, f.racks), step: make([]rackStep, f.clients), mark: make([]bool, f.nodes()),
	}
	for on := c.find(); on >= 0; on = c.find() {
		if !c.turn(on) {
			return
		}
	}
}

// nodes is the number of nodes of the graph. They are numbered: the source,
// tasks, places, clients, the sink.
func (f *rackFlow) nodes() int {
	n := 1 + len(f.on) + len(f.places) + 1
	if f.shares {
		n += f.clients
	}
	return n
}

// find returns a node on a negative cycle, -1 when there is none.
func (c *rackCycles) find() int {
	c.source = rackStep{0, -1}
	clear(c.dist)
	clear(c.seen)
	clear(c.client)
	for i := range c.via {
		c.via[i] = viaNone
	}
	for j := range c.viaOf {
		c.viaOf[j], c.moved[j] = -1, false
	}
	// After the first pass only tasks that cost something have come nearer.
	moved := false
	for x := range c.places {
		moved = moved || c.places[x].dearest.cost < 0
	}
	for g := range c.changed {
		c.changed[g] = true
	}
	last := c.nodes()
	for pass := 1; moved; pass++ {
		if pass == last {
			return c.onCycle(c.firstNearer())
		}
		moved = c.fromTasks()
		if c.fromPlaces() {
			moved = true
		}
	}
	return -1
}

// fromTasks brings the source and the places nearer by way of tasks.
func (c *rackCycles) fromTasks() bool {
	moved := false
	for g := range c.changed {
		if !c.changed[g] {
			continue
		}
		c.changed[g] = false
		if c.fromGroup(g) {
			moved = true
		}
	}
	return moved
}

// fromGroup does it for the tasks of a group.
func (c *rackCycles) fromGroup(g int) bool {
	first := g * c.clients
	moved, strangers, source := false, false, noStep()
	for r := range c.best {
		c.best[r] = noStep()
	}
	for x := first; x < first+c.clients; x++ {
		p, d := &c.places[x], c.seen[x]
		if len(p.tasks) == 0 {
			continue
		}
		for r, s := range p.least {
			if s.cost += d; s.better(c.best[r]) {
				c.best[r] = s
			}
		}
		if s := (rackStep{p.dearest.cost + d, p.dearest.task}); s.better(source) {
			source = s
		}
		strangers = strangers || len(p.strangers) > 0
	}
	if source.cost < c.source.cost {
		c.source, moved = source, true
	}
	for j, r := range c.rackOf {
		c.step[j] = c.best[r]
	}
	if strangers {
		c.homewards(first)
	}
	for j, s := range c.step {
		if x := first + j; s.cost < c.dist[x] {
			c.dist[x], c.via[x], moved = s.cost, s.task, true
		}
	}
	return moved
}

// homewards regards that a task costs less where it was before.
func (c *rackCycles) homewards(first int) {
	for x := first; x < first+c.clients; x++ {
		for _, t := range c.places[x].strangers {
			home := c.was[t]
			if s := (rackStep{c.seen[x] - c.cost(t, c.on[t]) + c.cost(t, home), t}); s.better(c.step[home]) {
				c.step[home] = s
			}
		}
	}
}

// fromPlaces brings tasks and clients nearer by way of places, and places by
// way of clients.
func (c *rackCycles) fromPlaces() bool {
	moved := false
	for x, d := range c.dist {
		if d == c.seen[x] {
			continue
		}
		c.seen[x] = d
		g, j := x/c.clients, x%c.clients
		if len(c.places[x].tasks) > 0 {
			c.changed[g], moved = true, true
		}
		if c.shares && c.flow[x] < c.share[x] && d < c.client[j] {
			c.client[j], c.viaOf[j], c.moved[j], moved = d, int32(g), true, true
		}
	}
	for j := range c.moved {
		if !c.moved[j] {
			continue
		}
		c.moved[j] = false
		for x := j; x < len(c.dist); x += c.clients {
			if c.flow[x] > 0 && c.client[j] < c.dist[x] {
				c.dist[x], c.via[x], moved = c.client[j], viaClient, true
			}
		}
	}
	return moved
}

// firstNearer makes the last pass up to the first node that comes nearer.
func (c *rackCycles) firstNearer() int {
	for t := range int32(len(c.on)) {
		d := c.seen[c.place(t, c.on[t])] - c.cost(t, c.on[t])
		if d < c.source.cost {
			c.source = rackStep{d, t}
			return 0
		}
		for j := range int32(c.clients) {
			if x := c.place(t, j); j != c.on[t] && d+c.cost(t, j) < c.dist[x] {
				c.dist[x], c.via[x] = d+c.cost(t, j), t
				return c.placeNode(x)
			}
		}
	}
	for x, d := range c.dist {
		if d == c.seen[x] {
			continue
		}
		if len(c.places[x].tasks) > 0 {
			return c.placeNode(int32(x)) // one of its tasks, whose way leads through it
		}
		if j := x % c.clients; c.shares && c.flow[x] < c.share[x] && d < c.client[j] {
			c.client[j], c.viaOf[j] = d, int32(x/c.clients)
			return c.placeNode(int32(len(c.places) + j))
		}
	}
	return -1
}

// placeNode is the number of the node of a place; those of clients follow.
func (f *rackFlow) placeNode(x int32) int { return 1 + len(f.on) + int(x) }

// before is the node by way of which a node was reached, -1 for none.
func (c *rackCycles) before(v int) int {
	n, m := len(c.on), int32(c.clients)
	switch x := int32(v - 1 - n); {
	case v == 0:
		if c.source.task >= 0 {
			return 1 + int(c.source.task)
		}
	case v <= n:
		t := int32(v - 1)
		if x := c.place(t, c.on[t]); c.seen[x] < c.cost(t, c.on[t]) {
			return c.placeNode(x)
		}
	case int(x) < len(c.places):
		switch via := c.via[x]; via {
		case viaNone:
		case viaClient:
			return c.placeNode(int32(len(c.places)) + x%m)
		default:
			return 1 + int(via)
		}
	default:
		if j := x - int32(len(c.places)); c.viaOf[j] >= 0 {
			return c.placeNode(c.viaOf[j]*m + j)
		}
	}
	return -1
}

// onCycle follows the way to a node back until it meets itself.
func (c *rackCycles) onCycle(v int) int {
	clear(c.mark)
	for v >= 0 && !c.mark[v] {
		c.mark[v] = true
		v = c.before(v)
	}
	return v
}

// turn sends one unit round the cycle that a node is on: as each has a task on
// it, more does not fit. It says whether there was one.
func (c *rackCycles) turn(on int) bool {
	nodes := []int{on}
	for v := c.before(on); v != on; v = c.before(v) {
		nodes = append(nodes, v)
	}
	n, end := len(c.on), c.placeNode(int32(len(c.places)))
	var stale []int32
	for k, v := range nodes {
		u := nodes[(k+1)%len(nodes)] // the arc leads from u to v
		switch {
		case u <= n && v > n:
			t, x := int32(u-1), int32(v-1-n)
			stale = append(stale, c.place(t, c.on[t]), x)
			c.move(t, x%int32(c.clients))
		case u > n && u < end && v >= end:
			c.flow[u-1-n]++
		case u >= end:
			c.flow[v-1-n]--
		}
	}
	for _, x := range stale {
		c.refresh(x)
	}
	return len(stale) > 0
}
