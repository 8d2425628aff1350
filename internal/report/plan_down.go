package report

import (
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/render"
)

// maxDown is how many lines of tasks that are down the default form has.
const maxDown = 5

// downGroup is tasks that are down for the same reason.
type downGroup struct {
	why      string // without the number of records
	tasks    []string
	seconds  float64 // the longest
	timed    bool    // all have a time
	waits    bool    // the reason tells for how long nobody runs it
	restores bool
	records  int64 // of all together
}

// downGroups puts tasks that are down for the same reason together.
func (s *planScreen) downGroups() []downGroup {
	var groups []downGroup
	for _, r := range s.r.Rounds {
		for _, d := range r.Down {
			why, restores := d.Why, d.RemainingRecords != nil
			if restores {
				why = d.Reason
			}
			i := slices.IndexFunc(groups, func(g downGroup) bool { return g.why == why && g.restores == restores })
			if i < 0 {
				groups, i = append(groups, downGroup{why: why, restores: restores, timed: true}), len(groups)
			}
			g := &groups[i]
			g.tasks = append(g.tasks, d.Task)
			if restores {
				g.records += *d.RemainingRecords
			}
			g.waits = g.waits || d.WaitS > 0
			if g.timed = g.timed && d.Seconds != nil; d.Seconds != nil {
				g.seconds = max(g.seconds, *d.Seconds)
			}
		}
	}
	return groups
}

func (s *planScreen) downText(g downGroup) string {
	text := idSample(g.tasks) + ": " + render.Escape(g.why)
	switch {
	case g.restores && len(g.tasks) == 1:
		text += "restores ≤" + render.Int(g.records) + " records"
	case g.restores:
		text += "each restores, ≤" + render.Int(g.records) + " records in all"
	}
	switch {
	case g.timed && (g.restores || !g.waits):
		text += "; " + took(g.seconds)
		if len(g.tasks) > 1 {
			text += " at most"
		}
	case g.timed, g.why == plan.WhyNobodyLeft, g.why == plan.WhyUnknownState:
	case s.r.o.Rated:
		text += "; for how long cannot be told"
	default:
		text += "; for how long needs --restore-rate"
	}
	return text
}

// downFacts are the tasks that are not processed for some time.
func (s *planScreen) downFacts() []render.Fact {
	groups := s.downGroups()
	n := s.r.Totals.TasksDown
	if len(groups) == 0 && n == 0 && s.r.Worst(plan.FigureDown) == 0 {
		return []render.Fact{{Label: "Down", Text: "no task waits for state", Style: render.Good}}
	}
	head := s.span(plan.FigureDown, render.Count(n, "task"), render.Int)
	out := []render.Fact{{Label: "Down", Text: head, Style: render.Problem}}
	for i, g := range groups {
		switch {
		case i == maxDown && !s.p.Wide() && len(groups) > maxDown+1:
			return append(out, render.Fact{Label: " ", Text: render.Int(int64(len(groups)-maxDown)) + " more reasons: -o wide"})
		case i == 0:
			out[0].Text += ", " + s.downText(g)
		default:
			out = append(out, render.Fact{Label: " ", Text: s.downText(g), Style: render.Problem})
		}
	}
	return out
}

// idSample lists task ids, at most eight of them.
func idSample(ids []string) string {
	const most = 8
	if len(ids) <= most {
		return render.Escape(strings.Join(ids, " "))
	}
	return render.Escape(strings.Join(ids[:most], " ")) + " and " + render.Int(int64(len(ids)-most)) + " more"
}

// unowned tells how long tasks are with nobody while they are handed over.
func (s *planScreen) unowned() []render.Fact {
	tasks, most, least := 0, 0.0, -1.0
	for _, r := range s.r.Rounds {
		if u := r.Unowned; u != nil && u.Tasks > 0 {
			tasks, most = max(tasks, u.Tasks), max(most, u.MostS)
			if least < 0 || u.LeastS < least {
				least = u.LeastS
			}
		}
	}
	if tasks == 0 {
		return nil
	}
	return []render.Fact{{Label: "Unowned", Text: "up to " + render.Count(tasks, "task") + " at a time with nobody for " + took(least) + " to " + took(most) +
		" while handed over"}}
}
