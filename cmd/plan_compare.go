package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/report"
)

// maxSavedPlan bounds the file of a saved plan, in bytes.
const maxSavedPlan = 1 << 30

// showSweep writes a row a value.
func (o *planOptions) showSweep(ctx context.Context, w *planReading, c checked, failed error) error {
	groups := w.groups()
	if len(groups) == 0 {
		return failed
	}
	in, err := w.input(groups[0])
	if err != nil {
		return errors.Join(failed, planError(err))
	}
	s, err := computed(ctx, in.Group, w.withRate(c.options, groups[0].ID), func(po plan.Options) (*plan.Sweep, error) {
		return plan.MakeSweep(in, po, *c.sweep)
	})
	if err != nil {
		return errors.Join(failed, err)
	}
	if err := o.d.show(report.NewPlanSweep(s, groups[0])); err != nil {
		return err
	}
	return joinErrors(failed, partialOf(groups))
}

// readSaved reads the plan of --check, - is stdin.
func (o *planOptions) readSaved(ctx context.Context) (*report.Plan, error) {
	return within(ctx, o.savedPlan)
}

func (o *planOptions) savedPlan() (*report.Plan, error) {
	in := o.d.io.In
	if o.check != "-" {
		f, err := o.d.open(o.check)
		if err != nil {
			return nil, fmt.Errorf("saved plan: %w", err)
		}
		defer f.Close() //nolint:errcheck // only read
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxSavedPlan))
	if err != nil {
		return nil, fmt.Errorf("saved plan: %w", err)
	}
	p, err := report.ReadPlan(b)
	if err != nil {
		return nil, errs.WithHint(fmt.Errorf("saved plan %q: %w", o.check, err), "streamctl plan GROUP -o json > FILE writes one")
	}
	if len(o.groups) == 1 && o.groups[0] != p.Group {
		return nil, errs.Usagef("--check: the saved plan is about group %q, not %q", p.Group, o.groups[0])
	}
	return p, nil
}

// showCheck writes what differs from the saved plan.
func (o *planOptions) showCheck(ctx context.Context, w *planReading, c checked, failed error) error {
	groups := w.groups()
	if len(groups) == 0 {
		return failed
	}
	g := groups[0]
	if saved := c.saved.ClusterID; saved != nil && g.ClusterID != "" && *saved != g.ClusterID {
		return fmt.Errorf("saved plan %q is of cluster %s, group %q is on %s", o.check, *saved, g.ID, g.ClusterID)
	}
	now, err := o.plan(ctx, w, g, c.options)
	if err != nil {
		return errors.Join(failed, err)
	}
	check := report.NewPlanCheck(c.saved, now)
	if err := o.d.show(check); err != nil {
		return err
	}
	unmet := o.gate.unmet(now)
	if unmet == nil && !check.Same {
		unmet = errs.Silent(errs.Unmet)
	}
	return unmetFirst(joinErrors(failed, partialOf([]*model.Group{g})), unmet)
}
