package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/report"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// diffOptions is everything diff needs.
type diffOptions struct {
	d             *deps
	before, after string // snapshot files
	exitCode      bool
}

func newDiffCmd(d *deps) *cobra.Command {
	o := &diffOptions{d: d}
	cmd := &cobra.Command{
		Use: "diff A B", Short: "Compare two snapshot files",
		Long: `Compare two snapshot files: state, epochs, instances, members, who holds which
task, partitions, findings. Groups are matched by name; two files with one group
each are compared whatever their names. Positions and lags are left out, since
they always move.`,
		Example: "  streamctl diff before.json after.json\n  streamctl diff before.json after.json --exit-code -o json",
		Args:    args(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, a []string) error {
			o.before, o.after = a[0], a[1]
			return runDiff(c.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit 3 when there is a difference")
	return cmd
}

func runDiff(ctx context.Context, o *diffOptions) error {
	if err := o.d.checkOutput(report.NewDiff(report.DiffResult{})); err != nil {
		return err
	}
	if o.d.flags.from != "" {
		return errs.Usagef("diff takes two files, not --from")
	}
	if o.before == "-" && o.after == "-" {
		return errs.Usagef("stdin can be one of the two files only")
	}
	b, err := o.d.buildOptions(ctx)
	if err != nil {
		return err
	}
	sa, err := o.d.readSnapshot(ctx, o.before)
	if err != nil {
		return err
	}
	sb, err := o.d.readSnapshot(ctx, o.after)
	if err != nil {
		return err
	}
	res := report.DiffResult{Before: sa.TakenAt, After: sb.TakenAt}
	switch {
	case sa.ClusterID == nil || sb.ClusterID == nil:
	case *sa.ClusterID == *sb.ClusterID:
		res.ClusterID = sb.ClusterID
	default:
		o.d.warn(fmt.Sprintf("the files are of two clusters, %s and %s", *sa.ClusterID, *sb.ClusterID))
	}
	if res.Changes, err = diffSnapshots(sa, sb, o.d.defaultGroup(), b); err != nil {
		return err
	}
	if err := o.d.show(report.NewDiff(res)); err != nil {
		return err
	}
	if o.exitCode && len(res.Changes) > 0 {
		return errs.Silent(errs.Unmet)
	}
	return nil
}

// diffSnapshots compares the groups of two snapshots, only the named one when
// only is not empty.
func diffSnapshots(sa, sb *snapshot.Snapshot, only string, o groupmeta.BuildOptions) ([]progress.Change, error) {
	pick := func(s *snapshot.Snapshot) []*model.Group {
		all := groupmeta.BuildAll(s, o)
		if only == "" {
			return all
		}
		return slices.DeleteFunc(all, func(g *model.Group) bool { return g.ID != only })
	}
	a, b := pick(sa), pick(sb)
	if len(a) == 0 && len(b) == 0 {
		if only != "" {
			return nil, fmt.Errorf("group %q is in neither file", only)
		}
		return nil, errors.New("neither file holds a group")
	}
	if len(a) == 1 && len(b) == 1 {
		return progress.Diff(a[0], b[0]), nil
	}
	var out []progress.Change
	for _, x := range a {
		i := slices.IndexFunc(b, func(g *model.Group) bool { return g.ID == x.ID })
		if i < 0 {
			out = append(out, progress.Change{Object: "group " + x.ID, What: "gone", Before: x.State})
			continue
		}
		out = append(out, progress.Diff(x, b[i])...)
	}
	for _, x := range b {
		if !slices.ContainsFunc(a, func(g *model.Group) bool { return g.ID == x.ID }) {
			out = append(out, progress.Change{Object: "group " + x.ID, What: "new", After: x.State})
		}
	}
	return out, nil
}
