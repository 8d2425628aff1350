package cmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// raiseAndWait writes down what will be done, does it, and waits where it is
// asked to.
func (d *streamsDrain) raiseAndWait(ctx context.Context) error {
	agreed, err := d.agree(ctx, d.raiseIntent())
	if err != nil {
		return err
	}
	if !agreed {
		res := d.document(false)
		res.Text = append(res.Text, report.ChangeLine{Text: "dry run: nothing was marked, nothing was set"})
		return d.d.show(report.NewGroupChange(res))
	}
	if err := d.markAndRaise(ctx); err != nil {
		return err
	}
	if d.wait {
		return newDepartWait(d, true).run(ctx)
	}
	res := d.document(true)
	res.Text = append(res.Text, report.GoodLine(fmt.Sprintf("raised: %s is %d, for the drain of %s", standbysKey, d.to, d.marking.names())), d.whatNext())
	return d.d.show(report.NewGroupChange(res))
}

// raiseIntent says what the raise means: which copies, and what comes after.
func (d *streamsDrain) raiseIntent() intent {
	rec := d.recordOf(d.to)
	parts := make([]string, len(d.targets))
	for i, t := range d.targets {
		parts[i] = identity(t.in)
	}
	in := intent{group: d.s.g, inTopic: true, doing: fmt.Sprintf("raising %s from %s to %d for the drain of %s", standbysKey, d.now.Value, d.to, strings.Join(parts, ", "))}
	if d.now.Value == strconv.Itoa(d.to) {
		in.doing = fmt.Sprintf("%s stays %d for the drain of %s, too", standbysKey, d.to, strings.Join(parts, ", "))
	} else if plan.Missing(d.look.Raise.Now) != nil {
		in.details = append(in.details, d.wouldBeCold(d.look.Raise.Now))
	}
	in.details = append(in.details, d.predictCopies()...)
	in.details = append(in.details, fmt.Sprintf("it was %s, and is that again once %s gone", before(&rec), isAre(len(d.targets), d.marking.names())))
	if d.look.Raise.Before == 0 && !d.look.Offers {
		in.details = append(in.details, d.howSure())
	}
	if !d.look.Raise.Exact {
		in.details = append(in.details, "where the broker puts tasks cannot be told: every instance gets a copy")
	}
	return in
}

// predictCopies makes the plan, and says what the copies restore.
func (d *streamsDrain) predictCopies() []string {
	o := plan.Options{}
	for _, id := range d.leaving {
		o.Changes = append(o.Changes, plan.Leaving{Instance: id})
	}
	p, err := planOf(d.s.g, o)
	if err != nil {
		return []string{"what the copies restore cannot be told: " + err.Error()}
	}
	d.plan = report.NewPlan(p, d.s.g, report.PlanOptions{Commands: d.commands})
	r := d.look.Raise
	text := render.Count(r.Copies, "new copy")
	if r.Copies != 1 {
		text = strconv.Itoa(r.Copies) + " new copies"
	}
	switch {
	case r.Copies == 0:
		return nil
	case r.Records != nil && *r.Records == 0:
		return []string{text + ", whose state is on disk still, as their members told"}
	case r.Records == nil:
		return []string{text + ", how much they restore is not known"}
	}
	return []string{text + ", ≤" + render.Int(*r.Records) + " records to restore"}
}

// markAndRaise writes the old value down, then the marks, then sets the new one.
// Whatever ends it in between, the same command goes on and unmark undoes it.
func (d *streamsDrain) markAndRaise(ctx context.Context) error {
	w, err := d.r.writer()
	if err != nil {
		return err
	}
	d.goesOn = fmt.Sprintf("the marks and %s %d stay: the same command goes on, unmark %s puts it back now", standbysKey, d.to, d.unmarkArgs())
	if len(d.targets) == 1 {
		d.goesOn = strings.Replace(d.goesOn, "the marks", "the mark", 1)
	}
	if err := d.writeRecord(ctx, w); err != nil {
		return err
	}
	if err := d.mark(ctx); err != nil {
		return err
	}
	d.say(2, "marked: "+d.marking.names())
	return d.setStandbys(ctx)
}

// writeRecord writes the record of a raise to d.to, and reads it back.
func (d *streamsDrain) writeRecord(ctx context.Context, w controlWriter) error {
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	rec := d.recordOf(d.to)
	r, err := rec.Record()
	if err != nil {
		return fmt.Errorf("record of %s: %w", standbysKey, err)
	}
	d.d.onStop = "what is to be done may be written down in the control topic: the same command goes on, unmark " + d.unmarkArgs() + " undoes it"
	if _, err := w.WriteControl(ctx, d.s.g.ID, r); err != nil {
		return err
	}
	d.s.state.Standbys = &rec
	d.say(2, fmt.Sprintf("noted in topic %s: %s was %s", control.TopicName(d.s.g.ID), standbysKey, before(&rec)))
	return nil
}

// setStandbys sets d.to. Where the broker refuses that, nothing was changed: the
// record and the marks go, too.
func (d *streamsDrain) setStandbys(ctx context.Context) error {
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	value := strconv.Itoa(d.to)
	if d.now.Own && d.now.Value == value {
		d.owner, d.d.onStop = settingOurs, d.goesOn
		return nil
	}
	d.d.onStop = fmt.Sprintf("%s may be set to %s: the same command goes on, unmark %s puts it back", standbysKey, value, d.unmarkArgs())
	err := d.set.SetGroupSetting(ctx, d.s.g.ID, kclient.KeyGroupStandbys, &value)
	if err == nil {
		d.now, d.owner, d.d.onStop = kclient.Setting{Value: value, Own: true}, settingOurs, d.goesOn
		d.say(2, fmt.Sprintf("set: %s %s", standbysKey, value))
		return nil
	}
	if !kclient.RefusedSetting(err) || d.owner == settingOurs {
		return errs.WithHint(err, d.d.onStop)
	}
	var marks []string
	for _, t := range d.targets {
		if !t.before {
			marks = append(marks, t.in.ID)
		}
	}
	if _, back := d.putStandbysBack(ctx, d.r, d.s.g.ID, d.s.state.Standbys, marks); back != nil {
		return joinErrors(err, back)
	}
	return fmt.Errorf("%w; the marks are withdrawn, nothing is changed", err)
}
