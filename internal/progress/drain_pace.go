package progress

import (
	"slices"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// Now gives the numbers of a group as it is, without judging anything: what the
// targets own, and what has to be restored for it.
func (d *Drain) Now(g *model.Group) DrainLook {
	var out DrainLook
	owners := activeOwners(g)
	for _, t := range d.targets {
		t.owned = ownedBy(owners, t.ID)
	}
	d.progress(g, &out)
	return out
}

// progress fills in the numbers of a look.
func (d *Drain) progress(g *model.Group, out *DrainLook) {
	leaving := map[string]*draining{}
	for _, t := range d.targets {
		leaving[t.ID] = t
		if t.lost == "" {
			out.Owns += len(t.owned)
		}
	}
	best := d.bestCopies(g, leaving)
	busy := d.samples.busy(g)
	var sum int64
	known := true
	for _, t := range d.targets {
		if t.lost != "" {
			continue
		}
		for _, id := range t.owned {
			x := d.taskOf(g, t, id, best[id])
			x.Queued = busy[x.OnID] && x.Still > 0
			out.Tasks = append(out.Tasks, x)
			switch {
			case !x.Stateful:
				continue
			case x.Ready:
				out.Ready++
			case x.Remaining == nil:
				known = false
			}
			if x.Remaining != nil {
				sum += *x.Remaining
			}
		}
	}
	slices.SortStableFunc(out.Tasks, func(a, b DrainTask) int { return a.Task.Compare(b.Task) })
	if known {
		out.ToRestore = &sum
	}
	out.Rate, out.Left = paceOf(out.Tasks)
}

// stand notes since when each copy is where it is.
func (d *Drain) stand(g *model.Group, at time.Time) {
	eachTask(g, func(_ *model.Instance, m *model.Member, t *model.Task) {
		if t.Restore.Position == nil || t.Role == model.Active {
			return
		}
		k := copyKey{t.ID, m.ID}
		if s, ok := d.since[k]; !ok || s.position != *t.Restore.Position {
			d.since[k] = standing{*t.Restore.Position, at}
		}
	})
}

// found is one copy of a task.
type found struct {
	in *model.Instance
	m  *model.Member
	t  *model.Task
}

// bestCopies gives for each task the copy on an instance that stays which will
// have it first: a ready one, else the learner, else the one with the least to
// restore.
func (d *Drain) bestCopies(g *model.Group, leaving map[string]*draining) map[model.TaskID]found {
	best := map[model.TaskID]found{}
	eachTask(g, func(in *model.Instance, m *model.Member, t *model.Task) {
		if t.Role == model.Active || t.TargetOnly || leaving[in.ID] != nil || in.Leaving != nil {
			return
		}
		b, ok := best[t.ID]
		if !ok || better(g, t, b.t) {
			best[t.ID] = found{in, m, t}
		}
	})
	return best
}

func better(g *model.Group, a, b *model.Task) bool {
	if ra, rb := isReady(g, a), isReady(g, b); ra != rb {
		return ra
	}
	if la, lb := a.Role == model.Learner, b.Role == model.Learner; la != lb {
		return la
	}
	ra, rb := a.Restore.RemainingRecords, b.Restore.RemainingRecords
	return ra != nil && (rb == nil || *ra < *rb)
}

// taskOf describes a task that a target still owns.
func (d *Drain) taskOf(g *model.Group, t *draining, id model.TaskID, c found) DrainTask {
	s := statefulness(g, id)
	x := DrainTask{Task: id, Owner: t.Name, Stateful: s == nil || *s, Total: logRecords(g, id)}
	if !x.Stateful {
		return x
	}
	if c.t == nil {
		x.Remaining = x.Total
		return x
	}
	x.On, x.OnID, x.Role, x.Ready, x.Remaining = c.in.Name, c.in.ID, c.t.Role, isReady(g, c.t), c.t.Restore.RemainingRecords
	k := copyKey{id, c.m.ID}
	x.Rate = d.samples.rate(k)
	if l := d.samples.of[k]; len(l) > 1 && !x.Ready {
		if since, ok := d.since[k]; ok {
			x.Still = l[len(l)-1].at.Sub(since.at)
		}
	}
	return x
}

// logRecords is how many records the changelogs of a task hold.
func logRecords(g *model.Group, id model.TaskID) *int64 {
	i, ok := slices.BinarySearchFunc(g.Facts.Logs, id, func(l model.TaskLog, id model.TaskID) int { return l.Task.Compare(id) })
	if !ok || g.Facts.Logs[i].End == nil {
		return nil
	}
	n := *g.Facts.Logs[i].End
	if s := g.Facts.Logs[i].Start; s != nil {
		n = max(0, n-*s)
	}
	return &n
}

// paceOf is the rate of all copies together, and the time until the slowest
// instance has restored its own; nil when one of them stands still or tells no
// rate. What an instance has restored of copies that are ready by now counts as
// its rate: it goes on with the others.
func paceOf(list []DrainTask) (*float64, *time.Duration) {
	type work struct{ left, rate float64 }
	by := map[string]work{}
	all, some, open := 0.0, false, false
	for i := range list {
		x := &list[i]
		w := by[x.OnID]
		if x.Rate != nil {
			some = true
			all += *x.Rate
			w.rate += *x.Rate
		}
		switch {
		case !x.Stateful || x.Ready:
		case x.Remaining == nil || x.On == "":
			open = true
		default:
			w.left += float64(*x.Remaining)
		}
		by[x.OnID] = w
	}
	if !some {
		return nil, nil
	}
	longest := 0.0
	for _, w := range by {
		switch {
		case w.left == 0:
		case w.rate <= 0:
			open = true
		default:
			longest = max(longest, w.left/w.rate)
		}
	}
	if open {
		return &all, nil
	}
	left := time.Duration(longest * float64(time.Second))
	return &all, &left
}
