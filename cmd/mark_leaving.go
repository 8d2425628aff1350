package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/report"
)

// markOptions is everything mark-leaving needs.
type markOptions struct {
	*change
	instances []string
	self      bool
	wait      bool
	noRound   bool
	raise     bool          // streams groups: raise num.standby.replicas for as long as it takes
	scaleDown time.Duration // how long the instance waits; negative: its own setting holds
	commands  func(string) bool
}

const unlimited = -1 // no --scale-down-timeout

const markLeavingLong = `Mark instances as leaving: other instances learn their tasks, each goes over once
its state is there, and an instance that owns nothing any more shuts itself down.
Nothing restores cold unless --scale-down-timeout, or the instance's own
scale.down.timeout.ms, ends the waiting.

It returns once the marks are written; --wait shows the progress and ends when
all is handed over, however long that takes. --timeout ends only the waiting (exit
code 4): the mark stays, as it does after Ctrl-C and SIGTERM. unmark withdraws it.
The same command again goes on where the last one was. Several instances are marked
before anything moves. It never asks, and needs no terminal: a preStop hook can run

  streamctl mark-leaving --self --wait --timeout 15m

INSTANCE is an instance id or its prefix, a member id or prefix (its instance is
marked), a client id, a static instance id or a host. --self finds the instance
of this machine: by the host name (HOSTNAME, or the system's) as client id or
host, or by an address of this machine. Without -g and a default group the
instance is looked up in every stream group that is visible.

In a streams group (KIP-1071) the broker assigns, and knows no marks: there it says
whether the instance can be stopped with no task restoring cold, and refuses where
not. --raise-standbys raises num.standby.replicas of the group to the smallest
number that is enough, --wait follows the copies, tells when it is safe to stop
the instance, waits until it is gone, and puts the setting back. Until then the
marks and the old value are in the control topic, so that the same command goes on
and unmark puts it back at once.

A classic Kafka Streams group follows marks where its instances have streamctl's
plug-in (docs/howto/plug-in.md). Its leader sees a mark in the next round: a
rebalance is asked for, as rebalance does, unless --no-rebalance is given. A drained
instance stays there, without tasks, until it is stopped.

It refuses groups whose members honour no marks. Without --force it also refuses to
mark the last instances that stay; with it, those marks count for nothing until a
deadline comes or another instance joins.

Exit codes: 0 marked, with --wait: drained; 1 refused, or an instance died with
tasks not handed over; 4 --timeout ended the waiting.`

func newMarkLeavingCmd(d *deps) *cobra.Command {
	o := &markOptions{change: newChange(d, "mark-leaving", false)}
	cmd := &cobra.Command{
		Use: "mark-leaving INSTANCE...", Short: "Take instances out of service with no task ever lacking its state",
		Long: markLeavingLong,
		Example: `  streamctl mark-leaving pod-c -g clicks --wait --reason "node drain"
  streamctl mark-leaving pod-a pod-b -g clicks --scale-down-timeout 10m
  streamctl mark-leaving --self --wait --timeout 15m
  streamctl mark-leaving pod-c -g billing --raise-standbys --wait
  streamctl mark-leaving pod-c -g clicks --dry-run`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(c *cobra.Command, a []string) error {
			o.instances, o.commands = a, commandsOf(c.Root())
			if err := o.checkArgs(); err != nil {
				return errs.WithHint(err, "usage: "+c.UseLine())
			}
			return runMarkLeaving(c.Context(), o)
		},
		ValidArgsFunction: completeInstances(d),
		Annotations:       map[string]string{annotationTimeout: "own"},
	}
	f := cmd.Flags()
	f.BoolVar(&o.wait, "wait", false, "show the progress until all is handed over")
	f.BoolVar(&o.raise, "raise-standbys", false, "streams groups: raise num.standby.replicas as far as it takes, and put it back")
	f.BoolVar(&o.self, "self", false, "the instance of this machine, by host name, client id or address")
	f.DurationVar(&o.scaleDown, "scale-down-timeout", unlimited, "how `long` the instance waits to be drained before it goes with what it has (default: its own setting)")
	bindNoRebalance(cmd, &o.noRound)
	o.bind(cmd, "mark the last instances that stay, and groups not known to honour marks, too")
	f.Lookup("scale-down-timeout").DefValue = "0s" // shown as no default
	return cmd
}

// checkArgs refuses what means nothing, before anything is sent.
func (o *markOptions) checkArgs() error {
	switch {
	case o.self && len(o.instances) > 0:
		return errs.Usagef("--self and names of instances exclude one another")
	case !o.self && len(o.instances) == 0:
		return errs.Usagef("no instance is named")
	}
	if o.self && o.raise && o.wait {
		return errs.WithHint(errs.Usagef("--self, --raise-standbys and --wait exclude one another: the instance of this machine would wait for its own end"),
			"run it from elsewhere; a preStop hook goes without --raise-standbys, with a standby that is always there")
	}
	return checkMark(o.scaleDown, o.flags.reason)
}

