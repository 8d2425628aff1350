package progress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// Event is one line of a watch.
type Event struct {
	At            time.Time
	Group         string
	What          string // "state", "rebalance", "coordinator", "positions", "finding", "error"
	Object        string // "group shop", "instance pod-b", …
	Before        string
	After         string
	Cause         string // "" when there is nothing to infer
	CauseInferred bool
	Round         int            // of a rebalance: which one since the watch began
	Took          *time.Duration // of a rebalance: how long it was seen to run; nil when it was not seen
	Members       []MemberChange // of a rebalance: members whose tasks changed, by name
}

// MemberChange is what one round gave a member and took from it.
type MemberChange struct {
	ID     string
	Name   string
	Gained []string // tasks, with "(copy)" or the role for what is no active task
	Lost   []string
}

// String gives NAME +task -task ….
func (m MemberChange) String() string {
	words := []string{m.Name}
	for _, t := range m.Gained {
		words = append(words, "+"+t)
	}
	for _, t := range m.Lost {
		words = append(words, "-"+t)
	}
	return strings.Join(words, " ")
}

// Watcher turns looks at one group into events. The zero value is ready.
type Watcher struct {
	last    *model.Group
	settled *model.Group // the last look that showed a finished round
	openAt  time.Time    // a rebalance was first seen; zero when none runs
	rounds  int

	restoring     string    // what was to restore when positions were last reported
	positionsAt   time.Time // when that was
	positionsGone bool
}

// Rebalances is the number of rounds seen since the first look: those that
// ended, those that another one overtook, and one that still runs. Groups with
// epochs count epochs.
func (w *Watcher) Rebalances() int {
	if !w.openAt.IsZero() {
		return w.rounds + 1
	}
	return w.rounds
}

// Look compares the group with the look before and returns what happened. The
// first look gives no event.
func (w *Watcher) Look(g *model.Group, at time.Time) []Event {
	var out []Event
	if w.last == nil {
		w.last, w.settled = g, g
		if inRound(g) {
			w.openAt = at
		}
		w.notePositions(g, at)
		return nil
	}
	event := func(what, before, after string) {
		if before != after {
			out = append(out, Event{At: at, Group: g.ID, What: what, Object: "group " + g.ID, Before: before, After: after})
		}
	}
	event("state", w.last.State, g.State)
	event("coordinator", coordinator(w.last), coordinator(g))
	out = append(out, w.round(g, at)...)
	out = append(out, w.positions(g, at)...)
	out = append(out, w.findings(g, at)...)
	w.last = g
	return out
}

// inRound reports whether a classic round runs. Groups with epochs never are:
// an epoch is over when it is there.
func inRound(g *model.Group) bool {
	return g.State == model.StatePreparingRebalance || g.State == model.StateCompletingRebalance
}

func (w *Watcher) round(g *model.Group, at time.Time) []Event {
	if g.Epoch != nil && w.settled.Epoch != nil {
		n := int(*g.Epoch - *w.settled.Epoch)
		if n == 0 {
			w.settled = g
			return nil
		}
		e := w.rebalance(g, at)
		w.rounds += max(n, 1) - 1
		e.Round = w.rounds
		e.Before, e.After = "epoch "+epochText(w.settled.Epoch), "epoch "+epochText(g.Epoch)
		w.settled = g
		return []Event{e}
	}
	if inRound(g) {
		if w.openAt.IsZero() {
			w.openAt = at
		} else if w.last.State == model.StateCompletingRebalance && g.State == model.StatePreparingRebalance {
			w.rounds++
			e := Event{At: at, Group: g.ID, What: "rebalance", Object: "group " + g.ID, Before: "open", After: "open", Round: w.rounds,
				Cause: "another began before it ended", CauseInferred: true}
			w.openAt = at
			return []Event{e}
		}
		return nil
	}
	if w.openAt.IsZero() && Fingerprint(g) == Fingerprint(w.settled) {
		w.settled = g
		return nil
	}
	e := w.rebalance(g, at)
	w.settled = g
	return []Event{e}
}

