package cmd

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// marking marks instances of one group, and says before what will come of it.
type marking struct {
	*change
	r        *reader
	s        *steered
	timeout  *time.Duration // how long each instance waits; nil: as it is marked, else its own setting
	id       string         // id of all marks; "": each gets its own
	commands func(string) bool
	noRound  bool           // --no-rebalance
	rounds   *report.Rounds // asked for, so that marks take effect; nil: none
	goesOn   string         // what goes on when the command ends; "": the marks and the drain

	targets []target
	left    []string // instances that were asked for and have gone as they were asked to, a sentence each
	plan    *report.Plan
	said    []string // what the plan comes to, a line each
}

// target is one instance that is to be marked.
type target struct {
	in     *model.Instance
	mark   control.Leaving
	before bool // it is marked already
	write  bool // its record is to be written, being new or other than the one there
}

// add takes an instance. One that is marked already keeps its mark: only a
// timeout or a reason that was given changes its record.
func (m *marking) add(in *model.Instance) error {
	if !control.IsUUID(in.ID) {
		return fmt.Errorf("instance %q has no id that could be marked: its metadata could not be read", in.Name)
	}
	now := m.d.now().UTC()
	t := target{in: in, write: true}
	t.mark = control.Leaving{Mark: cmp.Or(m.id, newUUID()), Timeout: m.timeout, At: now, Who: clip(m.d.who()), Reason: m.flags.reason, Name: clip(in.Name)}
	if text := m.s.problemOf(in.ID); text != "" {
		m.d.warn(text)
	}
	if old, ok := m.s.state.Leaving[in.ID]; ok {
		t.before, t.mark.Mark = true, old.Mark
		if m.timeout == nil {
			t.mark.Timeout = old.Timeout
		}
		same := m.timeout == nil || old.Timeout != nil && *old.Timeout == *m.timeout
		if same && (m.flags.reason == "" || m.flags.reason == old.Reason) {
			t.mark, t.write = old, false
		} else {
			t.mark.Reason = cmp.Or(m.flags.reason, old.Reason)
		}
	}
	if t.write && t.mark.Timeout != nil {
		at := now.Add(*t.mark.Timeout)
		t.mark.Deadline = &at
	}
	m.targets = append(m.targets, t)
	return nil
}

// clip keeps a text within what a record may hold, and characters whole.
func clip(s string) string {
	if len(s) <= control.MaxText {
		return s
	}
	return strings.ToValidUTF8(s[:control.MaxText], "")
}

// leavesSome refuses to mark the last instances that stay.
func (m *marking) leavesSome() error {
	if m.anyStays(m.s) {
		return nil
	}
	done := "nothing was done"
	if m.goesOn != "" {
		done = "nothing was marked"
	}
	err := fmt.Errorf("no instance of group %q would stay: nothing could take its tasks, and the marks would count for nothing; %s", m.s.g.ID, done)
	return errs.WithHint(err, "start another instance first; --force marks all the same, which then go at their deadline only")
}

// anyStays reports whether an instance stays that can take the tasks.
func (m *marking) anyStays(s *steered) bool {
	return slices.ContainsFunc(s.g.Instances, func(in model.Instance) bool { return !s.leaves(&in) && !m.marks(in.ID) })
}

// stillSome finds that others were marked at the same time, so that nobody is
// left to take the tasks. The marks start a round, in which a broker does not say
// which instance a member is of: then those that were there before count, and
// only where all of them are marked the end of the round is waited for, in which
// another may have come.
func (m *marking) stillSome(ctx context.Context, now *steered) error {
	if m.flags.force {
		return nil
	}
	if !now.identified() {
		if m.anyStays(&steered{g: m.s.g, state: now.state}) {
			return nil
		}
		var err error
		if now, err = m.r.settled(ctx, m.s.g.ID); err != nil {
			return fmt.Errorf("marked, as all instances of group %q that were there before; whether another has come is not known: %w", m.s.g.ID, err)
		}
	}
	if len(now.g.Instances) == 0 || m.anyStays(now) {
		return nil
	}
	err := fmt.Errorf("marked, but by now no instance of group %q would stay: others are marked too, and the marks count for nothing", m.s.g.ID)
	return errs.WithHint(err, "unmark "+m.unmarkArgs()+" withdraws this one, or start another instance, and the drain begins")
}

