package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// unmarkOptions is everything unmark needs.
type unmarkOptions struct {
	*change
	instances []string
	noRound   bool
	commands  func(string) bool
}

func newUnmarkCmd(d *deps) *cobra.Command {
	o := &unmarkOptions{change: newChange(d, "unmark", false)}
	cmd := &cobra.Command{
		Use: "unmark INSTANCE...", Short: "Withdraw leaving marks",
		Long: `Withdraw the marks that mark-leaving has set. Learners of the instance's tasks are
dropped, what was not handed over stays, and balance decides anew. An instance that
is not marked is no error.

In a streams group num.standby.replicas, raised by mark-leaving --raise-standbys, is
put back at once, unless other instances that are to go rest on it.

In a classic group whose instances have streamctl's plug-in a rebalance is asked
for, in which the leader sees it, unless --no-rebalance is given.

INSTANCE is named as for mark-leaving. With -g GROUP it can also be an instance that
is gone, whose mark is stale and does nothing: by its client id, its host, the name
in its mark, or its UUID or a prefix of that.`,
		Example: "  streamctl unmark pod-c -g clicks\n  streamctl unmark 9f31c0de-1111-4222-8333-0123456789ab -g clicks",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			o.instances, o.commands = a, commandsOf(c.Root())
			return runUnmark(c.Context(), o)
		},
		ValidArgsFunction: completeInstances(d),
	}
	bindNoRebalance(cmd, &o.noRound)
	o.bind(cmd, "accepted as by every changing command; nothing here needs it")
	return cmd
}

// withdrawal is one mark that is to go.
type withdrawal struct {
	id, name string
	mark     *control.Leaving // nil: there is none
	gone     bool             // the instance is not in the group
	others   []model.Gone     // where it has no mark: instances of its name that are gone and have one
}

