package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/report"
)

// goneSettle is how long the group may take to be Stable once the instances are
// gone, before the setting is put back all the same.
const goneSettle = time.Minute

// departWait follows a drain of a streams group: until it is safe to stop the
// instances and, where a setting was raised for them, until they are gone and it
// is put back.
type departWait struct {
	d      *streamsDrain
	raised bool
	begin  time.Time
	limit  time.Duration // as waitLimit has it
	once   bool

	members map[string][]string // of each target at the beginning
	failing string
	told    string
	toldAt  time.Time
	headed  bool
	safe    bool // as last said
	said    []string
	changed string    // what somebody else set; "" while nobody did
	goneAt  time.Time // since when all targets are gone
	others  bool      // instances of another drain are there, for which the setting stays
	after   progress.Departed
	lost    error // ends the waiting
	met     bool
}

func newDepartWait(d *streamsDrain, raised bool) *departWait {
	w := &departWait{d: d, raised: raised, begin: d.d.now(), members: map[string][]string{}}
	for _, t := range d.targets {
		for j := range t.in.Members {
			w.members[t.in.ID] = append(w.members[t.in.ID], t.in.Members[j].ID)
		}
	}
	w.limit, w.once = d.d.waitLimit()
	if raised && d.goesOn == "" { // by an earlier run
		d.goesOn = fmt.Sprintf("%s stays %s: the same command goes on, unmark %s puts it back now", standbysKey, d.now.Value, d.unmarkArgs())
	}
	if raised {
		d.d.onStop = d.goesOn
	}
	return w
}

// run waits, puts the setting back, and writes the document.
func (w *departWait) run(ctx context.Context) error {
	d := w.d
	if w.raised {
		d.say(0, "Ctrl-C ends the waiting: "+d.goesOn)
	}
	d.say(0, d.howSure())
	waiting, cancel := boundWait(ctx, w.limit, w.once)
	defer cancel()
	err := progress.Poll(waiting, drainEvery, d.d.now, func(ctx context.Context) (*steered, error) {
		return d.r.departing(ctx, d.s.g.ID)
	}, func(at time.Time, s *steered, err error) (bool, error) {
		return w.step(waiting, at, s, err)
	})
	if _, over := errors.AsType[timeoutError](err); err != nil && !over {
		return err
	}
	return w.finish(ctx)
}

// step judges one look. One that fails is told and tried again.
func (w *departWait) step(ctx context.Context, at time.Time, s *steered, err error) (bool, error) {
	d := w.d
	if err == nil {
		err = s.unread
	}
	if err != nil {
		w.fails(err)
		return false, nil
	}
	w.failing, d.s = "", s
	if w.lost = w.withdrawn(s); w.lost != nil {
		return true, nil
	}
	w.watchSetting(s.g)
	there := w.there(s)
	if len(there) == 0 {
		return w.gone(at, s), nil
	}
	w.goneAt = time.Time{}
	look, err := d.judge.Look(s.g, d.leavingIn(s), at)
	if err != nil {
		w.fails(err)
		return false, nil
	}
	if look.Open != "" {
		w.tell(at, &look, look.Open)
		return w.once, nil
	}
	d.look = look
	note := ""
	if look.Safe != progress.Yes {
		note = d.behind()
	}
	w.tell(at, &look, note)
	if !look.Enough {
		return w.once, w.raiseFurther(ctx)
	}
	w.tellSafe(look.Safe)
	w.met = look.Safe == progress.Yes && !w.raised
	return w.met || w.once, nil
}

func (w *departWait) fails(err error) {
	if text := oneLine(err.Error()); w.failing != text {
		w.failing = text
		w.d.say(2, "cannot look: "+text+"; trying again")
	}
}

// withdrawn says that somebody else has ended the drain.
func (w *departWait) withdrawn(s *steered) error {
	switch {
	case !w.raised:
		return nil
	case s.state.Standbys == nil:
		return errors.New("somebody ended this drain: the record of " + standbysKey + " is gone from the control topic, so it is not ours to put back any more")
	}
	for _, t := range w.d.targets {
		if !slices.Contains(s.state.Standbys.Instances, t.in.ID) {
			return fmt.Errorf("the mark of %s was withdrawn by somebody else; %s stays raised for others", t.in.Name, standbysKey)
		}
	}
	return nil
}

