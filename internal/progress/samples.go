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
	Queued   bool           // it stands while another copy of the same instance moves: its turn comes
	Why      string         // why there is no rate and never will be; "" otherwise
}

type copyKey struct {
	task   model.TaskID
	member string
}

type sample struct {
	at       time.Time // of the look
	written  time.Time // of the status that tells it; zero where there is none
	position int64
	role     model.Role
}

// Samples holds the last positions of every copy of a group. Positions that are
// as old as the last round are not taken: they stand still whatever happens. A
// worker writes its positions from time to time: each status counts once, at the
// time that it bears, however many looks read it.
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
	written := statusTimes(g)
	eachTask(g, func(in *model.Instance, m *model.Member, t *model.Task) {
		if t.Restore.Position == nil {
			return
		}
		k := copyKey{t.ID, m.ID}
		now := sample{at, written[in.ID], *t.Restore.Position, t.Role}
		l := s.of[k]
		if n := len(l); n > 0 {
			last := l[n-1]
			switch {
			case last.role != t.Role || now.written.Before(last.written):
				l = nil // what a learner did says nothing of the active it becomes; or another clock
			case !now.written.IsZero() && now.written.Equal(last.written) && now.position == last.position:
				return
			}
		}
		l = append(l, now)
		if len(l) > keepSamples {
			l = slices.Delete(l, 0, len(l)-keepSamples)
		}
		s.of[k] = l
	})
}

// statusTimes gives when the instances of a worker group wrote their positions.
func statusTimes(g *model.Group) map[string]time.Time {
	if g.Kind != model.Worker || g.Control == nil {
		return nil
	}
	out := make(map[string]time.Time, len(g.Control.Status))
	for i := range g.Control.Status {
		if st := &g.Control.Status[i]; !st.At.IsZero() {
			out[st.Instance] = st.At
		}
	}
	return out
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

// moved reports whether a copy moved at its last sample.
func (s *Samples) moved(k copyKey) bool {
	l := s.of[k]
	return len(l) > 1 && l[len(l)-1].position > l[len(l)-2].position
}

// busy names the instances that restore something: one copy goes after another.
func (s *Samples) busy(g *model.Group) map[string]bool {
	out := map[string]bool{}
	eachTask(g, func(in *model.Instance, m *model.Member, t *model.Task) {
		if s.moved(copyKey{t.ID, m.ID}) && t.Restore.State == model.Restoring {
			out[in.ID] = true
		}
	})
	return out
}

// rate returns records per second over the samples kept, from where the copy
// began to move; nil before there are two.
func (s *Samples) rate(k copyKey) *float64 {
	l := s.of[k]
	for len(l) > 2 && l[1].position == l[0].position {
		l = l[1:]
	}
	if len(l) < 2 {
		return nil
	}
	first, last := l[0], l[len(l)-1]
	d := last.at.Sub(first.at).Seconds()
	if w := last.written.Sub(first.written).Seconds(); w > 0 && !first.written.IsZero() {
		d = w
	}
	if d <= 0 {
		return nil
	}
	r := max(0, float64(last.position-first.position)/d)
	return &r
}

// Restoring lists the copies that are not there yet, by task and member.
func (s *Samples) Restoring(g *model.Group) []TaskRestore {
	var out []TaskRestore
	busy := s.busy(g)
	eachTask(g, func(in *model.Instance, m *model.Member, t *model.Task) {
		if t.Restore.State != model.Restoring {
			return
		}
		r := TaskRestore{Task: t.ID, Member: m.ID, Name: m.Name, Role: t.Role, Restored: t.Restore.Position, Total: t.Restore.End}
		if !live(g) {
			r.Why = "positions are from the last round"
			out = append(out, r)
			return
		}
		k := copyKey{t.ID, m.ID}
		r.Rate, r.Stuck = s.rate(k), s.Stuck(t.ID, m.ID)
		r.Queued = busy[in.ID] && !s.moved(k)
		if r.Rate != nil && *r.Rate > 0 && t.Restore.RemainingRecords != nil {
			left := time.Duration(float64(*t.Restore.RemainingRecords) / *r.Rate * float64(time.Second))
			r.Left = &left
		}
		out = append(out, r)
	})
	slices.SortFunc(out, func(a, b TaskRestore) int { return cmp.Or(a.Task.Compare(b.Task), cmp.Compare(a.Member, b.Member)) })
	return out
}

// NoProgress says that a copy stands still, or waits for others of its instance,
// "" while it moves.
func (r TaskRestore) NoProgress() string {
	if r.Queued {
		return waitsItsTurn
	}
	return standsStill(r.Stuck)
}

const waitsItsTurn = "waits its turn"

func standsStill(samples int) string {
	if samples < stuckAfter {
		return ""
	}
	return fmt.Sprintf("no progress for %d samples", samples)
}
