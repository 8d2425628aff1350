package cmd

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// replaceOptions is everything replace needs.
type replaceOptions struct {
	*change
	group     string
	with      int
	abandon   bool
	scaleDown time.Duration
	commands  func(string) bool
}

func newReplaceCmd(d *deps) *cobra.Command {
	o := &replaceOptions{change: newChange(d, "replace", true)}
	cmd := &cobra.Command{
		Use: "replace [GROUP] --with N", Short: "Replace all instances of a group by new ones, with no task lacking its state",
		Long: `Replace the instances that a group has now by new ones, in three steps:

  join   N other instances must be there: start them, the command waits
  mark   all old instances are marked as leaving, at once
  drain  their tasks go over as they are learned; an old instance that owns
         nothing any more shuts itself down

Which instances are the old ones is written into the group's control topic before
anything else, so a replacement survives Ctrl-C, a crash of this tool and the
instances that joined meanwhile: replace GROUP goes on where it was. --abandon
ends it instead, and withdraws the marks that it has set.

--scale-down-timeout bounds how long each old instance waits, --timeout how long
this command does (exit code 4; the replacement stays). Without --timeout it waits
as long as it takes.`,
		Example: `  streamctl replace clicks --with 3 --reason "new image"
  streamctl replace clicks --yes
  streamctl replace clicks --with 3 --dry-run
  streamctl replace clicks --abandon`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, a []string) (err error) {
			o.commands = commandsOf(c.Root())
			if o.group, err = d.groupToChange(c, a); err != nil {
				return err
			}
			switch {
			case c.Flags().Changed("with") && (o.with < 1 || o.with > math.MaxInt32):
				return errs.Usagef("--with: %d is no number of instances", o.with)
			case o.abandon && o.with > 0:
				return errs.Usagef("--with and --abandon exclude one another")
			}
			if err := checkMark(o.scaleDown, o.flags.reason); err != nil {
				return err
			}
			return runReplace(c.Context(), o)
		},
		ValidArgsFunction: completeGroups(d, 1),
		Annotations:       map[string]string{annotationTimeout: "own"},
	}
	f := cmd.Flags()
	f.IntVar(&o.with, "with", 0, "`number` of new instances that must be there before the old ones are marked")
	f.BoolVar(&o.abandon, "abandon", false, "end a replacement that goes on: withdraw its marks")
	f.DurationVar(&o.scaleDown, "scale-down-timeout", unlimited, "how `long` each old instance waits to be drained before it goes with what it has (default: its own setting)")
	o.bind(cmd, "do it even if the group has changed since it was shown")
	f.Lookup("scale-down-timeout").DefValue = "0s" // shown as no default
	return cmd
}

// replacing is a replacement at work.
type replacing struct {
	o       *replaceOptions
	r       *reader
	s       *steered // last seen
	rec     control.Replace
	resumed bool
	marking *marking
	written bool // the marks are
	steps   []report.Step
}

