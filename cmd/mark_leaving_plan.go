package cmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// predict computes what the marks lead to. A plan that cannot be made is no
// reason not to mark: it is said.
func (m *marking) predict() {
	o := plan.Options{Set: map[string]string{}}
	for _, t := range m.targets {
		o.Changes = append(o.Changes, plan.Leaving{Instance: t.in.ID})
		if t.mark.Timeout != nil {
			o.Set[plan.KeyScaleDown] = strconv.FormatInt(t.mark.Timeout.Milliseconds(), 10)
		}
	}
	m.predictWith(o)
}

func (m *marking) predictWith(o plan.Options) {
	p, err := planOf(m.s.g, o)
	if err != nil {
		m.said = append(m.said, "what will move cannot be predicted: "+err.Error())
		return
	}
	m.plan = report.NewPlan(p, m.s.g, report.PlanOptions{Commands: m.commands})
	m.said = append(m.said, m.drainLines(p)...)
}

func planOf(g *model.Group, o plan.Options) (*plan.Plan, error) {
	in, err := plan.FromGroup(g)
	if err != nil {
		return nil, err
	}
	return plan.Make(in, o)
}

// drainLines say what a plan moves off the targets, how much has to be restored
// for it, and what would restore cold.
func (m *marking) drainLines(p *plan.Plan) []string {
	now := m.newDrain().Now(m.s.g)
	owned := now.Owns
	if owned == 0 {
		return []string{"no active task to hand over"}
	}
	to, cold := destinationsOf(p, m.ids())
	names := planNames(m.s.g, p)
	counts := map[string]int{}
	for _, id := range to {
		counts[names[id]]++
	}
	var parts []string
	for n, c := range counts {
		parts = append(parts, fmt.Sprintf("%s (%d)", n, c))
	}
	slices.Sort(parts)
	line := render.Count(owned, "active task")
	switch len(parts) {
	case 0:
		line += ": no other instance takes them"
	case 1, 2, 3, 4:
		goes := " go to "
		if len(to) == 1 && owned == 1 {
			goes = " goes to "
		}
		if len(to) < owned {
			line += fmt.Sprintf(", of which %d", len(to))
		}
		line += goes + andList(parts)
	default:
		line += fmt.Sprintf(" go to %d instances", len(parts))
	}
	if n := now.ToRestore; n != nil {
		line += fmt.Sprintf(", %s records to restore", render.Int(*n))
	} else {
		line += ", how much has to be restored is not known"
	}
	out := []string{line}
	if len(cold) > 0 {
		out = append(out, fmt.Sprintf("%s restored cold, having no learner that is ready by the deadline: %s", render.Count(len(cold), "task"), strings.Join(cold[:min(len(cold), 10)], " ")))
	}
	for _, f := range p.Findings {
		if f.Code == plan.NoteUnknown {
			out = append(out, f.Text)
		}
	}
	return out
}

// destinationsOf gives for each task that is moved off some instances where it
// is in the end, and which of them start without state.
func destinationsOf(p *plan.Plan, from []string) (to map[string]string, cold []string) {
	to = map[string]string{}
	for _, r := range p.Rounds {
		for _, mv := range r.Moves {
			_, later := to[mv.Task]
			if !later && !slices.Contains(from, mv.From) {
				continue
			}
			to[mv.Task] = mv.To
			if mv.How == plan.HowCold {
				cold = append(cold, mv.Task)
			}
		}
	}
	slices.Sort(cold)
	return to, slices.Compact(cold)
}

// planNames gives the names of a plan's instances by id.
func planNames(g *model.Group, p *plan.Plan) map[string]string {
	out := map[string]string{}
	for id, c := range p.After.Instances {
		out[id] = c.Name
	}
	for i := range g.Instances {
		out[g.Instances[i].ID] = g.Instances[i].Name
	}
	return out
}

// andList writes "a, b and c".
func andList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
