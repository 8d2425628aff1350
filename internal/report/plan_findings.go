package report

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/render"
)

// idText says what hangs on ids that nobody knows yet.
func (s *planScreen) idText() string {
	n := s.r.Plan.NewIDs
	if n.Tried < 1 {
		return ""
	}
	tail := "--add 1,id=UUID if you know it"
	if s.r.g != nil && s.r.g.Kind == model.Streams {
		tail = "the broker draws member ids"
	}
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(n.Varies)) {
		if v := n.Varies[k]; v[0] != v[1] {
			keys = append(keys, varyWord(k))
		}
	}
	if len(keys) > 0 {
		return "depend on the ids that new instances draw: " + strings.Join(keys, ", ") + "; shown is the first of " + strconv.Itoa(n.Tried) + " tried (" + tail + ")"
	}
	return "which tasks depends on the ids that new instances draw (" + tail + "); the numbers above hold for all of " + strconv.Itoa(n.Tried) + " tried"
}

// varyWord is a total as people name it.
func varyWord(key plan.Figure) string {
	switch key {
	case plan.FigureEarliest:
		return "the time of the last round"
	case plan.FigureEstimate:
		return "the estimate"
	case plan.FigureMax:
		return "the balance"
	case plan.FigureUnbalanced:
		return "whether it is balanced"
	case plan.FigureWorse:
		return "whether it is worse"
	}
	return strings.ReplaceAll(string(key), "_", " ")
}

// findings are the remarks, by what they are about.
func (s *planScreen) findings() []render.Fact {
	var out []render.Fact
	silent, first := 0, 0
	for _, f := range s.r.Findings {
		if f.Code == plan.NoteNoOffset && !s.p.Wide() {
			if silent++; silent > 1 {
				continue
			}
			first = len(out)
		}
		out = append(out, render.Fact{Label: findingLabel(f.Code), Text: render.Escape(f.Text)})
	}
	if silent > 1 {
		out[first].Text += "; the same of " + render.Count(silent-1, "other member") + " (-o wide)"
	}
	return byLabel(out)
}

// byLabel puts remarks in the order of what they are about, each said once; where
// there are several of one kind each begins with a dash.
func byLabel(out []render.Fact) []render.Fact {
	order := []string{"Note", "Idle", "Discarded", "Assumed", "Unknown"}
	slices.SortStableFunc(out, func(a, b render.Fact) int { return slices.Index(order, a.Label) - slices.Index(order, b.Label) })
	same := func(i, j int) bool { return i >= 0 && j < len(out) && out[i].Label == out[j].Label }
	several := make([]bool, len(out))
	for i := range out {
		several[i] = same(i-1, i) || same(i, i+1)
	}
	for i := len(out) - 1; i >= 0; i-- {
		if several[i] {
			out[i].Item = true
		}
		if same(i-1, i) {
			out[i].Label = " "
		}
	}
	return out
}

// findingFacts are findings of a plan elsewhere than in its own report.
func findingFacts(list []plan.Finding) []render.Fact {
	out := make([]render.Fact, len(list))
	for i, f := range list {
		out[i] = render.Fact{Label: findingLabel(f.Code), Text: render.Escape(f.Text)}
	}
	return byLabel(out)
}

func findingLabel(code string) string {
	switch code {
	case plan.NoteAssumed, plan.NoteOldPosition, plan.NoteRange:
		return "Assumed"
	case plan.NoteUnknown, plan.NoteNoOffset:
		return "Unknown"
	case plan.NoteIdle:
		return "Idle"
	case plan.NoteDiscarded:
		return "Discarded"
	}
	return "Note"
}

// waitTimeout is the flag that lets wait go on as long as the rounds take, where
// its own bound of ten minutes is too short.
func (s *planScreen) waitTimeout() string {
	_, most := s.r.Range(plan.FigureEarliest)
	if s.r.Totals.EstimateS != nil {
		most = max(most, *s.r.Totals.EstimateS)
	}
	const bound, spare = 600, 1.5 // seconds; for restores that take their time
	if most*spare < bound || most > longestS {
		return ""
	}
	return " --timeout " + strconv.Itoa(int(math.Ceil(most*spare/600))*10) + "m"
}

// hint names a command of this build that does the same sooner or better.
func (s *planScreen) hint() string {
	live := s.r.g == nil || s.r.g.Kind != "" // of a scenario there is no group
	has := func(command string) bool { return live && s.r.o.Commands != nil && s.r.o.Commands(command) }
	probing := false
	for _, r := range s.r.Rounds {
		probing = probing || r.Trigger == plan.TriggerProbing
	}
	group := render.ShellWord(s.r.Group)
	switch {
	case probing && has("rebalance"):
		return "rebalance " + group + " --until converged does the same as soon as the learners are ready"
	case s.r.Totals.Moves > 0 && has("wait"):
		return "wait " + group + " --for converged" + s.waitTimeout() + " returns when it is over"
	}
	return ""
}
