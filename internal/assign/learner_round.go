package assign

import (
	"cmp"
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

// nobody stands for no instance.
const nobody int32 = -1

// learnerRound is the state of a round while it is decided. Tasks and nodes are
// numbered in their order, so ties to the lowest id are ties to the lowest
// number.
type learnerRound struct {
	set      LearnerSettings
	stateful []bool // by task
	nodes    []learnerNode
	loads    *learnerLoads

	marksVoid   bool
	switchWaits bool

	// By task. prev is the owner before the round, tagged whether it joined with
	// the task tagged beingLearned.
	prev     []int32
	tagged   []bool
	active   []int32 // owner after the round, as far as decided
	learner  []int32 // instance that learns it after the round
	released []bool

	// Copies on staying instances, sorted by task; those of task t are
	// copies[first[t]:first[t+1]]. The ex-owner is not among them.
	copies []learnerCopy
	first  []int32
	// counts is by task the number in copies of the learner that counts; nobody
	// when the task has none.
	counts []int32

	running int    // learners after the round, as far as decided
	waiting []Task // evacuations that max.learners lets wait
	missing int    // standbys that found no instance
	standby []learnerPlace
}

// learnerCopy is state of a task on a staying instance that does not own it.
type learnerCopy struct {
	task    Task
	node    int32
	lag     uint64
	learner bool // it was a learner before the round
	ready   bool
	exOwner bool
}

// learnerPlace is a task on an instance.
type learnerPlace struct {
	task Task
	node int32
}

func newLearnerRound(in *LearnerInput) *learnerRound {
	r := &learnerRound{set: in.Settings, stateful: statefulTasks(in.Topology)}
	r.nodes, r.marksVoid = learnerNodes(in, r.stateful)
	r.switchWaits = switchWaits(r.nodes)
	n := len(r.stateful)
	r.prev, r.active, r.learner, r.counts = nobodies(n), nobodies(n), nobodies(n), nobodies(n)
	r.tagged, r.released = make([]bool, n), make([]bool, n)
	r.findOwners()
	r.findCopies()
	r.findLearners()
	r.setBounds()
	return r
}

// statefulTasks says by task whether it has state.
func statefulTasks(t *Topology) []bool {
	list := make([]bool, t.Len())
	for i, s := range t.Subtopologies() {
		first, end := t.Tasks(i)
		for task := first; task < end; task++ {
			list[task] = s.Stateful
		}
	}
	return list
}

// nobodies is a list of n times nobody.
func nobodies(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = nobody
	}
	return list
}

// findOwners finds by task whose claim counts (equal: the lowest instance id).
func (r *learnerRound) findOwners() {
	by := make([]*LearnerWorker, len(r.prev))
	for i := range r.nodes {
		n := &r.nodes[i]
		for _, h := range n.held {
			if h.role != learnerActive {
				continue
			}
			w := &n.workers[h.worker]
			if by[h.task] == nil || compareClaims(w, by[h.task]) < 0 {
				by[h.task], r.prev[h.task], r.tagged[h.task] = w, int32(i), h.tagged
			}
		}
	}
}

// findCopies gathers the copies on staying instances: standbys, learners and
// claims that lose to a newer one.
func (r *learnerRound) findCopies() {
	r.first = make([]int32, len(r.prev)+1)
	r.eachCopy(func(_ int32, h *learnerHeld) { r.first[h.task+1]++ })
	for t := range r.prev {
		r.first[t+1] += r.first[t]
	}
	r.copies = make([]learnerCopy, r.first[len(r.prev)])
	next := slices.Clone(r.first)
	r.eachCopy(func(node int32, h *learnerHeld) {
		r.copies[next[h.task]] = learnerCopy{task: h.task, node: node, lag: h.lag, learner: h.role == learnerLearner, ready: h.ready}
		next[h.task]++
	})
}

func (r *learnerRound) eachCopy(do func(node int32, h *learnerHeld)) {
	for i := range r.nodes {
		n := &r.nodes[i]
		if !n.stays {
			continue
		}
		for j := range n.held {
			h := &n.held[j]
			if r.stateful[h.task] && r.prev[h.task] != int32(i) {
				do(int32(i), h)
			}
		}
	}
}

// findLearners finds the learner that counts: the ready one, then the smallest
// lag, then the lowest instance id. Copies of a task come in the order of
// their instances.
func (r *learnerRound) findLearners() {
	for i := range r.copies {
		c := &r.copies[i]
		if !c.learner {
			continue
		}
		best := r.counts[c.task]
		if best == nobody || cmp.Or(falseLast(c.ready, r.copies[best].ready), cmp.Compare(c.lag, r.copies[best].lag)) < 0 {
			r.counts[c.task] = int32(i)
		}
	}
}

// copiesOf gives the copies of a task but for the ex-owner's.
func (r *learnerRound) copiesOf(t Task) []learnerCopy {
	return r.copies[r.first[t]:r.first[t+1]]
}

// exOwner is the staying instance that owned the task and lost it in this
// round; it has a copy without lag.
func (r *learnerRound) exOwner(t Task) int32 {
	if p := r.prev[t]; p != nobody && p != r.active[t] && r.nodes[p].stays && r.stateful[t] {
		return p
	}
	return nobody
}

// setBounds reckons the bounds of the staying instances.
func (r *learnerRound) setBounds() {
	var workers []int
	for i := range r.nodes {
		if r.nodes[i].stays {
			workers = append(workers, len(r.nodes[i].workers))
		}
	}
	bounds := model.Bounds(len(r.prev), workers, max(r.set.Factor, 1000))
	for i := range r.nodes {
		if r.nodes[i].stays {
			r.nodes[i].bounds, bounds = bounds[0], bounds[1:]
		}
	}
	r.loads = newLearnerLoads(r.nodes)
}

// mayLearn reports whether max.learners allows one more.
func (r *learnerRound) mayLearn() bool {
	return r.set.MaxLearners <= 0 || r.running < r.set.MaxLearners
}