func (m *marking) marks(id string) bool {
	return slices.ContainsFunc(m.targets, func(t target) bool { return t.in.ID == id })
}

// names are the targets, for texts: "pod-a and pod-b".
func (m *marking) names() string { return andList(m.list()) }

func (m *marking) list() []string {
	out := make([]string, len(m.targets))
	for i, t := range m.targets {
		out[i] = t.in.Name
	}
	return out
}

func (m *marking) ids() []string {
	out := make([]string, len(m.targets))
	for i, t := range m.targets {
		out[i] = t.in.ID
	}
	return out
}

// intent says what will be marked, and what that leads to.
func (m *marking) intent() intent {
	parts := make([]string, len(m.targets))
	for i, t := range m.targets {
		in := t.in
		parts[i] = fmt.Sprintf("%s (%s, host %s)", in.Name, in.ID, cmp.Or(strings.TrimPrefix(in.Host, "/"), "unknown"))
	}
	in := intent{group: m.s.g, inTopic: true, doing: "marking " + strings.Join(parts, ", ") + " as leaving, " + m.deadline()}
	for _, t := range m.targets {
		if t.before {
			old := m.s.state.Leaving[t.in.ID]
			text := fmt.Sprintf("%s is marked already, %s", t.in.Name, old.SetBy())
			if t.write {
				text += ": the mark stays, its timeout counts from when it was first seen"
			}
			in.details = append(in.details, text)
		}
	}
	in.details = append(in.details, m.said...)
	in.details = append(in.details, m.nudge().details()...)
	return in
}

// deadline says how long the targets wait.
func (m *marking) deadline() string {
	t := m.targets[0].mark.Timeout
	for _, other := range m.targets {
		if (t == nil) != (other.mark.Timeout == nil) || t != nil && *t != *other.mark.Timeout {
			return "with the deadlines that they have"
		}
	}
	if t == nil {
		if own, ok := m.ownTimeout(); ok {
			return "deadline " + render.Duration(own) + " (their own setting)"
		}
		return "no deadline"
	}
	return "deadline " + render.Duration(*t)
}

// ownTimeout is scale.down.timeout.ms of the group's instances.
func (m *marking) ownTimeout() (time.Duration, bool) {
	for _, s := range m.s.g.Facts.Settings {
		if s.Key == plan.KeyScaleDown {
			if ms, err := strconv.ParseInt(s.Value, 10, 64); err == nil && ms >= 0 && ms < 1<<43 {
				return time.Duration(ms) * time.Millisecond, true
			}
		}
	}
	return 0, false
}

// ForeignMarkError says that somebody else marked an instance after us.
type ForeignMarkError struct {
	Instance string
	Mark     control.Leaving
}

func (e *ForeignMarkError) Error() string {
	return fmt.Sprintf("after this mark of %s there is another, %s: that one counts", e.Instance, e.Mark.SetBy())
}

// mark writes the records, all at once, and makes sure that they are the last
// word.
func (m *marking) mark(ctx context.Context) error {
	ctx, cancel := m.bounded(ctx)
	defer cancel()
	var records []control.Record
	for _, t := range m.targets {
		if !t.write {
			continue
		}
		r, err := t.mark.Record(t.in.ID)
		if err != nil {
			return fmt.Errorf("mark of %q: %w", t.in.Name, err)
		}
		records = append(records, r)
	}
	if len(records) == 0 {
		m.d.onStop = m.whatStays()
		return nil
	}
	w, err := m.r.writer()
	if err != nil {
		return err
	}
	m.d.onStop = "the marks may have been written, or some of them: unmark withdraws them, the same command again goes on"
	if _, err := w.WriteControl(ctx, m.s.g.ID, records...); err != nil {
		return err
	}
	m.d.onStop = m.whatStays()
	now, err := m.r.steered(ctx, m.s.g.ID, true)
	if err != nil {
		return fmt.Errorf("the marks are written, but looking at the group failed: %w", err)
	}
	if now.unread != nil {
		return fmt.Errorf("the marks are written, but reading the topic again failed: %w", now.unread)
	}
	var foreign []error
	for _, t := range m.targets {
		if l, ok := now.state.Leaving[t.in.ID]; ok && l.Mark != t.mark.Mark {
			foreign = append(foreign, &ForeignMarkError{t.in.Name, l})
		}
	}
	if len(foreign) > 0 {
		return joinErrors(foreign...)
	}
	return m.stillSome(ctx, now)
}

