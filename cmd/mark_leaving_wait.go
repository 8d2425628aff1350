package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

const (
	drainEvery  = time.Second     // between two looks
	coldPatient = 5 * time.Second // how long the end waits for word on what restored cold

	honourPatient = 3 * time.Second // how long a mark that is not honoured yet is no news
)

// drainWait follows instances under a mark until they are drained.
type drainWait struct {
	m     *marking
	drain *progress.Drain
	begin time.Time
	limit time.Duration // as waitLimit has it
	once  bool

	s        *steered           // last seen
	look     progress.DrainLook // of it
	state    control.State      // last read
	metAt    time.Time          // since when all is drained; zero before
	told     string
	toldAt   time.Time
	headed   bool
	failing  string
	failedAt time.Time // when it was told last
	notes    []string
	bars     *drainBars // on a terminal; nil elsewhere
}

// voidText says what marks of all instances come to.
const voidText = "the marks are void: no instance stays that could take the tasks"

// newDrain is a judge of the targets.
func (m *marking) newDrain() *progress.Drain {
	targets := make([]progress.DrainTarget, len(m.targets))
	for i, t := range m.targets {
		targets[i] = progress.DrainTarget{ID: t.in.ID, Name: t.in.Name, Mark: t.mark.Mark}
	}
	return progress.NewDrain(targets)
}

func newDrainWait(m *marking) *drainWait {
	w := &drainWait{m: m, drain: m.newDrain(), begin: m.d.now(), s: m.s, state: m.s.state}
	w.drain.Begin(m.s.g)
	w.limit, w.once = m.d.waitLimit()
	return w
}

// waitLimit is --timeout of a command that may wait for ever: 0 where it is not
// given. once says that it is given as 0: one look is all there is.
func (d *deps) waitLimit() (limit time.Duration, once bool) {
	if !d.conf.Setting(config.KeyTimeout).IsSet() {
		return 0, false
	}
	limit = d.conf.Duration(config.KeyTimeout)
	return limit, limit == 0
}

// boundWait bounds a wait by what waitLimit gave. A single look is bounded too.
func boundWait(ctx context.Context, limit time.Duration, once bool) (context.Context, context.CancelFunc) {
	if once {
		limit = askLimit
	}
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, timeoutError{limit})
}

// run waits, and writes the document.
func (w *drainWait) run(ctx context.Context) error {
	res, err := w.follow(ctx)
	if res == nil {
		return err
	}
	if show := w.m.d.show(report.NewGroupChange(*res)); show != nil {
		return show
	}
	return err
}

// follow waits. There is no result when a signal ended it, or nothing could be
// read.
func (w *drainWait) follow(ctx context.Context) (*report.ChangeResult, error) {
	m := w.m
	m.say(0, "marked. "+m.onCtrlC())
	ctx, cancel := boundWait(ctx, w.limit, w.once)
	defer cancel()
	if m.d.drawsBars() {
		w.bars = newDrainBars(m.d)
		defer w.bars.close()
	}
	err := progress.Poll(ctx, drainEvery, m.d.now, func(ctx context.Context) (*steered, error) {
		return m.r.steered(ctx, m.s.g.ID, true)
	}, w.step)
	w.bars.close()
	return w.finish(err)
}

// step judges one look. One that fails is told and tried again.
func (w *drainWait) step(at time.Time, s *steered, err error) (bool, error) {
	if err == nil && s.unread != nil {
		err = s.unread
	}
	if err != nil {
		if w.failing != err.Error() || at.Sub(w.failedAt) >= waitReminder {
			w.failing, w.failedAt = err.Error(), at
			w.say(fmt.Sprintf("cannot look: %s; trying again", oneLine(err.Error())))
		}
		return false, nil
	}
	w.failing, w.s, w.state = "", s, s.state
	w.look = w.drain.Look(s.g, &s.state, at)
	w.tell(at)
	switch {
	case w.once:
		return true, nil
	case !w.look.Over:
		w.metAt = time.Time{}
		return len(w.look.Lost) > 0 && len(w.m.targets) == 1, nil
	}
	if w.metAt.IsZero() {
		w.metAt = at
	}
	open := slices.ContainsFunc(w.drain.HandOvers(), func(h progress.Handover) bool { return h.Warm == progress.Unknown })
	return !open || at.Sub(w.metAt) >= coldPatient, nil
}

// say writes a line of text among those of the progress.
func (w *drainWait) say(text string) {
	if w.bars.say(text) {
		return
	}
	w.m.say(2, text)
}

// tell writes a line when something has changed, and every 30 seconds while
// nothing does, then with what holds the drain up.
func (w *drainWait) tell(at time.Time) {
	l := &w.look
	since := at.Sub(w.begin)
	notes := slices.Clone(l.Lost)
	if since >= honourPatient || w.once {
		notes = append(notes, l.Waiting...)
	}
	if l.Void {
		notes = append(notes, voidText)
	}
	for _, n := range notes {
		if !slices.Contains(w.notes, n) {
			w.notes = append(w.notes, n)
			w.say(n)
		}
	}
	if w.bars != nil {
		w.bars.draw(since, l)
		return
	}
	round := int32(-1)
	if l.Round != nil {
		round = *l.Round
	}
	text := fmt.Sprint(round, l.Owns, l.Ready, l.Waiting)
	changed := text != w.told || len(l.Moved) > 0
	if !changed && at.Sub(w.toldAt) < waitReminder {
		return
	}
	w.told, w.toldAt = text, at
	if !w.headed {
		w.headed = true
		w.m.row(report.DrainHead())
	}
	row := report.DrainLine(since, l)
	note := report.DrainMoves(l)
	if !changed {
		note = w.holdUp()
	}
	if note != "" && render.Width(row)+render.Width(note)+3 <= w.m.d.sayWidth() {
		row, note = row+"  "+note, ""
	}
	w.m.row(row)
	if note != "" {
		w.m.say(8, note)
	}
}

