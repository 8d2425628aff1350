package report

import (
	"slices"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/render"
)

// Plan is what `plan` shows of one group.
type Plan struct {
	plan.Plan
	NewIDs  NewIDs      `json:"new_ids"`
	Members []string    `json:"members"` // member ids that the plan started from, sorted
	Story   []PlanRound `json:"rounds"`  // those of the plan, as the document has them
	Errors  []Error     `json:"errors"`

	g *model.Group
	o PlanOptions
}

// PlanRound is a round in the document.
type PlanRound struct {
	plan.Round
	Moves []PlanMove `json:"moves"`
}

// PlanMove is a move in the document.
type PlanMove struct {
	plan.Move
	From *string `json:"from"` // null when nobody ran it
}

func newStory(rounds []plan.Round) []PlanRound {
	out := make([]PlanRound, len(rounds))
	for i, r := range rounds {
		out[i] = PlanRound{Round: r, Moves: make([]PlanMove, len(r.Moves))}
		for j, m := range r.Moves {
			out[i].Moves[j] = PlanMove{Move: m, From: optional(m.From)}
		}
	}
	return out
}

// NewIDs says what hangs on ids that instances draw when they start: the least
// and most of each total over all draws.
type NewIDs struct {
	Given  []string          `json:"given"`
	Tried  int               `json:"tried"`
	Varies map[string][2]any `json:"varies"` // each as it is in Totals: int64, int or float64
}

// newVaries writes counts as whole numbers, and as wide ones those that are wide
// in Totals.
func newVaries(ranges map[plan.Figure][2]float64) map[string][2]any {
	out := make(map[string][2]any, len(ranges))
	for k, v := range ranges {
		switch k {
		case plan.FigureRecords, plan.FigureBytes, plan.FigureDiscarded:
			out[string(k)] = [2]any{int64(v[0]), int64(v[1])}
		default:
			out[string(k)] = [2]any{v[0], v[1]}
			if k.Whole() {
				out[string(k)] = [2]any{int(v[0]), int(v[1])}
			}
		}
	}
	return out
}

// PlanOptions says how a plan is shown to people. The document is the same
// whatever is set.
type PlanOptions struct {
	Summary  bool              // --summary: the last block only
	Moves    bool              // -v: each move a line
	NoBytes  string            // why sizes in bytes are not known; "" when they are
	Rated    bool              // a restore rate was given
	Now      *time.Time        // of a person who looks: tells how old the group's state is; nil: not told
	Commands func(string) bool // whether this build has a command; nil: none
}

// NewPlan makes the report of a plan for g.
func NewPlan(p *plan.Plan, g *model.Group, o PlanOptions) *Plan {
	out := &Plan{Plan: *p, Members: []string{}, Story: newStory(p.Rounds), Errors: Errors(g.Errors), g: g, o: o}
	for i := range g.Instances {
		for j := range g.Instances[i].Members {
			out.Members = append(out.Members, g.Instances[i].Members[j].ID)
		}
	}
	slices.Sort(out.Members)
	out.NewIDs = NewIDs{Given: p.NewIDs.Given, Tried: p.NewIDs.Tried, Varies: newVaries(p.NewIDs.Varies)}
	return out
}

// Text writes the story round by round, then what it comes to.
func (r *Plan) Text(p *render.Page) {
	s := newPlanScreen(p, r)
	s.headline()
	if !r.o.Summary {
		s.p.Facts(0, s.opening())
		s.rounds()
		s.block(s.bars())
		s.legend()
		s.moves()
	}
	s.p.Blank()
	s.p.Facts(0, s.summary())
}

// PlanList is what `plan` shows of several groups.
type PlanList struct {
	Head
	Items []*Plan `json:"items"` // by group
	Read
}

// NewPlanList makes the report of several plans; errors are those of groups
// that have no plan.
func NewPlanList(plans []*Plan, errors []Error) *PlanList {
	l := &PlanList{Head: head("PlanList"), Items: plans}
	all := slices.Clone(errors)
	for _, p := range plans {
		if l.TakenAt == nil {
			l.TakenAt = p.TakenAt
		}
		if l.ClusterID == nil {
			l.ClusterID = p.ClusterID
		}
		all = append(all, p.Errors...)
	}
	l.Errors = sortedErrors(all)
	return l
}

// Text writes the plans one after the other.
func (l *PlanList) Text(p *render.Page) {
	for i, r := range l.Items {
		if i > 0 {
			p.Blank()
		}
		r.Text(p)
	}
}

// longestS is the longest time that is written as one: a century. What is
// longer does not fit a time.Duration much longer either.
const longestS = 100 * 365 * 24 * 3600

// took is a number of seconds as people read it, "0s" for none.
func took(seconds float64) string {
	switch {
	case seconds == 0:
		return "0s"
	case seconds > longestS:
		return "more than a century"
	}
	return render.Duration(time.Duration(seconds * float64(time.Second)))
}