// checkMark refuses what no mark can hold.
func checkMark(scaleDown time.Duration, reason string) error {
	switch {
	case scaleDown != unlimited && scaleDown < 0:
		return errs.Usagef("--scale-down-timeout: %s is negative", scaleDown)
	case scaleDown > control.MaxTimeout:
		return errs.Usagef("--scale-down-timeout: %s is more than %s", scaleDown, control.MaxTimeout)
	case len(reason) > control.MaxText:
		return errs.Usagef("--reason: has %d bytes, at most %d", len(reason), control.MaxText)
	}
	return nil
}

// scaleDownTimeout is --scale-down-timeout in whole milliseconds; nil when it
// was not given.
func scaleDownTimeout(given time.Duration) *time.Duration {
	if given < 0 {
		return nil
	}
	t := given.Round(time.Millisecond)
	return &t
}

func runMarkLeaving(ctx context.Context, o *markOptions) error {
	r, err := o.begin(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	m := &marking{change: o.change, r: r, timeout: scaleDownTimeout(o.scaleDown), commands: o.commands, noRound: o.noRound}
	names, err := o.prepare(ctx, m)
	if err != nil {
		return err
	}
	if m.s.g.Kind == model.Streams {
		return newStreamsDrain(o, m, names).run(ctx)
	}
	if len(m.targets) == 0 {
		return o.d.show(report.NewGroupChange(m.leftBefore()))
	}
	agreed, err := o.agree(ctx, m.intent())
	if err != nil {
		return err
	}
	if !agreed {
		res := m.result(false)
		res.Text = append(res.Text, report.ChangeLine{Text: "dry run: nothing was marked"})
		return o.d.show(report.NewGroupChange(res))
	}
	if err := m.mark(ctx); err != nil {
		return err
	}
	if err := m.askForRound(ctx, o.wait); err != nil {
		return err
	}
	if !o.wait {
		return o.d.show(report.NewGroupChange(m.marked()))
	}
	return newDrainWait(m).run(ctx)
}

// prepare finds the instances and refuses what may not be. It is bounded by
// --timeout, or by its default where that only bounds the waiting. Of a streams
// group it only reads the group.
func (o *markOptions) prepare(ctx context.Context, m *marking) (names []string, err error) {
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	id, names, err := o.find(ctx, m.r)
	if err != nil {
		return nil, err
	}
	if m.s, err = m.r.settled(ctx, id); err != nil {
		return nil, err
	}
	if m.s.g.Kind == model.Streams {
		return names, nil
	}
	return names, o.prepareMarks(m, names)
}

func (o *markOptions) prepareMarks(m *marking, names []string) error {
	if o.raise {
		return errs.WithHint(fmt.Errorf("--raise-standbys is for streams groups, and group %q is a %s group; nothing was done", m.s.g.ID, m.s.g.Kind), "leave it out")
	}
	err := refuseMarks(m.s.g, names, o.flags.force, o.nothing(), o.commands)
	if err != nil {
		return err
	}
	if m.s.unread != nil { // a mark that cannot be read back is not known to be there
		return m.s.unread
	}
	o.d.warnUnread(m.s.g)
	names, m.left, err = departed(m.s.g, names)
	if err != nil || len(names) == 0 {
		return err
	}
	for _, text := range m.left {
		o.d.note("%s", text)
	}
	found, err := resolveAll(m.s.g, names)
	if err != nil {
		return err
	}
	for _, in := range found {
		if err := m.add(in); err != nil {
			return err
		}
	}
	err = m.leavesSome()
	if err != nil && !o.flags.force {
		return err
	}
	m.predict()
	if err != nil {
		m.said = append(m.said, "forced: "+voidText)
	}
	return nil
}

// bounded bounds what is done before the waiting.
func (c *change) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	t := c.d.conf.Duration(config.KeyTimeout)
	if t <= 0 {
		t = askLimit
	}
	return context.WithTimeoutCause(ctx, t, timeoutError{t})
}

// find says which group, and by which names its instances.
func (o *markOptions) find(ctx context.Context, r *reader) (group string, names []string, err error) {
	group, names = o.d.defaultGroup(), o.instances
	switch {
	case o.self:
		return o.findSelf(ctx, r, group)
	case group == "":
		group, err = r.lookUp(ctx, names, "instance", instanceOf)
	}
	return group, names, err
}

// findSelf finds the one instance that one of the names of this machine means.
func (o *markOptions) findSelf(ctx context.Context, r *reader, group string) (string, []string, error) {
	mine := o.d.selfNames()
	if group == "" {
		l, err := r.list(ctx, nil)
		if err != nil {
			return "", nil, err
		}
		if err := l.err(); err != nil {
			return "", nil, err
		}
		in, g, err := selfIn(l.streams, mine)
		if err != nil {
			return "", nil, err
		}
		o.d.note("instance %s (%s) in group %s", in.Name, in.ID, g.ID)
		return g.ID, []string{in.ID}, nil
	}
	s, err := r.settled(ctx, group)
	if err != nil {
		return "", nil, err
	}
	in, _, err := selfIn([]*model.Group{s.g}, mine)
	if err != nil {
		return "", nil, err
	}
	return group, []string{in.ID}, nil
}
