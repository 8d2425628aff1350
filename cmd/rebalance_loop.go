package cmd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/report"
)

const (
	askEvery   = 300 * time.Millisecond // between two looks
	askSettle  = time.Second            // without a follow-up, after a round
	askLimit   = 30 * time.Second       // of one rebalance, where --timeout gives no bound
	visitGrace = 20 * time.Second       // how long a visitor may take to leave once a signal came
)

// asking is a rebalance command at work: it looks, asks, looks again, and with
// --until asks again.
type asking struct {
	o       *rebalanceOptions
	s       askSettings
	r       *reader
	visitor visitor
	first   *model.Group // as it was shown
	before  *model.Group // as it was before the last rebalance
	last    *model.Group // last seen
	judge   *progress.Judge
	status  progress.Status
	settled *progress.Judge // stable, with no follow-up due
	calm    progress.Status // what it said last
	pace    pace

	begin   time.Time
	asked   []report.AskedOnce
	visit   *kclient.Visit
	due     time.Time // not earlier is asked again
	open    bool      // a rebalance was asked for, and what came of it is not told yet
	lost    []string  // members that did not come back, by name
	failing string    // error of the look before, "" when it went well
	headed  bool
}

func newAsking(o *rebalanceOptions, s askSettings, r *reader, v visitor, g *model.Group) *asking {
	a := &asking{o: o, s: s, r: r, visitor: v, first: g, before: g, last: g, begin: o.d.now()}
	a.judge = progress.NewJudge(progress.Goal{For: progress.Converged})
	a.pace = newPace(s.min)
	return a
}

// met reports whether --until holds before anything was asked.
func (a *asking) met() bool {
	if a.o.until == "" {
		return false
	}
	a.status = a.judge.Look(a.first, a.begin)
	return a.status.Met
}

// run asks, and watches what comes of it.
func (a *asking) run(ctx context.Context) error {
	a.begin = a.o.d.now()
	limit := a.s.timeout
	if limit <= 0 {
		limit = askLimit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, timeoutError{limit})
	defer cancel()
	if err := a.ask(ctx); err != nil && !a.later(err) {
		return a.finish(err)
	}
	err := progress.Poll(ctx, askEvery, a.o.d.now, a.look, func(at time.Time, g *model.Group, err error) (bool, error) {
		return a.step(ctx, at, g, err)
	})
	return a.finish(err)
}

// look reads the group as it is.
func (a *asking) look(ctx context.Context) (*model.Group, error) {
	return a.r.readNow(ctx, a.r.describeQuery([]string{a.o.group}), a.o.group)
}

// ask asks for a rebalance.
func (a *asking) ask(ctx context.Context) error {
	d := a.o.d
	at := d.now()
	v, err := d.visit(ctx, a.visitor, a.o.group)
	a.visit = v
	a.due = at.Add(a.pace.least())
	d.onStop = a.whatStays()
	if v.Joined.IsZero() {
		return visitError(err)
	}
	a.open = true
	a.settled = progress.NewJudge(progress.Goal{For: progress.Stable, Settle: askSettle})
	once := report.AskedOnce{At: at.UTC().Truncate(time.Millisecond), Visitor: v.Visitor, Caught: v.Caught}
	if v.After != nil {
		ms := v.Took.Milliseconds()
		once.TookMs = &ms
	}
	a.asked = append(a.asked, once)
	a.lose(v.Missing)
	return visitError(err)
}

// visitError gives the hint of a visit that failed.
func visitError(err error) error {
	if v, ok := errors.AsType[*kclient.VisitError](err); ok {
		return errs.WithHint(err, v.Hint)
	}
	return err
}

// later reports a refusal that may be none in a moment: between two rebalances
// of --until the group may do one by itself.
func (a *asking) later(err error) bool {
	v, ok := errors.AsType[*kclient.VisitError](err)
	return ok && v.Busy && len(a.asked) > 0
}

// whatStays says what is left of the command when a signal ends it.
func (a *asking) whatStays() string {
	switch n := len(a.asked); {
	case a.visit != nil && a.visit.Visitor != "" && !a.visit.Gone:
		return fmt.Sprintf("the visitor %s may still be a member, for at most %s", a.visit.Visitor, a.visit.Session)
	case a.visit != nil && !a.visit.Joined.IsZero() && n == 0:
		return "a rebalance was asked for; the visitor has left"
	case n > 0:
		return "what was asked for goes on; the visitor has left"
	}
	return "nothing was done"
}

// lose notes members that did not come back.
func (a *asking) lose(ids []string) {
	for _, id := range ids {
		name := id
		if _, m, err := model.ResolveMember(a.last, id); err == nil {
			name = m.Name
		}
		a.lost = append(a.lost, name)
		a.o.d.warn(fmt.Sprintf("member %s (%s) is no longer in the group: it did not join again in time, or went", name, id))
	}
}

// step judges one look: tells what a rebalance did once it has settled, and asks
// again where that is wanted and due.
func (a *asking) step(ctx context.Context, at time.Time, g *model.Group, err error) (bool, error) {
	if err != nil {
		if a.failing != err.Error() {
			a.failing = err.Error()
			a.o.d.note("cannot look: %s; trying again", err)
		}
		return false, nil
	}
	a.failing, a.last = "", g
	if g.State == model.StateEmpty {
		return true, fmt.Errorf("group %q is Empty: all its members went", g.ID)
	}
	a.status = a.judge.Look(g, at)
	a.calm = a.settled.Look(g, at)
	quiet := a.calm.Met
	if quiet && a.open {
		a.tell(at, g)
	}
	switch {
	case a.o.until == "":
		return quiet, nil
	case a.s.timeout == 0:
		return quiet || a.status.Met, nil
	case a.open || !quiet:
		return false, nil
	case a.status.Met:
		return true, nil
	case at.Before(a.due):
		return false, nil
	}
	a.before = g
	if err := a.ask(ctx); err != nil && !a.later(err) {
		return true, err
	}
	return false, nil
}

// tell closes a rebalance that has settled, and sets when the next one may come.
func (a *asking) tell(at time.Time, g *model.Group) {
	a.open = false
	once := &a.asked[len(a.asked)-1]
	once.Compare(a.before, g)
	a.due = once.At.Add(a.pace.next(g, at, once.Moved, rand.Float64()))
	if a.o.until == "" {
		return
	}
	if !a.headed {
		a.headed = true
		a.o.row(report.AskedHead())
	}
	line := once.Line(at.Sub(a.begin), len(a.asked), g)
	if !a.status.Met && a.s.timeout > 0 {
		if wait := a.due.Sub(at); wait >= time.Second {
			line += "  next in " + wait.Round(time.Second).String()
		}
	}
	a.o.row(line)
}

// result is the document so far.
func (a *asking) result(done bool) report.ChangeResult {
	res := a.o.result(a.last, done)
	res.Rounds = &report.Rounds{Asked: a.asked}
	if a.asked == nil {
		res.Rounds.Asked = []report.AskedOnce{}
	}
	if a.o.until != "" {
		res.Rounds.Until = &a.o.until
	}
	if !a.o.flags.dryRun {
		return res
	}
	res.Text = append(res.Text, report.ChangeLine{Text: "dry run: nothing was asked for"})
	return res
}

func (a *asking) nothingToDo() report.ChangeResult {
	res := a.result(false)
	res.Done = !a.o.flags.dryRun
	res.Text = []report.ChangeLine{report.GoodLine("converged already, nothing was asked for")}
	return res
}
