package assign

import (
	"math"
	"slices"
)

// haRacks moves tasks to clients whose rack has replicas of their partitions
// (assignors.md, 3.8).
type haRacks struct {
	g      *Group
	number map[string]int32 // racks of clients
	cross  []int64          // by rack: partitions of the task looked at without a replica there
}

// findRacks returns nil when racks are not to be regarded or some are missing.
func (h *ha) findRacks() *haRacks {
	if s := h.g.Settings.RackStrategy; s == RackNone || s == "" {
		return nil
	}
	r := &haRacks{g: h.g, number: map[string]int32{}}
	for i := range h.clients {
		c := &h.clients[i]
		rack := h.g.Members[c.members[0]].Rack
		for _, m := range c.members {
			if h.g.Members[m].Rack == "" || h.g.Members[m].Rack != rack {
				return nil
			}
		}
		n, ok := r.number[rack]
		if !ok {
			n = int32(len(r.number))
			r.number[rack] = n
		}
		c.rack = n
	}
	for _, s := range h.g.Topology.Subtopologies() {
		topics := s.Sources
		if s.Stateful && h.g.Settings.Standbys > 0 {
			topics = slices.Concat(topics, s.Changelogs)
		}
		for _, topic := range topics {
			if !r.allRacks(topic, s.Partitions) {
				return nil
			}
		}
	}
	r.cross = make([]int64, len(r.number))
	return r
}

// allRacks says whether the replicas of all partitions of a topic have racks.
func (r *haRacks) allRacks(topic string, partitions int) bool {
	racks := r.g.TopicRacks[topic]
	if len(racks) < partitions {
		return false
	}
	for _, replicas := range racks[:partitions] {
		if len(replicas) == 0 || slices.Contains(replicas, "") {
			return false
		}
	}
	return true
}

// count sets cross for a task's source or changelog partitions.
func (r *haRacks) count(t Task, changelogs bool) {
	i := r.g.Topology.subtopology(t)
	s := r.g.Topology.Subtopologies()[i]
	first, _ := r.g.Topology.Tasks(i)
	topics := s.Sources
	if changelogs {
		topics = s.Changelogs
	}
	clear(r.cross)
	for k, topic := range topics {
		if slices.Contains(topics[:k], topic) {
			continue
		}
		for n := range r.cross {
			r.cross[n]++
		}
		replicas := r.g.TopicRacks[topic][t-first]
		for j, rack := range replicas {
			if n, ok := r.number[rack]; ok && !slices.Contains(replicas[:j], rack) {
				r.cross[n]--
			}
		}
	}
}

// rackCosts are the weights of one run.
type rackCosts struct {
	traffic, nonOverlap int64
	changelogs          bool // the traffic is that of the changelogs
}

// flowEdges appends the edges from a task's node to those of clients, which
// are numbered from base on.
func (r *haRacks) flowEdges(edges []flowEdge, h *ha, node, base int32, t Task, clients []int32, now int32, w rackCosts) []flowEdge {
	r.count(t, w.changelogs)
	for j, i := range clients {
		e := flowEdge{from: node, to: base + int32(j), capacity: 1, cost: w.traffic * r.cross[h.clients[i].rack]}
		if i != now {
			e.cost += w.nonOverlap
		}
		edges = append(edges, e)
	}
	return edges
}

// optimiseActives moves the stateful or the stateless actives.
func (r *haRacks) optimiseActives(h *ha, stateful bool) {
	var tasks []Task
	for t, s := range h.stateful {
		if s == stateful {
			tasks = append(tasks, Task(t))
		}
	}
	if len(tasks) == 0 {
		return
	}
	w := rackCosts{traffic: 1} // of stateless tasks nothing else counts
	if stateful {
		w = rackCosts{traffic: int64(h.g.Settings.RackTrafficCost), nonOverlap: int64(h.g.Settings.RackNonOverlapCost)}
	}
	clients := make([]int32, len(h.clients))
	for i := range clients {
		clients[i] = int32(i)
	}
	now := func(t Task) int32 { return h.active[t] }
	var to []int32
	if h.g.Settings.RackStrategy == RackMinTraffic {
		to = r.minTraffic(h, tasks, clients, now, w)
	} else {
		to = r.balanceSubtopology(h, tasks, clients, now, w)
	}
	for n, t := range tasks {
		if stateful {
			h.count[h.active[t]]--
			h.count[to[n]]++
		}
		h.active[t] = to[n]
	}
}

