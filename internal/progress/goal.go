package progress

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// Condition is what a wait can wait for (commands.md, wait).
type Condition string

// The conditions.
const (
	Stable    Condition = "stable"
	Converged Condition = "converged"
	CaughtUp  Condition = "caught-up"
	Restored  Condition = "restored"
	Drained   Condition = "drained"
)

// Conditions lists every condition, in the order of the documentation.
func Conditions() []Condition { return []Condition{Stable, Converged, CaughtUp, Restored, Drained} }

// ParseCondition reads a condition by its name.
func ParseCondition(s string) (Condition, error) {
	if slices.Contains(Conditions(), Condition(s)) {
		return Condition(s), nil
	}
	names := make([]string, 0, len(Conditions()))
	for _, c := range Conditions() {
		names = append(names, string(c))
	}
	return "", fmt.Errorf("%q is no condition: one of %s", s, strings.Join(names, ", "))
}

// Goal is what to wait for.
type Goal struct {
	For      Condition
	Settle   time.Duration // stable and converged: how long the assignment must stay the same
	MaxLag   int64         // caught-up: records a partition may lag
	Instance string        // drained: instance id
}

// Blocker is one thing in the way of a goal. The zero Task means that it is no
// task; Object then names it.
type Blocker struct {
	Object           string // "task 0_1", "partition orders-0", "group shop"
	Task             model.TaskID
	Why              string
	Copy             string // id of the instance with a copy of the task; "" when there is none
	RemainingRecords *int64 // nil when unknown
	Clock            bool   // Why counts time: another moment alone changes it
}

// isTask reports whether it is a task that is in the way.
func (b *Blocker) isTask() bool { return b.Task != model.TaskID{} }

// sortBlockers puts what is no task first, as it is, then tasks in order.
func sortBlockers(list []Blocker) {
	slices.SortStableFunc(list, func(a, b Blocker) int {
		switch {
		case a.isTask() == b.isTask():
			return a.Task.Compare(b.Task)
		case b.isTask():
			return -1
		}
		return 1
	})
}

// Status is the judgement of one look.
type Status struct {
	Met      bool
	Lost     string         // not empty: the goal cannot be met any more, and why
	Left     string         // drained: how the instance went, a control.Departure; "" while it is there, or when not known
	Cold     []model.TaskID // drained: of what it left behind, what restores cold elsewhere, as far as it was seen
	Blockers []Blocker      // what is no task first, then by task
	Restore  []TaskRestore  // copies that restore, by task and member
	Notes    []string       // what the judgement rests on and cannot be seen
}

func (s *Status) block(b ...Blocker) { s.Blockers = append(s.Blockers, b...) }

// Timeless is the status without the texts that count time: while it stays the
// same, nothing but the clock has changed.
func (s *Status) Timeless() Status {
	out := *s
	out.Blockers = slices.Clone(s.Blockers)
	for i := range out.Blockers {
		if b := &out.Blockers[i]; b.Clock {
			b.Why = ""
		}
	}
	return out
}

// Sentence says in one line what is in the way; "" when nothing is.
func (s *Status) Sentence() string {
	if s.Lost != "" {
		return s.Lost
	}
	if len(s.Blockers) == 0 {
		return ""
	}
	const shown = 3
	parts := make([]string, 0, shown+1)
	for i, b := range s.Blockers {
		if i == shown {
			parts = append(parts, fmt.Sprintf("%d more", len(s.Blockers)-shown))
			break
		}
		parts = append(parts, b.Object+": "+b.Why)
	}
	return strings.Join(parts, "; ")
}

func taskBlocker(id model.TaskID, why string) Blocker {
	return Blocker{Object: "task " + id.String(), Task: id, Why: why}
}

func groupBlocker(g *model.Group, why string) Blocker {
	return Blocker{Object: "group " + g.ID, Why: why}
}

// clockBlocker is a groupBlocker whose text counts time.
func clockBlocker(g *model.Group, why string) Blocker {
	b := groupBlocker(g, why)
	b.Clock = true
	return b
}
