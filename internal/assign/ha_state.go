package assign

import (
	"fmt"
	"math"
	"slices"

	"github.com/streamctl/streamctl/internal/javaorder"
)

// ha is one run of the high-availability assignor. Clients are the processes
// in the order of their ids; a client is its place in that order.
type ha struct {
	g       *Group
	clients []haClient
	client  []int32 // by process: its client, -1 for a process without members

	// By task.
	stateful []bool
	end      []int64   // end offset sum
	active   []int32   // client that has it active, -1 for none yet
	standbys [][]int32 // clients that have it as standby, in no order

	reports haReports

	count  []int32    // by client: tasks in both roles
	least  *leastTree // of the loads, while it is kept up
	zones  *haZones   // the same by client tags, while they are placed by tags
	marked []int32    // by client: the mark it was last given
	mark   int32

	warmup        []haCopy
	warmupsLeft   int // of max.warmup.replicas; may go below 0
	movedActives  int
	movedStandbys int
	racks         *haRacks // nil: not optimised by racks
}

// haClient is one process.
type haClient struct {
	process  int
	id       javaorder.UUID
	capacity int32   // threads
	members  []int32 // in the order of the map the leader builds
	rack     int32   // number in haRacks
	tags     []int32 // client tags as numbers, sorted
}

// haCopy is a task on a client.
type haCopy struct {
	task   Task
	client int32
}

func newHA(g *Group) (*ha, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	n := g.Topology.Len()
	h := &ha{g: g, stateful: make([]bool, n), end: make([]int64, n), active: make([]int32, n), standbys: make([][]int32, n)}
	if err := h.sortClients(); err != nil {
		return nil, err
	}
	for i := range h.active {
		h.active[i] = -1
	}
	for i, s := range g.Topology.Subtopologies() {
		first, end := g.Topology.Tasks(i)
		for t := first; s.Stateful && t < end; t++ {
			h.stateful[t] = true
			if p := int(t - first); p < len(s.EndOffsets) {
				h.end[t] = s.EndOffsets[p]
			}
		}
	}
	if r := min(g.Settings.Standbys, len(h.clients)); r > 0 {
		room := make([]int32, 0, n*min(r+1, 4)) // most tasks never hold more
		for t := range h.standbys {
			if k := min(r+1, 4); h.stateful[t] {
				h.standbys[t] = room[len(room) : len(room) : len(room)+k]
				room = room[:len(room)+k]
			}
		}
	}
	h.count = make([]int32, len(h.clients))
	h.marked = make([]int32, len(h.clients))
	h.internTags()
	h.reports = h.readReports()
	h.racks = h.findRacks()
	return h, nil
}

// sortClients makes the clients and gives each its members in the order of the
// hash map by member id that the leader walks (assignors.md, 2.1).
func (h *ha) sortClients() error {
	ids := make([]javaorder.UUID, len(h.g.Processes))
	members := make([][]int32, len(ids))
	for i, p := range h.g.Processes {
		id, err := javaorder.ParseUUID(p.ID)
		if err != nil {
			return fmt.Errorf("process id: %w", err)
		}
		ids[i] = id
	}
	byID := javaorder.NewTextMap(javaorder.DefaultCapacity)
	for _, m := range h.g.Members {
		byID.Put(m.ID)
	}
	for _, m := range byID.Order() {
		p := h.g.Members[m].Process
		members[p] = append(members[p], m)
	}
	for i, ms := range members {
		if len(ms) > 0 {
			h.clients = append(h.clients, haClient{process: i, id: ids[i], capacity: int32(len(ms)), members: ms})
		}
	}
	slices.SortFunc(h.clients, func(a, b haClient) int { return a.id.Compare(b.id) })
	h.client = make([]int32, len(ids))
	for i := range h.client {
		h.client[i] = -1
	}
	for i, c := range h.clients {
		if i > 0 && c.id == h.clients[i-1].id {
			return fmt.Errorf("process %q is there twice", h.g.Processes[c.process].ID)
		}
		h.client[c.process] = int32(i)
	}
	return nil
}

// has says whether a client holds a task in either role.
func (h *ha) has(i int32, t Task) bool {
	return h.active[t] == i || slices.Contains(h.standbys[t], i)
}

func (h *ha) addStandby(t Task, i int32) { h.standbys[t] = append(h.standbys[t], i) }

func (h *ha) dropStandby(t Task, i int32) {
	s := h.standbys[t]
	if k := slices.Index(s, i); k >= 0 {
		s[k] = s[len(s)-1]
		h.standbys[t] = s[:len(s)-1]
	}
}

// add changes the number of tasks of a client.
func (h *ha) add(i, by int32) {
	h.count[i] += by
	if h.least != nil {
		h.least.set(i, h.load(i))
	}
	if h.zones != nil {
		h.zones.set(i, h.load(i))
	}
}

// load is the tasks of a client by its capacity, as Java reckons it.
func (h *ha) load(i int32) float64 { return float64(h.count[i]) / float64(h.clients[i].capacity) }

// watchLoads begins to keep the least loaded client.
func (h *ha) watchLoads() {
	h.least = newLeastTree(len(h.clients), h.load)
}

// newMark makes all clients unmarked.
func (h *ha) newMark() {
	if h.mark == math.MaxInt32 {
		clear(h.marked)
		h.mark = 0
	}
	h.mark++
}

func (h *ha) setMark(i int32) { h.marked[i] = h.mark }

// markHolders marks the clients that hold a task in either role.
func (h *ha) markHolders(t Task) {
	h.newMark()
	if a := h.active[t]; a >= 0 {
		h.setMark(a)
	}
	for _, i := range h.standbys[t] {
		h.setMark(i)
	}
}

// leastUnmarked is the least (load, id) client that has no mark, -1 for none.
func (h *ha) leastUnmarked() int32 { return h.least.best(h.marked, h.mark) }

// standbyLists gives by client its standbys, ascending.
func (h *ha) standbyLists() [][]Task {
	return h.lists(func(yield func(Task, int32)) {
		for t, holders := range h.standbys {
			for _, i := range holders {
				yield(Task(t), i)
			}
		}
	})
}

// activeLists gives by client its actives, ascending.
func (h *ha) activeLists(statefulOnly bool) [][]Task {
	return h.lists(func(yield func(Task, int32)) {
		for t, i := range h.active {
			if i >= 0 && (h.stateful[t] || !statefulOnly) {
				yield(Task(t), i)
			}
		}
	})
}

// warmupLists gives by client its warm-ups of actives, ascending.
func (h *ha) warmupLists() [][]Task {
	slices.SortFunc(h.warmup, func(a, b haCopy) int { return int(a.task) - int(b.task) })
	return h.lists(func(yield func(Task, int32)) {
		for _, w := range h.warmup {
			yield(w.task, w.client)
		}
	})
}

// lists deals copies out by client, in the order in which walk gives them.
func (h *ha) lists(walk func(yield func(Task, int32))) [][]Task {
	return dealOut(len(h.clients), walk)
}

// dealOut makes n lists of what walk gives, in that order; walk runs twice.
func dealOut(n int, walk func(yield func(Task, int32))) [][]Task {
	sizes := make([]int, n)
	total := 0
	walk(func(_ Task, i int32) { sizes[i]++; total++ })
	room := make([]Task, total)
	out := make([][]Task, n)
	for i, size := range sizes {
		out[i], room = room[:0:size], room[size:]
	}
	walk(func(t Task, i int32) { out[i] = append(out[i], t) })
	return out
}
