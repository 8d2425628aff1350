package progress

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// Holds says what holds the task up, for example "1_5: pod-b restores at 0/s
// for 60s".
func (x *DrainTask) Holds() string { return x.Task.String() + ": " + x.holds() }

func (x *DrainTask) holds() string {
	switch {
	case !x.Stateful:
		return "has no state, goes with the next round"
	case x.On == "":
		return "no instance learns it yet"
	case x.Ready:
		return "ready on " + x.On + ", goes with the next round"
	case x.Queued:
		return waitsItsTurn + " on " + x.On + toGo(x.Remaining)
	case x.Still >= time.Second:
		return fmt.Sprintf("%s restores at 0/s for %s%s", x.On, round(x.Still), toGo(x.Remaining))
	case x.Rate != nil:
		return fmt.Sprintf("%s restores at %s/s%s", x.On, model.Thousands(int64(*x.Rate)), toGo(x.Remaining))
	}
	return x.On + " restores" + toGo(x.Remaining)
}

func toGo(n *int64) string {
	if n == nil {
		return ""
	}
	return ", " + model.Thousands(*n) + " to go"
}

// Where says who has a copy of the task, for example "1_5 (learner on pod-b,
// 8,112 to go)".
func (x *DrainTask) Where() string {
	switch {
	case !x.Stateful:
		return x.Task.String() + " (no state)"
	case x.On == "":
		return x.Task.String() + " (no copy)"
	case x.Ready:
		return fmt.Sprintf("%s (%s on %s, ready)", x.Task, x.Role, x.On)
	}
	return fmt.Sprintf("%s (%s on %s%s)", x.Task, x.Role, x.On, toGo(x.Remaining))
}

func (x *DrainTask) blocker() Blocker {
	b := taskBlocker(x.Task, "is still owned by "+x.Owner+": "+x.holds())
	b.Copy, b.RemainingRecords = x.OnID, x.Remaining
	return b
}

// StillOwns says what the targets own, for example "still owns 1_5 (learner on
// pod-b, 8,112 to go)", with the names of the instances where there are several.
func (l *DrainLook) StillOwns(several bool) string {
	const shown = 4
	byOwner := map[string][]string{}
	var names []string
	for i := range l.Tasks {
		x := &l.Tasks[i]
		if byOwner[x.Owner] == nil {
			names = append(names, x.Owner)
		}
		byOwner[x.Owner] = append(byOwner[x.Owner], x.Where())
	}
	slices.Sort(names)
	var parts []string
	for _, n := range names {
		list := byOwner[n]
		text := strings.Join(list[:min(len(list), shown)], ", ")
		if more := len(list) - shown; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		if several {
			text = n + " still owns " + text
		} else {
			text = "still owns " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}
