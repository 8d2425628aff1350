package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// The steps of a replacement, in order.
const (
	stepJoin  = "join"
	stepMark  = "mark"
	stepDrain = "drain"
)

func (p *replacing) done(step string) { p.steps = append(p.steps, report.Step{Step: step, Done: true}) }

// open are the steps that are not done, for a document written before the end.
func (p *replacing) open() []report.Step {
	out := append([]report.Step{}, p.steps...)
	for _, s := range []string{stepJoin, stepMark, stepDrain}[len(p.steps):] {
		out = append(out, report.Step{Step: s})
	}
	return out
}

// run goes through the steps. Each finds out by itself what of it is done
// already.
func (p *replacing) run(ctx context.Context) error {
	d := p.o.d
	begin := d.now()
	if limit := d.conf.Duration(config.KeyTimeout); limit > 0 && d.conf.Setting(config.KeyTimeout).IsSet() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, timeoutError{limit})
		defer cancel()
	}
	if !p.resumed {
		if err := p.record(ctx); err != nil {
			return err
		}
	}
	d.onStop = p.goesOn()
	if err := p.join(ctx, begin); err != nil {
		return p.stopped(err)
	}
	p.done(stepJoin)
	p.marking = p.newMarking()
	if len(p.marking.targets) == 0 {
		return p.end(ctx, nil, nil)
	}
	if err := p.marking.leavesSome(); err != nil {
		return errs.WithHint(err, p.goesOn())
	}
	p.o.say(0, "2 mark: "+namesOf(p.old()))
	if err := p.marking.mark(ctx); err != nil {
		return p.stopped(err)
	}
	d.onStop, p.written = p.goesOn(), true
	if err := p.marking.askForRound(ctx, true); err != nil {
		return p.stopped(err)
	}
	p.done(stepMark)
	w := newDrainWait(p.marking)
	w.once = false // bounded above
	res, err := w.follow(ctx)
	if res == nil {
		return err
	}
	p.s = w.s
	return p.end(ctx, w, err)
}

// record writes which instances are the old ones, before anything else.
func (p *replacing) record(ctx context.Context) error {
	r, err := p.rec.Record()
	if err != nil {
		return fmt.Errorf("record of the replacement: %w", err)
	}
	p.o.d.onStop = "the record of the replacement may have been written; the same command again goes on, --abandon ends it"
	if err := p.write(ctx, r); err != nil {
		return err
	}
	now, err := p.r.steered(ctx, p.s.g.ID, true)
	if err != nil {
		return err
	}
	if other := now.state.Replace; other == nil || other.Mark != p.rec.Mark {
		return p.foreign(other)
	}
	return nil
}

// foreign is the error for a replacement that is not ours any more.
func (p *replacing) foreign(other *control.Replace) error {
	if other == nil {
		return fmt.Errorf("the replacement of group %q was ended by somebody else", p.o.group)
	}
	return errs.WithHint(fmt.Errorf("another replacement of group %q was begun by %s at %s: that one counts", p.o.group, other.Who, other.At.UTC().Format(time.RFC3339)),
		"replace "+render.ShellWord(p.o.group)+" goes on with it")
}

// join waits until as many new instances are there as were asked for.
func (p *replacing) join(ctx context.Context, begin time.Time) error {
	told, toldAt, failing := "", time.Time{}, ""
	return progress.Poll(ctx, drainEvery, p.o.d.now, func(ctx context.Context) (*steered, error) {
		return p.r.steered(ctx, p.o.group, true)
	}, func(at time.Time, s *steered, err error) (bool, error) {
		if err == nil && s.unread != nil {
			err = s.unread
		}
		if err != nil {
			if failing != err.Error() {
				failing = err.Error()
				p.o.say(2, "cannot look: "+failing+"; trying again")
			}
			return false, nil
		}
		failing = ""
		if other := s.state.Replace; other == nil || other.Mark != p.rec.Mark {
			return true, p.foreign(other)
		}
		if s.g.AssignmentBasis != model.AssignmentCurrent {
			return false, nil
		}
		p.s = s
		fresh := p.fresh()
		missing := int(p.rec.With) - len(fresh)
		text := fmt.Sprintf("1 join: %d of %d new instances are there", len(fresh), p.rec.With)
		if len(fresh) > 0 {
			text += ": " + namesOf(fresh)
		}
		if missing > 0 {
			text += fmt.Sprintf("; start %d more, in group %s", missing, p.o.group)
		}
		if text != told || at.Sub(toldAt) >= waitReminder {
			told, toldAt = text, at
			p.o.say(0, fmt.Sprintf("%4s  %s", at.Sub(begin).Round(time.Second), text))
		}
		return missing <= 0, nil
	})
}

// stopped is how a step ends that did not come to its end.
func (p *replacing) stopped(err error) error {
	if _, over := errors.AsType[timeoutError](err); !over {
		return err
	}
	res := p.result(len(p.steps) > 0) // with the marks once they may be there
	res.Done = false
	res.Replace.Steps = p.open()
	res.Text = append(res.Text, report.WarnLine(fmt.Sprintf("not replaced: %s; %s; exit 4", p.howFar(), p.goesOn())))
	if show := p.o.d.show(report.NewGroupChange(res)); show != nil {
		return show
	}
	return errs.WithCode(fmt.Errorf("group %q: %w", p.o.group, err), errs.TimedOut)
}

// howFar says what is done when time is up before the drain.
func (p *replacing) howFar() string {
	switch {
	case len(p.steps) == 0:
		return fmt.Sprintf("%d of %d new instances are there", len(p.fresh()), p.rec.With)
	case p.written:
		return p.marking.names() + " marked, and not drained"
	}
	return p.marking.names() + " may be marked"
}

// end writes the result. A replacement of which nothing is left to do is over:
// its record goes. w is nil when the old instances went while nobody watched.
func (p *replacing) end(ctx context.Context, w *drainWait, failed error) error {
	over := w == nil || w.look.Over
	if w != nil && w.look.Over && failed == nil || w == nil {
		for len(p.steps) < 3 {
			p.done([]string{stepJoin, stepMark, stepDrain}[len(p.steps)])
		}
	}
	var res report.ChangeResult
	if over {
		if err := p.write(context.WithoutCancel(ctx), control.Replaced()); err != nil {
			failed = joinErrors(failed, err)
		} else {
			p.o.d.onStop = "the replacement is over"
		}
	}
	res = p.result(failed == nil)
	res.Replace.Steps = p.open()
	took := time.Duration(0)
	if w != nil {
		took = p.o.d.now().Sub(w.begin)
		w.fill(&res, took)
	}
	switch {
	case w == nil:
		res.Text = append(res.Text, report.WarnLine("replaced: all old instances are gone; they went while nobody watched, so whether anything restored cold is not known"))
	case failed == nil:
		w.drained(&res, took)
		res.Text = append(res.Text, report.GoodLine(fmt.Sprintf("replaced: %s run all tasks of %s", namesOf(p.fresh()), p.o.group)))
	case len(w.look.Lost) > 0 && over:
		_ = w.lost(&res) // the error is there already
	default:
		res.Text = append(res.Text, report.WarnLine(w.look.StillOwns(true)+"; "+p.goesOn()+"; exit 4"))
	}
	if err := p.o.d.show(report.NewGroupChange(res)); err != nil {
		return err
	}
	return failed
}
