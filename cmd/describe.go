package cmd

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/report"
)

func newDescribeCmd(d *deps) *cobra.Command {
	return parentCmd("describe", "Show everything about a group, instance, member or task", "Show everything about one thing, or several groups.",
		"  streamctl describe group shop\n  streamctl describe instance pod-a -g shop\n  streamctl describe task 0_1 -g shop -o json",
		newDescribeGroupCmd(d), newDescribeItemCmd(d, instanceItem), newDescribeItemCmd(d, memberItem), newDescribeItemCmd(d, taskItem))
}

// describeGroupOptions is everything `describe group` needs.
type describeGroupOptions struct {
	d        *deps
	names    []string
	choice   groupChoice
	threads  bool
	by       string
	tree     bool
	failOn   failOn
	watch    watchFlags
	commands func(string) bool
}

func newDescribeGroupCmd(d *deps) *cobra.Command {
	o := &describeGroupOptions{d: d}
	cmd := &cobra.Command{
		Use: "group [NAME...]", Aliases: []string{"groups"}, Short: "Describe groups: verdict, next rebalance, instances, tasks, lag",
		Long: `Describe groups. The verdict comes first: OK, or the findings with the worst
first. Then when the next rebalance comes and how old the positions are, then
instances and the tasks that stand out; -o wide shows all of them.

~ marks what is inferred, ≤ an upper bound, - what is not known or does not
apply, ? what could not be read. r is the balancing factor: an instance may run up
to r times the tasks expected of it, and no fewer than those divided by r.

Without a name the group of -g or of the context is described; without those,
groups with findings in full and healthy ones in a line each.

Needs DESCRIBE on the group and on its topics; DESCRIBE on the cluster for sizes
in bytes, DESCRIBE_CONFIGS on the group for the settings of a streams group.`,
		Example: `  streamctl describe group shop
  streamctl describe group shop billing -o json
  streamctl describe group --regex '^shop' --fail-on any
  streamctl describe group shop --sample 30s --threads`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(c *cobra.Command, a []string) error {
			o.names = a
			o.commands = commandsOf(c.Root())
			if err := d.argAndFlag(a, c.Flags().Changed(config.KeyGroup)); err != nil {
				return err
			}
			return runDescribeGroup(c.Context(), o)
		},
		ValidArgsFunction: completeGroups(d, -1),
	}
	f := cmd.Flags()
	f.StringVar(&o.choice.regex, "regex", "", "describe the stream groups whose name matches this `expression`")
	f.BoolVar(&o.choice.all, "all", false, "describe every stream group that is visible")
	f.BoolVar(&o.threads, "threads", false, "show every thread")
	f.StringVar(&o.by, "by", "", "sums and balance over `what`: topic, instance or subtopology")
	f.BoolVar(&o.tree, "tree", false, "show the topology as a tree (also --topology without a file)")
	f.StringSliceVar(&o.failOn.codes, "fail-on", nil, "exit 3 when a group has this finding `code`, or any")
	o.watch.bind(cmd)
	return cmd
}

// commandsOf tells whether this build has a command, for hints.
func commandsOf(root *cobra.Command) func(string) bool {
	return func(path string) bool {
		c := root
		for _, name := range strings.Fields(path) {
			i := slices.IndexFunc(c.Commands(), func(k *cobra.Command) bool { return k.Name() == name || k.HasAlias(name) })
			if i < 0 {
				return false
			}
			c = c.Commands()[i]
		}
		return true
	}
}

func (o *describeGroupOptions) reportOptions() (report.DescribeOptions, error) {
	r := report.DescribeOptions{Cluster: o.d.contextName(), Threads: o.threads, Topology: o.tree, By: report.By(o.by), Commands: o.commands}
	switch r.By {
	case report.ByNothing, report.ByTopic, report.ByInstance, report.BySubtopology:
		return r, nil
	}
	return r, errs.Usagef("--by: %q is not one of topic, instance, subtopology", o.by)
}

