package report

import (
	"strconv"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// noteTexts are the codes of a group's findings, with a number where one says
// more.
func noteTexts(g *model.Group, codes []string) []string {
	out := make([]string, len(codes))
	for i, code := range codes {
		out[i] = code
		n, inferred := noteCount(g, code)
		if n > 0 {
			out[i] += " " + strconv.Itoa(n)
		}
		if inferred {
			out[i] += "~"
		}
	}
	return out
}

func noteCount(g *model.Group, code string) (n int, inferred bool) {
	switch code {
	case model.FindingLearning:
		for t := range eachTask(g) {
			inferred = inferred || t.task.Role == model.Learner && t.task.Inferred
		}
		return g.Totals.Learner, inferred
	case model.FindingUnassigned:
		return len(g.Unassigned), false
	case model.FindingMoving:
		return g.Totals.Moving, false
	case model.FindingLeaving:
		for i := range g.Instances {
			if g.Instances[i].Leaving != nil {
				n++
			}
		}
	case model.FindingRestoring:
		for t := range eachTask(g) {
			if t.task.Role == model.Active && (t.task.Restore.State == model.Restoring || g.StateUntold(t.task)) {
				n++
			}
		}
	}
	return n, false
}

// noteRoom is what the other columns leave of 80.
func (l *GroupList) noteRoom() int {
	name := len("GROUP")
	for i := range l.Groups {
		name = max(name, min(nameCap, render.Width(l.Groups[i].Group)))
	}
	room := 80 - name - len("  classic~  PreparingRebalance  INST  MEMBERS  TASKS  ")
	if l.o.Lag {
		room -= len("100,000  ")
	}
	return room
}

// shortNotes joins as many notes as have room, at least the first, and counts
// the rest.
func shortNotes(notes []string, room int) render.Cell {
	if len(notes) == 0 {
		return render.Dash()
	}
	text := notes[0]
	for i, n := range notes[1:] {
		if len(text)+len(", ")+len(n)+len(" +9") > room {
			text += " +" + strconv.Itoa(len(notes)-1-i)
			break
		}
		text += ", " + n
	}
	return render.Text(text)
}
