package assign

import (
	"cmp"
	"slices"

	"github.com/streamctl/streamctl/internal/javaorder"
	"github.com/streamctl/streamctl/internal/model"
)

// sticky is one run of the streams-sticky assignor.
type sticky struct {
	g       *Group
	variant StickyVariant

	members []stickyMember  // as in the group
	procs   []stickyProcess // as in the group
	load    []float64       // by process: its tasks by its members
	walk    []int32         // processes with members, in the order of the broker's map

	subs        []int  // subtopologies in the order of their ids as text
	byPartition []Task // all tasks by partition, then subtopology

	// By task.
	prevActive []int32 // member, -1 for none
	active     []int32 // member, -1 as long as it has none
	copies     []int32 // first of its copies in nodes, -1 for none
	nodes      []stickyCopy
	prev       stickyPrevious

	activeQuota, totalQuota stickyQuota
}

// stickyMember is one member; count is its tasks in all roles.
type stickyMember struct {
	process int32
	count   int32
}

// stickyProcess is one process.
type stickyProcess struct {
	members []int32 // in the order of its map
	count   int32
	least   *javaorder.PriorityQueue[int32] // of its members by count; used while fresh
	fresh   bool
}

// stickyCopy is a member that holds a task in some role; copies of a task are
// chained.
type stickyCopy struct{ member, next int32 }

// stickyQuota is how many tasks one member shall have; it shrinks as members
// reach it.
type stickyQuota struct{ tasks, members, each int }

func newStickyQuota(tasks, members int) stickyQuota {
	q := stickyQuota{tasks: tasks, members: members}
	q.share()
	return q
}

func (q *stickyQuota) share() {
	q.each = 0
	if q.members == 0 {
		return
	}
	q.each = q.tasks / q.members
	if q.tasks%q.members > 0 {
		q.each++
	}
}

// reached tells the quota that a member now has n tasks.
func (q *stickyQuota) reached(n int32) {
	if int(n) == q.each {
		q.members--
		q.tasks -= q.each
		q.share()
	}
}

func newSticky(g *Group, v StickyVariant) *sticky {
	n := g.Topology.Len()
	s := &sticky{g: g, variant: v, members: make([]stickyMember, len(g.Members)), procs: make([]stickyProcess, len(g.Processes))}
	s.load = make([]float64, len(g.Processes))
	s.orderTasks()
	s.prevActive, s.active, s.copies = filled(n, -1), filled(n, -1), filled(n, -1)
	order := s.orderMembers()
	for _, m := range order {
		for _, t := range g.Members[m].Active {
			s.prevActive[t] = m
		}
	}
	s.prev = newStickyPrevious(g, order, v)
	stateful := 0
	for _, sub := range g.Topology.Subtopologies() {
		if sub.Stateful {
			stateful += sub.Partitions
		}
	}
	s.activeQuota = newStickyQuota(n, len(g.Members))
	s.totalQuota = newStickyQuota(n+g.Settings.Standbys*stateful, len(g.Members))
	s.nodes = make([]stickyCopy, 0, n+min(g.Settings.Standbys, len(g.Processes))*stateful)
	return s
}

// orderMembers returns the members in the order of the broker's map and puts
// the processes in that of the assignor's.
func (s *sticky) orderMembers() []int32 {
	byID := javaorder.NewTextMap(javaorder.DefaultCapacity)
	for _, m := range s.g.Members {
		byID.Put(m.ID)
	}
	order := byID.Order()
	byProcess := javaorder.NewTextMap(len(order))
	var inserted []int32
	for _, m := range order {
		p := s.g.Members[m].Process
		s.members[m].process = int32(p)
		if len(s.procs[p].members) == 0 {
			if id := s.g.Processes[p].ID; s.variant == Sticky44 {
				byProcess.ComputeIfAbsent(id)
			} else {
				byProcess.Put(id)
			}
			inserted = append(inserted, int32(p))
		} else if s.variant == Sticky44 {
			byProcess.ComputePresent()
		}
		s.procs[p].members = append(s.procs[p].members, m)
	}
	s.walk = byProcess.Order()
	for i, e := range s.walk {
		s.walk[i] = inserted[e]
	}
	for i := range s.procs {
		s.orderWithin(&s.procs[i])
	}
	return order
}

