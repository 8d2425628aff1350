package cmd

import (
	"errors"
	"fmt"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/report"
)

// planGate is what makes a plan exit 3.
type planGate struct {
	exitCode bool     // when something would move
	failOn   []string // as given

	conditions []plan.Condition
}

// check reads --fail-on. The error is bad usage.
func (g *planGate) check() error {
	g.conditions = nil
	for _, text := range g.failOn {
		c, err := plan.ParseCondition(text)
		if err == nil {
			g.conditions = append(g.conditions, c)
			continue
		}
		if bad, ok := errors.AsType[*plan.ConditionError](err); ok && bad.Unknown {
			return unknownWord("--fail-on", "condition", text, plan.ConditionWords())
		}
		return usageErr("fail-on", err)
	}
	return nil
}

// given reports whether a plan is judged.
func (g *planGate) given() bool { return g.exitCode || len(g.failOn) > 0 }

// unmet says what a plan is at fault with, by the worst of all ids that were
// tried; nil when there is nothing.
func (g *planGate) unmet(p *report.Plan) error {
	for i, c := range g.conditions {
		if met, why := c.Met(&p.Plan); met {
			return errs.WithCode(fmt.Errorf("group %q: --fail-on %s: %s", p.Group, g.failOn[i], why), errs.Unmet)
		}
	}
	if g.exitCode && p.WouldMove() {
		return errs.Silent(errs.Unmet)
	}
	return nil
}
