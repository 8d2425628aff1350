package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

const (
	toStreams      = "streams"
	defaultAllowed = 30 * time.Second // of a switch, besides twice the broker's delay
	preflightLimit = 15 * time.Second // instances say every 5 s how far they have read
	preflightEvery = 500 * time.Millisecond
)

// modeSetOptions is everything `mode set` needs.
type modeSetOptions struct {
	*change
	group   string
	to      string
	allowed time.Duration // 0: by default
}

func newModeSetCmd(d *deps) *cobra.Command {
	o := &modeSetOptions{change: newChange(d, "mode set", true)}
	cmd := &cobra.Command{
		Use: "set GROUP upgrading|incremental|streams", Short: "Switch the mode of a worker group; what a classic one needs to become a streams group",
		Long: `Switch a worker group to the mode upgrading or incremental: all its workers leave,
keep their state, and come back under the other protocol type. Nothing is
processed in between; that pause is measured and printed. The broker's
group.initial.rebalance.delay.ms counts twice in it, which is said beforehand.

The switch is made only when every instance has read the control topic up to now.
Should one not follow within --allowed (30s and twice that delay), the others go
back together, and the exit code is 1. One that has died meanwhile is not waited
for once the others have taken its tasks: it is named, and follows when it comes
back. A switch that is on already is only waited for. Without --timeout the command
waits for --allowed and about 30s more. Exit code 4 when the waiting ended first;
the switch goes on.

For a classic group, "streams" changes nothing. It prints what moving the group to a
streams group (KIP-1071) takes, what is kept and what is lost; the group has to be
Empty for it. Exit code 1 when it cannot be done now, or when a broker may be
4.2.0, in which that move is broken: --force says that none is.`,
		Example: `  streamctl mode set clicks incremental --reason "roll-out is over"
  streamctl mode set clicks upgrading --dry-run
  streamctl mode set shop streams`,
		Args: args(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, a []string) error {
			o.group, o.to = a[0], a[1]
			return runModeSet(c.Context(), o)
		},
		ValidArgsFunction: func(c *cobra.Command, a []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(a) == 1 {
				return []string{string(control.Upgrading), string(control.Incremental), toStreams}, cobra.ShellCompDirectiveNoFileComp
			}
			return completeGroups(d, 1)(c, a, prefix)
		},
		Annotations: map[string]string{annotationTimeout: "own"},
	}
	cmd.Flags().DurationVar(&o.allowed, "allowed", 0, "how `long` the switch may take before all go back (default 30s and twice the broker's delay)")
	o.bind(cmd, "switch although not every instance is known to follow; streams: no broker is 4.2.0")
	return cmd
}

func runModeSet(ctx context.Context, o *modeSetOptions) error {
	switch {
	case o.to == toStreams:
		o.asks = false // nothing is changed
	case o.to != string(control.Upgrading) && o.to != string(control.Incremental):
		return errs.Usagef("mode %q is not one of upgrading, incremental, streams", o.to)
	case o.allowed != 0 && (o.allowed < time.Second || o.allowed > control.MaxAllowed):
		return errs.Usagef("--allowed: %s is not between 1s and %s", o.allowed, control.MaxAllowed)
	case len(o.flags.reason) > control.MaxText:
		return errs.Usagef("--reason: has %d bytes, at most %d", len(o.flags.reason), control.MaxText)
	}
	if o.to != toStreams || o.d.flags.from != "" {
		if err := o.check(); err != nil {
			return err
		}
	}
	r, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	if o.to == toStreams {
		ctx, cancel := o.d.withTimeout(ctx)
		defer cancel()
		return o.guide(ctx, r)
	}
	w := &switching{modeSetOptions: o, r: r, to: control.RebalanceMode(o.to)}
	return w.run(ctx)
}