func runDescribeGroup(ctx context.Context, o *describeGroupOptions) error {
	re, err := o.choice.check(o.names)
	if err != nil {
		return err
	}
	ro, err := o.reportOptions()
	if err != nil {
		return err
	}
	if err := o.failOn.check(model.FindingCodes()); err != nil {
		return err
	}
	if err := o.d.checkOutput(report.NewGroupDescription(&model.Group{}, ro)); err != nil {
		return err
	}
	return o.watch.read(ctx, o.d, func(ctx context.Context, r *reader) (look, error) {
		r.tree = o.tree
		return o.look(ctx, r, re, ro)
	})
}

func (o *describeGroupOptions) look(ctx context.Context, r *reader, re *regexp.Regexp, ro report.DescribeOptions) (look, error) {
	c, err := o.choose(ctx, r, re)
	if err != nil {
		return look{}, err
	}
	begin := o.d.now()
	groups, err := r.describe(ctx, c.ids)
	if len(groups) == 0 {
		return look{}, errors.Join(c.err, err)
	}
	if took := o.d.now().Sub(begin); took >= time.Second && !ended(groups[0]) {
		ro.InStateFor = took.Truncate(time.Second)
	}
	l := look{err: joinErrors(c.err, err, partialOf(groups)), unmet: o.failOn.unmet(groups)}
	for _, g := range groups {
		l.notes = append(l.notes, groupNotes(g)...)
		o.d.verbose("%s", partitionsRead(g))
	}
	switch {
	case c.single:
		l.report = report.NewGroupDescription(groups[0], ro)
	default:
		l.report = report.NewGroupDescriptionList(groups, o.brief(), ro).WithErrors(r.unread)
	}
	return l, nil
}

// settleFor is how long a describe waits for a rebalance to end.
const settleFor = 2 * time.Second

// brief reports whether healthy groups take only a line: where nobody asked
// for particular ones.
func (o *describeGroupOptions) brief() bool {
	return len(o.names) == 0 && o.choice == groupChoice{}
}

// groupNotes are the remarks about a group for stderr.
func groupNotes(g *model.Group) []string {
	notes := slices.Clone(g.Notes)
	if g.State == model.StateEmpty && !slices.ContainsFunc(notes, func(n string) bool { return n == g.ID+" has no members" }) {
		notes = append(notes, g.ID+" has no members")
	}
	return notes
}

// partitionsRead counts the partitions whose lag is known, of those that the
// group reads (field case 70).
func partitionsRead(g *model.Group) string {
	read := 0
	for _, o := range g.Offsets {
		if o.LogEnd != nil {
			read++
		}
	}
	return fmt.Sprintf("%s: %d of %d partitions read", g.ID, read, len(g.Offsets))
}

// chosen is what choose found.
type chosen struct {
	ids    []string // sorted
	single bool     // one was asked for: one document is written rather than a list
	err    error    // what the list of groups could not tell
}

// choose finds the groups to describe.
func (o *describeGroupOptions) choose(ctx context.Context, r *reader, re *regexp.Regexp) (chosen, error) {
	if len(o.names) > 0 {
		names := sortedOnce(o.names)
		return chosen{ids: names, single: len(names) == 1}, nil
	}
	if def := o.d.defaultGroup(); def != "" && o.brief() {
		return chosen{ids: []string{def}, single: true}, nil
	}
	var match func(string) bool
	if re != nil {
		match = re.MatchString
	}
	list, err := r.list(ctx, match)
	if err != nil {
		return chosen{}, err
	}
	c := chosen{err: list.err()}
	for _, g := range list.streams {
		c.ids = append(c.ids, g.ID)
	}
	if r.offline() && o.brief() && len(c.ids) == 0 && len(list.all) == 1 {
		c.ids = []string{list.all[0].ID}
	}
	c.single = len(c.ids) == 1 && o.brief()
	switch {
	case len(c.ids) > 0:
		return c, nil
	case re != nil:
		return c, errors.Join(c.err, errs.WithHint(fmt.Errorf("no stream group matches %q", o.choice.regex), "streamctl get groups --all-kinds lists what is visible"))
	}
	return c, errors.Join(c.err, r.noneVisible(list))
}
