package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/report"
)

// showPlans writes one plan, or a list. A group that has none beats a condition
// that another does not meet.
func (o *planOptions) showPlans(ctx context.Context, w *planReading, c checked, several bool, err error) error {
	failed := []error{err}
	missing := []error{err} // of these without what a plan's own document tells
	var unmet error
	var plans []*report.Plan
	for _, g := range w.groups() {
		p, err := w.planOf(ctx, g, c.options)
		if err != nil {
			failed, missing = append(failed, err), append(missing, err)
			continue
		}
		plans = append(plans, p)
		bytes := o.bytesNeeded(w, p)
		failed, missing = append(failed, partialOf([]*model.Group{g}), bytes), append(missing, bytes)
		if unmet == nil {
			unmet = o.gate.unmet(p)
		}
	}
	switch {
	case several:
		if err := o.d.show(report.NewPlanList(plans, errorsOf(missing, o.groups, w.unread))); err != nil {
			return err
		}
	case len(plans) == 1:
		if err := o.d.show(plans[0]); err != nil {
			return err
		}
	}
	return failedFirst(unmetFirst(joinErrors(failed...), unmet), failed)
}

// failedFirst gives several errors the exit code of a failure where one of them
// is: that a wait for another group ran out says less (field case 66).
func failedFirst(err error, failed []error) error {
	for _, f := range failed {
		for _, e := range leavesOf(f) {
			if errs.ExitCode(e) == errs.Failed {
				return errs.WithCode(err, errs.Failed)
			}
		}
	}
	return err
}

// errorsOf are the failures as a document has them: those of groups that cannot
// be read, and the others, each of the group that its text names.
func errorsOf(failed []error, groups []string, unread []model.ReadError) []report.Error {
	out := report.Errors(unread)
	for _, f := range failed {
		for _, e := range leavesOf(f) {
			object := "plan"
			for _, g := range groups {
				if strings.Contains(e.Error(), fmt.Sprintf("group %q", g)) {
					object = "group " + g
				}
			}
			if slices.ContainsFunc(unread, func(u model.ReadError) bool { return u.Object == object }) {
				continue
			}
			var hint *string
			if h := strings.Join(errs.Hints(e), "; "); h != "" {
				hint = &h
			}
			out = append(out, report.Error{Object: object, Text: oneLine(e.Error()), Hint: hint})
		}
	}
	return out
}

// plan makes the report for one group.
func (o *planOptions) plan(ctx context.Context, w *planReading, g *model.Group, po plan.Options) (*report.Plan, error) {
	in, err := w.input(g)
	if err != nil {
		return nil, planError(err)
	}
	p, err := computed(ctx, g.ID, w.withRate(po, g.ID), func(po plan.Options) (*plan.Plan, error) { return plan.Make(in, po) })
	if err != nil {
		return nil, err
	}
	var at *time.Time // a file gets the same whenever it is written
	if now := o.d.now(); o.d.io.OutTTY {
		at = &now
	}
	return report.NewPlan(p, g, report.PlanOptions{
		Now: at, Summary: o.summary, Moves: o.d.flags.verbose, NoBytes: w.noBytes(), Rated: p.Request.Rate.Known(), Commands: o.commands,
	}), nil
}

// computed computes something of a group until the context ends.
func computed[T any](ctx context.Context, group string, po plan.Options, compute func(plan.Options) (T, error)) (T, error) {
	po.Stopped = func() error { return context.Cause(ctx) }
	v, err := within(ctx, func() (T, error) { return compute(po) })
	switch {
	case err == nil:
		return v, nil
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		err = fmt.Errorf("group %q: its plan is not computed: %w", group, err)
		return v, errs.WithHint(err, "a longer --timeout, fewer rounds (--max-rounds) or a smaller change")
	}
	return v, planError(err)
}

// planError gives an error of the plan its exit code and hint: settings and
// changes that cannot be are bad usage, names that are not there are not found.
func planError(err error) error {
	if r, ok := plan.IsRefused(err); ok {
		return errs.WithHint(err, r.Hint)
	}
	if _, ok := errors.AsType[*plan.SettingError](err); ok {
		return settingUsage("plan", err)
	}
	return resolveError(err)
}

// bytesNeeded fails where --require-bytes asks for sizes that are not known.
func (o *planOptions) bytesNeeded(w *planReading, p *report.Plan) error {
	if !o.requireBytes || p.Totals.RemainingBytes != nil {
		return nil
	}
	why := "sizes in bytes are not known"
	if n := w.noBytes(); n != "" {
		why += ": " + n
	}
	return errs.WithHint(fmt.Errorf("group %q: %s", p.Group, why), "DescribeLogDirs needs DESCRIBE on the cluster")
}