// switching is a mode switch of a worker group, from the preflight on.
type switching struct {
	*modeSetOptions
	r      *reader
	to     control.RebalanceMode
	s      *steered       // as last read
	before *model.Group   // as it was shown
	delay  *time.Duration // of the coordinator; nil when it could not be read
	record control.Mode   // as written, or as found running
	offset int64          // of the record
	asked  time.Time      // before the record was written; zero where it was there
	begun  time.Time
	checks []report.ModeCheck

	leavers map[string]bool // instances on their way out, by id
	found   *steered        // as first read when the switch was on already; else nil
}

func (w *switching) run(ctx context.Context) error {
	if err := w.preflight(ctx); err != nil {
		return err
	}
	if w.there() {
		res := w.document(false)
		res.Mode.AlreadyThere, res.Done = true, !w.flags.dryRun
		res.Text = []report.ChangeLine{report.GoodLine(fmt.Sprintf("%s runs in mode %s already, nothing was done", w.group, w.to))}
		return w.d.show(report.NewGroupChange(res))
	}
	running := w.runs()
	if !running {
		agreed, err := w.agree(ctx, w.intent())
		if err != nil {
			return err
		}
		if !agreed {
			res := w.document(false)
			res.Text = []report.ChangeLine{{Text: "dry run: nothing was switched"}}
			return w.d.show(report.NewGroupChange(res))
		}
		if err := w.write(ctx); err != nil {
			return err
		}
	} else {
		w.record, w.offset = *w.s.state.Mode, w.s.state.Mode.Offset
		w.say(0, fmt.Sprintf("a switch to %s, epoch %d, by %s, is on already: it is waited for", w.record.Mode, w.record.Epoch, w.record.Who))
		if w.flags.dryRun {
			return w.d.show(report.NewGroupChange(w.document(false)))
		}
	}
	return w.wait(ctx, running)
}

// there reports whether the group runs in the mode, and no record says another.
func (w *switching) there() bool {
	m := w.s.state.Mode
	return w.s.g.Mode == string(w.to) && (m == nil || m.Mode == w.to)
}

// runs reports whether a switch to the mode was asked for already, and the group
// is not there yet.
func (w *switching) runs() bool { return w.onAlready(w.s) }

func (w *switching) onAlready(s *steered) bool {
	m := s.state.Mode
	return m != nil && m.Mode == w.to && s.g.Mode != string(w.to)
}

// look reads the group, for no longer than --timeout.
func (w *switching) look(ctx context.Context, now bool) (*steered, error) {
	ctx, cancel := w.d.withTimeout(ctx)
	defer cancel()
	s, err := w.r.steered(ctx, w.group, now)
	if err == nil {
		w.noteLeavers(s)
	}
	return s, err
}

// intent says what the switch means.
func (w *switching) intent() intent {
	g := w.s.g
	in := intent{
		group: g, inTopic: true, doing: fmt.Sprintf("switching from %s to %s", g.Mode, w.to),
		question: fmt.Sprintf("Switch group %s to mode %s?", g.ID, w.to),
	}
	in.details = append(in.details, fmt.Sprintf("%s stop their %s, leave with their state kept, and come back under protocol type %s",
		render.Count(len(w.followers()), "instance"), render.Count(g.Totals.Active, "active task"), protocolType(w.to)))
	if w.delay != nil {
		in.details = append(in.details, fmt.Sprintf("pause: at most about %s: twice the broker's group.initial.rebalance.delay.ms of %s, and 2s", render.Duration(2**w.delay+2*time.Second), render.Duration(*w.delay)))
	} else {
		in.details = append(in.details, "pause: twice the broker's group.initial.rebalance.delay.ms (3s by default, not readable here), and about 2s")
	}
	in.details = append(in.details, fmt.Sprintf("not all back within %s: they go back to %s together", render.Duration(w.time()), g.Mode))
	in.look = func(ctx context.Context) (*model.Group, error) {
		s, err := w.look(ctx, false)
		if err != nil {
			return nil, err
		}
		return s.g, nil
	}
	return in
}

func protocolType(m control.RebalanceMode) string {
	if m == control.Incremental {
		return "stream"
	}
	return "consumer"
}