// whatStays says what goes on when the command ends.
func (m *marking) whatStays() string {
	if m.goesOn != "" {
		return m.goesOn
	}
	n, goes := "mark stays", "it"
	if len(m.targets) > 1 {
		n, goes = "marks stay", "them"
	}
	return fmt.Sprintf("the %s and the drain goes on; unmark %s withdraws %s", n, m.unmarkArgs(), goes)
}

// onCtrlC says before the waiting what Ctrl-C does.
func (m *marking) onCtrlC() string {
	if m.goesOn != "" {
		return "Ctrl-C ends the waiting: " + m.goesOn
	}
	withdraws := "withdraws it"
	if len(m.targets) > 1 {
		withdraws = "withdraws them"
	}
	return fmt.Sprintf("Ctrl-C ends the waiting, not the drain; unmark %s %s", m.unmarkArgs(), withdraws)
}

func (m *marking) unmarkArgs() string {
	return render.ShellWords(m.list()) + " -g " + render.ShellWord(m.s.g.ID)
}

// result is the document so far.
func (m *marking) result(done bool) report.ChangeResult {
	res := m.change.result(m.s.g, done, m.ids()...)
	res.Plan, res.Rounds = m.plan, m.rounds
	res.Leaving = &report.Leaving{Marks: []report.LeavingMark{}, HandedOver: []report.HandedOver{}}
	for _, t := range m.targets {
		id := t.mark.Mark
		lm := report.LeavingMark{Instance: t.in.ID, Name: t.in.Name, Mark: &id, Before: t.before}
		if t.mark.Timeout != nil {
			ms := t.mark.Timeout.Milliseconds()
			lm.TimeoutMs = &ms
		}
		if !done && !t.before {
			lm.Mark = nil
		}
		res.Leaving.Marks = append(res.Leaving.Marks, lm)
	}
	return res
}

// marked is the result of a command that does not wait.
func (m *marking) marked() report.ChangeResult {
	res := m.result(true)
	n := 0
	for _, t := range m.targets {
		n += t.in.Active
	}
	then, each := "then shuts down", "then shut down"
	if m.s.g.Kind == model.Classic { // a Kafka Streams app does not end by itself
		then, each = "stays without tasks until it is stopped", "stay without tasks until they are stopped"
	}
	if len(m.targets) == 1 {
		res.Text = append(res.Text, report.GoodLine(fmt.Sprintf("marked: %s hands %s over and %s", m.names(), render.Count(n, "active task"), then)))
		res.Text = append(res.Text, report.ChangeLine{Text: render.Escape(fmt.Sprintf("wait %s --for drained --instance %s waits for that; unmark %s withdraws the mark", render.ShellWord(m.s.g.ID), render.ShellWords(m.list()), m.unmarkArgs()))})
	} else {
		res.Text = append(res.Text, report.GoodLine(fmt.Sprintf("marked: %s hand %s over and %s", m.names(), render.Count(n, "active task"), each)))
		res.Text = append(res.Text, report.ChangeLine{Text: render.Escape("the same command with --wait follows them; unmark " + m.unmarkArgs() + " withdraws the marks")})
	}
	return res
}

// newUUID draws a UUID, version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return control.UUID(b)
}
