package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/report"
)

func newCheckCmd(d *deps) *cobra.Command {
	return parentCmd("check", "Check whether something is safe to do", "Answer yes, no or cannot tell; the exit code is 0 only for yes.",
		"  streamctl check stop pod-b -g shop", newCheckStopCmd(d))
}

// checkStopOptions is everything `check stop` needs.
type checkStopOptions struct {
	d        *deps
	instance string
	commands func(string) bool
}

func newCheckStopCmd(d *deps) *cobra.Command {
	o := &checkStopOptions{d: d}
	return &cobra.Command{
		Use: "stop INSTANCE", Short: "Is it safe to stop this instance now?",
		Long: `Check whether an instance can stop without a task waiting for state. The exit
code is 0 only if every active task on it is stateless or has a caught-up copy
elsewhere; it is 3 when not, and when it cannot be told: the positions of a
classic group are as old as its last round. In a streams group the broker decides
where a task goes: there the prediction (plan --remove) must put every task onto
a caught-up copy.

INSTANCE is an instance id or its prefix, a member id or prefix, a client id, a
static instance id or a host. Without -g and a default group it is looked up in
every stream group that is visible.`,
		Example: "  streamctl check stop pod-b -g shop\n  streamctl check stop 10.0.0.7 && systemctl stop shop",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			o.instance, o.commands = a[0], commandsOf(c.Root())
			return runCheckStop(c.Context(), o)
		},
		ValidArgsFunction: completeItems(d, instanceNames),
	}
}

func runCheckStop(ctx context.Context, o *checkStopOptions) error {
	if err := o.d.checkOutput(report.NewCheck(&model.Group{}, &model.Instance{}, progress.StopCheck{})); err != nil {
		return err
	}
	r, err := o.d.reader(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	g, in, err := o.find(ctx, r)
	if err != nil {
		return err
	}
	c := progress.CheckStop(g, in)
	if err := o.d.show(report.NewCheck(g, in, c).With(o.commands)); err != nil {
		return err
	}
	if c.Answer != progress.Yes {
		return errs.Silent(errs.Unmet)
	}
	return nil
}

// find reads the instance's group, looked up by the instance's name where no
// group is named.
func (o *checkStopOptions) find(ctx context.Context, r *reader) (*model.Group, *model.Instance, error) {
	id := o.d.defaultGroup()
	if id == "" {
		var err error
		if id, err = o.lookUp(ctx, r); err != nil {
			return nil, nil, err
		}
	}
	groups, err := r.describe(ctx, []string{id})
	if err != nil {
		return nil, nil, err
	}
	g := groups[0]
	if !g.Kind.IsStream() {
		return nil, nil, fmt.Errorf("group %q is a %s group: it runs no stream tasks", id, g.Kind)
	}
	in, err := model.ResolveInstance(g, o.instance)
	if err != nil {
		return nil, nil, resolveError(err)
	}
	// What could not be read must not make a yes: it makes the check fail.
	return g, in, partialOf(groups)
}

// lookUp finds the one stream group that has an instance of that name.
func (o *checkStopOptions) lookUp(ctx context.Context, r *reader) (string, error) {
	l, err := r.list(ctx, nil)
	if err != nil {
		return "", err
	}
	var found []string
	group := ""
	for _, g := range l.streams {
		in, err := model.ResolveInstance(g, o.instance)
		if amb, ok := errors.AsType[*model.AmbiguousError](err); ok {
			for _, c := range amb.Candidates {
				found = append(found, fmt.Sprintf("%s (%s) in group %s", c.Name, c.ID, g.ID))
			}
		}
		if err == nil {
			group = g.ID
			found = append(found, fmt.Sprintf("%s (%s) in group %s", in.Name, in.ID, g.ID))
		}
	}
	switch len(found) {
	case 1:
		o.d.note("instance %s", found[0])
		return group, l.err()
	case 0:
		if len(l.streams) == 0 {
			return "", errors.Join(l.err(), r.noneVisible(l))
		}
		var refused []error
		for _, g := range l.streams {
			if g.Unread {
				refused = append(refused, partial(g.Errors))
			}
		}
		where := "the only stream group that is visible"
		if n := len(l.streams); n > 1 {
			where = fmt.Sprintf("any of the %d stream groups that are visible", n)
		}
		return "", joinErrors(l.err(), errors.Join(refused...), errs.WithHint(fmt.Errorf("no instance %q in %s", o.instance, where), "name the group: -g GROUP"))
	}
	return "", errs.WithHint(fmt.Errorf("instance %q is not unique: %s", o.instance, strings.Join(found, "; ")), "name the group: -g GROUP, or give more of the id")
}
