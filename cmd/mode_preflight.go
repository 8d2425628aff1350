package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// delayTeller is a cluster that tells how long its brokers delay first rounds.
type delayTeller interface {
	RebalanceDelay(ctx context.Context, broker int32) (time.Duration, error)
}

// preflight makes sure that a switch would be followed: every instance must have
// read every record of the control topic that tells it what to do, none may be
// missing (stream-protocol.md, Modes). Instances say only every few seconds how far
// they have read, so it looks for a while. Those that are drained and about to go
// do not count.
func (w *switching) preflight(ctx context.Context) error {
	s, err := w.rest(ctx)
	if err != nil {
		return err
	}
	w.s, w.before = s, s.g
	if w.runs() { // it began already: what is looked at before one does not apply
		w.found = s
		w.readDelay(ctx)
		return nil
	}
	w.tidyStandbys(ctx, w.r, s.g)
	if err := w.refuse(s.g); err != nil || w.there() {
		return err
	}
	if s.unread != nil {
		return errs.WithHint(fmt.Errorf("group %q: its control topic was not read: %w", w.group, s.unread), "a switch is written there")
	}
	w.d.warnUnread(s.g)
	w.readDelay(ctx)
	end := s.state.Orders
	missing := w.missing(end)
	if len(missing) > 0 && !w.flags.force && !w.strange() {
		w.d.note("waiting for every instance to have read the control topic up to now")
		missing, err = w.await(ctx, end)
		if err != nil {
			return err
		}
	}
	w.checks = append(w.checks, report.ModeCheck{Check: "control topic", OK: yesNo(len(missing) == 0), Text: checkText(missing)})
	switch {
	case len(missing) == 0:
		return nil
	case w.flags.force:
		for _, m := range missing {
			w.d.warn(m)
		}
		return nil
	}
	return errs.WithHint(fmt.Errorf("group %q would not follow as a whole: %s; nothing was done", w.group, strings.Join(missing, "; ")),
		"an instance that cannot read the control topic holds a switch up: it needs READ on it; --force switches all the same, and all go back if it does not follow")
}

func yesNo(b bool) *bool { return &b }

func checkText(missing []string) string {
	if len(missing) == 0 {
		return "every instance has read it up to now"
	}
	return strings.Join(missing, "; ")
}

// refuse says why a group has no modes to switch between.
func (w *switching) refuse(g *model.Group) error {
	is := func(why, hint string) error { return errs.WithHint(fmt.Errorf("group %q %s", g.ID, why), hint) }
	switch {
	case g.Kind == model.Classic:
		return is("is a classic Kafka Streams group: it has no modes", "mode set "+render.ShellWord(g.ID)+" streams says what moving it to a streams group takes")
	case g.Kind == model.Streams:
		return is("is a streams group (KIP-1071): it has no modes", "")
	case g.Kind == model.Consumer:
		return is("is a plain consumer group at the moment: consumers that are no workers are in it, or it has none", "in mode upgrading workers run beside them until the last one has left")
	case g.Kind != model.Worker:
		return is(fmt.Sprintf("is a group of kind %s: it has no modes", g.Kind), "")
	case len(g.Instances) == 0:
		return is("is "+g.State+": there is nobody who could switch", "")
	case g.State != model.StateStable:
		return is(fmt.Sprintf("is %s: a switch begins from a group at rest", g.State), "wait "+render.ShellWord(g.ID)+" --for stable, then try again")
	}
	if m := w.s.state.Mode; m != nil && string(m.Mode) != g.Mode && m.Mode != w.to {
		return is(fmt.Sprintf("is in a switch to %s, epoch %d, by %s", m.Mode, m.Epoch, m.Who), "mode get "+render.ShellWord(g.ID)+" shows how far it is")
	}
	return nil
}

func (w *switching) readDelay(ctx context.Context) {
	t, ok := w.r.cluster.(delayTeller)
	if !ok || w.s.g.Coordinator == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	d, err := t.RebalanceDelay(ctx, w.s.g.Coordinator.ID)
	if err != nil {
		w.d.verbose("%s", err)
		return
	}
	w.delay = &d
}

// await looks until every instance has read up to end, or no longer.
func (w *switching) await(ctx context.Context, end int64) ([]string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, preflightLimit, errPreflight)
	defer cancel()
	var missing []string
	look := func(ctx context.Context) (*steered, error) { return w.look(ctx, true) }
	err := progress.Poll(ctx, preflightEvery, w.d.now, look, func(_ time.Time, s *steered, err error) (bool, error) {
		if err != nil {
			return false, err
		}
		w.s, w.before = s, s.g
		missing = w.missing(end)
		return len(missing) == 0, nil
	})
	if errors.Is(err, errPreflight) {
		return w.missing(end), nil
	}
	return missing, err
}

// strange reports whether a member is none of our workers: no waiting makes it one.
func (w *switching) strange() bool {
	return slices.ContainsFunc(w.s.g.Instances, func(in model.Instance) bool { return slices.ContainsFunc(in.Members, isStranger) })
}

func isStranger(m model.Member) bool {
	return m.Metadata.Status == model.MetadataMalformed || m.Metadata.Status == model.MetadataNewer
}

var errPreflight = errors.New("not every instance has read the control topic in time")

// missing says of each instance why it is not known to follow, sorted by name.
func (w *switching) missing(end int64) []string {
	var out []string
	g := w.s.g
	for i := range g.Instances {
		in := &g.Instances[i]
		if w.drained(in) {
			continue
		}
		for j := range in.Members {
			if isStranger(in.Members[j]) {
				out = append(out, in.Members[j].Name+" is none of our workers")
			}
		}
		s, ok := w.s.state.Status[in.ID]
		switch {
		case !ok:
			out = append(out, in.Name+" has written no status")
		case s.Source != control.SourceWorker:
			out = append(out, in.Name+" is no worker")
		case s.ControlError != "":
			out = append(out, in.Name+" cannot use the control topic: "+s.ControlError)
		case s.ControlOffset == nil:
			out = append(out, in.Name+" has not read the control topic")
		case *s.ControlOffset < end:
			out = append(out, fmt.Sprintf("%s has read the control topic up to %d of %d", in.Name, *s.ControlOffset, end))
		case w.s.state.Mode != nil && s.Epoch < w.s.state.Mode.Epoch:
			out = append(out, fmt.Sprintf("%s follows epoch %d, the last one is %d", in.Name, s.Epoch, w.s.state.Mode.Epoch))
		}
	}
	slices.Sort(out)
	return out
}
