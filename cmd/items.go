package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// itemList is one kind of thing inside groups that `get` lists.
type itemList struct {
	plural, singular string
	long             string
	make             func([]*model.Group, report.ItemOptions) render.Report
}

func instanceItems() itemList {
	return itemList{"instances", "instance", "An instance is one process: a KafkaStreams object with its threads, or a host\nof workers.",
		func(g []*model.Group, o report.ItemOptions) render.Report { return report.NewInstanceList(g, o) }}
}

func memberItems() itemList {
	return itemList{"members", "member", "A member is one stream thread or worker.",
		func(g []*model.Group, o report.ItemOptions) render.Report { return report.NewMemberList(g, o) }}
}

func taskItems() itemList {
	return itemList{"tasks", "task", "One row a task and copy: active, standby and learner (Kafka's word for a learner\nis warm-up). What an assignment does not tell is inferred and marked ~.",
		func(g []*model.Group, o report.ItemOptions) render.Report { return report.NewTaskList(g, o) }}
}

// getItemsOptions is everything `get instances`, `members` and `tasks` need.
type getItemsOptions struct {
	d      *deps
	kind   itemList
	groups []string
	all    bool
	failOn failOn
	watch  watchFlags
}

func newGetItemsCmd(d *deps, kind func() itemList) *cobra.Command {
	k := kind()
	o := &getItemsOptions{d: d, kind: k}
	cmd := &cobra.Command{
		Use: k.plural + " [GROUP...]", Aliases: []string{k.singular}, Short: fmt.Sprintf("List the %s of a group", k.plural),
		Long:    fmt.Sprintf("List the %s of a group: the one named, else that of -g or of the context,\nelse the only stream group that is visible.\n\n%s", k.plural, k.long),
		Example: fmt.Sprintf("  streamctl get %s -g shop\n  streamctl get %s shop -o tsv --no-headers\n  streamctl get %s --all -o json", k.plural, k.plural, k.plural),
		Args:    args(cobra.ArbitraryArgs),
		RunE: func(c *cobra.Command, a []string) error {
			if err := d.argAndFlag(a, c.Flags().Changed(config.KeyGroup)); err != nil {
				return err
			}
			o.groups = a
			return runGetItems(c.Context(), o)
		},
		ValidArgsFunction: completeGroups(d, -1),
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "of every stream group that is visible")
	cmd.Flags().StringSliceVar(&o.failOn.codes, "fail-on", nil, "exit 3 when a group has this finding `code`, or any")
	o.watch.bind(cmd)
	return cmd
}

func runGetItems(ctx context.Context, o *getItemsOptions) error {
	if o.all && len(o.groups) > 0 {
		return errs.Usagef("names and --all exclude one another")
	}
	if err := o.failOn.check(model.FindingCodes()); err != nil {
		return err
	}
	if err := o.d.checkOutput(o.kind.make(nil, report.ItemOptions{})); err != nil {
		return err
	}
	return o.watch.read(ctx, o.d, o.look)
}

func (o *getItemsOptions) look(ctx context.Context, r *reader) (look, error) {
	ids, listErr, err := o.ids(ctx, r)
	if err != nil {
		return look{}, err
	}
	groups, err := r.describe(ctx, ids)
	if len(groups) == 0 {
		return look{}, joinErrors(listErr, err)
	}
	l := look{report: o.kind.make(groups, report.ItemOptions{Errors: r.unread}), err: joinErrors(listErr, err, partialOf(groups)), unmet: o.failOn.unmet(groups)}
	for _, g := range groups {
		l.notes = append(l.notes, groupNotes(g)...)
	}
	return l, nil
}

func (o *getItemsOptions) ids(ctx context.Context, r *reader) (ids []string, listErr, err error) {
	if len(o.groups) > 0 {
		return sortedOnce(o.groups), nil, nil
	}
	if !o.all {
		id, err := r.oneGroup(ctx, "")
		return []string{id}, nil, err
	}
	l, err := r.list(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, g := range l.streams {
		ids = append(ids, g.ID)
	}
	if len(ids) == 0 {
		return nil, nil, joinErrors(l.err(), r.noneVisible(l))
	}
	return ids, l.err(), nil
}
