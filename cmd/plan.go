package cmd

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// planOptions is everything plan needs.
type planOptions struct {
	d            *deps
	groups       []string
	request      planRequest
	gate         planGate
	sweep        []string
	check        string
	summary      bool
	force        bool
	requireBytes bool
	commands     func(string) bool
	given        func(flag string) bool // whether a flag is there
}

func newPlanCmd(d *deps) *cobra.Command {
	o := &planOptions{d: d}
	cmd := &cobra.Command{
		Use: "plan [GROUP...]", Short: "Say what the next rebalances will do, before a change is made",
		Long: `Compute round by round what a change will do: which tasks move where, what has to
be restored, what will be down and for how long, how balanced the end is. Nothing
is ever changed. Without a change: what the next rebalances do by themselves.

Kafka's own assignors are computed as Kafka does: high-availability for classic
groups, streams-sticky for streams groups. learner is for worker groups, and for
classic groups whose leader has streamctl's plug-in. Settings that cannot be read
from outside are taken as their defaults and named; --set gives yours. A new
instance draws its id, which decides ties: unless it is given, up to 32 draws are
tried (fewer for a large group, which the plan then says), the first is shown, and
totals that differ have a range.

Changes, all in one round, each repeatable:

  --add N[xTHREADS][,…]        new instances join: 2, or 2x4 for four threads each
  --remove INSTANCE[,how=HOW]  an instance goes
  --leaving INSTANCE           a marked instance hands over and goes; streams
                               groups: how many standbys that takes, raised and
                               put back
  --bounce INSTANCE[,…]        stop it and start it again
  --threads INSTANCE=N         more or fewer threads
  --partitions TOPIC=N         more partitions of an input topic
  --set KEY=VALUE              a setting of the application

--add also takes id=UUID, name=NAME and rack=RACK, and state=all or
state=0_1,0_2 for what is on the new disks already. HOW is stop, it is closed
(the default; a classic one does not leave its group then, and its tasks wait
for the session timeout), kill, it is gone without a word, or leave, it leaves
the group or is thrown out. --bounce takes threads=N, and static for an
instance with a group.instance.id.

Times need a restore rate: --restore-rate gives it, --sample D measures it, by
looking twice, D apart, at a group that restores and reports how far it is (streams
groups from 4.4 on, worker groups).

--from FILE plans from a snapshot, or from one of the scenarios that assign takes
(streamctl plan NAME --from FILE).

A group that is not Stable is waited for, up to --timeout (exit code 4). A saved
plan (-o json) is compared with the group now by --check: 0 same, 3 differs.
--sweep KEY=V,V or KEY=A..B plans once for each value of balancing-factor, add or
a setting. --fail-on and --exit-code go by the worst of all draws.`,
		Example: `  streamctl plan shop --add 1
  streamctl plan shop --remove pod-b --fail-on downtime
  streamctl plan shop --sweep add=0..5
  streamctl plan shop --set num.standby.replicas=1 -o json > plan.json
  streamctl plan --check plan.json`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(c *cobra.Command, a []string) error {
			if err := d.argAndFlag(a, c.Flags().Changed(config.KeyGroup)); err != nil {
				return err
			}
			o.groups, o.commands, o.given = sortedOnce(a), commandsOf(c.Root()), c.Flags().Changed
			return runPlan(c.Context(), o)
		},
		ValidArgsFunction: completeGroups(d, -1),
		Annotations:       map[string]string{annotationTimeout: "own"},
	}
	o.bind(cmd)
	return cmd
}

func (o *planOptions) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	r := &o.request
	r.changes = changeFlags()
	for i := range r.changes {
		c := &r.changes[i]
		f.StringArrayVar(&c.values, c.name, nil, c.usage)
	}
	f.StringArrayVar(&r.set, "set", nil, "`KEY=VALUE`: a setting that cannot be read, or shall change")
	f.StringVar(&r.factor, "balancing-factor", "", "balancing factor `r`; groups of other kinds are then planned with learner")
	f.StringVar(&r.assignor, "assignor", "", "plan with this `assignor`: high-availability, learner or streams-sticky")
	f.StringVar(&r.restoreRate, "restore-rate", "", "what an instance restores a second: `rate` in records (5000) or bytes (10MB/s)")
	f.IntVar(&r.maxRounds, "max-rounds", 0, "compute at most so many `rounds`, extrapolate the rest (default 200)")
	f.StringArrayVar(&o.sweep, "sweep", nil, "a row a value: `KEY=V,V` or KEY=A..B of balancing-factor, add or a setting")
	f.StringVar(&o.check, "check", "", "compare the plan saved in this `file` with the group now")
	f.BoolVar(&o.summary, "summary", false, "the last block only")
	f.BoolVar(&o.gate.exitCode, "exit-code", false, "exit 3 when something would move")
	f.StringSliceVar(&o.gate.failOn, "fail-on", nil, "exit 3 on `condition`: downtime, imbalance, idle, worse, moves>N, restore>SIZE")
	f.BoolVar(&o.force, "force", false, "plan although the group is not Stable or its versions differ")
	f.BoolVar(&o.requireBytes, "require-bytes", false, "fail when sizes in bytes cannot be read")
	for _, flag := range []string{"remove", "leaving", "bounce", "threads"} {
		completeFlag(cmd, flag, func(c *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
			return completeItems(o.d, instanceNames)(c, nil, text)
		})
	}
	completeFlag(cmd, "assignor", fixed(assign.Names()...))
	completeFlag(cmd, "fail-on", fixed(plan.ConditionWords()...))
}

// checked is what the flags come to.
type checked struct {
	options plan.Options
	sweep   *plan.SweepSpec
	saved   *report.Plan // of --check
}

