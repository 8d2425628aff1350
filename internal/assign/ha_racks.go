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

// flow makes the problem of spreading tasks over clients; group is by task,
// its numbers ascend from 0 without gaps.
func (r *haRacks) flow(h *ha, tasks []Task, clients []int32, now func(Task) int32, group []int32, w rackCosts) *rackFlow {
	number := make([]int32, len(r.number)) // of the racks that matter here
	for i := range number {
		number[i] = -1
	}
	var racks []int32
	rackOf := make([]int32, len(clients))
	for j, i := range clients {
		rack := h.clients[i].rack
		if number[rack] < 0 {
			number[rack] = int32(len(racks))
			racks = append(racks, rack)
		}
		rackOf[j] = number[rack]
	}
	place := make([]int32, len(h.clients)) // by client: its index in clients
	for j, i := range clients {
		place[i] = int32(j)
	}
	was := make([]int32, len(tasks))
	base := make([]int64, 0, len(tasks)*len(racks))
	for n, t := range tasks {
		was[n] = place[now(t)]
		r.count(t, w.changelogs)
		for _, rack := range racks {
			base = append(base, w.traffic*r.cross[rack])
		}
	}
	return newRackFlow(len(clients), rackOf, len(racks), int(group[len(group)-1])+1, group, was, base, w.nonOverlap)
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
	f := r.flow(h, tasks, clients, now, make([]int32, len(tasks)), w)
	f.startAsIs()
	f.cancel()
	return f.destinations(clients)
}

// balanceSubtopology does the same with a fair share of each subtopology for
// each client.
func (r *haRacks) balanceSubtopology(h *ha, tasks []Task, clients []int32, now func(Task) int32, w rackCosts) []int32 {
	group := make([]int32, len(tasks))
	var sizes []int // by group
	last := -1
	for n, t := range tasks {
		if sub := r.g.Topology.subtopology(t); sub != last {
			sizes, last = append(sizes, 0), sub
		}
		group[n] = int32(len(sizes) - 1)
		sizes[group[n]]++
	}
	f := r.flow(h, tasks, clients, now, group, w)
	m := len(clients)
	f.shares, f.share, f.flow = true, make([]int64, len(f.places)), make([]int64, len(f.places))
	f.total, f.out = make([]int64, m), make([]int64, m)
	for _, j := range f.was {
		f.total[j]++
	}
	for x := range f.places {
		f.share[x] = int64(math.Ceil(float64(f.total[x%m]) / float64(len(tasks)) * float64(sizes[x/m])))
	}
	f.fill()
	f.cancel()
	return f.destinations(clients)
}

// destinations reads back where the flow of each task goes; a task without
// flow stays.
func (f *rackFlow) destinations(clients []int32) []int32 {
	to := make([]int32, len(f.on))
	for t, j := range f.on {
		if j < 0 {
			j = f.was[t]
		}
		to[t] = clients[j]
	}
	return to
}
