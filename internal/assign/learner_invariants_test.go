package assign

import (
	"fmt"
	"math"
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

// learnerPlaces says where the tasks are after a round.
type learnerPlaces struct {
	active, learner map[Task]string
	standby         map[Task][]string
	release         map[Task]bool
}

// checkLearnerRound checks what holds in every round, from any state of the
// members: the invariants 1 to 4 of stream-protocol.md, and the first half of 5.
func checkLearnerRound(in LearnerInput, r *LearnerResult) error {
	f := factsOf(&in)
	p := &learnerPlaces{active: map[Task]string{}, learner: map[Task]string{}, standby: map[Task][]string{}, release: map[Task]bool{}}
	for _, s := range r.Instances {
		if s.Stays != f.stays[s.ID] {
			return fmt.Errorf("instance %q: stays %v", s.ID, s.Stays)
		}
		for _, t := range s.Active {
			if p.active[t] != "" {
				return fmt.Errorf("invariant 1: task %d is active on %q and %q", t, p.active[t], s.ID)
			}
			p.active[t] = s.ID
		}
		for _, t := range s.Learner {
			if p.learner[t] != "" || !s.Stays {
				return fmt.Errorf("invariant 1: task %d is learned on %q and on %q, which stays: %v", t, p.learner[t], s.ID, s.Stays)
			}
			p.learner[t] = s.ID
		}
		for _, t := range s.Standby {
			p.standby[t] = append(p.standby[t], s.ID)
		}
		for _, t := range s.Release {
			p.release[t] = true
			if in.Topology.Stateful(t) || p.active[t] != s.ID {
				return fmt.Errorf("task %d is released by %q", t, s.ID)
			}
		}
	}
	for t := range Task(in.Topology.Len()) {
		if err := f.checkTask(t, p, r); err != nil {
			return err
		}
	}
	return f.checkTotals(p, r)
}

func (f *learnerFacts) checkTask(t Task, p *learnerPlaces, r *LearnerResult) error {
	stateful := f.in.Topology.Stateful(t)
	owner, active, learner := f.owner[t], p.active[t], p.learner[t]
	before := f.present[owner]
	someoneStays := slices.ContainsFunc(r.Instances, func(s LearnerShare) bool { return s.Stays })
	// 1
	if active == "" && someoneStays && !r.SwitchWaiting {
		return fmt.Errorf("invariant 1: task %d has no owner", t)
	}
	holders := append(slices.Clone(p.standby[t]), active)
	if learner != "" {
		holders = append(holders, learner)
	}
	slices.Sort(holders)
	if n := len(holders); len(slices.Compact(holders)) != n || !stateful && n > 1 {
		return fmt.Errorf("invariant 1: task %d twice on one instance, or a copy of a stateless one: %v", t, holders)
	}
	// 2
	if before != nil && !before.Expired && active != owner {
		toReady := stateful && f.tagged[t] && f.ready[t] && f.learner[t] == active
		revoked := !stateful && before.Leaving && !f.stays[owner]
		if !toReady && !revoked {
			return fmt.Errorf("invariant 2: task %d left %q for %q", t, owner, active)
		}
	}
	// 3
	if active != "" && active != owner && !f.stays[active] {
		return fmt.Errorf("invariant 3: %q does not stay and got task %d", active, t)
	}
	for _, i := range p.standby[t] {
		if !f.stays[i] {
			return fmt.Errorf("invariant 3: %q does not stay and stands by for task %d", i, t)
		}
	}
	// 4
	if was := f.learner[t]; was != "" && learner != was && active != was {
		newOwner := active != owner && active != ""
		withdrawn := f.stays[owner] && !f.tagged[t]
		if !newOwner && !withdrawn {
			return fmt.Errorf("invariant 4: %q no longer learns task %d", was, t)
		}
	}
	if n := len(p.standby[t]); n > f.in.Settings.Standbys {
		return fmt.Errorf("task %d has %d standbys", t, n)
	}
	return nil
}

func (f *learnerFacts) checkTotals(p *learnerPlaces, r *LearnerResult) error {
	// 4
	running := 0
	for t, i := range f.learner {
		if p.learner[t] == i {
			running++
		}
	}
	if limit := f.in.Settings.MaxLearners; limit > 0 && len(p.learner) > max(limit, running) {
		return fmt.Errorf("invariant 4: %d learners, %d went on", len(p.learner), running)
	}
	if r.SwitchWaiting && len(p.learner) > running {
		return fmt.Errorf("a switch waits, and %d learners started", len(p.learner)-running)
	}
	// Evacuations come before balance, and none waits without need.
	waiting := map[Task]bool{}
	for _, t := range r.Waiting {
		waiting[t] = true
	}
	for t, i := range p.active {
		if due := !f.stays[i] && p.learner[t] == "" && f.in.Topology.Stateful(t) && !r.SwitchWaiting; due != waiting[t] {
			return fmt.Errorf("task %d on %q: waits for evacuation %v, is said to %v", t, i, due, waiting[t])
		}
	}
	if len(waiting) > 0 {
		if len(p.learner) < f.in.Settings.MaxLearners || len(p.release) > 0 {
			return fmt.Errorf("an evacuation waits, with %d learners and %d to be released", len(p.learner), len(p.release))
		}
		for t, i := range p.learner {
			if f.learner[t] != i && f.stays[p.active[t]] {
				return fmt.Errorf("task %d is learned for balance while an evacuation waits", t)
			}
		}
	}
	return nil
}

// checkLearnerBalance checks invariant 5: planned loads add up to all tasks once
// no evacuation waits, and each balance move lessens what is outside the bounds.
func checkLearnerBalance(in LearnerInput) error {
	r := newLearnerRound(&in)
	r.settleOwners()
	r.settleLearners()
	r.placeLeft()
	if r.switchWaits || len(r.nodes) == 0 {
		return nil
	}
	r.evacuate()
	if len(r.waiting) > 0 {
		return nil
	}
	outside, running := r.outside(), r.running
	r.balance()
	moves := r.running - running
	for _, released := range r.released {
		if released {
			moves++
		}
	}
	if after := r.outside(); after > outside-moves {
		return fmt.Errorf("invariant 5: %d outside the bounds, after %d moves %d", outside, moves, after)
	}
	sum, staying := 0, false
	for i, n := range r.nodes {
		if n.stays {
			staying = true
			sum += int(r.loads.planned[i])
		}
	}
	if staying && sum != in.Topology.Len() {
		return fmt.Errorf("invariant 5: planned loads add up to %d of %d", sum, in.Topology.Len())
	}
	return nil
}

func (r *learnerRound) outside() int {
	sum := 0
	for i, n := range r.nodes {
		if n.stays {
			load := int(r.loads.planned[i])
			sum += max(0, n.bounds.Low-load, load-n.bounds.High)
		}
	}
	return sum
}

// checkLearnerWorkers checks that each instance's tasks are spread over its
// workers, each once, and that no two differ by more than one active.
func checkLearnerWorkers(r *LearnerResult) error {
	for _, s := range r.Instances {
		roles := map[model.Role][]Task{}
		least, most := math.MaxInt, 0
		for _, w := range s.Workers {
			n := 0
			for i, t := range w.Tasks {
				if i > 0 && w.Tasks[i-1].Task >= t.Task {
					return fmt.Errorf("worker %q: tasks are not sorted", w.ID)
				}
				roles[t.Role] = append(roles[t.Role], t.Task)
				if t.Role == model.Active {
					n++
				}
			}
			least, most = min(least, n), max(most, n)
		}
		if most-least > 1 {
			return fmt.Errorf("instance %q: workers with %d and %d actives", s.ID, least, most)
		}
		for role, want := range map[model.Role][]Task{model.Active: s.Active, model.Learner: s.Learner, model.Standby: s.Standby} {
			got := roles[role]
			slices.Sort(got)
			if !slices.Equal(got, want) {
				return fmt.Errorf("instance %q: %s tasks of its workers %v, of the instance %v", s.ID, role, got, want)
			}
		}
	}
	return nil
}
