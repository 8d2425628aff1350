package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/report"
)

func newModeCmd(d *deps) *cobra.Command {
	return parentCmd("mode", "Show or switch the mode of a group", "Show the rebalancing mode of a group, or switch it.",
		"  streamctl mode get clicks\n  streamctl mode set clicks incremental", newModeGetCmd(d), newModeSetCmd(d))
}

// modeGetOptions is everything `mode get` needs.
type modeGetOptions struct {
	d     *deps
	group string
}

func newModeGetCmd(d *deps) *cobra.Command {
	o := &modeGetOptions{d: d}
	return &cobra.Command{
		Use: "get [GROUP]", Short: "Show the rebalancing mode of a group, and who follows it",
		Long: `Show the rebalancing mode of a worker group: the one that it runs in, by its
protocol type, the one that was last asked for, and which instances follow it.
Groups of other kinds have no mode; what they have instead is said.`,
		Example: "  streamctl mode get clicks\n  streamctl mode get clicks -o json",
		Args:    args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			if len(a) > 0 {
				o.group = a[0]
			}
			return runModeGet(c.Context(), o)
		},
		ValidArgsFunction: completeGroups(d, 1),
	}
}

func runModeGet(ctx context.Context, o *modeGetOptions) error {
	if err := o.d.checkOutput(report.NewMode(&model.Group{})); err != nil {
		return err
	}
	r, err := o.d.reader(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	id, err := r.oneGroup(ctx, o.group)
	if err != nil {
		return err
	}
	q := r.describeQuery([]string{id})
	q.Commits, q.Logs, q.LogSizes, q.InternalTopics = false, false, false, true
	s, err := r.look(ctx, q)
	if err != nil {
		return err
	}
	groups, err := r.build(s, []string{id})
	if err != nil {
		return err
	}
	if err := o.d.show(report.NewMode(groups[0])); err != nil {
		return err
	}
	return partialOf(groups)
}
