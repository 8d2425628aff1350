package assign

import (
	"cmp"
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

// learnerSpread spreads the tasks of one instance over its workers
// (stream-protocol.md, Inside an instance). Workers are numbered by member id.
type learnerSpread struct {
	node    *learnerNode
	actives []int // by worker, as far as placed
	all     []int // by worker, of all roles, as far as placed
	placed  []learnerSpreadTask
}

// learnerSpreadTask is a task on a worker.
type learnerSpreadTask struct {
	task   Task
	worker int32
	role   learnerRole
}

func (r *learnerRound) spread(n *learnerNode, l *LearnerShare) []LearnerWorkerShare {
	s := &learnerSpread{
		node:    n,
		actives: make([]int, len(n.workers)),
		all:     make([]int, len(n.workers)),
		placed:  make([]learnerSpreadTask, 0, len(l.Active)+len(l.Learner)+len(l.Standby)),
	}
	s.placeActives(l.Active)
	// What stays with its worker counts before anything new is placed.
	newLearners := s.keep(l.Learner, learnerLearner)
	newStandbys := s.keep(l.Standby, learnerStandby)
	s.fill(newLearners, learnerLearner, s.all)
	s.fill(newStandbys, learnerStandby, s.all)

	slices.SortFunc(s.placed, func(a, b learnerSpreadTask) int { return cmp.Compare(a.task, b.task) })
	out := make([]LearnerWorkerShare, len(n.workers))
	for w := range n.workers {
		out[w].ID = n.workers[w].ID
		if s.all[w] > 0 {
			out[w].Tasks = make([]LearnerAssigned, 0, s.all[w])
		}
	}
	for _, p := range s.placed {
		a := LearnerAssigned{Task: p.task}
		switch p.role {
		case learnerActive:
			a.Role, a.BeingLearned, a.Release = model.Active, r.learner[p.task] != nobody, r.released[p.task]
		case learnerLearner:
			owner := r.active[p.task]
			a.Role, a.Evacuation = model.Learner, owner != nobody && !r.nodes[owner].stays
		case learnerStandby:
			a.Role = model.Standby
		}
		out[p.worker].Tasks = append(out[p.worker].Tasks, a)
	}
	return out
}

// home is the worker that had the task, and its role there.
func (s *learnerSpread) home(t Task) (worker int32, role learnerRole, had bool) {
	i, had := slices.BinarySearchFunc(s.node.held, t, func(h learnerHeld, t Task) int { return cmp.Compare(h.task, t) })
	if !had {
		return 0, 0, false
	}
	return s.node.held[i].worker, s.node.held[i].role, true
}

func (s *learnerSpread) place(t Task, worker int32, role learnerRole) {
	s.placed = append(s.placed, learnerSpreadTask{t, worker, role})
	s.all[worker]++
	if role == learnerActive {
		s.actives[worker]++
	}
}

// placeActives gives each worker a share of the actives: those that have most of
// them the larger share. Each keeps what it has up to its share, lowest ids
// first; a learner that becomes active is its worker's own.
func (s *learnerSpread) placeActives(list []Task) {
	homes, has := make([]int32, len(list)), make([]int, len(s.actives))
	for i, t := range list {
		homes[i] = nobody
		if w, role, had := s.home(t); had && role != learnerStandby {
			homes[i] = w
			has[w]++
		}
	}
	share := s.shares(len(list), has)
	var rest []Task
	for i, t := range list {
		if w := homes[i]; w != nobody && s.actives[w] < share[w] {
			s.place(t, w, learnerActive)
		} else {
			rest = append(rest, t)
		}
	}
	s.fill(rest, learnerActive, s.actives)
}

// shares gives how many of n actives each worker takes, by what each has.
func (s *learnerSpread) shares(n int, has []int) []int {
	order := make([]int, len(has))
	for w := range order {
		order[w] = w
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(has[b], has[a]) })
	share := make([]int, len(has))
	for place, w := range order {
		share[w] = n / len(has)
		if place < n%len(has) {
			share[w]++
		}
	}
	return share
}

// keep leaves tasks with their workers and gives those that are new.
func (s *learnerSpread) keep(list []Task, role learnerRole) (fresh []Task) {
	for _, t := range list {
		if w, _, had := s.home(t); had {
			s.place(t, w, role)
		} else {
			fresh = append(fresh, t)
		}
	}
	return fresh
}

// fill gives tasks from the highest down to the worker with the fewest by count.
func (s *learnerSpread) fill(list []Task, role learnerRole, count []int) {
	if len(list) == 0 {
		return
	}
	everybody := func(int32) bool { return true }
	fewest := newLearnerTree(len(count), everybody, func(a, b int32) bool { return count[a] < count[b] })
	for _, t := range slices.Backward(list) {
		w := fewest.best()
		s.place(t, w, role)
		fewest.update(w, true)
	}
}