// minTraffic returns by task the client it shall be on; each client keeps its
// number of tasks.
func (r *haRacks) minTraffic(h *ha, tasks []Task, clients []int32, now func(Task) int32, w rackCosts) []int32 {
	base := int32(1 + len(tasks))
	sink := base + int32(len(clients))
	edges := make([]flowEdge, 0, len(tasks)*(len(clients)+1)+len(clients))
	for n := range tasks {
		edges = append(edges, flowEdge{from: 0, to: int32(1 + n), capacity: 1, flow: 1})
	}
	has := make([]int64, len(clients))
	for n, t := range tasks {
		start := len(edges)
		edges = r.flowEdges(edges, h, int32(1+n), base, t, clients, now(t), w)
		j := slices.Index(clients, now(t))
		edges[start+j].flow = 1
		has[j]++
	}
	for j := range clients {
		edges = append(edges, flowEdge{from: base + int32(j), to: sink, capacity: has[j], flow: has[j]})
	}
	g := newFlowGraph(int(sink)+1, edges)
	g.cancel()
	return destinations(g, tasks, clients, now)
}

// balanceSubtopology does the same with a fair share of each subtopology for
// each client.
func (r *haRacks) balanceSubtopology(h *ha, tasks []Task, clients []int32, now func(Task) int32, w rackCosts) []int32 {
	m := int32(len(clients))
	has := make([]int64, m)
	var edges []flowEdge
	for n, t := range tasks {
		edges = append(edges, flowEdge{from: 0, to: int32(1 + n), capacity: 1})
		has[now(t)]++
	}
	// The tasks of each subtopology in this run, from their first to the next one's.
	starts := []int{}
	last := -1
	for n, t := range tasks {
		if sub := r.g.Topology.subtopology(t); sub != last {
			starts, last = append(starts, n), sub
		}
	}
	base := int32(1 + len(tasks))
	second := base + m*int32(len(starts))
	sink := second + m
	for k := range starts {
		for n := starts[k]; n < endOf(starts, k, len(tasks)); n++ {
			edges = r.flowEdges(edges, h, int32(1+n), base+m*int32(k), tasks[n], clients, now(tasks[n]), w)
		}
	}
	for k := range starts {
		size := endOf(starts, k, len(tasks)) - starts[k]
		for j := range m {
			share := math.Ceil(float64(has[j]) / float64(len(tasks)) * float64(size))
			edges = append(edges, flowEdge{from: base + m*int32(k) + j, to: second + j, capacity: int64(share)})
		}
	}
	for j := range m {
		edges = append(edges, flowEdge{from: second + j, to: sink, capacity: has[j]})
	}
	g := newFlowGraph(int(sink)+1, edges)
	g.fill()
	g.cancel()
	return destinations(g, tasks, clients, now)
}

func endOf(starts []int, k, end int) int {
	if k+1 < len(starts) {
		return starts[k+1]
	}
	return end
}

// destinations reads back where the flow of each task goes; a task without
// flow stays.
func destinations(g *flowGraph, tasks []Task, clients []int32, now func(Task) int32) []int32 {
	to := make([]int32, len(tasks))
	for n, t := range tasks {
		to[n] = now(t)
		// The first arc leads back to the source, then one to each client.
		first := g.first[1+n] + 1
		for j := range clients {
			if g.flow(first+int32(j)) > 0 {
				to[n] = clients[j]
				break
			}
		}
	}
	return to
}