// watchSetting tells of a setting that somebody changed.
func (w *departWait) watchSetting(g *model.Group) {
	rec := w.d.s.state.Standbys
	if !w.raised || g.Timing.Standbys == nil || rec == nil {
		return
	}
	now := strconv.Itoa(*g.Timing.Standbys)
	ours := now == rec.Set || slices.Contains(rec.Earlier, now)
	if !ours && now != w.changed {
		w.d.say(2, fmt.Sprintf("somebody changed %s to %s: it is left as it is", standbysKey, now))
	}
	w.changed = ""
	if !ours {
		w.changed = now
	}
}

// there are the targets that have not gone. One of which all members are new has
// been stopped and started again.
func (w *departWait) there(s *steered) []string {
	var out []string
	for _, t := range w.d.targets {
		i := slices.IndexFunc(s.g.Instances, func(in model.Instance) bool { return in.ID == t.in.ID })
		if i < 0 {
			continue
		}
		same := slices.ContainsFunc(s.g.Instances[i].Members, func(m model.Member) bool { return slices.Contains(w.members[t.in.ID], m.ID) })
		if same {
			out = append(out, t.in.ID)
			continue
		}
		w.sayOnce(t.in.Name + " was stopped and is back, with new members")
	}
	return out
}

// sayOnce says a thing once.
func (w *departWait) sayOnce(text string) {
	if !slices.Contains(w.said, text) {
		w.said = append(w.said, text)
		w.d.say(2, text)
	}
}

// gone waits until the tasks have their owners.
func (w *departWait) gone(at time.Time, s *steered) bool {
	if w.goneAt.IsZero() {
		w.goneAt = at
		w.d.say(2, isAre(len(w.d.targets), w.d.marking.names())+" gone; waiting until the others have all tasks")
	}
	w.after = w.d.judge.Departed(s.g)
	w.others = slices.ContainsFunc(w.d.leavingIn(s), func(id string) bool { return !w.d.marks(id) })
	return w.after.Settled || w.once || at.Sub(w.goneAt) >= goneSettle
}

// tell writes a line when something has changed, and every 30 seconds what holds
// it up.
func (w *departWait) tell(at time.Time, l *progress.DepartLook, note string) {
	text := fmt.Sprint(len(l.Tasks), l.Ready, l.Open)
	if l.ToRestore != nil {
		text += fmt.Sprint(*l.ToRestore)
	}
	remind := at.Sub(w.toldAt) >= waitReminder
	if text == w.told && !remind {
		return
	}
	first := w.toldAt.IsZero()
	w.told, w.toldAt = text, at
	if l.Open != "" {
		w.d.say(2, l.Open)
		return
	}
	if !w.headed {
		w.headed = true
		w.d.row(report.DepartHead())
	}
	w.d.row(report.DepartLine(at.Sub(w.begin), l))
	if note != "" && (first || remind) {
		w.d.say(8, note)
	}
}

// tellSafe says when it is safe to stop, and when that is so no more.
func (w *departWait) tellSafe(a progress.Answer) {
	names := w.d.marking.names()
	switch {
	case a == progress.Unknown:
		w.sayOnce(fmt.Sprintf("whether the copies have caught up cannot be seen, only that they are there; stop %s when you are sure, or unmark it", names))
	case a == progress.Yes && !w.safe && w.raised:
		w.d.say(0, w.d.safeText()+". Stop it now; waiting until "+isAre(len(w.d.targets), names)+" gone, to put "+standbysKey+" back")
	case a == progress.No && w.safe:
		w.d.say(0, "not safe to stop any more: "+w.d.behind())
	}
	w.safe = a == progress.Yes
}

// raiseFurther raises the setting once more where the assignment has changed so
// that the number is no longer enough.
func (w *departWait) raiseFurther(ctx context.Context) error {
	d := w.d
	w.tellSafe(progress.No)
	need := d.look.Raise.Need
	switch {
	case need < 0:
		w.sayOnce("no number of standbys is enough as things are: " + d.wouldBeCold(d.look.Raise.Now))
		return nil
	case !w.raised || !d.raise || w.changed != "" || d.most >= 0 && need > d.most:
		w.sayOnce(fmt.Sprintf("%s %d would be needed now: %s", standbysKey, need, d.wouldBeCold(d.look.Raise.Now)))
		return nil
	}
	cw, err := d.r.writer()
	if err != nil {
		return err
	}
	d.say(2, fmt.Sprintf("the assignment has changed: %s %d is needed", standbysKey, need))
	d.to = need
	d.goesOn = fmt.Sprintf("the marks and %s %d stay: the same command goes on, unmark %s puts it back now", standbysKey, need, d.unmarkArgs())
	if err := d.writeRecord(ctx, cw); err != nil {
		return err
	}
	return d.setStandbys(ctx)
}