// holdUp names the tasks that hold the drain up.
func (w *drainWait) holdUp() string {
	const shown = 3
	l := &w.look
	if l.Open {
		return "a rebalance goes on: the group is " + w.s.g.State
	}
	var parts []string
	for i := range l.Tasks {
		if len(parts) == shown {
			parts = append(parts, fmt.Sprintf("and %d more", len(l.Tasks)-shown))
			break
		}
		parts = append(parts, l.Tasks[i].Holds())
	}
	parts = append(parts, l.Waiting...)
	if l.Void {
		parts = append(parts, voidText)
	}
	return strings.Join(parts, "; ")
}

// finish says how the waiting ended.
func (w *drainWait) finish(err error) (*report.ChangeResult, error) {
	_, over := errors.AsType[timeoutError](err)
	if err != nil && !over {
		return nil, err
	}
	m, l := w.m, &w.look
	took := m.d.now().Sub(w.begin)
	res := m.result(true)
	w.fill(&res, took)
	switch {
	case l.Met:
		w.drained(&res, took)
		return &res, nil
	case len(l.Lost) > 0 && (l.Over || len(m.targets) == 1):
		return &res, w.lost(&res)
	}
	line := l.StillOwns(len(m.targets) > 1)
	if line == "" {
		line = "not drained"
		if len(l.Waiting) > 0 {
			line += ": " + strings.Join(l.Waiting, "; ")
		}
	}
	stays := "the mark stays"
	if len(m.targets) > 1 {
		stays = "the marks stay"
	}
	res.Text = append(res.Text, report.WarnLine(line+"; "+stays+"; exit 4"))
	after := "not drained at the only look"
	if !w.once {
		after = "not drained after " + w.limit.String()
	}
	end := errs.WithCode(fmt.Errorf("group %q: %s: %s", m.s.g.ID, m.names(), after), errs.TimedOut)
	if w.failing != "" {
		end = errs.WithHint(end, "the last look failed: "+w.failing)
	}
	return &res, joinErrors(end, lostErrors(l.Lost))
}

// fill puts what was seen into the document.
func (w *drainWait) fill(res *report.ChangeResult, took time.Duration) {
	goal := progress.Goal{For: progress.Drained}
	name := ""
	if len(w.m.targets) == 1 {
		goal.Instance, name = w.m.targets[0].in.ID, w.m.targets[0].in.Name
	}
	status := progress.Status{Met: w.look.Met, Blockers: w.look.Blockers, Lost: strings.Join(w.look.Lost, "; ")}
	switch {
	case len(w.m.targets) != 1:
	case len(w.drain.Expired()) == 1:
		status.Left = string(control.LeftExpired)
	case w.drain.Gone(goal.Instance):
		status.Left = string(w.state.Status[goal.Instance].Left)
	}
	for _, h := range w.drain.HandOvers() { // by task
		if h.Warm == progress.No && !slices.Contains(status.Cold, h.Task) {
			status.Cold = append(status.Cold, h.Task)
		}
	}
	res.Wait = report.NewWait(report.WaitResult{Group: w.s.g, Goal: goal, Name: name, Status: status, Waited: took})
	res.Leaving.HandedOver = report.NewHandedOver(w.drain.HandOvers())
	for i := range res.Leaving.Marks {
		x := &res.Leaving.Marks[i]
		honoured, gone := w.drain.Honoured(x.Instance), w.drain.Gone(x.Instance)
		x.Honoured, x.Gone = &honoured, &gone
	}
}

// drained is the good end: what is safe to do now comes last.
func (w *drainWait) drained(res *report.ChangeResult, took time.Duration) {
	m := w.m
	verb := "owns"
	if len(m.targets) > 1 {
		verb = "own"
	}
	cold, warm := report.ColdText(w.drain.HandOvers())
	line := fmt.Sprintf("drained: %s %s no task after %s, %s; safe to stop", m.names(), verb, render.Duration(took), cold)
	switch late := w.drain.Expired(); {
	case len(late) == len(m.targets):
		line = fmt.Sprintf("%s went at the deadline, after %s, with what was not handed over; %s", m.names(), render.Duration(took), cold)
	case len(late) > 0:
		line = fmt.Sprintf("%s %s no task after %s; %s went at the deadline with what was not handed over; %s", m.names(), verb, render.Duration(took), andList(late), cold)
	}
	if !warm {
		res.Text = append(res.Text, report.WarnLine(line))
		return
	}
	res.Text = append(res.Text, report.GoodLine(line))
}

// lost is the bad end.
func (w *drainWait) lost(res *report.ChangeResult) error {
	for _, l := range w.look.Lost {
		res.Text = append(res.Text, report.ChangeLine{Text: render.Escape(l), Style: render.Problem})
	}
	return lostErrors(w.look.Lost)
}

func lostErrors(list []string) error {
	var out []error
	for _, l := range list {
		out = append(out, errors.New(oneLine(l)))
	}
	return errors.Join(out...)
}