func runUnmark(ctx context.Context, o *unmarkOptions) error {
	r, err := o.begin(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	id := o.d.defaultGroup()
	if id == "" {
		if id, err = r.lookUp(ctx, o.instances, "instance", instanceOf); err != nil {
			return err
		}
	}
	s, err := r.settled(ctx, id)
	if err != nil {
		return err
	}
	if s.unread != nil {
		return s.unread
	}
	o.d.warnUnread(s.g)
	ended, err := o.putBackOnceGone(ctx, r, s.g)
	if err != nil {
		return err
	}
	if ended {
		if s, err = r.steered(ctx, id, true); err != nil {
			return err
		}
	}
	list, err := o.withdrawals(s)
	if _, missing := errors.AsType[*model.NotFoundError](err); missing && ended { // it was the one that is gone
		res := o.document(s, nil, true, []string{"the drain is over: " + strings.Join(o.instances, ", ") + " gone"})
		return o.d.show(report.NewGroupChange(res))
	}
	if err != nil {
		return err
	}
	return o.run(ctx, r, s, list)
}

// withdrawals finds the marks that the names mean, each once, by id.
func (o *unmarkOptions) withdrawals(s *steered) ([]withdrawal, error) {
	var out []withdrawal
	for _, name := range o.instances {
		w, err := withdrawalOf(s, name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(out, func(x withdrawal) bool { return x.id == w.id }) {
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b withdrawal) int { return strings.Compare(a.id, b.id) })
	return out, nil
}

func withdrawalOf(s *steered, name string) (withdrawal, error) {
	in, err := model.ResolveInstance(s.g, name)
	w := withdrawal{}
	if err == nil {
		w.id, w.name = in.ID, in.Name
	} else {
		stale := staleMarks(s.g, name)
		_, missing := errors.AsType[*model.NotFoundError](err)
		last, known := lastGone(s.g, name)
		switch {
		case !missing:
			return w, resolveError(err)
		case len(stale) == 0 && known:
			return withdrawal{id: last.ID, name: last.Name, gone: true}, nil
		case len(stale) == 0:
			return w, staleHints(s, resolveError(err))
		case len(stale) > 1:
			return w, errs.WithHint(fmt.Errorf("%q could be several instances that are gone: %s", name, goneNames(stale)), "name one by its UUID")
		}
		w = withdrawal{id: stale[0].ID, name: stale[0].Name, gone: true}
	}
	if l, ok := s.state.Leaving[w.id]; ok {
		w.mark = &l
	} else if !w.gone {
		w.others = staleMarks(s.g, name)
	}
	return w, nil
}

// staleHints shows the marks of instances that are gone: which name one had is
// not known any more.
func staleHints(s *steered, err error) error {
	const shown = hintsShown - 1 // the last says that there are more
	var hints []string
	for _, id := range slices.Sorted(maps.Keys(s.state.Leaving)) {
		if slices.ContainsFunc(s.g.Instances, func(i model.Instance) bool { return i.ID == id }) {
			continue
		}
		if len(hints) == shown {
			hints = append(hints, "and more marks of instances that are gone: describe group "+render.ShellWord(s.g.ID))
			break
		}
		l := s.state.Leaving[id]
		hints = append(hints, oneLine(fmt.Sprintf("an instance that is gone has a mark, %s: unmark %s -g %s", l.SetBy(), id, render.ShellWord(s.g.ID))))
	}
	for _, h := range slices.Backward(hints) { // the outermost is shown first
		err = errs.WithHint(err, h)
	}
	return err
}

// problemOf says what the topic holds of an instance that is no mark; "" for
// nothing. A newer instance may follow it all the same.
func (s *steered) problemOf(instance string) string {
	for _, p := range s.state.Problems() {
		if p.Key == control.KeyLeaving(instance) {
			return oneLine(fmt.Sprintf("record %q at offset %d does not decode and counts as no mark: %v; software newer than this may follow it", p.Key, p.Offset, p.Err))
		}
	}
	return ""
}

// unmarking is what an unmark comes to.
type unmarking struct {
	records []control.Record
	names   []string // whose marks go
	details []string // said before it is done, a line each
	lines   []string // said once it is done, a line each
}

// plan adds what becomes of one name.
func (u *unmarking) plan(o *unmarkOptions, s *steered, w *withdrawal) {
	problem := s.problemOf(w.id)
	switch {
	case w.mark == nil && problem != "":
		o.d.warn(problem)
		u.details = append(u.details, w.name+" is not marked: "+problem)
		u.lines = append(u.lines, "withdrawn: what could not be read as a mark of "+w.name)
	case w.mark == nil:
		if o.flags.dryRun { // else the result says it
			u.details = append(u.details, w.name+" is not marked")
		}
		line := "not marked: " + w.name
		if w.gone {
			line += ", which " + progress.FarewellOf(s.g, w.id).Text
		}
		u.lines = append(u.lines, line)
		for _, x := range w.others {
			u.lines = append(u.lines, fmt.Sprintf("an earlier %s that is gone has a mark, which does nothing: unmark %s -g %s takes it away", x.Name, x.ID, render.ShellWord(s.g.ID)))
		}
		return
	case w.gone:
		u.details = append(u.details, w.name+" is gone: the mark does nothing", w.name+" marked "+w.mark.SetBy())
		u.lines = append(u.lines, "withdrawn: the mark of "+w.name+", which is gone")
	default:
		u.details = append(u.details, w.name+" marked "+w.mark.SetBy())
		u.lines = append(u.lines, "withdrawn: "+w.name+" stays")
	}
	u.names = append(u.names, w.name)
	u.records = append(u.records, control.Withdrawal(w.id))
}

// doing is what an intent says of it.
func (u *unmarking) doing() string {
	if len(u.records) == 0 {
		return "no mark to withdraw"
	}
	return "withdrawing the mark of " + strings.Join(u.names, ", ")
}

func (o *unmarkOptions) run(ctx context.Context, r *reader, s *steered, list []withdrawal) error {
	var u unmarking
	for i := range list {
		u.plan(o, s, &list[i])
	}
	if p := s.state.Replace; p != nil && slices.ContainsFunc(list, func(w withdrawal) bool { return slices.Contains(p.Old, w.id) }) {
		u.details = append(u.details, "a replacement goes on, by "+cmp.Or(p.Who, "somebody")+": replace marks it again; replace --abandon ends that")
	}
	doing := u.doing()
	lower := loweringOf(s, list)
	if lower != nil {
		u.details = append(u.details, lower.says())
	}
	round := o.nudge(r, s, list)
	if len(u.records) > 0 && !(round.none && !o.noRound) {
		u.details = append(u.details, round.details()...)
	}
	agreed := true
	if len(u.records) > 0 || len(u.details) > 0 || o.flags.dryRun { // else nothing is done that could be announced
		var err error
		if agreed, err = o.agree(ctx, intent{group: s.g, doing: doing, details: u.details, inTopic: true}); err != nil {
			return err
		}
	}
	var back putBack
	if agreed && lower != nil {
		var more []control.Record
		var err error
		if back, more, err = lower.run(ctx, o.change, r, s.g.ID); err != nil {
			return err
		}
		u.records = append(u.records, more...)
		if back.text != "" {
			u.lines = append(u.lines, back.text)
		}
	}
	var failed error
	if agreed && len(u.records) > 0 {
		if err := o.write(ctx, r, s.g.ID, u.records); err != nil {
			return err
		}
		o.record(s.g.ID) // a tombstone has no room for who and why
		failed = o.askForRound(ctx, round, list)
	}
	res := o.document(s, list, agreed, u.lines)
	res.Rounds = round.rounds
	if lower != nil {
		res.Standbys = lower.change(back)
	}
	return joinErrors(o.d.show(report.NewGroupChange(res)), failed)
}

// write writes the withdrawals.
func (o *unmarkOptions) write(ctx context.Context, r *reader, group string, records []control.Record) error {
	w, err := r.writer()
	if err != nil {
		return err
	}
	o.d.onStop = "the marks may have been withdrawn, or some of them: the same command again makes sure"
	if _, err := w.WriteControl(ctx, group, records...); err != nil {
		return err
	}
	o.d.onStop = "the marks are withdrawn"
	return nil
}

func (o *unmarkOptions) document(s *steered, list []withdrawal, done bool, lines []string) report.ChangeResult {
	ids := make([]string, len(list))
	leaving := &report.Leaving{Marks: []report.LeavingMark{}, HandedOver: []report.HandedOver{}}
	for i, w := range list {
		ids[i] = w.id
		gone := w.gone
		m := report.LeavingMark{Instance: w.id, Name: w.name, Before: w.mark != nil, Gone: &gone}
		if w.mark != nil {
			m.Mark = &w.mark.Mark
			if w.mark.Timeout != nil {
				ms := w.mark.Timeout.Milliseconds()
				m.TimeoutMs = &ms
			}
		}
		leaving.Marks = append(leaving.Marks, m)
	}
	res := o.result(s.g, done, ids...)
	res.Leaving = leaving
	if !done {
		res.Text = append(res.Text, report.ChangeLine{Text: "dry run: nothing was withdrawn"})
		return res
	}
	for _, l := range lines {
		res.Text = append(res.Text, report.ChangeLine{Text: render.Escape(l)})
	}
	return res
}
