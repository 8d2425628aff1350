package cmd

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// blockersShown is how many of the things in the way are named.
const blockersShown = 4

// finish writes the document and makes the exit code: 4 when time ran out, 1
// when a member did not come back.
func (a *asking) finish(err error) error {
	_, over := errors.AsType[timeoutError](err)
	if err != nil && (!over || len(a.asked) == 0) {
		return err
	}
	took := a.o.d.now().Sub(a.begin)
	if a.open { // not settled when time ran out: what is there now
		a.asked[len(a.asked)-1].Compare(a.before, a.last)
	}
	res := a.result(true)
	var unmet error
	if a.o.until != "" {
		unmet = a.untilResult(&res, took)
	} else {
		unmet = a.onceResult(&res, over)
	}
	if err := a.o.d.show(report.NewGroupChange(res)); err != nil {
		return err
	}
	if len(a.lost) > 0 {
		return unmetFirst(fmt.Errorf("group %q: %s did not join again: %s", a.o.group, render.Count(len(a.lost), "member"), strings.Join(a.lost, ", ")), unmet)
	}
	return unmet
}

// untilResult says whether the group has converged, else what is in the way.
func (a *asking) untilResult(res *report.ChangeResult, took time.Duration) error {
	res.Wait = report.NewWait(report.WaitResult{Group: a.last, Goal: progress.Goal{For: progress.Converged}, Status: a.status, Waited: took})
	n := render.Count(len(a.asked), "rebalance")
	spread := report.Spread(a.last)
	if a.status.Met {
		res.Text = append(res.Text, report.GoodLine(fmt.Sprintf("converged: %s after %s in %s; %s", a.o.group, n, render.Duration(took), spread)))
		return nil
	}
	res.Text = append(res.Text, report.WarnLine(fmt.Sprintf("not converged: %s after %s in %s; %s", a.o.group, n, render.Duration(took), spread)))
	for i, b := range a.status.Blockers {
		if i == blockersShown {
			res.Text = append(res.Text, report.ChangeLine{Text: fmt.Sprintf("and %d more", len(a.status.Blockers)-i)})
			break
		}
		res.Text = append(res.Text, report.ChangeLine{Text: render.Escape(b.Object + ": " + b.Why)})
	}
	return errs.WithCode(errs.WithHint(fmt.Errorf("group %q has not converged after %s", a.o.group, render.Duration(took)),
		"what was reached stays; the same command goes on from there"), errs.TimedOut)
}

// onceResult says what one rebalance did.
func (a *asking) onceResult(res *report.ChangeResult, over bool) error {
	once := a.asked[len(a.asked)-1]
	if over && a.last.State == model.StateStable && len(a.calm.Blockers) > 0 {
		why := a.calm.Blockers[0].Why
		res.Text = append(res.Text, report.WarnLine(fmt.Sprintf("rebalance asked for, and not at rest: %s: %s; the visitor has left", a.o.group, why)))
		return errs.WithCode(errs.WithHint(fmt.Errorf("group %q is Stable and was not at rest after %s: %s", a.o.group, a.s.timeout, why),
			"describe group "+render.ShellWord(a.o.group)+" shows what came of the round"), errs.TimedOut)
	}
	if over {
		res.Text = append(res.Text, report.WarnLine(fmt.Sprintf("rebalance asked for, and not over: %s is not Stable again; the visitor has left", a.o.group)))
		return errs.WithCode(errs.WithHint(fmt.Errorf("group %q was not Stable again after %s", a.o.group, a.s.timeout),
			"a member that does not join holds the others up, at worst for its max.poll.interval.ms: describe group names who is there"), errs.TimedOut)
	}
	took := ""
	if once.TookMs != nil {
		took = " after " + render.Duration(time.Duration(*once.TookMs)*time.Millisecond)
	}
	res.Text = append(res.Text, report.GoodLine(fmt.Sprintf("rebalanced: %s is Stable again%s; the visitor has left", a.o.group, took)))
	for _, l := range once.Sentences(a.before, a.last, a.o.commands) {
		res.Text = append(res.Text, report.ChangeLine{Text: l})
	}
	return nil
}
