package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// described is one kind of thing inside a group that `describe` shows.
type described struct {
	word  string
	long  string
	names func(*model.Group) []string
	make  func(*model.Group, string, report.DescribeOptions) (render.Report, error)
}

func instanceItem() described {
	return described{"instance", `NAME is an instance id or its prefix, a member id or prefix, a client id, a static
instance id or a host. A prefix has at least 4 characters.`, instanceNames,
		func(g *model.Group, name string, o report.DescribeOptions) (render.Report, error) {
			in, err := model.ResolveInstance(g, name)
			if err != nil {
				return nil, err
			}
			return report.NewInstanceDescription(g, in, o), nil
		}}
}

func memberItem() described {
	return described{"member", `NAME is a member id or its prefix, a name such as pod-a/T1, a client id, a static
instance id, or the host of a single member. What its metadata hold is shown as
far as it is understood; what is not, in hex.`, memberNames,
		func(g *model.Group, name string, o report.DescribeOptions) (render.Report, error) {
			in, m, err := model.ResolveMember(g, name)
			if err != nil {
				return nil, err
			}
			return report.NewMemberDescription(g, in, m, o), nil
		}}
}

func taskItem() described {
	return described{"task", `NAME is a task id: SUBTOPOLOGY_PARTITION, for example 0_1. Each holder of the task
is shown with its role, tags, lag and restore state.`, taskNames,
		func(g *model.Group, name string, o report.DescribeOptions) (render.Report, error) {
			id, err := model.ResolveTask(g, name)
			if err != nil {
				return nil, err
			}
			t, _ := report.NewTaskDescription(g, id, o) // ResolveTask made sure that there is such a task
			return t, nil
		}}
}

// describeItemOptions is everything `describe instance`, `member` and `task`
// need.
type describeItemOptions struct {
	d     *deps
	kind  described
	name  string
	group string // of the first of two arguments
	watch watchFlags

	commands func(string) bool
}

func newDescribeItemCmd(d *deps, kind func() described) *cobra.Command {
	k := kind()
	o := &describeItemOptions{d: d, kind: k}
	cmd := &cobra.Command{
		Use: k.word + " [GROUP] NAME", Aliases: []string{k.word + "s"}, Short: fmt.Sprintf("Describe one %s of a group", k.word),
		Long:    fmt.Sprintf("Describe one %s of a group: of the one named, else that of -g or of the\ncontext, else the only stream group that is visible.\n\n%s", k.word, k.long),
		Example: fmt.Sprintf("  streamctl describe %s %s -g shop", k.word, map[string]string{"instance": "pod-a", "member": "pod-a/T1", "task": "0_1"}[k.word]),
		Args:    args(cobra.RangeArgs(1, 2)),
		RunE: func(c *cobra.Command, a []string) error {
			o.name, o.commands = a[len(a)-1], commandsOf(c.Root())
			if len(a) == 2 {
				o.group = a[0]
				if err := d.argAndFlag(a[:1], c.Flags().Changed("group")); err != nil {
					return err
				}
			}
			return runDescribeItem(c.Context(), o)
		},
		ValidArgsFunction: completeItems(d, k.names),
	}
	o.watch.bind(cmd)
	return cmd
}

func runDescribeItem(ctx context.Context, o *describeItemOptions) error {
	if o.kind.word == "task" {
		if _, err := model.ParseTaskID(o.name); err != nil {
			return asUsage(err)
		}
	}
	return o.watch.read(ctx, o.d, o.look)
}

func (o *describeItemOptions) look(ctx context.Context, r *reader) (look, error) {
	id, err := r.oneGroup(ctx, o.group)
	if err != nil {
		return look{}, err
	}
	groups, err := r.describe(ctx, []string{id})
	if err != nil {
		return look{}, err
	}
	g := groups[0]
	rep, err := o.kind.make(g, o.name, report.DescribeOptions{Cluster: o.d.contextName(), Commands: o.commands})
	if err != nil {
		// What could not be read may be why nothing of that name was found.
		return look{}, joinErrors(resolveError(err), partialOf(groups))
	}
	return look{report: rep, notes: g.Notes, err: partialOf(groups)}, nil
}
