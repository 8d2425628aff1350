package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

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
	sweep        string
	check        string
	summary      bool
	force        bool
	requireBytes bool
	commands     func(string) bool
}

func newPlanCmd(d *deps) *cobra.Command {
	o := &planOptions{d: d}
	cmd := &cobra.Command{
		Use: "plan [GROUP...]", Short: "Say what the next rebalances will do, before a change is made",
		Long: `Compute round by round what a change will do: which tasks move where, what has to
be restored, what will be down and for how long, how balanced the end is. Nothing
is ever changed. Without a change: what the next rebalances do by themselves.

Kafka's own assignors are computed as Kafka does: high-availability for classic
groups, streams-sticky for streams groups, learner for worker groups. Settings
that cannot be read from outside are taken as their defaults and named; --set
gives yours. A new instance draws its id, which decides ties: unless it is given,
32 draws are tried, the first is shown, and totals that differ have a range.

Changes, all in one round, each repeatable:

  --add N[xTHREADS][,id=UUID][,name=NAME][,rack=RACK][,state=all|TASKS]
  --remove INSTANCE[,how=stop|kill|leave]
  --leaving INSTANCE     worker groups: a marked instance hands over and goes
  --bounce INSTANCE      stop it and start it again
  --threads INSTANCE=N   more or fewer threads
  --partitions TOPIC=N   more partitions of an input topic
  --set KEY=VALUE        a setting of the application

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
			o.groups, o.commands = sortedOnce(a), commandsOf(c.Root())
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
	r.changes = make([][]string, len(changeFlags()))
	for i, c := range changeFlags() {
		f.StringArrayVar(&r.changes[i], c[0], nil, c[1])
	}
	f.StringArrayVar(&r.set, "set", nil, "`KEY=VALUE`: a setting that cannot be read, or shall change")
	f.Float64Var(&r.factor, "balancing-factor", 0, "balancing factor `r`; groups of other kinds are then planned with learner")
	f.StringVar(&r.assignor, "assignor", "", "plan with this `assignor`: high-availability, learner or streams-sticky")
	f.StringVar(&r.restoreRate, "restore-rate", "", "what an instance restores a second: `rate` in records (5000) or bytes (10MB/s)")
	f.IntVar(&r.maxRounds, "max-rounds", 0, "compute at most so many `rounds`, extrapolate the rest (default 200)")
	f.StringVar(&o.sweep, "sweep", "", "a row a value: `KEY=V,V` or KEY=A..B of balancing-factor, add or a setting")
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
	mustComplete(cmd, "assignor", assignorNames()...)
	mustComplete(cmd, "fail-on", conditionWords()...)
}

func completeFlag(c *cobra.Command, flag string, f completer) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag is not there: a mistake next to the call
	}
}

// checked is what the flags come to.
type checked struct {
	options plan.Options
	sweep   *plan.SweepSpec
	saved   *report.Plan // of --check
}

// checkFlags refuses what means nothing, before anything is sent.
func (o *planOptions) checkFlags(ctx context.Context) (checked, error) {
	var c checked
	var err error
	if err = o.gate.check(); err != nil {
		return c, err
	}
	switch {
	case o.sweep != "" && o.check != "":
		return c, errs.Usagef("--sweep and --check exclude one another")
	case (o.sweep != "" || o.check != "") && len(o.groups) > 1:
		return c, errs.Usagef("--sweep and --check are about one group, not %d", len(o.groups))
	case o.sweep != "" && o.gate.given():
		return c, errs.Usagef("--sweep compares; --exit-code and --fail-on judge one plan")
	}
	if o.d.flags.sample > 0 && o.request.restoreRate != "" {
		return c, errs.Usagef("--sample measures the restore rate that --restore-rate gives: one of the two")
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
	if o.sweep != "" {
		if c.sweep, err = parseSweep(o.sweep); err != nil {
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
		return o.show(w, c, len(names) > 1, err)
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
	return o.show(w, c, len(names) > 1, w.read(ctx))
}

// show writes what was asked for of the groups that could be read; failed is
// about the others.
func (o *planOptions) show(w *planReading, c checked, several bool, failed error) error {
	switch {
	case c.sweep != nil:
		return o.showSweep(w, c, failed)
	case c.saved != nil:
		return o.showCheck(w, c, failed)
	}
	return o.showPlans(w, c, several, failed)
}

// bound limits the command by --timeout; 0 looks once, but not for ever.
func (o *planOptions) bound(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	limit := timeout + o.d.flags.sample
	if timeout == 0 {
		limit = 30*time.Second + o.d.flags.sample
	}
	return context.WithTimeoutCause(ctx, limit, timeoutError{limit})
}