// orderWithin puts the members of a process in the order of its own map.
func (s *sticky) orderWithin(p *stickyProcess) {
	if len(p.members) < 2 {
		return
	}
	within := javaorder.NewTextMap(javaorder.DefaultCapacity)
	for _, m := range p.members {
		within.Put(s.g.Members[m].ID)
	}
	order := within.Order()
	for i, e := range order {
		order[i] = p.members[e]
	}
	p.members = order
}

// orderTasks sorts the subtopologies by id as text, and all tasks by
// partition, then by subtopology.
func (s *sticky) orderTasks() {
	topology := s.g.Topology
	s.subs = make([]int, len(topology.Subtopologies()))
	for i := range s.subs {
		s.subs[i] = i
	}
	slices.SortFunc(s.subs, func(a, b int) int {
		x, y := topology.Subtopologies()[a], topology.Subtopologies()[b]
		return cmp.Or(javaorder.CompareStrings(x.Topology, y.Topology), javaorder.CompareStrings(x.ID, y.ID))
	})
	s.byPartition = make([]Task, 0, topology.Len())
	open := slices.Clone(s.subs)
	for p := 0; len(open) > 0; p++ {
		kept := open[:0]
		for _, i := range open {
			if p < topology.Subtopologies()[i].Partitions {
				s.byPartition = append(s.byPartition, topology.first[i]+Task(p))
				kept = append(kept, i)
			}
		}
		open = kept
	}
}

// eachTask calls f for all tasks by subtopology, then partition.
func (s *sticky) eachTask(f func(Task)) {
	for _, i := range s.subs {
		first, end := s.g.Topology.Tasks(i)
		for t := first; t < end; t++ {
			f(t)
		}
	}
}

// has says whether a process holds a task in any role.
func (s *sticky) has(p int32, t Task) bool {
	for k := s.copies[t]; k >= 0; k = s.nodes[k].next {
		if s.members[s.nodes[k].member].process == p {
			return true
		}
	}
	return false
}

// give puts a task on a member and returns how many it now has.
func (s *sticky) give(m int32, t Task, role model.Role) int32 {
	if role == model.Active {
		s.active[t] = m
	}
	s.nodes = append(s.nodes, stickyCopy{m, s.copies[t]})
	s.copies[t] = int32(len(s.nodes) - 1)
	p := &s.procs[s.members[m].process]
	p.count++
	s.load[s.members[m].process] = float64(p.count) / float64(len(p.members))
	s.members[m].count++
	return s.members[m].count
}

// giveNamed puts a task on a certain member.
func (s *sticky) giveNamed(m int32, t Task, role model.Role) {
	s.procs[s.members[m].process].fresh = false
	s.reached(s.give(m, t, role), role)
}

// giveLeast puts a task on the member of a process with the fewest tasks.
func (s *sticky) giveLeast(process int32, t Task, role model.Role) {
	p := &s.procs[process]
	if len(p.members) == 1 {
		s.reached(s.give(p.members[0], t, role), role)
		return
	}
	if !p.fresh {
		if p.least == nil {
			p.least = javaorder.NewPriorityQueue(func(a, b int32) bool { return s.members[a].count < s.members[b].count }, nil)
		}
		p.least.Reset()
		for _, m := range p.members {
			p.least.Offer(m)
		}
		p.fresh = true
	}
	m, _ := p.least.Poll()
	n := s.give(m, t, role)
	p.least.Offer(m)
	s.reached(n, role)
}

func (s *sticky) reached(n int32, role model.Role) {
	if role == model.Active {
		s.activeQuota.reached(n)
	}
	s.totalQuota.reached(n)
}

func filled(n int, x int32) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = x
	}
	return out
}
