package progress

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// wentWhole reports whether an instance that is not in its group any more left
// nothing behind (docs/protocol/stream-protocol.md, What can go wrong). It did
// when
//
//   - it owned nothing at the last look;
//   - or its last status is a farewell. That it has no tasks is not enough: a
//     worker that lost its membership may have none for a moment;
//   - or it never wrote a status, and whoever has its tasks now had them ready at
//     the last look.
//
// Its mark proves nothing: anybody may have withdrawn it, or deleted the topic.
func wentWhole(owned []model.TaskID, status, farewell bool, ready func(model.TaskID) bool) bool {
	switch {
	case len(owned) == 0:
		return true
	case status:
		return farewell
	}
	return !slices.ContainsFunc(owned, func(id model.TaskID) bool { return !ready(id) })
}

// Farewell is what the control topic tells of an instance that is not in the
// group: how it went.
type Farewell struct {
	Sure    bool   // it had closed all its tasks
	Drained bool   // it left as it was asked to: all was handed over, or its time was up
	Text    string // a sentence without its subject: what is known, or what is not
}

// FarewellOf reads the last status of an instance that is not in the group. One
// that says how the instance left also says that it had closed everything.
func FarewellOf(g *model.Group, instance string) Farewell {
	if g.Control == nil {
		return Farewell{Text: "is not in the group, and no control topic tells how it went"}
	}
	st := statusOf(g, instance)
	if st == nil {
		return Farewell{Text: "is not in the group, and the control topic has no status of it: how it went is not known"}
	}
	at := st.At.UTC().Format(time.RFC3339)
	switch {
	case st.Left == string(control.LeftDrained):
		return Farewell{true, true, "was drained and left at " + at + ", by its own word"}
	case st.Left == string(control.LeftExpired):
		return Farewell{true, true, "went at its deadline, at " + at + ", with what was not handed over"}
	case st.Left != "":
		return Farewell{Sure: true, Text: "was stopped and left at " + at + ", without being drained"}
	case st.Tasks == 0:
		return Farewell{Text: "is not in the group; its last status, of " + at + ", has no task but is no farewell: whether it was given any after that is not known"}
	}
	return Farewell{Text: fmt.Sprintf("is not in the group; its last status, of %s, still has %s: it died, or could not say how it went", at, tasks(st.Tasks))}
}

func statusOf(g *model.Group, instance string) *model.InstanceStatus {
	if g.Control == nil {
		return nil
	}
	for i := range g.Control.Status {
		if g.Control.Status[i].Instance == instance {
			return &g.Control.Status[i]
		}
	}
	return nil
}

// departedBefore judges an instance that was gone before the first look.
func (j *Judge) departedBefore(s *Status, g *model.Group) {
	f := FarewellOf(g, j.goal.Instance)
	name := cmp.Or(model.GoneName(g, j.goal.Instance), j.goal.Instance)
	if !f.Sure {
		s.Lost = "instance " + name + " " + f.Text
		return
	}
	s.Notes = append(s.Notes, name+" "+f.Text)
	s.Left = statusOf(g, j.goal.Instance).Left
	s.block(ownerless(g)...)
}
