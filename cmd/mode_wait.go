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
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

const (
	switchEvery = 50 * time.Millisecond // between two looks: the pause is measured with it
	switchSpare = 30 * time.Second      // besides the time allowed: rolling back takes some too
	saidLimit   = 3 * time.Second       // instances say at least so soon what they follow
	goneLimit   = 5 * time.Second       // an instance that a group at rest, all tasks with owners, has lacked for so long is gone
)

// awaited is what is seen of a switch that is on.
type awaited struct {
	*switching
	running  bool           // it was on before
	whole    time.Time      // the last look at the group as it was
	left     time.Time      // when it was first seen otherwise
	pause    *time.Duration // nil until it is over
	formedAt time.Time      // when the group was first seen as it is to be
	back     *control.Mode  // the record that took all back
	lacksAt  time.Time      // since when the group is at rest and not complete; zero while it is not so
	gone     []string       // names of the instances that it lacks after goneLimit, sorted
	absent   map[string]bool
	told     string
	failing  string
}

// wait follows the switch until the group has formed again in its type with
// everybody, or has gone back.
func (w *switching) wait(ctx context.Context, running bool) error {
	limit := w.record.Allowed + switchSpare
	if w.delay != nil {
		limit += 2 * *w.delay
	}
	if s := w.d.conf.Setting(config.KeyTimeout); s.IsSet() && w.d.conf.Duration(config.KeyTimeout) > 0 {
		limit = w.d.conf.Duration(config.KeyTimeout)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, timeoutError{limit})
	defer cancel()
	w.d.onStop = fmt.Sprintf("the switch goes on by itself, epoch %d; mode get %s shows how far it is", w.record.Epoch, render.ShellWord(w.group))
	w.begun = w.d.now()
	a := newAwaited(w, running)
	look := func(ctx context.Context) (*steered, error) { return w.look(ctx, true) }
	err := progress.Poll(ctx, switchEvery, w.d.now, look, a.step)
	return a.finish(err, limit)
}

// newAwaited begins to count a pause: from before the record was written, since
// instances act on it while it is read back.
func newAwaited(w *switching, running bool) *awaited {
	a := &awaited{switching: w, running: running, whole: w.begun, absent: map[string]bool{}}
	if !w.asked.IsZero() {
		a.whole = w.asked
	}
	return a
}

// step judges one look.
func (a *awaited) step(at time.Time, s *steered, err error) (bool, error) {
	if err != nil {
		if a.failing != err.Error() { // a group that is between two types may not be there for a moment
			a.failing = err.Error()
			a.d.verbose("cannot look: %s; trying again", err)
		}
		if a.left.IsZero() {
			a.left = at
		}
		return false, nil
	}
	a.s = s
	if m := s.state.Mode; m != nil && m.Offset > a.offset && m.Epoch > a.record.Epoch {
		if a.back == nil {
			a.back = m
			a.tell(at, fmt.Sprintf("taken back to %s, epoch %d, by %s", m.Mode, m.Epoch, m.Who))
		}
	} else if m != nil && m.Offset > a.offset {
		return true, fmt.Errorf("after this record there is another of epoch %d, by %s at %s: that one counts", m.Epoch, m.Who, m.At.UTC().Format(time.RFC3339))
	}
	a.remember()
	want := string(a.to)
	if a.back != nil {
		want = string(a.back.Mode)
	}
	if !a.formed(want) {
		if a.withoutGone(at, want) {
			return true, nil
		}
		switch {
		case !a.left.IsZero():
		case s.g.State != model.StateStable || s.g.Mode != a.from():
			a.left = at
		default:
			a.whole = at
		}
		a.progress(at, want)
		return false, nil
	}
	if a.left.IsZero() && a.back == nil && a.from() == want {
		a.whole = at
		return false, nil // nobody has moved yet
	}
	if !a.formedAt.IsZero() {
		return a.said() || at.Sub(a.formedAt) > saidLimit, nil
	}
	a.formedAt = at
	d := at.Sub(a.whole) // it lies between two looks, however short it was
	a.pause = &d
	return a.said(), nil
}

// said reports whether every instance says that it follows the last record.
func (a *awaited) said() bool {
	epoch := a.record.Epoch
	if a.back != nil {
		epoch = a.back.Epoch
	}
	return !slices.ContainsFunc(a.expected(), func(id string) bool {
		s, ok := a.s.state.Status[id]
		return ok && s.Epoch < epoch
	})
}

// resting reports whether the group is at rest in a mode, each task with an
// owner, and lists the instances of before that were to stay and are not in it.
func (a *awaited) resting(mode string) (missing []string, ok bool) {
	g := a.s.g
	if g.Kind != model.Worker || g.State != model.StateStable || g.Mode != mode || len(g.Unassigned) > 0 || len(g.Moving) > 0 {
		return nil, false
	}
	ids := workerIDs(g)
	return slices.DeleteFunc(a.expected(), func(id string) bool { return slices.Contains(ids, id) }), true
}

// formed reports whether nobody is missing either.
func (a *awaited) formed(mode string) bool {
	missing, rests := a.resting(mode)
	return rests && len(missing) == 0
}

