package report

import (
	"maps"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/render"
)

// PlanSweep is what `plan --sweep` shows: the same plan with one thing varied.
type PlanSweep struct {
	Head
	Group    string         `json:"group"`
	Assignor string         `json:"assignor"`
	Taken    []plan.Setting `json:"taken"`    // what every plan goes by, by key
	Findings []plan.Finding `json:"findings"` // that every plan has
	Items    []SweepItem    `json:"items"`    // in the order of the values
	Read

	g *model.Group
}

// SweepItem is the plan for one value.
type SweepItem struct {
	Set    map[string]string `json:"set"`
	Totals plan.Totals       `json:"totals"`
	Varies map[string][2]any `json:"varies"` // least and most of each total over the ids that were tried
	Before plan.Balance      `json:"before"`
	After  plan.Balance      `json:"after"`

	ranges map[plan.Figure][2]float64
}

// NewPlanSweep makes the report of a sweep of g.
func NewPlanSweep(sweep *plan.Sweep, g *model.Group) *PlanSweep {
	s := &PlanSweep{Head: head("PlanSweep"), Group: sweep.Group, Assignor: sweep.Assignor, Taken: listOf(sweep.Taken), Findings: listOf(sweep.Findings), g: g, Items: make([]SweepItem, len(sweep.Items)), Read: readOf(g)}
	for i, r := range sweep.Items {
		s.Items[i] = SweepItem{Set: r.Set, Totals: r.Totals, Varies: newVaries(r.Varies), Before: r.Before, After: r.After, ranges: r.Varies}
	}
	return s
}

// longKey is the longest key of a setting that is part of every row; a longer
// one is told once, above the table.
const longKey = 20

// Text writes a row a value, above it what was planned, below it what all of
// the plans rest on.
func (s *PlanSweep) Text(p *render.Page) {
	one := newPlanScreen(p, &Plan{Plan: plan.Plan{
		Group: s.Group, Assignor: s.Assignor, Taken: s.Taken, Findings: s.Findings, BasedOn: plan.BasedOn{State: s.g.State, TakenAt: s.TakenAt},
	}, g: s.g})
	one.headline()
	p.Blank()
	key := s.key()
	short := render.Width(key) > longKey
	if short {
		p.Line(0, render.Escape(key)+":")
	}
	grid := s.grid(short)
	p.ScreenRows(grid)
	facts := one.findings()
	if p.Dropped(grid) == 0 { // EARLIEST goes first where there is no room
		facts = append(s.timeFacts(), facts...)
	}
	if t := one.taken(); t != "" {
		facts = append([]render.Fact{{Label: "Taken", Text: t}}, facts...)
	}
	if len(facts) > 0 {
		p.Blank()
		p.Facts(0, facts)
	}
}

// timeFacts says what EARLIEST leaves out.
func (s *PlanSweep) timeFacts() []render.Fact {
	for i := range s.Items {
		if t := &s.Items[i].Totals; t.Learners > 0 && t.EstimateS == nil {
			return []render.Fact{{Label: "Earliest", Text: "without the time that restoring takes; --restore-rate adds it"}}
		}
	}
	return nil
}

// listOf is a list that is never null.
func listOf[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// key is what the sweep varies.
func (s *PlanSweep) key() string {
	for i := range s.Items {
		for k := range s.Items[i].Set {
			return k
		}
	}
	return ""
}

// Grid is a row a value.
func (s *PlanSweep) Grid() *render.Grid { return s.grid(false) }

// grid is a row a value; short leaves out the key.
func (s *PlanSweep) grid(short bool) *render.Grid {
	idle := false
	for i := range s.Items {
		idle = idle || s.Items[i].Totals.IdleThreads > 0
	}
	g := render.NewGrid(
		render.Column{Head: "SET", Cap: 34}, render.Column{Head: "MOVES", Right: true}, render.Column{Head: "ROUNDS", Right: true},
		render.Column{Head: "EARLIEST", Right: true, Drop: 2}, render.Column{Head: "RECORDS", Right: true}, render.Column{Head: "BYTES", Right: true, Drop: 1},
		render.Column{Head: "DOWN", Right: true}, render.Column{Head: "IDLE", Right: true, In: onlyIf(idle, render.InAll)},
		render.Column{Head: "OF EXP", Key: "of_expected", Right: true}, render.Column{Head: "BALANCED"},
	)
	for i := range s.Items {
		it := &s.Items[i]
		t := &it.Totals
		var set []string
		for _, k := range slices.Sorted(maps.Keys(it.Set)) {
			if short {
				set = append(set, it.Set[k])
			} else {
				set = append(set, k+"="+it.Set[k])
			}
		}
		g.Row(render.Text(strings.Join(set, ",")), it.count(plan.FigureMoves, t.Moves), it.count(plan.FigureRounds, t.Rounds),
			render.Float(t.EarliestS).Shown(took(it.most(plan.FigureEarliest, t.EarliestS))),
			it.bound(plan.FigureRecords, render.OptNum(t.RemainingRecords), t.RemainingRecords, render.Int),
			it.bound(plan.FigureBytes, render.Size(t.RemainingBytes), t.RemainingBytes, render.Bytes),
			it.count(plan.FigureDown, t.TasksDown), it.count(plan.FigureIdle, t.IdleThreads), render.Float(it.After.MaxOverExpected).Shown(twoDigits(it.After.MaxOverExpected)), it.balanced())
	}
	return g
}

// most is the most of a figure over the ids that were tried.
func (it *SweepItem) most(key plan.Figure, shown float64) float64 {
	if v, ok := it.ranges[key]; ok {
		return v[1]
	}
	return shown
}

// count is a total, its least and most where they differ.
func (it *SweepItem) count(key plan.Figure, n int) render.Cell {
	c := render.Num(n)
	if v, ok := it.ranges[key]; ok && v[0] != v[1] {
		return c.Shown(render.Int(int64(v[0])) + "-" + render.Int(int64(v[1])))
	}
	return c
}

// bound is an upper bound, the most over the ids; nothing is no bound.
func (it *SweepItem) bound(key plan.Figure, c render.Cell, n *int64, write func(int64) string) render.Cell {
	if n == nil {
		return c
	}
	most := int64(it.most(key, float64(*n)))
	if c = c.Shown(write(most)); most > 0 {
		c = c.Prefix("≤")
	}
	return c
}

func (it *SweepItem) balanced() render.Cell {
	yes := it.most(plan.FigureUnbalanced, 0) == 0 && it.After.Balanced
	c := render.Bool(&yes)
	if !yes {
		c = c.In(render.Warning)
	}
	return c
}