// rebalance counts a round that ended and describes it.
func (w *Watcher) rebalance(g *model.Group, at time.Time) Event {
	w.rounds++
	e := Event{
		At: at, Group: g.ID, What: "rebalance", Object: "group " + g.ID,
		Before: Fingerprint(w.settled), After: Fingerprint(g), Round: w.rounds,
		Members: memberChanges(w.settled, g), Cause: Cause(w.settled, g, at), CauseInferred: true,
	}
	if !w.openAt.IsZero() {
		d := at.Sub(w.openAt)
		e.Took, w.openAt = &d, time.Time{}
	}
	return e
}

func memberChanges(before, after *model.Group) []MemberChange {
	b, a := membersByID(before), membersByID(after)
	var out []MemberChange
	for _, id := range unionKeys(b, a) {
		m := a[id]
		if m == nil {
			m = b[id]
		}
		c := MemberChange{ID: id, Name: m.Name, Gained: missing(b[id], a[id], after.Kind), Lost: missing(a[id], b[id], after.Kind)}
		if len(c.Gained)+len(c.Lost) > 0 {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(x, y MemberChange) int { return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.ID, y.ID)) })
	return out
}

// missing lists the tasks of b that a lacks, in task order.
func missing(a, b *model.Member, kind model.Kind) []string {
	if b == nil {
		return nil
	}
	has := map[string]bool{}
	if a != nil {
		for _, t := range a.Tasks {
			has[taskWord(kind, t)] = true
		}
	}
	var out []string
	for _, t := range b.Tasks {
		if w := taskWord(kind, t); !has[w] {
			out = append(out, w)
		}
	}
	return out
}

// notePositions keeps what was to restore while positions are reported.
func (w *Watcher) notePositions(g *model.Group, at time.Time) bool {
	reported := 0
	var left int64
	eachTask(g, func(_ *model.Instance, _ *model.Member, t *model.Task) {
		if t.Restore.Position != nil {
			reported++
		}
		if t.Restore.RemainingRecords != nil {
			left += *t.Restore.RemainingRecords
		}
	})
	if reported == 0 {
		return false
	}
	w.positionsAt = at
	w.restoring = model.Count(reported, "copy") + " reported, " + model.Count(int(left), "record") + " to restore"
	return true
}

// positions tells when a live group stops or starts reporting task offsets, as
// after a change of coordinator; the last value is kept with its age (field
// case 14).
func (w *Watcher) positions(g *model.Group, at time.Time) []Event {
	before, beforeAt := w.restoring, w.positionsAt
	reported := w.notePositions(g, at)
	if before == "" {
		return nil
	}
	e := Event{At: at, Group: g.ID, What: "positions", Object: "group " + g.ID}
	switch {
	case !reported && !w.positionsGone && len(g.Instances) > 0 && !inRound(g):
		w.positionsGone = true
		e.Before, e.After = fmt.Sprintf("%s (%s ago)", before, round(at.Sub(beforeAt))), ""
		if coordinator(w.last) != coordinator(g) {
			e.Cause, e.CauseInferred = "coordinator changed; members report again with their next heartbeat", true
		}
		return []Event{e}
	case reported && w.positionsGone:
		w.positionsGone = false
		e.After = w.restoring
		return []Event{e}
	}
	return nil
}

// findings tells what began and what is over. "rebalancing" is left out: the
// state says it.
func (w *Watcher) findings(g *model.Group, at time.Time) []Event {
	var out []Event
	compare(findings(w.last), findings(g), func(_, b, a string) {
		if b != "" && a != "" {
			return
		}
		object, text, _ := strings.Cut(cmp.Or(b, a), "\x00")
		if strings.HasPrefix(text, model.FindingRebalancing+":") {
			return
		}
		e := Event{At: at, Group: g.ID, What: "finding", Object: object, Before: text}
		if b == "" {
			e.Before, e.After = "", text
		}
		out = append(out, e)
	})
	return out
}
