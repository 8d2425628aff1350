package progress

import (
	"slices"
	"strconv"

	"github.com/streamctl/streamctl/internal/model"
)

// ownedBy lists the tasks that an instance owns, in order.
func ownedBy(owners map[model.TaskID]*model.Instance, id string) []model.TaskID {
	var out []model.TaskID
	for task, in := range owners {
		if in.ID == id {
			out = append(out, task)
		}
	}
	slices.SortFunc(out, model.TaskID.Compare)
	return out
}

// handOvers finds tasks of targets that are elsewhere now, and judges those
// that moved by whether their new owner had their state.
func (d *Drain) handOvers(g *model.Group, owners map[model.TaskID]*model.Instance, out *DrainLook) {
	for _, t := range d.targets {
		for _, id := range sortedIDs(t.had) {
			to := owners[id]
			if to == nil || to.ID == t.ID || d.owners[id] != t.ID {
				continue
			}
			h := &Handover{Task: id, From: t.ID, To: to.ID, ToName: to.Name, Warm: Unknown, from: t, late: t.expired && d.told}
			was := d.copies[id][to.ID]
			if h.left = was.left; h.left == nil {
				h.left = logRecords(g, id)
			}
			if was.ready {
				h.Warm = Yes
			}
			d.moves = append(d.moves, h)
			out.Moved = append(out.Moved, h)
		}
	}
	for _, h := range d.moves {
		if h.Warm == Unknown && told(g) {
			h.decide(g)
		}
	}
	slices.SortFunc(out.Moved, func(a, b *Handover) int { return a.Task.Compare(b.Task) })
}

// decide judges a task whose new owner had no ready copy at the last look before
// it went over. Handed over under a mark that is honoured, it got ready between
// the two; from an instance whose time was up, or that died, it went as it was,
// however soon it runs.
func (h *Handover) decide(g *model.Group) {
	stateful := statefulness(g, h.Task)
	switch {
	case stateful != nil && !*stateful:
		h.Warm = Yes
	case h.late || h.from.died:
		h.Warm = Unknown
		if h.judge(g); h.Warm != No {
			h.Warm, h.Records, h.AtMost = No, h.left, h.left != nil
		}
	case h.from.unseen, h.from.gone > 0 && !h.from.departed: // the next look says whether it died
	default:
		h.judge(g)
	}
}

// judge looks at what the new owner says of the task.
func (h *Handover) judge(g *model.Group) {
	if s := statefulness(g, h.Task); s != nil && !*s {
		h.Warm = Yes
		return
	}
	eachTask(g, func(in *model.Instance, _ *model.Member, t *model.Task) {
		if in.ID != h.To || t.ID != h.Task || t.Role != model.Active || h.Warm != Unknown {
			return
		}
		r := &t.Restore
		switch {
		case r.State == model.Running || r.State == model.CaughtUp || r.RemainingRecords != nil && *r.RemainingRecords <= acceptable(g):
			h.Warm = Yes
		case r.State == model.Restoring && r.RemainingRecords != nil:
			h.Warm, h.Records = No, r.RemainingRecords
		}
	})
}

// HandOvers are all tasks that went over so far, by task.
func (d *Drain) HandOvers() []Handover {
	out := make([]Handover, len(d.moves))
	for i, h := range d.moves {
		out[i] = *h
	}
	slices.SortStableFunc(out, func(a, b Handover) int { return a.Task.Compare(b.Task) })
	return out
}

// Expired names the targets whose time ran out.
func (d *Drain) Expired() []string {
	var out []string
	for _, t := range d.targets {
		if t.expired {
			out = append(out, t.Name)
		}
	}
	return out
}

// Honoured reports whether an instance has said that it honours its mark, or
// has gone as the mark asked it to.
func (d *Drain) Honoured(id string) bool {
	t := d.target(id)
	return t != nil && (t.honoured || t.departed)
}

// Gone reports whether an instance has left the group by itself.
func (d *Drain) Gone(id string) bool {
	t := d.target(id)
	return t != nil && t.departed
}

// target is what is known of one target, nil of another instance.
func (d *Drain) target(id string) *draining {
	for _, t := range d.targets {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// acceptable is acceptable.recovery.lag of the group.
func acceptable(g *model.Group) int64 {
	for _, s := range g.Facts.Settings {
		if s.Key == "acceptable.recovery.lag" {
			if n, err := strconv.ParseInt(s.Value, 10, 64); err == nil {
				return n
			}
		}
	}
	return acceptableLag
}

// isReady reports whether a copy may become active without restoring.
func isReady(g *model.Group, t *model.Task) bool {
	r := &t.Restore
	return slices.Contains(t.Tags, model.IsReady) || r.State == model.CaughtUp || r.RemainingRecords != nil && *r.RemainingRecords <= acceptable(g)
}

// copyThen is a copy as it was at the last look.
type copyThen struct {
	ready bool
	left  *int64 // records; nil when not known
}

// remember keeps what the next look is compared with.
func (d *Drain) remember(g *model.Group, owners map[model.TaskID]*model.Instance) {
	for id, in := range owners {
		d.owners[id] = in.ID
	}
	clear(d.copies)
	if d.told = told(g); !d.told {
		return
	}
	eachTask(g, func(in *model.Instance, _ *model.Member, t *model.Task) {
		if t.Role == model.Active || t.TargetOnly {
			return
		}
		if d.copies[t.ID] == nil {
			d.copies[t.ID] = map[string]copyThen{}
		}
		d.copies[t.ID][in.ID] = copyThen{isReady(g, t), t.Restore.RemainingRecords}
	})
}
