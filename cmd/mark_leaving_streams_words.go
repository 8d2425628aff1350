package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// wouldBeCold names the tasks that have no copy where they go.
func (d *streamsDrain) wouldBeCold(list []plan.Departure) string {
	const shown = 10
	missing := plan.Missing(list)
	ids := make([]string, 0, shown+1)
	for i := range missing {
		if i == shown {
			ids = append(ids, fmt.Sprintf("and %d more", len(missing)-shown))
			break
		}
		ids = append(ids, missing[i].Task.String())
	}
	return fmt.Sprintf("with %s %s, %s would go to an instance that has no copy (%s)", standbysKey, d.now.Value, render.Count(len(missing), "task"), strings.Join(ids, " "))
}

// behind says which copies have not caught up.
func (d *streamsDrain) behind() string {
	const shown = 4
	var parts []string
	n := 0
	for i := range d.look.Tasks {
		t := &d.look.Tasks[i]
		if t.Answer == progress.Yes {
			continue
		}
		if n++; n <= shown {
			parts = append(parts, t.Task.String()+": "+t.Why)
		}
	}
	if n > shown {
		parts = append(parts, fmt.Sprintf("and %d more", n-shown))
	}
	return strings.Join(parts, "; ")
}

// howSure says how old the positions are, or that there are none.
func (d *streamsDrain) howSure() string {
	if d.look.Offers {
		return "positions of copies are as their members told them, up to " + render.Duration(d.every) + " ago"
	}
	return "the brokers tell no positions of copies (4.4 and later do): that a copy is there can be seen, not whether it has caught up"
}

// notYet refuses: the copies are there, and behind.
func (d *streamsDrain) notYet() error {
	if d.look.Safe == progress.Unknown {
		return errs.WithHint(fmt.Errorf("whether %s can stop safely cannot be told: %s", d.marking.names(), d.behind()), d.howSure())
	}
	return errs.WithHint(errs.WithHint(fmt.Errorf("%s cannot stop safely yet: %s; %s", d.marking.names(), d.behind(), d.nothing()), "--wait waits for them"), d.howSure())
}

// document is the head of what was done.
func (d *streamsDrain) document(done bool) report.ChangeResult {
	res := d.change.result(d.s.g, done, d.ids()...)
	if d.s.state.Standbys != nil || d.to > 0 {
		res = d.result(done)
	}
	res.Plan = d.plan
	c := &report.StandbysChange{}
	c.Look(&d.look, d.every)
	if rec := d.s.state.Standbys; rec != nil {
		was, set := rec.Before, rec.Set
		c.Before, c.BeforeOwn, c.Set = &was, rec.BeforeOwn, &set
	}
	if d.back != nil {
		c.PutBack, c.Left = d.back.done, d.back.left
	}
	res.Standbys = c
	return res
}

// safeNow says that the instances can be stopped, with nothing to do.
func (d *streamsDrain) safeNow(raised bool) error {
	res := d.document(true)
	res.Text = append(res.Text, report.GoodLine(d.safeText()))
	line := "stop it now: nothing was changed"
	if raised {
		line = fmt.Sprintf("once it is gone, the same command, unmark or any other changing command puts %s back", standbysKey)
	}
	if len(d.targets) > 1 {
		line = strings.Replace(strings.Replace(line, "it is", "they are", 1), "stop it", "stop them", 1)
	}
	res.Text = append(res.Text, report.ChangeLine{Text: line})
	return d.d.show(report.NewGroupChange(res))
}

// safeText says what makes it safe.
func (d *streamsDrain) safeText() string {
	text := "safe to stop: every task of " + d.marking.names() + " goes to a copy that has caught up, or has no state"
	if len(d.look.Tasks) == 0 {
		text = "safe to stop: " + isAre(len(d.targets), d.marking.names()) + " without a task"
	}
	if d.look.Offers {
		text += " (positions up to " + render.Duration(d.every) + " old)"
	}
	return text
}

// nothingTo is a dry run in which nothing has to be raised.
func (d *streamsDrain) nothingTo() error {
	res := d.document(false)
	text := "dry run: nothing has to be raised"
	if d.look.Safe == progress.Yes {
		text += "; " + d.safeText()
	} else {
		text += "; not safe yet: " + d.behind()
	}
	res.Text = append(res.Text, report.ChangeLine{Text: render.Escape(text)})
	return d.d.show(report.NewGroupChange(res))
}

// ended is the answer to a command whose drain was over: its instances are gone.
func (d *streamsDrain) ended() error {
	res := d.change.result(d.s.g, true)
	res.Text = append(res.Text, report.GoodLine(fmt.Sprintf("%s gone, the drain is over", isAre(len(d.gone), andList(d.gone)))))
	return d.d.show(report.NewGroupChange(res))
}

// raisedAlready is the answer where an earlier run raised the setting, and this
// one does not wait.
func (d *streamsDrain) raisedAlready() report.ChangeResult {
	res := d.document(true)
	res.Text = append(res.Text, report.WarnLine("not safe to stop yet: "+d.behind()), d.whatNext())
	return res
}

// whatNext says how it goes on without --wait.
func (d *streamsDrain) whatNext() report.ChangeLine {
	n := cmp.Or(d.targets[0].in.Name, d.targets[0].in.ID)
	return report.ChangeLine{Text: render.Escape(fmt.Sprintf("check stop %s -g %s tells when it is safe; the same command with --wait follows it and puts %s back once it is gone; unmark %s puts it back now",
		n, d.s.g.ID, standbysKey, d.unmarkArgs()))}
}

// recordOf is the record that a raise writes: what was before is what was before
// the first one.
func (d *streamsDrain) recordOf(set int) control.Standbys {
	rec := control.Standbys{Before: d.now.Value, BeforeOwn: d.now.Own, Set: strconv.Itoa(set), At: d.d.now().UTC(), Who: clip(d.d.who()), Reason: d.flags.reason}
	if old := d.s.state.Standbys; old != nil {
		rec.Before, rec.BeforeOwn = old.Before, old.BeforeOwn
		rec.Reason = cmp.Or(rec.Reason, old.Reason)
		rec.Earlier = slices.DeleteFunc(append(slices.Clone(old.Earlier), old.Set), func(v string) bool { return v == rec.Set })
	}
	rec.Instances = slices.Clone(d.leaving)
	if old := d.s.state.Standbys; old != nil { // those that are gone have marks that go with the record
		rec.Instances = append(rec.Instances, old.Instances...)
	}
	slices.Sort(rec.Instances)
	rec.Instances = slices.Compact(rec.Instances)
	return rec
}
