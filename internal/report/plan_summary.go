package report

import (
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/render"
)

// summary is what the plan comes to.
func (s *planScreen) summary() []render.Fact {
	out := []render.Fact{
		{Label: "Moves", Text: s.moveText()},
		{Label: "Rounds", Text: s.roundText()},
		{Label: "Restore", Text: s.restoreText()},
	}
	out = append(out, s.downFacts()...)
	out = append(out, s.unowned()...)
	out = append(out, render.Fact{Label: "Balance", Text: s.balanceText(), Style: s.balanceStyle()})
	if t := s.idText(); t != "" {
		out = append(out, render.Fact{Label: "Ids", Text: t})
	}
	out = append(out, s.findings()...)
	if t := s.hint(); t != "" {
		out = append(out, render.Fact{Label: "Hint", Text: t})
	}
	return out
}

// span writes a total with its least and most over the ids that were tried.
func (s *planScreen) span(key plan.Figure, shown string, write func(int64) string) string {
	least, most := s.r.Range(key)
	if from, to := write(int64(least)), write(int64(most)); from != to {
		return shown + " (" + from + " to " + to + " by the ids drawn)"
	}
	return shown
}

func (s *planScreen) moveText() string {
	t := s.r.Totals
	if t.Moves == 0 && s.deserted() {
		return "0: no instance is left to take a task"
	}
	if t.Moves == 0 {
		return s.span(plan.FigureMoves, "0, nothing moves", render.Int)
	}
	how := map[string]int{}
	tasks := map[string]bool{}
	for _, r := range s.r.Rounds {
		for _, m := range r.Moves {
			how[m.How]++
			tasks[m.Task] = true
		}
	}
	var kinds []string
	for _, h := range []struct{ how, before string }{
		{plan.HowReadyLearner, " by "}, {plan.HowStandby, " by "}, {plan.HowLeftOver, " from "}, {plan.HowStateless, " "}, {plan.HowCold, " "},
	} {
		if how[h.how] > 0 {
			kinds = append(kinds, render.Int(int64(how[h.how]))+h.before+h.how)
		}
	}
	text := s.span(plan.FigureMoves, render.Int(int64(t.Moves)), render.Int) + " of " + render.Count(s.tasks(), "task")
	if len(tasks) < t.Moves && len(tasks) > 0 && t.Extrapolated == 0 {
		text += ", some more than once"
	}
	if len(kinds) > 0 {
		text += ": " + strings.Join(kinds, ", ")
	}
	return text
}

// tasks is how many tasks the group has.
func (s *planScreen) tasks() int {
	sum := func(b plan.Balance) int {
		n := 0
		for _, c := range b.Instances {
			n += c.Active
		}
		return n
	}
	return max(sum(s.r.Before), sum(s.r.After))
}

func (s *planScreen) roundText() string {
	t := s.r.Totals
	text := s.span(plan.FigureRounds, render.Int(int64(t.Rounds)), render.Int)
	if t.Rounds > 0 {
		text += ", the last " + s.lastHandOver() + "at " + took(t.EarliestS) + " at the earliest"
		if least, most := s.r.Range(plan.FigureEarliest); least != most {
			text += " (" + took(least) + " to " + took(most) + ")"
		}
		if t.Learners > 0 && t.EstimateS == nil {
			text += " (+ restore time)"
		}
	}
	switch {
	case t.Extrapolated > 0:
		text += "; " + render.Int(int64(t.Extrapolated)) + " of them extrapolated (--max-rounds)"
	case !s.r.Converged:
		text += "; not at its end yet"
	}
	if t.Learners > 0 || t.Standbys > 0 {
		text += "; " + s.span(plan.FigureLearners, render.Count(t.Learners, "learner"), render.Int)
		if t.Standbys > 0 {
			text += ", " + s.span(plan.FigureStandbys, render.Count(t.Standbys, "new standby"), render.Int)
		}
	}
	return text
}

// lastHandOver says that the time of the last round is that of its hand-over,
// where the table of rounds shows an earlier one.
func (s *planScreen) lastHandOver() string {
	rounds := s.r.Rounds
	for i := len(rounds) - 1; i > 0 && rounds[i].Trigger == plan.TriggerHandOver; i-- {
		if took(rounds[i-1].AtS) != took(s.r.Totals.EarliestS) && s.r.Totals.Extrapolated == 0 {
			return "with its hand-over "
		}
	}
	return ""
}

func (s *planScreen) restoreText() string {
	t := s.r.Totals
	text := "how many records is not known"
	switch {
	case t.RemainingRecords == nil:
	case *t.RemainingRecords == 0:
		return s.span(plan.FigureRecords, "nothing", render.Int)
	default:
		text = s.span(plan.FigureRecords, "≤"+render.Int(*t.RemainingRecords)+" records", render.Int)
		if t.RemainingBytes != nil {
			text += ", " + s.span(plan.FigureBytes, "≤"+render.Bytes(*t.RemainingBytes), render.Bytes)
		} else {
			text += " (bytes unknown" + prefixed(": ", s.r.o.NoBytes) + ")"
		}
	}
	switch {
	case t.EstimateS != nil:
		text += "; done after " + took(*t.EstimateS)
	case s.r.o.Rated:
		text += "; the time cannot be told"
	default:
		text += "; estimate needs --restore-rate"
	}
	return text
}

func prefixed(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}

// deserted reports whether the last instance goes.
func (s *planScreen) deserted() bool {
	return len(s.r.After.Instances) == 0 && len(s.r.Before.Instances) > 0
}

func (s *planScreen) balanceText() string {
	if s.deserted() {
		return "nothing to balance: no instance is left"
	}
	list := func(b plan.Balance, none string) string {
		var out []string
		for _, id := range s.ids() {
			if c, ok := b.Instances[id]; ok {
				out = append(out, strconv.Itoa(c.Active))
			} else {
				out = append(out, none)
			}
		}
		if len(out) > maxColumns {
			return ""
		}
		return strings.Join(out, "/")
	}
	text := twoDigits(s.r.Before.MaxOverExpected) + " -> " + twoDigits(s.r.After.MaxOverExpected) + " of expected at most"
	if before, after := list(s.r.Before, "0"), list(s.r.After, "-"); before != "" && after != "" {
		text = "before " + before + ", after " + after + "; " + text
	}
	switch {
	case !s.r.After.Balanced:
		text += ", not balanced"
	case !s.r.Before.Balanced:
		text += ", balanced"
	}
	return text
}

func twoDigits(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

func (s *planScreen) balanceStyle() render.Style {
	if s.r.After.Balanced {
		return render.Good
	}
	return render.Warning
}
