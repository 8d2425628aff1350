package groupmeta

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// standbyEstimate is what the inference of learners rests on
// (wire-formats.md, section 10).
type standbyEstimate struct {
	wanted  int  // N, standbys of each stateful task
	known   bool // some N is known, given or estimated
	given   bool // by the user
	planned bool // some member waits for a planned probing rebalance
	handing bool // some member has to rejoin at once: tasks are handed over
	settled bool // every member has nothing planned
}

// inferLearners decides which standbys of a classic group are learners. The
// assignor writes a learner as an ordinary standby, so it is worked out: what
// the evidence decides is marked inferred, what it leaves open uncertain.
func (b *groupBuilder) inferLearners() {
	b.parkCopies()
	e := b.estimateStandbys()
	b.standbys = e
	if e.known {
		n := e.wanted
		b.g.Timing.Standbys = &n
		b.g.Timing.StandbysSource = model.SourceEstimate
		if e.given {
			b.g.Timing.StandbysSource = model.SourceUser
		}
	}
	if b.g.AssignmentBasis == model.AssignmentNone || !b.learnersPossible() {
		return
	}
	learners, doubtful := 0, 0
	for _, id := range b.taskIDs {
		l, d := b.inferTask(id, e)
		learners, doubtful = learners+l, doubtful+d
	}
	b.doubtStandbys(e, learners+doubtful)
}

// learnersPossible reports whether the format of the assignments knows
// learners.
func (b *groupBuilder) learnersPossible() bool {
	return slices.ContainsFunc(b.members, func(m builtMember) bool {
		return m.Assignment.Status == model.MetadataOK && m.Assignment.UsedVersion >= firstWithSums
	})
}

// estimateStandbys finds N and what is planned.
func (b *groupBuilder) estimateStandbys() *standbyEstimate {
	e := &standbyEstimate{settled: !b.unknown}
	for i := range b.members {
		switch next := b.members[i].next; {
		case next == nil:
		case *next == 0:
			e.handing, e.settled = true, false
		case *next != NoRebalance:
			e.planned, e.settled = true, false
		}
	}
	if b.o.Standbys != nil {
		e.wanted, e.known, e.given = *b.o.Standbys, true, true
		return e
	}
	if b.unknown || b.g.AssignmentBasis == model.AssignmentNone {
		return e
	}
	for _, id := range b.topologyTasks() {
		s := b.subs[keyOf(id)]
		if s.stateful == nil || !*s.stateful {
			continue
		}
		n := len(b.copiesByInstance(id))
		if !e.known || n < e.wanted {
			e.wanted, e.known = n, true
		}
	}
	return e
}

// copiesByInstance are the standby copies of a task, one for each process,
// without those that are only parked.
func (b *groupBuilder) copiesByInstance(id model.TaskID) []place {
	p := b.tasks[id]
	if p == nil {
		return nil
	}
	var out []place
	for _, c := range p.copies {
		if b.at(c).Parked {
			continue
		}
		if !slices.ContainsFunc(out, func(o place) bool { return b.members[o.member].instance == b.members[c.member].instance }) {
			out = append(out, c)
		}
	}
	return out
}

// parkCopies marks the copies of tasks that run nowhere because they are handed
// over this very round: the new owner waits, and keeps the copy it had.
func (b *groupBuilder) parkCopies() {
	for _, p := range b.tasks {
		if len(p.actives) > 0 {
			continue
		}
		for _, c := range p.copies {
			m, t := &b.members[c.member], b.at(c)
			if m.next != nil && *m.next == 0 && !m.owns(t) {
				t.Parked, t.Inferred = true, true
			}
		}
	}
}

// owns reports whether the member came to the round owning the task.
func (m *builtMember) owns(t *model.Task) bool {
	for _, p := range t.Partitions {
		if m.owned[p] {
			return true
		}
	}
	return m.sums[t.ID] == SumRunning
}

// inferTask decides about the copies of one task.
func (b *groupBuilder) inferTask(id model.TaskID, e *standbyEstimate) (learners, doubtful int) {
	copies := b.copiesByInstance(id)
	if !e.known || len(copies) <= e.wanted {
		return 0, 0
	}
	// The assignor is satisfied: a copy more than expected is a standby, and it
	// is N that is not what was thought.
	if e.settled {
		if e.given {
			for _, c := range copies {
				b.doubt(c)
			}
			return 0, len(copies)
		}
		return 0, 0
	}
	extra := len(copies) - e.wanted
	slices.SortStableFunc(copies, func(x, y place) int {
		return cmp.Or(cmp.Compare(b.copyPosition(x), b.copyPosition(y)), strings.Compare(b.members[x.member].instance, b.members[y.member].instance))
	})
	if !e.given && !e.planned {
		for _, c := range copies {
			b.doubt(c)
		}
		return 0, len(copies)
	}
	for i, c := range copies {
		tie := extra < len(copies) && b.copyPosition(c) == b.copyPosition(copies[extra-1]) && b.copyPosition(c) == b.copyPosition(copies[extra])
		switch {
		case tie:
			b.doubt(c)
			doubtful++
		case i < extra:
			b.makeLearner(c)
			learners++
		}
	}
	if learners > 0 {
		b.tagLearned(id, true)
	}
	return learners, doubtful
}

// copyPosition orders copies by how far they are: the one that reported
// nothing first, then the smallest sum.
func (b *groupBuilder) copyPosition(c place) int64 {
	m, t := &b.members[c.member], b.at(c)
	sum, ok := m.sums[t.ID]
	switch {
	case !ok:
		return -2
	case sum == SumRunning:
		return math.MaxInt64
	case sum < 0:
		return -1
	}
	return sum
}

func (b *groupBuilder) doubt(c place) {
	t := b.at(c)
	t.Uncertain, t.Inferred = true, true
}

func (b *groupBuilder) makeLearner(c place) {
	t := b.at(c)
	t.Role, t.Inferred = model.Learner, true
	addTag(t, model.IsStateful)
	addTag(t, model.IsLearner)
}

// tagLearned tags the actives of a task that another instance learns.
func (b *groupBuilder) tagLearned(id model.TaskID, inferred bool) {
	for _, a := range b.tasks[id].actives {
		t := b.at(a)
		addTag(t, model.IsStateful)
		addTag(t, model.BeingLearned)
		t.Inferred = t.Inferred || inferred
	}
}

// doubtStandbys marks every copy uncertain where a probing rebalance is planned
// and no copy is more than the estimate: with few tasks all of the copies may
// be learners, and N nothing. So it does where N cannot be estimated, because
// some member is not understood.
func (b *groupBuilder) doubtStandbys(e *standbyEstimate, found int) {
	open := !e.known && !e.settled || e.known && !e.given && e.planned && e.wanted > 0
	if found > 0 || !open {
		return
	}
	for _, id := range b.taskIDs {
		for _, c := range b.tasks[id].copies {
			if !b.at(c).Parked {
				b.doubt(c)
			}
		}
	}
}
