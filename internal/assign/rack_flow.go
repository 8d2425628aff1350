package assign

import (
	"math"
	"slices"
)

// rackFlow is the cheapest way to spread tasks over clients by racks
// (assignors.md, 3.8). Kafka solves it as a flow, sending one unit after the
// other round negative cycles; the cheapest flow is not unique, so which cycle
// comes next is part of the result. Its graph has an arc for each task and
// client; this one finds the same cycles without them. Clients of one rack cost
// a task the same but for the one it was on, so all tasks on a client together
// are looked at rack by rack.
//
// The graph: the source, a node for each task, for each group of tasks one for
// each client (a place), with shares one more for each client, the sink. A
// place is the number group times clients plus client.
type rackFlow struct {
	clients int
	racks   int
	rackOf  []int32 // by client

	group []int32 // by task
	was   []int32 // by task: client it was on before
	on    []int32 // by task: client that its flow leads to, -1 for none yet
	base  []int64 // by task, by rack: cost on a client there that it was not on, less extra
	extra int64   // cost of a client that the task was not on

	places []rackPlace

	// With shares, which only balance_subtopology has.
	shares bool
	share  []int64 // by place: how many tasks of the group the client may get
	flow   []int64 // by place: how many it has
	total  []int64 // by client: how many tasks it may get
	out    []int64 // by client: how many it has
}

// rackPlace is the tasks of one group on one client.
type rackPlace struct {
	tasks []int32 // ascending
	// By rack: the least cost of moving one of the tasks to a client there
	// that it was not on, and the first task of which that is true.
	least     []rackStep
	dearest   rackStep // the first task with the highest cost where it is
	strangers []int32  // tasks that were on another client
}

// rackStep is a cost and the task that has it.
type rackStep struct {
	cost int64
	task int32
}

// better says whether a step costs less than another, of equals the first task.
func (s rackStep) better(o rackStep) bool {
	return s.cost < o.cost || s.cost == o.cost && s.task < o.task
}

// noStep costs more than any other.
func noStep() rackStep { return rackStep{cost: math.MaxInt64, task: math.MaxInt32} }

func newRackFlow(clients int, rackOf []int32, racks int, groups int, group, was []int32, base []int64, extra int64) *rackFlow {
	f := &rackFlow{clients: clients, racks: racks, rackOf: rackOf, group: group, was: was, base: base, extra: extra}
	f.on = filled(len(group), -1)
	f.places = make([]rackPlace, groups*clients)
	least := make([]rackStep, len(f.places)*racks)
	for x := range f.places {
		f.places[x].least = least[x*racks : (x+1)*racks]
	}
	return f
}

// startAsIs lets every task flow to where it was.
func (f *rackFlow) startAsIs() {
	for t, j := range f.was {
		f.on[t] = j
		p := &f.places[f.place(int32(t), j)]
		p.tasks = append(p.tasks, int32(t))
	}
	for x := range f.places {
		f.refresh(int32(x))
	}
}

func (f *rackFlow) place(t, client int32) int32 { return f.group[t]*int32(f.clients) + client }

func (f *rackFlow) cost(t, client int32) int64 {
	c := f.base[int(t)*f.racks+int(f.rackOf[client])]
	if client != f.was[t] {
		c += f.extra
	}
	return c
}

// move lets a task flow to another client.
func (f *rackFlow) move(t, client int32) {
	if from := f.on[t]; from >= 0 {
		p := &f.places[f.place(t, from)]
		i, _ := slices.BinarySearch(p.tasks, t)
		p.tasks = slices.Delete(p.tasks, i, i+1)
	}
	f.on[t] = client
	p := &f.places[f.place(t, client)]
	i, _ := slices.BinarySearch(p.tasks, t)
	p.tasks = slices.Insert(p.tasks, i, t)
}

// refresh reckons anew what it costs to move the tasks of a place.
func (f *rackFlow) refresh(x int32) {
	p, client := &f.places[x], x%int32(f.clients)
	for r := range p.least {
		p.least[r] = noStep()
	}
	p.dearest, p.strangers = noStep(), p.strangers[:0]
	for _, t := range p.tasks {
		now := f.cost(t, client)
		for r := range p.least {
			if s := (rackStep{f.base[int(t)*f.racks+r] + f.extra - now, t}); s.better(p.least[r]) {
				p.least[r] = s
			}
		}
		if s := (rackStep{-now, t}); s.better(p.dearest) {
			p.dearest = s
		}
		if f.was[t] != client {
			p.strangers = append(p.strangers, t)
		}
	}
}
