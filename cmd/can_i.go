package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/report"
)

// canIOptions is everything can-i needs.
type canIOptions struct {
	d       *deps
	command string
}

func newCanICmd(d *deps) *cobra.Command {
	o := &canIOptions{d: d}
	return &cobra.Command{
		Use: "can-i [COMMAND]", Short: "Show which permissions a command needs, and which of them one has",
		Long: `Show which permissions a command needs and which of them the login has, as the
brokers themselves tell (authorized operations), with the ACL to ask for where one
is missing. Without COMMAND, for all commands. What only groups of another kind
need is marked so, where the group can be read. With COMMAND the exit code is 3 when
something it cannot do without is missing.

READ, WRITE, DELETE and ALTER include DESCRIBE; ALTER_CONFIGS includes
DESCRIBE_CONFIGS. A streams group is refused whole while one of its topics is
hidden. One row stands for all commands that need the same; -o wide has each.

` + permissionTable(),
		Example: "  streamctl can-i -g shop\n  streamctl can-i describe -g shop",
		Args:    args(cobra.MaximumNArgs(2)),
		RunE: func(c *cobra.Command, a []string) error {
			o.command = strings.Join(a, " ")
			return runCanI(c.Context(), o)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return canICommands(), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// need is one permission that a command uses.
type need struct {
	command   string
	operation string // Kafka's name
	on        string // "cluster", "group", "topics", "control topic"
	api       string
	purpose   string
	required  bool // without it the command can do nothing
}

// needs lists what the commands that talk to a cluster use (broker-facts.md, section 1).
func needs() []need {
	list := []need{
		{"get groups", "DESCRIBE", "cluster", "ListGroups", "every group, not only those with a right of their own", false},
		{"get groups", "DESCRIBE", "group", "ListGroups, DescribeGroups, StreamsGroupDescribe", "this group", true},
		{"get groups", "READ", onControl, "Fetch", "worker groups: what restores", false},
	}
	for _, c := range []string{"describe", "get instances", "get members", "get tasks", "plan", "wait", "watch", "check stop", "snapshot"} {
		list = append(list,
			need{c, "DESCRIBE", "group", "FindCoordinator, DescribeGroups, StreamsGroupDescribe, OffsetFetch", "members, assignment, commits", true},
			need{c, "DESCRIBE", "topics", "Metadata, ListOffsets, OffsetFetch", "lag, restore state", true},
			need{c, "READ", onControl, "Fetch", "worker groups: marks, modes, live positions", false},
			need{c, "DESCRIBE_CONFIGS", "group", "DescribeConfigs", "streams groups: standbys, timeouts", false},
			need{c, "DESCRIBE", "cluster", "DescribeLogDirs", "sizes in bytes", false},
		)
	}
	list = append(list, need{"check stop", "READ", "group", "JoinGroup, LeaveGroup", "--refresh: a rebalance that is asked for", false})
	for _, c := range markCommands() {
		list = append(list,
			need{c, "DESCRIBE", "group", "FindCoordinator, DescribeGroups", "who is there", true},
			need{c, "DESCRIBE", "topics", "Metadata, ListOffsets", "what there is to restore", false},
			need{c, "WRITE", onControl, "Metadata, Produce", "marks", true},
			need{c, "READ", onControl, "Fetch", "marks are read back", true},
			need{c, "CREATE", onControl, "CreateTopics", "the first mark of a group", false},
			need{c, "READ", "group", "JoinGroup, LeaveGroup", "apps with the plug-in: the rebalance that makes a mark take effect", false},
		)
	}
	for _, c := range []string{"mark-leaving", "unmark"} {
		list = append(list,
			need{c, "DESCRIBE_CONFIGS", "group", "DescribeConfigs", "streams groups: standbys", false},
			need{c, "ALTER_CONFIGS", "group", "IncrementalAlterConfigs", "streams groups: --raise-standbys, and putting them back", false},
			need{c, "DESCRIBE_CONFIGS", "cluster", "DescribeConfigs", "streams groups: how many standbys the brokers allow", false},
		)
	}
	for _, c := range []string{"rebalance", "remove-member"} {
		list = append(list,
			need{c, "DESCRIBE", "group", "FindCoordinator, DescribeGroups", "who is there", true},
			need{c, "READ", "group", "JoinGroup, LeaveGroup", "a visitor that joins and leaves; members that are thrown out", true},
			need{c, "DESCRIBE", "topics", "Metadata, ListOffsets", "what there is to restore", false},
		)
	}
	list = append(list,
		need{"mode get", "DESCRIBE", "group", "FindCoordinator, DescribeGroups, StreamsGroupDescribe", "the mode, by the protocol type", true},
		need{"mode get", "READ", onControl, "Metadata, Fetch", "the mode that was asked for, and who follows it", false},
		need{"mode set", "DESCRIBE", "group", "FindCoordinator, DescribeGroups", "who is there", true},
		need{"mode set", "WRITE", onControl, "Metadata, Produce", "the mode", true},
		need{"mode set", "READ", onControl, "Fetch", "who follows", true},
		need{"mode set", "CREATE", onControl, "CreateTopics", "the first record of a group", false},
		need{"mode set", "DESCRIBE_CONFIGS", "cluster", "DescribeConfigs", "the broker's delay, for the pause that is announced", false},
	)
	return list
}

// onControl is what needs of a group's control topic are on.
const onControl = "control topic"

// markCommands are the commands that write marks.
func markCommands() []string { return []string{"mark-leaving", "unmark", "replace"} }

func canICommands() []string {
	var out []string
	for _, n := range needs() {
		if !slices.Contains(out, n.command) {
			out = append(out, n.command)
		}
	}
	return out
}

// permissionTable is the help text's list.
func permissionTable() string {
	var b strings.Builder
	all := needs()
	for _, c := range []string{"get groups", "describe", "check stop", "mark-leaving", "rebalance", "mode get", "mode set"} {
		name := c
		switch c {
		case "describe":
			name = "describe, get instances|members|tasks, plan, wait, watch, check stop, snapshot"
		case "check stop":
			name = "check stop --refresh, besides"
		case "mark-leaving":
			name = strings.Join(markCommands(), ", ")
		case "rebalance":
			name = "rebalance, remove-member"
		}
		fmt.Fprintf(&b, "%s:\n", name)
		for _, n := range all {
			if n.command != c || c == "check stop" && !strings.HasPrefix(n.purpose, "--refresh") {
				continue
			}
			must := "optional"
			if n.required {
				must = "required"
			}
			fmt.Fprintf(&b, "  %-16s on %-13s  %s: %s\n", n.operation, n.on, must, n.purpose)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// matches tells the needs of a command; "describe group" is "describe".
func (n *need) matches(command string) bool {
	if command == "" || n.command == command || command == "list" && n.command == "get groups" {
		return true
	}
	return n.command == "describe" && slices.Contains([]string{"describe group", "describe instance", "describe member", "describe task"}, command)
}

// authorizer is a cluster that tells what one may do.
type authorizer interface {
	Authorized(ctx context.Context, groups, topics []string) (*kclient.Authorization, error)
}

func (o *canIOptions) needs() ([]need, error) {
	var list []need
	for _, n := range needs() {
		if n.matches(o.command) {
			list = append(list, n)
		}
	}
	if len(list) > 0 {
		return list, nil
	}
	err := errs.Usagef("%q is no command that needs a permission", o.command)
	if near := nearestWord(o.command, canICommands()); near != "" {
		return nil, errs.WithHint(err, fmt.Sprintf("did you mean %q?", near))
	}
	return nil, errs.WithHint(err, "one of "+strings.Join(canICommands(), ", "))
}

func runCanI(ctx context.Context, o *canIOptions) error {
	list, err := o.needs()
	if err != nil {
		return err
	}
	if err := o.d.checkOutput(report.NewCanI(nil, report.CanIOptions{})); err != nil {
		return err
	}
	if o.d.flags.from != "" {
		return errs.Usagef("can-i and --from exclude one another: a file has no permissions")
	}
	c, err := o.d.live(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	a, ok := c.(authorizer)
	if !ok {
		return errors.New("this cluster does not tell permissions")
	}
	group := o.d.defaultGroup()
	var groups, topics []string
	if group != "" {
		groups = []string{group}
		if slices.ContainsFunc(list, func(n need) bool { return n.on == onControl }) {
			topics = []string{control.TopicName(group)}
		}
	} else {
		o.d.note("no group is named: give -g GROUP to see what reading it needs")
	}
	found, err := a.Authorized(ctx, groups, topics)
	if err != nil {
		return err
	}
	rep := o.report(c, list, group, kindToAsk(ctx, c, group), found)
	if err := o.d.show(rep); err != nil {
		return err
	}
	if o.command != "" && rep.Allowed != nil && !*rep.Allowed {
		return errs.Silent(errs.Unmet)
	}
	return reported(rep.Errors)
}

func (o *canIOptions) report(c Cluster, list []need, group string, kind model.Kind, found *kclient.Authorization) *report.CanI {
	who := ""
	if d, ok := c.(interface{ Describe() string }); ok {
		who = d.Describe()
	}
	out := []report.Permission{}
	for _, n := range list {
		rows := permissions(n, group, who, found)
		if needed := n.neededBy(kind); needed != nil {
			for i := range rows {
				if rows[i].Needed = needed; !*needed {
					rows[i].Ask = nil
				}
			}
		}
		out = append(out, rows...)
	}
	now := o.d.now().UTC()
	about := report.ItemOptions{TakenAt: &now}
	if found.ClusterID != nil {
		about.ClusterID = *found.ClusterID
	}
	for _, e := range found.Errors {
		// A refusal is the answer here, not a failure.
		if !strings.HasSuffix(e.Code, "AUTHORIZATION_FAILED") {
			about.Errors = append(about.Errors, model.ReadError{Object: e.Object, Code: e.Code, Text: e.Text, Hint: e.Hint})
		}
	}
	return report.NewCanI(out, report.CanIOptions{Command: o.command, Group: group, Principal: who, Read: about})
}

// permissions are the rows of one need: one, or one a topic.
func permissions(n need, group, who string, found *kclient.Authorization) []report.Permission {
	row := func(resource string, a *kclient.Authorized) report.Permission {
		p := report.Permission{Command: n.command, Operation: n.operation, Resource: resource, API: &n.api, Purpose: n.purpose, Required: n.required}
		if a == nil {
			return p
		}
		refused := strings.HasSuffix(a.Error, "AUTHORIZATION_FAILED")
		if a.Known || refused {
			may := a.May(n.operation)
			p.Allowed = &may
			if !may {
				kind, name, _ := strings.Cut(resource, " ")
				ask := fmt.Sprintf("%s on %s", n.operation, kind)
				if name != "" {
					ask += fmt.Sprintf(" %q", name)
				}
				if who != "" {
					ask += " for " + who
				}
				p.Ask = &ask
			}
		}
		return p
	}
	switch n.on {
	case "cluster":
		return []report.Permission{row("cluster", &found.Cluster)}
	case "group":
		if group == "" {
			return nil
		}
		i := slices.IndexFunc(found.Groups, func(a kclient.Authorized) bool { return a.Name == group })
		if i < 0 {
			return []report.Permission{row("group "+group, nil)}
		}
		return []report.Permission{row("group "+group, &found.Groups[i])}
	}
	if group == "" {
		return nil
	}
	own := control.TopicName(group)
	var out []report.Permission
	for i := range found.Topics {
		if (found.Topics[i].Name == own) == (n.on == onControl) {
			out = append(out, row("topic "+found.Topics[i].Name, &found.Topics[i]))
		}
	}
	switch {
	case len(out) > 0:
	case n.on == onControl:
		out = append(out, row("topic "+own, nil))
	default:
		out = append(out, row("topics of "+group, nil))
	}
	return out
}
