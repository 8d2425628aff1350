package assign

import (
	"cmp"
	"slices"

	"github.com/streamctl/streamctl/internal/javaorder"
)

// haSpread deals the tasks of one process out to its threads (assignors.md,
// 2.3), pass by pass; the threads are in the order of their member ids.
type haSpread struct {
	h       *ha
	members []int32
	load    []int    // by thread: tasks of the passes before
	got     [][]Task // by thread: tasks of this pass

	at      []int32 // by task: 1 + its index in the queue, 0 when it is not there
	queue   *javaorder.PriorityQueue[Task]
	skipped []haSkip
}

// haSkip is a task that a thread had before and has no room for.
type haSkip struct {
	task   Task
	thread int
}

func newHASpread(h *ha) *haSpread {
	s := &haSpread{h: h, at: make([]int32, len(h.stateful))}
	s.queue = javaorder.NewPriorityQueue(func(a, b Task) bool { return a < b }, func(t Task, i int) { s.at[t] = int32(i + 1) })
	return s
}

// begin turns to another process.
func (s *haSpread) begin(members []int32) {
	s.members = members
	s.load = make([]int, len(members))
}

// pass deals tasks out, given in ascending order. With sticky each thread gets
// first what it had; with hashed the queue is built in the order of a hash set.
func (s *haSpread) pass(client int32, tasks []Task, hashed, sticky bool) [][]Task {
	if len(s.members) == 1 {
		s.load[0] += len(tasks)
		return [][]Task{tasks}
	}
	s.got = make([][]Task, len(s.members))
	if len(tasks) > 0 {
		total := len(tasks)
		for _, n := range s.load {
			total += n
		}
		s.fillQueue(tasks, hashed)
		s.deal(client, total/len(s.members), sticky)
	}
	for c, got := range s.got {
		s.load[c] += len(got)
		slices.Sort(got)
	}
	return s.got
}

func (s *haSpread) fillQueue(tasks []Task, hashed bool) {
	items := slices.Clone(tasks)
	if hashed {
		set := javaorder.NewHashMap(javaorder.DefaultCapacity)
		for _, t := range tasks {
			set.Put(s.h.g.Topology.hash(t))
		}
		for k, e := range set.Order() {
			items[k] = tasks[e]
		}
	}
	s.queue.Fill(items)
}

// deal gives each thread at least share tasks, those of passes before counted.
func (s *haSpread) deal(client int32, share int, sticky bool) {
	s.skipped = s.skipped[:0]
	var fill []int
	for c, m := range s.members {
		want := share - s.load[c]
		if sticky {
			s.keep(client, c, m, want)
		}
		if len(s.got[c]) < want {
			fill = append(fill, c)
		}
	}
	for len(fill) > 0 {
		c := fill[0]
		fill = fill[1:]
		t, ok := s.queue.Poll()
		if !ok {
			break
		}
		s.got[c] = append(s.got[c], t)
		if len(s.got[c])+s.load[c] < share {
			fill = append(fill, c)
		}
	}
	if s.queue.Len() > 0 {
		s.dealRest(share)
	}
}

// keep gives thread c what member m had of the queue, the least lag first, and
// notes what exceeds its want.
func (s *haSpread) keep(client int32, c int, m int32, want int) {
	type previous struct {
		lag  int64
		task Task
	}
	var had []previous
	for _, o := range s.h.g.Members[m].Offsets {
		if s.at[o.Task] > 0 && s.h.stateful[o.Task] {
			had = append(had, previous{s.h.lag(o.Task, client), o.Task})
		}
	}
	slices.SortFunc(had, func(a, b previous) int { return cmp.Or(cmp.Compare(a.lag, b.lag), cmp.Compare(a.task, b.task)) })
	for _, p := range had {
		switch {
		case s.at[p.task] == 0:
		case len(s.got[c]) < want:
			s.got[c] = append(s.got[c], p.task)
			s.queue.RemoveAt(int(s.at[p.task] - 1))
		default:
			s.skipped = append(s.skipped, haSkip{p.task, c})
		}
	}
}

// dealRest gives the threads that have exactly their share one more task each:
// first what they had to skip, then the queue's array from its front.
func (s *haSpread) dealRest(share int) {
	open := make([]bool, len(s.members))
	for c := range s.members {
		open[c] = len(s.got[c])+s.load[c] == share
	}
	// Of the threads that skipped one task the last counts.
	slices.SortStableFunc(s.skipped, func(a, b haSkip) int { return cmp.Compare(a.task, b.task) })
	for k, skip := range s.skipped {
		if k+1 < len(s.skipped) && s.skipped[k+1].task == skip.task {
			continue
		}
		if open[skip.thread] && s.at[skip.task] > 0 {
			open[skip.thread] = false
			s.got[skip.thread] = append(s.got[skip.thread], skip.task)
			s.queue.RemoveAt(int(s.at[skip.task] - 1))
		}
	}
	c := 0
	for _, t := range s.queue.Items() {
		s.at[t] = 0
		for c < len(open) && !open[c] {
			c++
		}
		if c < len(open) {
			s.got[c] = append(s.got[c], t)
			c++
		}
	}
	s.queue.Reset()
}
