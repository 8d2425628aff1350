package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// remover is a cluster that can take members out of a group.
type remover interface {
	RemoveMembers(ctx context.Context, group string, members []kclient.MemberToRemove, reason string) ([]kclient.RemovedMember, error)
}

// removeMemberOptions is everything remove-member needs.
type removeMemberOptions struct {
	*change
	group    string
	instance string // any name of an instance: all its members
	member   string // any name of a member
	static   string // static id: of one member, or the configured one of an app, whose threads are S-1, S-2 …
}

func newRemoveMemberCmd(d *deps) *cobra.Command {
	o := &removeMemberOptions{change: newChange(d, "remove-member", true)}
	cmd := &cobra.Command{
		Use: "remove-member [GROUP]", Short: "Throw a stale or stopped member out of a group",
		Long: `Throw members out of a classic or worker group: those of one instance, a single
one, or those with a static id. It is for members that have ended and are still
listed: the others get their tasks at once, instead of when the session timeout is
over (45s by default; a Kafka Streams app does not leave when it is closed, and a
static member never does).

A member that is alive is not stopped by it: its tasks stand still until it has
noticed and joined again.

Members of a streams group (KIP-1071) cannot be thrown out: there is no request
for it. Brokers before 2.4 are refused too.`,
		Example: `  streamctl remove-member shop --instance pod-b
  streamctl remove-member shop --instance-id i1 --dry-run
  streamctl remove-member shop --member pod-b-StreamThread-1 --yes`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, a []string) (err error) {
			if o.group, err = d.groupToChange(c, a); err != nil {
				return err
			}
			return runRemoveMember(c.Context(), o)
		},
		ValidArgsFunction: completeGroups(d, 1),
		Annotations:       map[string]string{annotationTimeout: "own"},
	}
	f := cmd.Flags()
	f.StringVar(&o.instance, "instance", "", "all members of this `instance`, in any way that names it")
	f.StringVar(&o.member, "member", "", "this `member`, in any way that names it")
	f.StringVar(&o.static, "instance-id", "", "the member with this static `id` (group.instance.id); of an app all threads, ID-1, ID-2, …")
	bindNames(cmd, d, "instance", instanceNames)
	bindNames(cmd, d, "member", memberNames)
	bindNames(cmd, d, "instance-id", staticNames)
	o.bind(cmd, "do it even if the group has changed since it was shown")
	return cmd
}

// removeTarget is the members to throw out.
type removeTarget struct {
	what    string // for people, for example "pod-b (UUID, host 10.0.0.9)"
	members []removal
}

type removal struct {
	in *model.Instance
	m  *model.Member
}

func (o *removeMemberOptions) flagsGiven() error {
	given := 0
	for _, s := range []string{o.instance, o.member, o.static} {
		if s != "" {
			given++
		}
	}
	if given != 1 {
		return errs.Usagef("remove-member needs one of --instance, --member and --instance-id")
	}
	return nil
}

