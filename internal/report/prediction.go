package report

import (
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
)

// Prediction is what the rebalances that a group has planned come to.
type Prediction struct {
	Moves            int     `json:"moves"`
	Rounds           int     `json:"rounds"`
	Learners         int     `json:"learners"`
	RemainingRecords *int64  `json:"remaining_records"` // to restore; an upper bound
	LastInS          float64 `json:"last_in_s"`         // when the last round is at the earliest, from taken_at
	Balanced         bool    `json:"balanced"`          // at the end
	MaxOverExpected  float64 `json:"max_over_expected"` // at the end
}

// Bounds of a prediction that nobody asked for: larger groups are left to plan.
const (
	predictTasks  = 2000
	predictRounds = 60
)

// newPrediction plans on from a Stable group that has a rebalance planned; nil
// where nothing is planned or it cannot be told.
func newPrediction(g *model.Group) *Prediction {
	n := g.NextRebalance
	if n == nil || n.At == nil || g.State != model.StateStable || g.Totals.Tasks > predictTasks {
		return nil
	}
	in, err := plan.FromGroup(g)
	if err != nil {
		return nil
	}
	p, err := plan.Make(in, plan.Options{MaxRounds: predictRounds})
	if err != nil {
		return nil
	}
	t := &p.Totals
	return &Prediction{
		Moves: t.Moves, Rounds: t.Rounds, Learners: t.Learners, RemainingRecords: t.RemainingRecords, LastInS: t.EarliestS,
		Balanced: p.After.Balanced, MaxOverExpected: p.After.MaxOverExpected,
	}
}

// predicted is the line of a prediction.
func (s *screen) predicted(p *Prediction) string {
	if p == nil {
		return ""
	}
	text := "nothing moves then"
	if p.Moves > 0 {
		text = render.Count(p.Moves, "move") + " in " + render.Count(p.Rounds, "round") + ", the last in " + took(p.LastInS) + " or later, then "
		if p.Balanced {
			text += "balanced"
		} else {
			text += "not balanced"
		}
	}
	if s.o.has("plan") {
		text += " (plan " + render.ShellWord(s.g.ID) + ")"
	}
	return text
}

// Stop says whether an instance may stop now, as `check stop` does.
type Stop struct {
	Answer   string    `json:"answer"` // yes, no, unknown
	Blockers []Blocker `json:"blockers"`

	c progress.StopCheck
}

// newStop is nil for groups that run no tasks.
func newStop(g *model.Group, in *model.Instance) *Stop {
	if !g.Kind.IsStream() {
		return nil
	}
	c := progress.CheckStop(g, in)
	return &Stop{Answer: string(c.Answer), Blockers: newBlockers(c.Blockers), c: c}
}
