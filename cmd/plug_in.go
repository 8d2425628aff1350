package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// plugInHowTo is where it says how an app gets our assignor.
const plugInHowTo = "docs/howto/plug-in.md"

// nudge asks an app with our assignor for a round, in which its leader reads the
// marks: by itself none comes while the group rests (docs/protocol/plug-in.md,
// When the next round comes).
type nudge struct {
	c      *change
	r      *reader
	group  *model.Group
	none   bool // --no-rebalance
	forced bool // although no instance is known to have it
	rounds *report.Rounds
}

// bindNoRebalance adds the flag that leaves the round out.
func bindNoRebalance(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "no-rebalance", false, "apps with the plug-in: do not ask for the rebalance that makes it take effect, wait for the next one")
}

// wanted reports whether a round has to be asked for so that marks take effect.
func (n *nudge) wanted() bool { return n.follows() && !n.none }

func (n *nudge) follows() bool {
	return n.group.Kind == model.Classic && (n.group.PlugIn != nil || n.forced)
}

// details say beforehand that a round will be asked for, and who would not
// follow the marks.
func (n *nudge) details() []string {
	g := n.group
	if !n.follows() {
		return nil
	}
	var out []string
	switch p := g.PlugIn; {
	case p == nil:
		out = append(out, "forced: no instance is known to have the plug-in; where none has it the marks do nothing ("+plugInHowTo+")")
	case len(p.Lacks) > 0:
		out = append(out, fmt.Sprintf("not known to have the plug-in: %s; while such an instance leads, marks do nothing", andList(instanceNamesOf(g, p.Lacks))))
	}
	if n.none {
		return append(out, "it takes effect with the group's next rebalance: none is asked for")
	}
	return append(out, "then a rebalance is asked for, in which it takes effect; nobody is removed, tasks go on running meanwhile (--no-rebalance leaves it out)")
}

// ask asks for a round once the group is Stable, until one was held that was
// asked for, or by was it seen that none is needed any more. What goes wrong is
// told: what was written stands.
func (n *nudge) ask(ctx context.Context, needless func(*steered) bool) error {
	if !n.wanted() {
		return nil
	}
	v, ok := n.r.cluster.(visitor)
	if !ok {
		return errors.New("this cluster cannot be asked for a rebalance")
	}
	ctx, cancel := n.c.bounded(ctx)
	defer cancel()
	stays := n.c.d.onStop
	defer func() { n.c.d.onStop = stays }()
	n.rounds = &report.Rounds{Asked: []report.AskedOnce{}}
	for {
		err := n.visit(ctx, v)
		busy, is := errors.AsType[*kclient.VisitError](err)
		if err == nil || !is || !busy.Busy {
			return visitError(err)
		}
		// A round is on already. Whether its leader saw what was written is told
		// once it is over.
		if s, err := n.r.steered(ctx, n.group.ID, true); err == nil && needless(s) {
			return nil
		}
		if err := clock.Sleep(ctx, askEvery); err != nil {
			return fmt.Errorf("asking group %q for a rebalance: %w", n.group.ID, err)
		}
	}
}

// visit asks once, and notes what came of it.
func (n *nudge) visit(ctx context.Context, v visitor) error {
	d := n.c.d
	at := d.now()
	done, err := d.visit(ctx, v, n.group.ID)
	if done.Joined.IsZero() {
		return err
	}
	once := report.AskedOnce{At: at.UTC().Truncate(time.Millisecond), Visitor: done.Visitor, Caught: done.Caught}
	if done.After != nil {
		ms := done.Took.Milliseconds()
		once.TookMs = &ms
	}
	n.rounds.Asked = append(n.rounds.Asked, once)
	if !done.Gone {
		d.warn(fmt.Sprintf("the visitor %s may still be a member, for at most %s", done.Visitor, done.Session))
	}
	if k := len(done.Missing); k > 0 {
		d.warn(fmt.Sprintf("%s did not join again", model.Count(k, "member")))
	}
	return err
}

// instanceNamesOf are the names of instances given by id, sorted.
func instanceNamesOf(g *model.Group, ids []string) []string {
	var out []string
	for i := range g.Instances {
		if slices.Contains(ids, g.Instances[i].ID) {
			out = append(out, g.Instances[i].Name)
		}
	}
	slices.Sort(out)
	return out
}

// askForRound makes marks that were just written take effect. A round that could
// not be asked for is no failure of the marks where somebody waits for them: the
// next one sees them.
func (m *marking) askForRound(ctx context.Context, waits bool) error {
	n := m.nudge()
	seen := func(s *steered) bool {
		return s.g.PlugIn != nil && s.g.PlugIn.Fresh && !slices.ContainsFunc(m.targets, func(t target) bool { return !s.state.Honoured(t.in.ID, t.mark.Mark) })
	}
	if !n.wanted() || seen(m.s) {
		return nil
	}
	m.say(2, "asking for a rebalance, in which the leader sees the marks")
	err := n.ask(ctx, seen)
	m.rounds = n.rounds
	if err == nil || ctx.Err() != nil {
		return err
	}
	err = errs.WithHint(fmt.Errorf("the marks are written, but no rebalance could be asked for: they take effect with the next one: %w", err), "rebalance "+render.ShellWord(m.s.g.ID)+" asks for one")
	if waits {
		m.d.warn(oneLine(err.Error()))
		return nil
	}
	return err
}

func (m *marking) nudge() *nudge {
	return &nudge{c: m.change, r: m.r, group: m.s.g, none: m.noRound, forced: true}
}

// nudge asks for a round in which the leader sees that marks are withdrawn: of
// instances that are there.
func (o *unmarkOptions) nudge(r *reader, s *steered, list []withdrawal) *nudge {
	n := &nudge{c: o.change, r: r, group: s.g, none: o.noRound}
	if !slices.ContainsFunc(list, func(w withdrawal) bool { return w.mark != nil && !w.gone }) {
		n.none = true
	}
	return n
}

// askForRound makes a withdrawal take effect, and says so in the lines of the
// result.
func (o *unmarkOptions) askForRound(ctx context.Context, n *nudge, list []withdrawal) error {
	if !n.wanted() {
		return nil
	}
	o.say(2, "asking for a rebalance, in which the leader sees it")
	err := n.ask(ctx, func(s *steered) bool {
		return s.g.PlugIn != nil && s.g.PlugIn.Fresh && !slices.ContainsFunc(list, func(w withdrawal) bool { return w.mark != nil && s.state.Honoured(w.id, w.mark.Mark) })
	})
	if err == nil || ctx.Err() != nil {
		return err
	}
	return errs.WithHint(fmt.Errorf("the marks are withdrawn, but no rebalance could be asked for: it takes effect with the next one: %w", err), "rebalance "+render.ShellWord(n.group.ID)+" asks for one")
}