func runReplace(ctx context.Context, o *replaceOptions) error {
	r, err := o.begin(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	p := &replacing{o: o, r: r}
	if err := p.prepare(ctx); err != nil {
		return err
	}
	if o.abandon {
		return p.abandon(ctx)
	}
	agreed, err := o.agree(ctx, p.intent())
	if err != nil {
		return err
	}
	if !agreed {
		res := p.result(false)
		res.Text = append(res.Text, report.ChangeLine{Text: "dry run: nothing was done"})
		return o.d.show(report.NewGroupChange(res))
	}
	return p.run(ctx)
}

// prepare reads the group, and finds out whether a replacement goes on.
func (p *replacing) prepare(ctx context.Context) error {
	ctx, cancel := p.o.bounded(ctx)
	defer cancel()
	var err error
	if p.s, err = p.r.settled(ctx, p.o.group); err != nil {
		return err
	}
	p.o.tidyStandbys(ctx, p.r, p.s.g)
	if err := refuseMarks(p.s.g, nil, p.o.flags.force, p.o.nothing(), p.o.commands); err != nil {
		return err
	}
	if p.s.unread != nil {
		return p.s.unread
	}
	p.o.d.warnUnread(p.s.g)
	if p.resumed, err = p.take(); err != nil || p.o.abandon {
		return err
	}
	if !p.resumed {
		err = p.begin()
	}
	if err != nil {
		return err
	}
	p.predict()
	return nil
}

// take takes over a replacement that goes on.
func (p *replacing) take() (bool, error) {
	rec := p.s.state.Replace
	if rec == nil {
		return false, nil
	}
	if p.o.with > 0 && p.o.with != int(rec.With) {
		return false, errs.WithHint(fmt.Errorf("a replacement by %s goes on in group %q, begun by %s at %s: --with %d is another one",
			model.Count(int(rec.With), "new instance"), p.s.g.ID, rec.Who, rec.At.UTC().Format(time.RFC3339), p.o.with),
			fmt.Sprintf("replace %s goes on with it, replace %s --abandon ends it", render.ShellWord(p.s.g.ID), render.ShellWord(p.s.g.ID)))
	}
	p.rec = *rec
	return true, nil
}

// begin makes a new replacement of the instances that stay.
func (p *replacing) begin() error {
	if p.o.with == 0 {
		return errs.WithHint(errs.Usagef("--with is missing, and no replacement goes on in group %q", p.s.g.ID),
			fmt.Sprintf("--with N: how many new instances come; it has %d now", len(p.s.g.Instances)))
	}
	p.rec = control.Replace{Mark: newUUID(), With: int32(p.o.with), At: p.o.d.now().UTC(), Who: clip(p.o.d.who()), Reason: p.o.flags.reason}
	for i := range p.s.g.Instances {
		in := &p.s.g.Instances[i]
		switch {
		case p.s.leaves(in):
		case !control.IsUUID(in.ID):
			return fmt.Errorf("instance %q has no id that could be marked: its metadata could not be read", in.Name)
		default:
			p.rec.Old = append(p.rec.Old, in.ID)
		}
	}
	slices.Sort(p.rec.Old)
	if len(p.rec.Old) == 0 {
		return fmt.Errorf("group %q has no instance that stays: there is nothing to replace", p.s.g.ID)
	}
	return nil
}

// old are the instances to be replaced that are in the group still; fresh those
// that may take over.
func (p *replacing) old() []*model.Instance {
	return p.instances(func(in *model.Instance) bool { return slices.Contains(p.rec.Old, in.ID) })
}

func (p *replacing) fresh() []*model.Instance {
	return p.instances(func(in *model.Instance) bool {
		return control.IsUUID(in.ID) && !slices.Contains(p.rec.Old, in.ID) && !p.s.leaves(in)
	})
}

func (p *replacing) instances(keep func(*model.Instance) bool) []*model.Instance {
	var out []*model.Instance
	for i := range p.s.g.Instances {
		if in := &p.s.g.Instances[i]; keep(in) {
			out = append(out, in)
		}
	}
	return out
}

func namesOf(list []*model.Instance) string {
	names := make([]string, len(list))
	for i, in := range list {
		names[i] = in.Name
	}
	return andList(names)
}

// predict computes what comes of it, were the new instances to come now.
func (p *replacing) predict() {
	p.marking = p.newMarking()
	var changes []plan.Change
	if missing := int(p.rec.With) - len(p.fresh()); missing > 0 {
		changes = append(changes, plan.Add{Count: missing})
	}
	for _, in := range p.old() {
		changes = append(changes, plan.Leaving{Instance: in.ID})
	}
	if len(p.marking.targets) > 0 {
		p.marking.predictWith(plan.Options{Changes: changes, Set: map[string]string{}})
	}
}

// newMarking marks what is there of the old instances.
func (p *replacing) newMarking() *marking {
	m := &marking{change: p.o.change, r: p.r, s: p.s, id: p.rec.Mark, commands: p.o.commands, goesOn: p.goesOn()}
	m.timeout = scaleDownTimeout(p.o.scaleDown)
	for _, in := range p.old() {
		if err := m.add(in); err != nil {
			p.o.d.warn(err.Error())
		}
	}
	return m
}

func (p *replacing) goesOn() string {
	return fmt.Sprintf("the replacement stays as it is; replace %s goes on with it, replace %s --abandon ends it", render.ShellWord(p.o.group), render.ShellWord(p.o.group))
}

// intent says what the three steps will be.
func (p *replacing) intent() intent {
	old, fresh := p.old(), p.fresh()
	in := intent{
		group: p.s.g, inTopic: true, question: fmt.Sprintf("Replace %s of group %s?", model.Count(len(old), "instance"), p.s.g.ID),
		doing: fmt.Sprintf("replacing %s by %s", cmp.Or(namesOf(old), "instances that are gone"), model.Count(int(p.rec.With), "new instance")),
	}
	if p.resumed {
		in.doing = fmt.Sprintf("going on with the replacement that %s began at %s: ", p.rec.Who, p.rec.At.UTC().Format(time.RFC3339)) + in.doing
	} else { // one that goes on waits for others to come
		in.look = func(ctx context.Context) (*model.Group, error) {
			now, err := p.r.settled(ctx, p.o.group)
			if err != nil {
				return nil, err
			}
			return now.g, nil
		}
	}
	join := fmt.Sprintf("1 join: %d of %d new instances are there", len(fresh), p.rec.With)
	if n := int(p.rec.With) - len(fresh); n > 0 {
		join += fmt.Sprintf("; start %d", n)
	}
	in.details = append(in.details, join, "2 mark: then all old ones at once")
	for i, l := range p.marking.said {
		if i == 0 {
			l = "3 drain: " + l
		}
		in.details = append(in.details, l)
	}
	return in
}

// result is the document so far.
func (p *replacing) result(done bool) report.ChangeResult {
	res := p.o.result(p.s.g, done, p.rec.Old...)
	if p.marking != nil && len(p.marking.targets) > 0 {
		res = p.marking.result(done)
		res.Targets = p.rec.Old
	}
	res.Replace = &report.Replacement{With: int(p.rec.With), Old: append([]string{}, p.rec.Old...), New: []string{}, Resumed: p.resumed, Steps: append([]report.Step{}, p.steps...)}
	for _, in := range p.fresh() {
		res.Replace.New = append(res.Replace.New, in.ID)
	}
	slices.Sort(res.Replace.New)
	return res
}

// abandon ends a replacement.
func (p *replacing) abandon(ctx context.Context) error {
	o := p.o
	records := []control.Record{control.Replaced()}
	var names []string
	if p.resumed {
		for _, w := range p.withdrawals() {
			records = append(records, control.Withdrawal(w.id))
			names = append(names, w.name)
		}
	}
	slices.Sort(names)
	doing := "ending the replacement, no mark to withdraw"
	switch {
	case !p.resumed:
		res := o.result(p.s.g, !o.flags.dryRun)
		res.Text = []report.ChangeLine{report.GoodLine("no replacement goes on")}
		return o.d.show(report.NewGroupChange(res))
	case len(names) > 0:
		doing = "ending the replacement, withdrawing the marks of " + andList(names)
	}
	details := []string{"what was handed over stays where it is; new instances stay"}
	if len(names) > 0 {
		details = append(details, p.nudge().details()...)
	}
	agreed, err := o.agree(ctx, intent{
		group: p.s.g, doing: doing, question: "End the replacement of group " + p.s.g.ID + "?", details: details,
	})
	if err != nil {
		return err
	}
	res := p.result(agreed)
	if !agreed {
		res.Text = []report.ChangeLine{{Text: "dry run: nothing was done"}}
		return o.d.show(report.NewGroupChange(res))
	}
	o.d.onStop = "the replacement may have ended, and its marks be withdrawn: the same command again makes sure"
	if err := p.write(ctx, records...); err != nil {
		return err
	}
	o.d.onStop = "the replacement has ended, its marks are withdrawn"
	failed := p.askForRound(ctx, &res)
	text := "ended: the replacement"
	if len(names) > 0 {
		text += "; " + andList(names) + " stay"
	}
	res.Text = []report.ChangeLine{report.GoodLine(strings.TrimSpace(text))}
	return joinErrors(o.d.show(report.NewGroupChange(res)), failed)
}

// askForRound makes the withdrawal of the marks take effect, as unmark does.
func (p *replacing) askForRound(ctx context.Context, res *report.ChangeResult) error {
	n := p.nudge()
	err := (&unmarkOptions{change: p.o.change}).askForRound(ctx, n, p.withdrawals())
	res.Rounds = n.rounds
	return err
}

func (p *replacing) nudge() *nudge {
	return (&unmarkOptions{change: p.o.change}).nudge(p.r, p.s, p.withdrawals())
}

// withdrawals are the marks of the replacement, by id.
func (p *replacing) withdrawals() []withdrawal {
	var list []withdrawal
	for _, id := range p.rec.Old {
		l, ok := p.s.state.Leaving[id]
		if !ok || l.Mark != p.rec.Mark {
			continue
		}
		w := withdrawal{id: id, name: id, mark: &l, gone: true}
		if in, err := model.ResolveInstance(p.s.g, id); err == nil {
			w.name, w.gone = in.Name, false
		}
		list = append(list, w)
	}
	return list
}

func (p *replacing) write(ctx context.Context, records ...control.Record) error {
	w, err := p.r.writer()
	if err != nil {
		return err
	}
	ctx, cancel := p.o.bounded(ctx)
	defer cancel()
	_, err = w.WriteControl(ctx, p.s.g.ID, records...)
	return err
}
