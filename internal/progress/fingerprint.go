package progress

import (
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
)

// Fingerprint is that of a plan: two looks with the same one show the same
// assignment.
func Fingerprint(g *model.Group) string { return plan.Fingerprint(g) }

// taskWord is a task that a member holds, for example "0_0" or "1_0(copy)"; one
// that is only in the target is marked.
func taskWord(kind model.Kind, t model.Task) string {
	w := t.ID.String()
	switch {
	case t.TargetOnly:
		w += "(target)"
	case t.Role == model.Active:
	case kind == model.Classic:
		w += "(copy)"
	default:
		w += "(" + string(t.Role) + ")"
	}
	return w
}

func epochText(e *int32) string { return orDash(epochOrNothing(e)) }
