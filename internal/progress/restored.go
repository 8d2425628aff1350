package progress

import "github.com/streamctl/streamctl/internal/model"

// restored: no active task waits for state. Where positions are as old as the
// last round (classic groups), a task that was not running in that round counts
// as restored once its commits move (commands.md, What cannot be seen).
func (j *Judge) restored(s *Status, g *model.Group) {
	if g.AssignmentBasis != model.AssignmentCurrent {
		s.block(groupBlocker(g, "state "+stateWord(g)))
		return
	}
	s.block(ownerless(g)...)
	old := g.AsOfLastRound() || g.Positions.Basis == "" || g.Positions.Basis == model.PositionsNone
	busy := j.samples.busy(g)
	silent := false
	seen := 0
	eachTask(g, func(in *model.Instance, m *model.Member, t *model.Task) {
		if t.Role != model.Active || t.TargetOnly {
			return
		}
		seen++
		if t.Stateful != nil && !*t.Stateful || j.commitsMove(t) {
			return
		}
		switch t.Restore.State {
		case model.Running, model.CaughtUp:
			return
		case model.Restoring:
			b := taskBlocker(t.ID, m.Name+" restores it")
			if old {
				b.Why += " (as of the last round)"
			} else if busy[in.ID] && !j.samples.moved(copyKey{t.ID, m.ID}) {
				b.Why += " (" + waitsItsTurn + ")"
			} else if still := standsStill(j.samples.Stuck(t.ID, m.ID)); still != "" {
				b.Why += " (" + still + ")"
			}
			b.RemainingRecords = t.Restore.RemainingRecords
			s.block(b)
		default:
			if runsUnreported(g, m, t) {
				silent = true
				return
			}
			s.block(taskBlocker(t.ID, m.Name+" has not reported its state"))
		}
	})
	if seen == 0 && len(s.Blockers) == 0 {
		s.block(groupBlocker(g, "has no active task"))
	}
	if silent {
		s.Notes = append(s.Notes, "members report no offset for tasks that they run: a task that its member reports nothing about counts as running")
	}
	if old && seen > 0 && g.Kind == model.Classic {
		s.Notes = append(s.Notes, "positions are those of the last round: a task counts as restored once its commits move")
	}
}

// runsUnreported reports whether a member of a streams group that sends task
// offsets is silent about one of its active tasks. A 4.4 client sends them for
// what it restores and for copies, not for what it runs.
func runsUnreported(g *model.Group, m *model.Member, t *model.Task) bool {
	return g.Kind == model.Streams && live(g) && m.ReportsOffsets != nil && *m.ReportsOffsets && !t.Restore.Reported
}

// commitsMove reports whether the commit of one of the task's partitions moved
// since the first look.
func (j *Judge) commitsMove(t *model.Task) bool {
	for _, p := range t.Partitions {
		if j.movedOnce[p] {
			return true
		}
	}
	return false
}

// ownerless names the tasks that nobody runs.
func ownerless(g *model.Group) []Blocker {
	var out []Blocker
	for _, id := range g.Moving {
		out = append(out, taskBlocker(id, "is between two owners"))
	}
	for _, id := range g.Unassigned {
		out = append(out, taskBlocker(id, "is assigned to nobody"))
	}
	return out
}
