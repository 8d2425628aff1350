package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

const (
	defaultMinInterval = 5 * time.Second
	leastMinInterval   = 100 * time.Millisecond
	untilConverged     = "converged"
)

// visitor is a cluster that can ask a group for a rebalance.
type visitor interface {
	Visit(ctx context.Context, group string, step func(kclient.VisitStep)) (*kclient.Visit, error)
}

// visit sends the visitor. While it may be in the group a signal gives it the
// time to leave; after one that came before, none is sent.
func (d *deps) visit(ctx context.Context, v visitor, group string) (*kclient.Visit, error) {
	d.visiting.Store(true)
	defer d.visiting.Store(false)
	if ctx.Err() != nil {
		return &kclient.Visit{}, context.Cause(ctx)
	}
	return v.Visit(ctx, group, func(s kclient.VisitStep) { d.verbose("visitor: %s", s) })
}

// rebalanceOptions is everything rebalance needs.
type rebalanceOptions struct {
	*change
	group    string
	until    string // "" or "converged"
	commands func(string) bool
}

func newRebalanceCmd(d *deps) *cobra.Command {
	o := &rebalanceOptions{change: newChange(d, "rebalance", true)}
	cmd := &cobra.Command{
		Use: "rebalance [GROUP]", Short: "Ask a classic Streams group for a rebalance, removing nobody",
		Long: `Ask a classic Kafka Streams group for a rebalance now, without removing anyone.
Members report how far their copies are only when they join a round, so warm-ups
that have caught up take over at once, rather than at the next probing rebalance
(ten minutes by default).

A visitor joins the group and leaves again as soon as the group lists it; the
others complete the round alone. Whatever ends the command, Ctrl-C and SIGTERM
included, the visitor leaves first. Should the process be killed, the broker
drops the visitor after its session, 6s.

It is a real rebalance. A member that hangs or polls slowly holds everybody up,
at worst for its max.poll.interval.ms (5 minutes by default), and is then thrown
out. An app still on the eager protocol stops all its tasks for the round.

--until converged asks again as learners get ready, never more often than
--min-interval, until no task is being learned and no rebalance is planned. Exit
code 4 when --timeout (10m with --until, else 30s) ends first.

It refuses a group that is Empty, that rebalances already, or of another kind:
worker groups ask for their rounds themselves, in streams groups the broker
assigns. Brokers before 2.2 are refused too.`,
		Example: `  streamctl rebalance shop
  streamctl rebalance shop --until converged --timeout 30m --yes
  streamctl rebalance shop --dry-run`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, a []string) (err error) {
			o.commands = commandsOf(c.Root())
			if o.group, err = d.groupToChange(c, a); err != nil {
				return err
			}
			return runRebalance(c.Context(), o)
		},
		ValidArgsFunction: completeGroups(d, 1),
		Annotations:       map[string]string{annotationTimeout: "own"},
	}
	f := cmd.Flags()
	f.StringVar(&o.until, "until", "", "ask again until this `condition` holds: converged")
	f.Duration(config.KeyMinInterval, 0, "--until: least `time` between two rebalances (default 5s)")
	o.bind(cmd, "do it even if the group has changed since it was shown")
	completeFlag(cmd, "until", fixed(untilConverged))
	return cmd
}

// settings are what the flags say about asking.
type askSettings struct {
	min     time.Duration // between two rebalances
	timeout time.Duration // 0: one rebalance, one look
}

func (o *rebalanceOptions) settings() (askSettings, error) {
	conf := o.d.conf
	s := askSettings{min: defaultMinInterval, timeout: conf.Duration(config.KeyTimeout)}
	if conf.Setting(config.KeyMinInterval).IsSet() {
		s.min = conf.Duration(config.KeyMinInterval)
	}
	switch {
	case o.until != "" && o.until != untilConverged:
		return s, errs.Usagef("--until: %q is not converged, the only condition there is", o.until)
	case s.min < leastMinInterval:
		return s, errs.Usagef("--min-interval: %s is less than %s", s.min, leastMinInterval)
	case o.until != "" && !conf.Setting(config.KeyTimeout).IsSet():
		s.timeout = defaultWaitTimeout
	}
	return s, nil
}

func runRebalance(ctx context.Context, o *rebalanceOptions) error {
	s, err := o.settings()
	if err != nil {
		return err
	}
	r, err := o.begin(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	v, ok := r.cluster.(visitor)
	if !ok {
		return errors.New("this cluster cannot be asked for a rebalance")
	}
	g, look, err := o.examine(ctx, r, o.group, o.refuse)
	if err != nil {
		return err
	}
	a := newAsking(o, s, r, v, g)
	if a.met() {
		return o.d.show(report.NewGroupChange(a.nothingToDo()))
	}
	agreed, err := o.agree(ctx, o.intent(g, look))
	if err != nil {
		return err
	}
	if !agreed {
		return o.d.show(report.NewGroupChange(a.result(false)))
	}
	return a.run(ctx)
}

// refuse says why a group cannot be asked for a rebalance, and what works
// instead.
func (o *rebalanceOptions) refuse(g *model.Group) error {
	is := func(why, hint string) error { return errs.WithHint(fmt.Errorf("group %q %s", g.ID, why), hint) }
	switch {
	case g.Kind == model.Worker:
		return is("is a worker group: its workers ask for a round themselves as soon as a learner is ready", "wait "+render.ShellWord(g.ID)+" --for converged")
	case g.Kind == model.Streams:
		return is("is a streams group: the broker moves its tasks by itself, there is no round to ask for", "wait "+render.ShellWord(g.ID)+" --for converged")
	case g.Kind != model.Classic:
		return is(fmt.Sprintf("is a group of kind %s: it runs no stream tasks", g.Kind), "")
	case g.State == model.StateEmpty || g.State == model.StateDead:
		return is(fmt.Sprintf("is %s: there is nobody who could rebalance", g.State), "")
	case g.State != model.StateStable:
		return is(fmt.Sprintf("is %s: it rebalances already", g.State), "wait "+render.ShellWord(g.ID)+" --for stable, then try again")
	}
	return nil
}

// intent says what asking means for the group.
func (o *rebalanceOptions) intent(g *model.Group, look func(context.Context) (*model.Group, error)) intent {
	members := 0
	for i := range g.Instances {
		members += len(g.Instances[i].Members)
	}
	in := intent{group: g, look: look, doing: "asking for a rebalance", question: "Ask group " + g.ID + " for a rebalance?"}
	if o.until != "" {
		in.doing = "asking for rebalances until converged"
		in.question = "Ask group " + g.ID + " for rebalances until it has converged?"
	}
	in.details = append(in.details,
		fmt.Sprintf("nobody is removed: %s of %s join again at their next heartbeat (3s by default) and report how far their copies are", render.Count(members, "member"), render.Count(len(g.Instances), "instance")))
	switch n := g.Totals.Learner; {
	case n > 0:
		in.details = append(in.details, fmt.Sprintf("%s%s: what is ready takes over", render.Count(n, "learner"), report.InferredMark(g)))
	case g.NextRebalance == nil:
		in.details = append(in.details, "no learner, no rebalance planned: nothing is expected to move")
	}
	in.details = append(in.details,
		"a member that hangs or polls slowly holds all of them up, at worst for its max.poll.interval.ms (5m by default), and is then thrown out; an app on the eager protocol stops all its tasks for the round",
		"Ctrl-C ends it; the visitor that asks leaves first")
	return in
}
