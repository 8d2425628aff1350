package cmd

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/report"
	"github.com/streamctl/streamctl/internal/snapshot"
)

func newGetCmd(d *deps) *cobra.Command {
	return parentCmd("get", "List groups, instances, members or tasks", "List things, one row each.",
		"  streamctl get groups\n  streamctl get tasks -g shop -o tsv",
		newGetGroupsCmd(d, "groups"), newGetItemsCmd(d, instanceItems), newGetItemsCmd(d, memberItems), newGetItemsCmd(d, taskItems))
}

// newListCmd is `list`, which is `get groups`.
func newListCmd(d *deps) *cobra.Command { return newGetGroupsCmd(d, "list") }

// getGroupsOptions is everything `get groups` needs.
type getGroupsOptions struct {
	d        *deps
	only     string // -g; "" lists all
	kinds    []string
	allKinds bool
	findings bool
	lag      bool
	failOn   failOn
	watch    watchFlags
}

func newGetGroupsCmd(d *deps, use string) *cobra.Command {
	o := &getGroupsOptions{d: d}
	cmd := &cobra.Command{
		Use: use, Short: "List stream groups",
		Long: `List the stream groups that are visible: classic (Kafka Streams over the consumer
protocol), streams (KIP-1071) and worker. NOTES are the findings that need no
offsets; --lag reads the offsets of the rows shown as well.

Needs DESCRIBE on each group, or on the cluster for all of them. What an ACL
hides is not in the list, without a word from the broker.`,
		Example: "  streamctl get groups\n  streamctl get groups --findings --fail-on any\n  streamctl get groups --all-kinds -o json",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed(config.KeyGroup) {
				o.only = d.defaultGroup()
			}
			return runGetGroups(c.Context(), o)
		},
	}
	if use == "groups" {
		cmd.Aliases = []string{"group"}
	} else {
		cmd.Short += ", as get groups does"
		cmd.Example = strings.ReplaceAll(cmd.Example, "streamctl get groups", "streamctl "+use)
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.kinds, "kind", nil, "only groups of this `kind` (repeatable): "+kindNames())
	f.BoolVar(&o.allKinds, "all-kinds", false, "also groups that run no stream tasks")
	f.BoolVar(&o.findings, "findings", false, "only groups with notes")
	f.BoolVar(&o.lag, "lag", false, "read the offsets too and add the lag and what it tells")
	f.StringSliceVar(&o.failOn.codes, "fail-on", nil, "exit 3 when a group has this finding `code`, or any")
	o.watch.bind(cmd)
	return cmd
}

func listKinds() []model.Kind {
	return []model.Kind{model.Classic, model.Streams, model.Worker, model.Consumer, model.Connect, model.Share, model.Other}
}