func runRemoveMember(ctx context.Context, o *removeMemberOptions) error {
	if err := o.flagsGiven(); err != nil {
		return err
	}
	r, err := o.begin(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	c, ok := r.cluster.(remover)
	if !ok {
		return errors.New("this cluster cannot remove members")
	}
	g, look, err := o.examine(ctx, r, o.group, o.refuse)
	if err != nil {
		return err
	}
	t, err := o.target(g)
	if err != nil {
		return err
	}
	agreed, err := o.agree(ctx, o.intent(g, t, look))
	if err != nil {
		return err
	}
	if !agreed {
		res := o.document(g, t, nil)
		res.Text = []report.ChangeLine{{Text: "dry run: nothing was removed"}}
		return o.d.show(report.NewGroupChange(res))
	}
	ctx, cancel := o.d.withTimeout(ctx)
	defer cancel()
	return o.remove(ctx, r, c, g, t)
}

// refuse says why members of a group cannot be thrown out.
func (o *removeMemberOptions) refuse(g *model.Group) error {
	switch {
	case g.Kind == model.Streams:
		after := "when its session timeout is over"
		if g.Timing.SessionMs != nil {
			after += " (" + render.Millis(*g.Timing.SessionMs) + ")"
		}
		return errs.WithHint(fmt.Errorf("group %q is a streams group (KIP-1071): there is no request that throws a member of it out", g.ID),
			"a member that is closed leaves at once, one that is dead is dropped "+after)
	case g.Kind != model.Classic && g.Kind != model.Worker:
		return fmt.Errorf("group %q is a group of kind %s: it runs no stream tasks", g.ID, g.Kind)
	case len(g.Instances) == 0:
		return fmt.Errorf("group %q is %s: it has no members", g.ID, g.State)
	}
	return nil
}

// target finds the members that the flags name.
func (o *removeMemberOptions) target(g *model.Group) (removeTarget, error) {
	switch {
	case o.instance != "":
		in, err := model.ResolveInstance(g, o.instance)
		if err != nil {
			return removeTarget{}, resolveError(err)
		}
		t := removeTarget{what: identity(in)}
		for j := range in.Members {
			t.members = append(t.members, removal{in, &in.Members[j]})
		}
		return t, nil
	case o.member != "":
		in, m, err := model.ResolveMember(g, o.member)
		if err != nil {
			return removeTarget{}, resolveError(err)
		}
		return removeTarget{what: "member " + m.Name, members: []removal{{in, m}}}, nil
	}
	return o.staticTarget(g)
}

// staticTarget finds the member with a static id, else the threads of an app
// that was given it: Kafka Streams adds a number for each.
func (o *removeMemberOptions) staticTarget(g *model.Group) (removeTarget, error) {
	var exact, threads []removal
	var near []string
	for i := range g.Instances {
		for j := range g.Instances[i].Members {
			m := &g.Instances[i].Members[j]
			if m.InstanceID == "" {
				continue
			}
			near = append(near, m.InstanceID)
			number, isThread := strings.CutPrefix(m.InstanceID, o.static+"-")
			switch {
			case m.InstanceID == o.static:
				exact = append(exact, removal{&g.Instances[i], m})
			case isThread && number != "" && strings.Trim(number, "0123456789") == "":
				threads = append(threads, removal{&g.Instances[i], m})
			}
		}
	}
	if len(exact) == 0 {
		exact = threads
	}
	if len(exact) == 0 {
		err := fmt.Errorf("no member of group %q has the static id %q", g.ID, o.static)
		if len(near) == 0 {
			return removeTarget{}, errs.WithHint(err, "none of its members is static")
		}
		slices.Sort(near)
		return removeTarget{}, errs.WithHint(err, "there is "+strings.Join(near, ", "))
	}
	return removeTarget{what: "static id " + o.static, members: exact}, nil
}

// identity is everything that tells an instance apart.
func identity(in *model.Instance) string {
	text := in.Name + " (" + in.ID
	if in.Host != "" {
		text += ", host " + strings.TrimPrefix(in.Host, "/")
	}
	return text + ")"
}

// intent says who goes, and what that means.
func (o *removeMemberOptions) intent(g *model.Group, t removeTarget, look func(context.Context) (*model.Group, error)) intent {
	in := intent{
		group: g, look: look, doing: "throwing out " + t.what + ", " + render.Count(len(t.members), "member"),
		question: fmt.Sprintf("Throw %s out of group %s?", render.Count(len(t.members), "member"), g.ID),
	}
	for _, r := range t.members {
		line := r.m.Name + ": "
		switch n := len(activeTasks(r.m)); {
		case g.AssignmentBasis == model.AssignmentNone:
			line += "tasks not known"
		case n == 0:
			line += "no active task"
		default:
			line += render.Count(n, "active task")
		}
		if r.m.InstanceID != "" {
			line += ", static id " + r.m.InstanceID
		}
		line += ", " + r.m.ID
		in.details = append(in.details, line)
	}
	if cold := uncovered(g, t); len(cold) > 0 {
		in.details = append(in.details, fmt.Sprintf("no copy elsewhere: %s; who gets them restores all of it", strings.Join(cold, " ")))
	}
	in.details = append(in.details,
		"a member that has ended: its tasks move at once, not after the session timeout",
		"a member that lives: it comes back by itself, and its tasks stand still until then")
	return in
}

func activeTasks(m *model.Member) []string {
	var out []string
	for _, t := range m.Tasks {
		if t.Role == model.Active && !t.TargetOnly {
			out = append(out, t.ID.String())
		}
	}
	return out
}

// uncovered are the stateful active tasks of the target of which no instance
// that stays has a copy.
func uncovered(g *model.Group, t removeTarget) []string {
	going := map[string]bool{}
	for _, r := range t.members {
		going[r.m.ID] = true
	}
	covered := map[model.TaskID]bool{}
	for i := range g.Instances {
		for j := range g.Instances[i].Members {
			for _, task := range g.Instances[i].Members[j].Tasks {
				if !going[g.Instances[i].Members[j].ID] && task.Role != model.Active {
					covered[task.ID] = true
				}
			}
		}
	}
	var out []string
	for _, r := range t.members {
		for _, task := range r.m.Tasks {
			if task.Role == model.Active && !covered[task.ID] && (task.Stateful == nil || *task.Stateful) {
				out = append(out, task.ID.String())
			}
		}
	}
	return out
}

// removeWait is how long the round that follows is waited for.
const removeWait = 10 * time.Second