// time is how long the switch may take.
func (w *switching) time() time.Duration {
	switch {
	case w.allowed > 0:
		return w.allowed.Round(time.Millisecond)
	case w.delay != nil:
		return (defaultAllowed + 2**w.delay).Round(time.Millisecond)
	}
	return defaultAllowed + 6*time.Second // twice the default of brokers
}

// write writes the record.
func (w *switching) write(ctx context.Context) error {
	c, err := w.r.writer()
	if err != nil {
		return err
	}
	w.record = control.Mode{Mode: w.to, Epoch: w.nextEpoch(), Allowed: w.time(), At: w.d.now().UTC(), Who: clip(w.d.who()), Reason: w.flags.reason}
	if w.record.Epoch > control.MaxEpoch {
		return errs.WithHint(fmt.Errorf("group %q follows epoch %d, the last one that there is: somebody wrote a record that no tool of ours writes; nothing was done", w.group, w.record.Epoch-1),
			"stop its workers, write a record without a value under the key mode into topic "+control.TopicName(w.group)+", and start them again")
	}
	rec, err := w.record.Record()
	if err != nil {
		return err
	}
	ctx, cancel := w.d.withTimeout(ctx)
	defer cancel()
	w.d.onStop = "the switch may have been asked for: mode get " + render.ShellWord(w.group) + " shows"
	w.asked = w.d.now() // instances act on it while it is read back
	offsets, err := c.WriteControl(ctx, w.group, rec)
	if err != nil {
		return err
	}
	w.offset, w.record.Offset = offsets[0], offsets[0]
	w.d.onStop = fmt.Sprintf("the switch goes on by itself, epoch %d; mode get %s shows how far it is", w.record.Epoch, render.ShellWord(w.group))
	w.say(0, fmt.Sprintf("asked for: mode %s, epoch %d; Ctrl-C ends the waiting, not the switch", w.to, w.record.Epoch))
	return nil
}

// nextEpoch is above every epoch that is known of.
func (w *switching) nextEpoch() int64 {
	epoch := int64(0)
	if m := w.s.state.Mode; m != nil {
		epoch = m.Epoch
	}
	for _, s := range w.s.state.Status {
		epoch = max(epoch, s.Epoch)
	}
	return epoch + 1
}

// document is what was done so far.
func (w *switching) document(done bool) report.ChangeResult {
	res := w.result(w.s.g, done)
	m := &report.ModeChange{From: textOrNull(w.from()), To: string(w.to), NotFollowed: []string{}, Checks: w.checks}
	if w.checks == nil {
		m.Checks = []report.ModeCheck{}
	}
	if w.record.Epoch > 0 {
		epoch, ms := w.record.Epoch, w.record.Allowed.Milliseconds()
		m.Epoch, m.AllowedMs = &epoch, &ms
	}
	if w.delay != nil {
		ms := w.delay.Milliseconds()
		m.DelayMs = &ms
	}
	res.Mode = m
	return res
}

func (w *switching) from() string {
	if w.before != nil {
		return w.before.Mode
	}
	return w.s.g.Mode
}

// workerIDs lists the instances of a group that are workers of ours, sorted.
// Others cannot follow, and are not waited for.
func workerIDs(g *model.Group) []string {
	var out []string
	for i := range g.Instances {
		in := &g.Instances[i]
		if slices.ContainsFunc(in.Members, func(m model.Member) bool { return m.Metadata.Status == model.MetadataOK }) {
			out = append(out, in.ID)
		}
	}
	slices.Sort(out)
	return out
}

// nameOf is the name of an instance as it was shown, its id when it is not known.
func (w *switching) nameOf(id string) string {
	for _, g := range []*model.Group{w.before, w.s.g} {
		if g == nil {
			continue
		}
		for i := range g.Instances {
			if g.Instances[i].ID == id {
				return g.Instances[i].Name
			}
		}
	}
	if said := w.s.state.Status[id]; said.ClientID != "" {
		return said.ClientID
	}
	return strings.TrimPrefix(id, "client:")
}
