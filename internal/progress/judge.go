package progress

import (
	"fmt"
	"slices"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// Judge judges look after look at one group against a goal. What one look
// cannot show (that an assignment stays, that commits move) it takes from the
// looks before. The zero value is not ready; use NewJudge.
type Judge struct {
	goal    Goal
	samples *Samples

	fingerprint string
	stableSince time.Time // zero while the group is not Stable

	commits   map[model.TopicPartition]int64 // first commit seen
	movedOnce map[model.TopicPartition]bool  // its commit has moved since

	seen   bool           // drained: the instance was in a group that told its assignment
	owned  []model.TaskID // drained: active tasks of the instance at the last look
	had    map[model.TaskID]bool
	name   string                    // of the instance
	marked bool                      // it was under a mark at an earlier look
	gone   int                       // looks in a row without it while its mark stands
	ready  map[model.TaskID][]string // of its tasks: instances with a copy that was ready at the last look

	last      []model.TaskID            // active tasks that it had at the last look at which it had any
	lastReady map[model.TaskID][]string // ready, at that look
	stopped   bool                      // it had some when it went
}

// NewJudge returns a judge that has seen nothing.
func NewJudge(goal Goal) *Judge {
	return &Judge{
		goal: goal, samples: NewSamples(),
		commits: map[model.TopicPartition]int64{}, movedOnce: map[model.TopicPartition]bool{},
		had: map[model.TaskID]bool{},
	}
}

// Look judges the group as it was seen at the time.
func (j *Judge) Look(g *model.Group, at time.Time) Status {
	j.remember(g, at)
	var s Status
	switch j.goal.For {
	case Stable:
		j.stable(&s, g, at)
	case Converged:
		j.converged(&s, g, at)
	case CaughtUp:
		j.caughtUp(&s, g)
	case Restored:
		j.restored(&s, g)
	case Drained:
		j.drained(&s, g)
	}
	sortBlockers(s.Blockers)
	s.Restore = j.restoring(g)
	s.Met = len(s.Blockers) == 0 && s.Lost == ""
	return s
}

func (j *Judge) remember(g *model.Group, at time.Time) {
	j.samples.Add(g, at)
	fp := Fingerprint(g)
	switch {
	case g.State != model.StateStable:
		j.stableSince = time.Time{}
	case j.stableSince.IsZero() || fp != j.fingerprint:
		j.stableSince = at
	}
	j.fingerprint = fp
	for _, o := range g.Offsets {
		if o.Committed == nil {
			continue
		}
		first, seen := j.commits[o.TopicPartition]
		if !seen {
			j.commits[o.TopicPartition] = *o.Committed
		} else if *o.Committed != first {
			j.movedOnce[o.TopicPartition] = true
		}
	}
}

// stable: state Stable, the same assignment for the settle time, no follow-up
// due within it (field case 24), and no worker that says nothing any more.
func (j *Judge) stable(s *Status, g *model.Group, at time.Time) {
	if g.State != model.StateStable {
		s.block(groupBlocker(g, "state "+stateWord(g)))
		return
	}
	s.block(silentBlockers(g)...)
	if n := g.NextRebalance; n != nil {
		due := time.Duration(n.InMs) * time.Millisecond
		switch {
		case n.RawMs == 0:
			s.block(groupBlocker(g, "a follow-up rebalance is due at once"))
		case due < 0:
			s.block(clockBlocker(g, fmt.Sprintf("a planned rebalance is overdue by %s (leader's clock)", round(-due))))
		case due <= j.goal.Settle:
			s.block(clockBlocker(g, fmt.Sprintf("a follow-up rebalance is due in %s", round(due))))
		}
	}
	if settled := at.Sub(j.stableSince); settled < j.goal.Settle {
		s.block(clockBlocker(g, fmt.Sprintf("settled for %s of %s", round(settled), round(j.goal.Settle))))
	}
}

// converged: stable, no learner, nothing planned, current = target.
func (j *Judge) converged(s *Status, g *model.Group, at time.Time) {
	eachTask(g, func(in *model.Instance, m *model.Member, t *model.Task) {
		switch {
		case t.TargetOnly:
			s.block(taskBlocker(t.ID, "is meant for "+m.Name))
		case t.LeavesTo != "":
			s.block(taskBlocker(t.ID, "is to be given up by "+m.Name))
		case t.Role == model.Learner:
			b := taskBlocker(t.ID, "is being learned by "+in.Name)
			b.Copy, b.RemainingRecords = in.ID, t.Restore.RemainingRecords
			s.block(b)
		}
	})
	s.block(ownerless(g)...)
	if n := g.NextRebalance; n != nil && n.RawMs != 0 && time.Duration(n.InMs)*time.Millisecond > j.goal.Settle {
		s.block(clockBlocker(g, fmt.Sprintf("a rebalance is planned in %s", round(time.Duration(n.InMs)*time.Millisecond))))
	}
	if g.Epoch != nil && g.AssignmentEpoch != nil && *g.Epoch != *g.AssignmentEpoch {
		s.block(groupBlocker(g, fmt.Sprintf("assignment epoch %d is behind group epoch %d", *g.AssignmentEpoch, *g.Epoch)))
	}
	j.stable(s, g, at)
}

// caughtUp: input lag at most MaxLag on every partition. A lag that is not
// known is in the way.
func (j *Judge) caughtUp(s *Status, g *model.Group) {
	for _, o := range g.Offsets {
		object := "partition " + o.TopicPartition.String()
		switch {
		case o.Lag == nil && o.Problem != "":
			s.block(Blocker{Object: object, Why: "lag is not known: " + o.Problem})
		case o.Lag == nil:
			s.block(Blocker{Object: object, Why: "lag is not known"})
		case *o.Lag > j.goal.MaxLag:
			s.block(Blocker{Object: object, Why: "lags " + model.Count(int(*o.Lag), "record")})
		}
	}
	if len(g.Offsets) == 0 {
		s.block(groupBlocker(g, "no offset is known"))
	}
	for _, e := range g.Errors {
		s.block(Blocker{Object: e.Object, Why: e.Text})
	}
}

// NotSettled is what a look says of a group that does not tell who has what.
func NotSettled(g *model.Group) Status {
	var s Status
	s.block(groupBlocker(g, "state "+stateWord(g)))
	return s
}

// drained: the instance owns no active task and each has an owner elsewhere.
func (j *Judge) drained(s *Status, g *model.Group) {
	if g.AssignmentBasis != model.AssignmentCurrent && g.State != model.StateEmpty {
		*s = NotSettled(g)
		return
	}
	in := instance(g, j.goal.Instance)
	if in == nil && !j.seen {
		j.departedBefore(s, g)
		return
	}
	owners := activeOwners(g)
	mark := markOf(g, j.goal.Instance)
	if g.Kind == model.Streams { // the broker assigns: whom somebody stops has nothing to hand over itself
		j.marked = j.marked || mark != nil
		mark = nil
	}
	if in == nil {
		j.stopped = j.stopped || len(j.owned) > 0
		if s.Lost = j.left(g, mark, owners); s.Lost != "" {
			return
		}
		j.farewell(s, g)
	} else {
		j.seen, j.gone, j.name, j.owned = true, 0, in.Name, nil
		j.ready = readyCopies(g)
		for _, m := range in.Members {
			for _, t := range m.Tasks {
				if t.Role == model.Active && !t.TargetOnly {
					j.owned = append(j.owned, t.ID)
					j.had[t.ID] = true
				}
			}
		}
		if len(j.owned) > 0 {
			j.last, j.lastReady = j.owned, j.ready
		}
		if mark != nil && !mark.Honoured && g.Control != nil {
			s.block(Blocker{Object: "instance " + in.Name, Why: "its mark is not honoured yet"})
		}
	}
	j.marked = j.marked || mark != nil
	for _, id := range j.owned {
		s.block(stillOwned(g, id, j.goal.Instance))
	}
	for _, id := range sortedIDs(j.had) {
		if owners[id] == nil {
			s.block(taskBlocker(id, "has no owner"))
		}
	}
}

// left says whether the instance, which is not in the group any more, died with
// tasks that it owned; "" when it went by itself, as a mark asked it to, or that
// is not certain yet.
func (j *Judge) left(g *model.Group, mark *model.Mark, owners map[model.TaskID]*model.Instance) string {
	st := statusOf(g, j.goal.Instance)
	ready := func(id model.TaskID) bool {
		to := owners[id]
		return j.marked && to != nil && slices.Contains(j.ready[id], to.ID)
	}
	switch {
	case g.Kind == model.Streams && j.marked: // the broker's copies take over, whoever stops it
		j.owned = nil
	case wentWhole(j.owned, st != nil, st != nil && st.Left != "", ready):
		j.owned = nil
	case mark != nil && j.gone+1 < goneLooks: // its mark may have been read before it went
		j.gone++
	default:
		return fmt.Sprintf("%s is gone with %s not handed over: %s", j.name, tasks(len(j.owned)), idList(j.owned))
	}
	return ""
}

// readyCopies lists the instances with a copy of a task that may become active
// without restoring.
func readyCopies(g *model.Group) map[model.TaskID][]string {
	out := map[model.TaskID][]string{}
	eachTask(g, func(in *model.Instance, _ *model.Member, t *model.Task) {
		if t.Role != model.Active && !t.TargetOnly && isReady(g, t) {
			out[t.ID] = append(out[t.ID], in.ID)
		}
	})
	return out
}

// markOf gives the mark of an instance; nil when there is none.
func markOf(g *model.Group, instance string) *model.Mark {
	for i := range g.Marks {
		if g.Marks[i].Instance == instance {
			return &g.Marks[i]
		}
	}
	return nil
}

func stillOwned(g *model.Group, id model.TaskID, instance string) Blocker {
	b := taskBlocker(id, "is still owned")
	eachTask(g, func(i *model.Instance, _ *model.Member, t *model.Task) {
		if t.ID == id && t.Role != model.Active && i.ID != instance && b.Copy == "" {
			b.Copy, b.RemainingRecords = i.ID, t.Restore.RemainingRecords
			b.Why = fmt.Sprintf("is still owned (%s on %s)", t.Role, i.Name)
		}
	})
	return b
}
