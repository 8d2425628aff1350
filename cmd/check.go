package cmd

import (
	"context"
	"fmt"

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
	*change
	instance string
	refresh  bool // ask a classic group for a round first
	commands func(string) bool
}

func newCheckStopCmd(d *deps) *cobra.Command {
	o := &checkStopOptions{change: newChange(d, "check stop --refresh", true)}
	cmd := &cobra.Command{
		Use: "stop INSTANCE", Short: "Is it safe to stop this instance now?",
		Long: `Check whether an instance can stop without a task waiting for state. The exit
code is 0 only if every active task on it is stateless or has a caught-up copy
elsewhere; it is 3 when not, and when it cannot be told: the positions of a
classic group are as old as its last round, and a worker that has gone silent may
be anywhere. In a streams group the broker decides where a task goes: there the
prediction (plan --remove) must put every task onto a caught-up copy.

--refresh asks a classic group for a rebalance first, as rebalance does, so that
every member reports how far its copies are, and judges by that. Since this changes
the group, it wants a confirmation first, or --yes where there is no terminal.
Where the answer is yes already, or members tell their positions all the while
(worker groups, streams groups of 4.4), it does without a rebalance, and needs no
--yes.

INSTANCE is an instance id or its prefix, a member id or prefix, a client id, a
static instance id or a host. Without -g and a default group it is looked up in
every stream group that is visible.`,
		Example: "  streamctl check stop pod-b -g shop\n  streamctl check stop pod-b -g shop --refresh --yes\n  streamctl check stop 10.0.0.7 && systemctl stop shop",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			o.instance, o.commands = a[0], commandsOf(c.Root())
			if !o.refresh {
				for _, flag := range []string{"dry-run", "reason", "force", "yes"} {
					if c.Flags().Changed(flag) {
						return errs.Usagef("--%s goes with --refresh only: without it nothing is changed", flag)
					}
				}
			}
			return runCheckStop(c.Context(), o)
		},
		ValidArgsFunction: completeItems(d, instanceNames),
	}
	cmd.Flags().BoolVar(&o.refresh, "refresh", false, "ask a classic group for a rebalance first: every member then reports its positions")
	o.bind(cmd, "--refresh: do it even if the group has changed since it was shown")
	return cmd
}

func runCheckStop(ctx context.Context, o *checkStopOptions) error {
	if err := o.d.checkOutput(report.NewCheck(&model.Group{}, &model.Instance{}, progress.StopCheck{})); err != nil {
		return err
	}
	if o.refresh {
		if err := o.checkReading(); err != nil { // the rest once there is something to ask for
			return err
		}
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
	asked := false
	if o.refresh {
		if g, in, asked, err = o.refreshed(ctx, r, g, in, c); err != nil {
			return err
		}
		if asked {
			c = progress.CheckStopAfterRound(g, in)
		}
	}
	rep := report.NewCheck(g, in, c).With(o.commands)
	rep.Refreshed = asked
	if err := o.d.show(rep); err != nil {
		return err
	}
	if c.Answer == progress.Unknown && g.Kind == model.Classic && !o.refresh && g.State == model.StateStable && !r.offline() {
		o.d.note("--refresh asks for a rebalance, which makes every member report")
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
		if id, err = r.lookUp(ctx, []string{o.instance}, "instance", instanceOf); err != nil {
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