// withoutGone reports whether a group at rest in a mode is all that is left of it:
// an instance has died or hangs, and is not waited for. The workers themselves
// have waited for it before they took its tasks.
func (a *awaited) withoutGone(at time.Time, mode string) bool {
	missing, rests := a.resting(mode)
	if !rests || len(missing) == 0 {
		a.lacksAt = time.Time{}
		return false
	}
	if a.lacksAt.IsZero() {
		a.lacksAt = at
	}
	if at.Sub(a.lacksAt) < goneLimit {
		return false
	}
	for _, id := range missing {
		a.gone = append(a.gone, a.nameOf(id))
	}
	slices.Sort(a.gone)
	d := a.lacksAt.Sub(a.whole)
	a.pause = &d
	return true
}

// remember notes who has not followed: in a look that shows the group on its
// way, instances that do not say the new epoch.
func (a *awaited) remember() {
	if a.back != nil {
		return
	}
	clear(a.absent)
	for _, id := range a.followers() {
		if s, ok := a.s.state.Status[id]; !ok || s.Epoch < a.record.Epoch {
			a.absent[a.nameOf(id)] = true
		}
	}
	if a.s.g.State != model.StateStable || a.s.g.ProtocolType == protocolType(a.to) {
		return
	}
	for i := range a.s.g.Instances { // a round was made in the type that is to be left: its members stayed
		in := &a.s.g.Instances[i]
		if _, said := a.s.state.Status[in.ID]; !said {
			for j := range in.Members {
				a.absent[in.Members[j].Name] = true
			}
		}
	}
}

// progress says who is back, whenever that changes.
func (a *awaited) progress(at time.Time, want string) {
	back := 0
	if a.s.g.Mode == want && a.s.g.ProtocolType == protocolType(control.RebalanceMode(want)) {
		ids := workerIDs(a.s.g)
		for _, id := range a.expected() {
			if slices.Contains(ids, id) {
				back++
			}
		}
	}
	a.tell(at, fmt.Sprintf("%s: %d of %d instances in mode %s", a.s.g.State, back, len(a.expected()), want))
}

func (a *awaited) tell(at time.Time, text string) {
	if text == a.told {
		return
	}
	a.told = text
	a.row(fmt.Sprintf("%6s  %s", render.Duration(at.Sub(a.begun)), render.Escape(text)))
}

// finish writes the document and makes the exit code.
func (a *awaited) finish(err error, limit time.Duration) error {
	_, over := errors.AsType[timeoutError](err)
	if err != nil && !over {
		return err
	}
	res := a.document(err == nil && a.back == nil)
	res.Mode.AlreadyThere = a.running
	if a.pause != nil && !a.running {
		ms := a.pause.Milliseconds()
		res.Mode.PauseMs = &ms
	}
	var failed error
	switch {
	case a.back != nil:
		failed = a.rolledBack(&res, over)
	case over:
		res.Mode.NotFollowed = a.who()
		res.Text = append(res.Text, report.WarnLine(fmt.Sprintf("not switched yet: %s after %s", a.group, render.Duration(limit))))
		failed = errs.WithCode(errs.WithHint(fmt.Errorf("group %q is not in mode %s with all its instances after %s", a.group, a.to, render.Duration(limit)),
			"the switch goes on, or goes back, by itself: mode get "+render.ShellWord(a.group)), errs.TimedOut)
	default:
		line := fmt.Sprintf("switched: %s runs in mode %s, epoch %d, with %s%s", a.group, a.to, a.record.Epoch, a.present(), a.paused())
		res.Text = append(res.Text, report.GoodLine(line))
		if len(a.gone) > 0 {
			res.Mode.NotFollowed = a.gone
			res.Text = append(res.Text, report.WarnLine(a.goneText()))
		}
	}
	if err := a.d.show(report.NewGroupChange(res)); err != nil {
		return err
	}
	return failed
}

func (a *awaited) paused() string {
	switch {
	case a.running:
		return "; its pause was not measured, since it was on already"
	case a.pause == nil:
		return ""
	}
	return fmt.Sprintf("; pause %s", render.Duration(*a.pause))
}

// present says how many of the instances of before are there.
func (a *awaited) present() string {
	all := len(a.expected())
	if len(a.gone) == 0 {
		return "all " + render.Count(all, "instance")
	}
	return fmt.Sprintf("%d of %s", all-len(a.gone), render.Count(all, "instance"))
}

func (a *awaited) goneText() string {
	return "not in the group any more: " + render.Escape(strings.Join(a.gone, ", "))
}

// rolledBack says who did not follow.
func (a *awaited) rolledBack(res *report.ChangeResult, over bool) error {
	res.Mode.RolledBack, res.Mode.NotFollowed = true, a.who()
	who := "nobody is known not to have followed: the group was not complete in time"
	if list := res.Mode.NotFollowed; len(list) > 0 {
		who = "did not follow: " + strings.Join(list, ", ")
	}
	if len(a.gone) > 0 {
		who += "; " + a.goneText()
	}
	state := fmt.Sprintf("%s is back in mode %s, epoch %d, with %s%s", a.group, a.back.Mode, a.back.Epoch, a.present(), a.paused())
	if over {
		state = fmt.Sprintf("%s is on its way back to mode %s, epoch %d", a.group, a.back.Mode, a.back.Epoch)
	}
	res.Text = append(res.Text, report.WarnLine("not switched: "+state), report.ChangeLine{Text: render.Escape(who)})
	return errs.WithHint(fmt.Errorf("group %q did not follow to mode %s within %s: %s", a.group, a.to, render.Duration(a.record.Allowed), who),
		"look at the log of who did not follow, then try again")
}

func (a *awaited) who() []string {
	out := []string{}
	for name := range a.absent {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