// exclusive refuses flags that contradict each other.
func (o *planOptions) exclusive() error {
	for _, flag := range []string{"assignor", "balancing-factor", "check", "fail-on", "restore-rate", "sweep"} {
		if o.given(flag) && o.blank(flag) { // an unset variable of a script must not open a gate
			return errs.Usagef("--%s is empty", flag)
		}
	}
	sweep, check := len(o.sweep) > 0, o.check != ""
	switch {
	case len(o.sweep) > 1:
		return errs.Usagef("--sweep is given %d times: one thing is varied at a time", len(o.sweep))
	case sweep && check:
		return errs.Usagef("--sweep and --check exclude one another")
	case (sweep || check) && len(o.groups) > 1:
		return errs.Usagef("--sweep and --check are about one group, not %d", len(o.groups))
	case sweep && o.gate.given():
		return errs.Usagef("--sweep compares; --exit-code and --fail-on judge one plan")
	case (sweep || check) && o.requireBytes:
		return errs.Usagef("--require-bytes is about a plan; --sweep and --check show none")
	case (sweep || check) && o.summary:
		return errs.Usagef("--summary is about a plan; --sweep and --check show none")
	case o.check == "-" && o.d.flags.from == "-":
		return errs.Usagef("--check and --from cannot both read stdin")
	case o.d.flags.sample > 0 && o.request.restoreRate != "":
		return errs.Usagef("--sample measures the restore rate that --restore-rate gives: one of the two")
	}
	return nil
}

// blank reports whether a flag that is given says nothing.
func (o *planOptions) blank(flag string) bool {
	values := map[string][]string{
		"assignor": {o.request.assignor}, "balancing-factor": {o.request.factor}, "check": {o.check},
		"fail-on": o.gate.failOn, "restore-rate": {o.request.restoreRate}, "sweep": o.sweep,
	}[flag]
	return len(values) == 0 || slices.Contains(values, "")
}

// checkFlags refuses what means nothing, before anything is sent.
func (o *planOptions) checkFlags(ctx context.Context) (checked, error) {
	var c checked
	var err error
	if err = o.exclusive(); err != nil {
		return c, err
	}
	if err = o.gate.check(); err != nil {
		return c, err
	}
	if c.options, err = o.request.options(); err != nil {
		return c, err
	}
	if o.check != "" {
		if o.request.given() {
			return c, errs.WithHint(errs.Usagef("--check asks again what the saved plan asked"), "leave out the flags of the change")
		}
		if c.saved, err = o.readSaved(ctx); err != nil {
			return c, err
		}
		if c.options, err = c.saved.Request.Options(); err != nil {
			return c, fmt.Errorf("saved plan %q: %w", o.check, err)
		}
	}
	c.options.Force = o.force
	if len(o.sweep) > 0 {
		if c.sweep, err = parseSweep(o.sweep[0]); err != nil {
			return c, err
		}
	}
	return c, o.d.checkOutput(o.empty(c))
}

// empty is a report of the kind that will come.
func (o *planOptions) empty(c checked) render.Report {
	switch {
	case c.sweep != nil:
		return report.NewPlanSweep(&plan.Sweep{}, &model.Group{})
	case c.saved != nil:
		return report.NewPlanCheck(c.saved, c.saved)
	}
	return report.NewPlan(&plan.Plan{}, &model.Group{}, report.PlanOptions{})
}

func runPlan(ctx context.Context, o *planOptions) error {
	o.d.onStop = "nothing was changed"
	timeout := o.d.conf.Duration(config.KeyTimeout)
	ctx, cancel := o.bound(ctx, timeout)
	defer cancel()
	c, err := o.checkFlags(ctx)
	if err != nil {
		return err
	}
	names := o.groups
	if c.saved != nil && len(names) == 0 {
		names = []string{c.saved.Group}
	}
	list, err := o.scenarios(ctx)
	if err != nil {
		return err
	}
	if list != nil {
		w, err := o.choose(list, names)
		if w == nil {
			return err
		}
		return o.show(ctx, w, c, len(names) > 1, err)
	}
	r, err := o.d.reader(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	if len(names) == 0 {
		id, err := r.oneGroup(ctx, "")
		if err != nil {
			return err
		}
		names = []string{id}
	}
	w := &planReading{o: o, r: r, timeout: timeout, pending: names}
	if c.sweep == nil && c.saved == nil {
		w.options, w.made = &c.options, map[string]plannedGroup{}
	}
	failed := w.read(ctx)
	return o.show(ctx, w, c, len(names) > 1, failed)
}

// show writes what was asked for of the groups that could be read; failed is
// about the others.
func (o *planOptions) show(ctx context.Context, w *planReading, c checked, several bool, failed error) error {
	switch {
	case c.sweep != nil:
		return o.showSweep(ctx, w, c, failed)
	case c.saved != nil:
		return o.showCheck(ctx, w, c, failed)
	}
	return o.showPlans(ctx, w, c, several, failed)
}

// bound limits the command by --timeout; 0 looks once, but not for ever.
func (o *planOptions) bound(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return context.WithTimeoutCause(ctx, oneLook+o.d.flags.sample, oneLookError{oneLook + o.d.flags.sample})
	}
	return context.WithTimeoutCause(ctx, timeout+o.d.flags.sample, timeoutError{timeout + o.d.flags.sample})
}

// oneLook bounds a plan with --timeout 0.
const oneLook = 30 * time.Second

// oneLookError is the cause of a context that oneLook ended.
type oneLookError struct{ after time.Duration }

func (e oneLookError) Error() string {
	return "a look and a plan took longer than " + e.after.String() + ", the most for --timeout 0"
}

// Is lets readers that name the cause of a deadline find one.
func (e oneLookError) Is(target error) bool { return target == context.DeadlineExceeded }
