package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// finish says how it ended, and puts the setting back when the instances are
// gone.
func (w *departWait) finish(ctx context.Context) error {
	d := w.d
	took := d.d.now().Sub(w.begin)
	var failed []error
	gone := !w.goneAt.IsZero() && w.lost == nil
	if gone && w.raised && !w.others {
		failed = append(failed, w.putBack(ctx))
	}
	res := d.document(true)
	w.fill(&res, took, gone)
	switch {
	case w.lost != nil:
		failed = append(failed, w.lost)
	case gone:
		failed = append(failed, w.ended(&res, took))
	case w.met:
		res.Text = append(res.Text, report.GoodLine(d.safeText()), report.ChangeLine{Text: "stop it now: nothing was changed"})
	default:
		failed = append(failed, w.ranOut(&res))
	}
	if err := d.d.show(report.NewGroupChange(res)); err != nil {
		return err
	}
	return joinErrors(failed...)
}

// putBack puts the setting back, with the marks that the record was for.
func (w *departWait) putBack(ctx context.Context) error {
	d := w.d
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	rec := d.s.state.Standbys
	d.d.onStop = standbysKey + " may be put back: any changing command, or unmark, makes sure of it"
	back, err := d.putStandbysBack(ctx, d.r, d.s.g.ID, rec, marksOf(d.s, rec.Instances))
	d.back = &back
	return err
}

// fill puts what was seen into the document.
func (w *departWait) fill(res *report.ChangeResult, took time.Duration, gone bool) {
	d := w.d
	goal := progress.Goal{For: progress.Drained}
	name := ""
	if len(d.targets) == 1 {
		goal.Instance, name = d.targets[0].in.ID, d.targets[0].in.Name
	}
	status := progress.Status{Met: w.met || gone && w.after.Settled}
	if w.lost != nil {
		status.Lost = oneLine(w.lost.Error())
	}
	for i := range d.look.Tasks {
		if t := &d.look.Tasks[i]; t.Answer != progress.Yes && !gone {
			status.Blockers = append(status.Blockers, t.Blocker())
		}
	}
	res.Wait = report.NewWait(report.WaitResult{Group: d.s.g, Goal: goal, Name: name, Status: status, Waited: took})
	if res.Leaving == nil {
		return
	}
	res.Leaving.HandedOver = report.NewHandedOver(w.after.HandOvers)
	for i := range res.Leaving.Marks {
		res.Leaving.Marks[i].Gone = &gone
	}
}

// ended is the end of a drain whose instances are gone.
func (w *departWait) ended(res *report.ChangeResult, took time.Duration) error {
	d := w.d
	cold, warm := report.ColdText(w.after.HandOvers)
	line := fmt.Sprintf("drained: %s gone after %s, %s went over, %s", isAre(len(d.targets), d.marking.names()), render.Duration(took), render.Count(len(w.after.HandOvers), "task"), cold)
	var err error
	switch {
	case len(w.after.Ownerless) > 0:
		err = fmt.Errorf("%s without an owner after %s: %s", isAre(len(w.after.Ownerless), render.Count(len(w.after.Ownerless), "task")), render.Duration(goneSettle), taskList(w.after.Ownerless))
	case slices.ContainsFunc(w.after.HandOvers, func(h progress.Handover) bool { return h.Warm == progress.No }):
		err = fmt.Errorf("%s went before it was safe: %s", d.marking.names(), cold)
	}
	if warm && err == nil {
		res.Text = append(res.Text, report.GoodLine(line))
	} else {
		res.Text = append(res.Text, report.WarnLine(line))
	}
	for _, h := range w.after.Astray {
		res.Text = append(res.Text, report.WarnLine(fmt.Sprintf("%s went to %s, which was not foretold", h.Task, h.ToName)))
	}
	switch {
	case w.others:
		res.Text = append(res.Text, report.ChangeLine{Text: render.Escape(standbysKey + " stays raised for others that are to go")})
	case d.back != nil && d.back.text != "":
		res.Text = append(res.Text, report.ChangeLine{Text: render.Escape(d.back.text)})
	}
	return err
}

func taskList(ids []model.TaskID) string {
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = id.String()
	}
	return strings.Join(parts, " ")
}

// ranOut is the end of a waiting that time ended: everything stays.
func (w *departWait) ranOut(res *report.ChangeResult) error {
	d := w.d
	line := "not safe to stop yet"
	switch {
	case d.look.Safe == progress.Yes:
		line = "safe to stop, and not gone yet"
	case d.behind() != "":
		line += ": " + d.behind()
	}
	if w.raised {
		line += "; " + d.goesOn
	}
	res.Text = append(res.Text, report.WarnLine(line+"; exit 4"))
	after := "not over at the only look"
	if !w.once {
		after = "not over after " + w.limit.String()
	}
	end := errs.WithCode(fmt.Errorf("group %q: %s: %s", d.s.g.ID, d.marking.names(), after), errs.TimedOut)
	if w.failing != "" {
		end = errs.WithHint(end, "the last look failed: "+w.failing)
	}
	return end
}
