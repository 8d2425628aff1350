package progress

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// stuckAfter is the number of samples without progress that is worth a word
// (field case 9).
const stuckAfter = 3

// keepSamples bounds the samples that a rate is taken over.
const keepSamples = 6

// TaskRestore is how far one copy of a task is.
type TaskRestore struct {
	Task     model.TaskID
	Member   string // member id
	Name     string // short name of the member
	Role     model.Role
	Restored *int64         // records of the changelogs held; nil when unknown
	Total    *int64         // end of the changelogs; nil when unknown
	Rate     *float64       // records per second; nil until two live samples exist
	Left     *time.Duration // time to go at that rate; nil when unknown or without progress
	Stuck    int            // live samples in a row with the same position, this one included
	Why      string         // why there is no rate and never will be; "" otherwise
}

type copyKey struct {
	task   model.TaskID
	member string
}

type sample struct {
	at       time.Time
	position int64
}

// Samples holds the last positions of every copy of a group. Positions that are
// as old as the last round are not taken: they stand still whatever happens.
type Samples struct {
	of map[copyKey][]sample
}

// NewSamples returns an empty set.
func NewSamples() *Samples { return &Samples{of: map[copyKey][]sample{}} }

func live(g *model.Group) bool {
	return (g.Positions.Basis == model.PositionsHeartbeat || g.Positions.Basis == model.PositionsStatus) && !g.AsOfLastRound()
}

// Add takes the positions of one look.
func (s *Samples) Add(g *model.Group, at time.Time) {
	if live(g) {
		s.add(g, at)
	}
}

// add takes them whatever they are.
func (s *Samples) add(g *model.Group, at time.Time) {
	eachTask(g, func(_ *model.Instance, m *model.Member, t *model.Task) {
		if t.Restore.Position == nil {
			return
		}
		k := copyKey{t.ID, m.ID}
		l := append(s.of[k], sample{at, *t.Restore.Position})
		if len(l) > keepSamples {
			l = slices.Delete(l, 0, len(l)-keepSamples)
		}
		s.of[k] = l
	})
}

// Stuck returns how many of the last samples of a copy show the same position.
func (s *Samples) Stuck(task model.TaskID, member string) int {
	l := s.of[copyKey{task, member}]
	n := 0
	for i := len(l) - 1; i >= 0 && l[i].position == l[len(l)-1].position; i-- {
		n++
	}
	return n
}

// rate returns records per second over the samples kept, nil before there are
// two.
func (s *Samples) rate(k copyKey) *float64 {
	l := s.of[k]
	if len(l) < 2 {
		return nil
	}
	first, last := l[0], l[len(l)-1]
	d := last.at.Sub(first.at).Seconds()
	if d <= 0 {
		return nil
	}
	r := max(0, float64(last.position-first.position)/d)
	return &r
}

// Restoring lists the copies that are not there yet, by task and member.
func (s *Samples) Restoring(g *model.Group) []TaskRestore {
	var out []TaskRestore
	eachTask(g, func(_ *model.Instance, m *model.Member, t *model.Task) {
		if t.Restore.State != model.Restoring {
			return
		}
		r := TaskRestore{Task: t.ID, Member: m.ID, Name: m.Name, Role: t.Role, Restored: t.Restore.Position, Total: t.Restore.End}
		if !live(g) {
			r.Why = "positions are from the last round"
			out = append(out, r)
			return
		}
		r.Rate = s.rate(copyKey{t.ID, m.ID})
		r.Stuck = s.Stuck(t.ID, m.ID)
		if r.Rate != nil && *r.Rate > 0 && t.Restore.RemainingRecords != nil {
			left := time.Duration(float64(*t.Restore.RemainingRecords) / *r.Rate * float64(time.Second))
			r.Left = &left
		}
		out = append(out, r)
	})
	slices.SortFunc(out, func(a, b TaskRestore) int { return cmp.Or(a.Task.Compare(b.Task), cmp.Compare(a.Member, b.Member)) })
	return out
}

// NoProgress says that a copy stands still, "" while it moves.
func (r TaskRestore) NoProgress() string { return standsStill(r.Stuck) }

func standsStill(samples int) string {
	if samples < stuckAfter {
		return ""
	}
	return fmt.Sprintf("no progress for %d samples", samples)
}