func kindNames() string {
	names := make([]string, 0, len(listKinds()))
	for _, k := range listKinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

func (o *getGroupsOptions) listOptions() (report.ListOptions, error) {
	l := report.ListOptions{AllKinds: o.allKinds, Findings: o.findings, Lag: o.lag}
	for _, k := range o.kinds {
		if !slices.Contains(listKinds(), model.Kind(k)) {
			return l, errs.WithHint(errs.Usagef("--kind: %q is no kind of group", k), "one of "+kindNames())
		}
		l.Kinds = append(l.Kinds, model.Kind(k))
	}
	return l, nil
}

func runGetGroups(ctx context.Context, o *getGroupsOptions) error {
	list, err := o.listOptions()
	if err != nil {
		return err
	}
	if err := o.failOn.check(model.FindingCodes()); err != nil {
		return err
	}
	if err := o.d.checkOutput(report.NewGroupList(nil, list)); err != nil {
		return err
	}
	return o.watch.read(ctx, o.d, func(ctx context.Context, r *reader) (look, error) { return o.look(ctx, r, list) })
}

func (o *getGroupsOptions) look(ctx context.Context, r *reader, list report.ListOptions) (look, error) {
	s, err := r.listSnapshot(ctx, o.query(list))
	if err != nil {
		return look{}, err
	}
	untold := dropControlErrors(s)
	b := r.options
	b.SkipOffsets = !o.lag
	groups := groupmeta.BuildAll(s, b)
	if o.only != "" {
		groups = slices.DeleteFunc(groups, func(g *model.Group) bool { return g.ID != o.only })
		if len(groups) == 0 && len(s.Errors) == 0 {
			return look{}, r.groupError(s, o.only, groupmeta.ErrNotFound)
		}
	}
	list.TakenAt = s.TakenAt
	if s.ClusterID != nil {
		list.ClusterID = *s.ClusterID
	}
	list.Errors = readErrors(s)
	unsupported := slices.Contains(list.Kinds, model.Streams) && s.Options[kclient.OptionStreams] == kclient.OptionUnsupported
	rep := report.NewGroupList(groups, list)
	if unsupported && len(rep.Groups) == 0 {
		return look{}, errNoStreamsGroups()
	}
	l := look{report: rep, err: reported(rep.Errors), unmet: o.failOn.unmet(shownGroups(groups, rep))}
	l.notes = o.notes(r, s, rep, len(groups))
	if untold > 0 {
		l.notes = append(l.notes, "what restores is not known of "+model.Count(untold, "worker group")+": the control topic cannot be read (describe group says why)")
	}
	if unsupported {
		l.err = errors.Join(l.err, errNoStreamsGroups())
	}
	return l, nil
}

// dropControlErrors takes out and counts what a list can do without: control
// topics that cannot be read.
func dropControlErrors(s *snapshot.Snapshot) int {
	of := make(map[string]bool, len(s.Groups))
	for i := range s.Groups {
		of["topic "+control.TopicName(s.Groups[i].ID)] = true
	}
	all := len(s.Errors)
	s.Errors = slices.DeleteFunc(s.Errors, func(e snapshot.Error) bool { return of[e.Object] })
	return all - len(s.Errors)
}

// errNoStreamsGroups says that groups were asked for which the broker is too
// old to have (field case 61).
func errNoStreamsGroups() error {
	return errors.New("broker does not support streams groups (API 89)")
}

// shownGroups are the groups that have a row.
func shownGroups(groups []*model.Group, rep *report.GroupList) []*model.Group {
	rows := make(map[string]bool, len(rep.Groups))
	for i := range rep.Groups {
		rows[rep.Groups[i].Group] = true
	}
	return slices.DeleteFunc(slices.Clone(groups), func(g *model.Group) bool { return !rows[g.ID] })
}

// query asks for no more than the list shows (field case 69).
func (o *getGroupsOptions) query(list report.ListOptions) kclient.Query {
	q := kclient.ListQuery()
	q.Control = true // only there a worker says what it restores
	if q.Kinds = list.Kinds; list.AllKinds {
		q.Kinds = listKinds()
	}
	if o.only != "" {
		q.Match = func(id string) bool { return id == o.only }
	}
	if o.lag {
		q.Commits, q.Logs = true, true
		q.OffsetsFor = func(g *snapshot.Group) bool {
			one := snapshot.New()
			one.Groups = []snapshot.Group{*g}
			m, err := groupmeta.Build(one, g.ID, groupmeta.BuildOptions{SkipOffsets: true})
			return err == nil && m.Kind.IsStream() && (len(list.Kinds) == 0 || slices.Contains(list.Kinds, m.Kind))
		}
	}
	return q
}

// notes are the lines for stderr: what is not shown, what is hidden.
func (o *getGroupsOptions) notes(r *reader, s *snapshot.Snapshot, rep *report.GroupList, all int) []string {
	var notes []string
	switch {
	case len(s.Errors) > 0 && all == 0:
		// What could not be read is said as an error.
	case all == 0 && !r.offline():
		notes = append(notes, "no group is visible"+r.toWhom()+": listing needs DESCRIBE on the groups or on the cluster; a group can still be named: describe group NAME")
	default:
		notes = append(notes, rep.Summary())
	}
	if s.Options[kclient.OptionStreams] == kclient.OptionUnsupported && !slices.Contains(o.kinds, string(model.Streams)) {
		notes = append(notes, "broker does not support streams groups (API 89); other kinds are shown")
	}
	return notes
}
