package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

const (
	defaultWaitTimeout = 10 * time.Minute
	defaultMaxLag      = 1
	waitReminder       = 30 * time.Second // a line at least this often while nothing changes
	waitProgress       = 5 * time.Second  // and no more often while copies restore, and nothing else changes
)

// waitOptions is everything wait needs.
type waitOptions struct {
	d        *deps
	group    string
	want     string
	instance string
	interval time.Duration
	hopeless string // why the wait cannot but run out; "" when it can
}

func newWaitCmd(d *deps) *cobra.Command {
	o := &waitOptions{d: d}
	cmd := &cobra.Command{
		Use: "wait [GROUP]", Short: "Wait until a group is stable, converged, caught up, restored or drained",
		Long: `Wait until a condition holds: exit code 0 when it does, 4 when --timeout ran out.

  stable     state Stable, the same assignment for --settle, and no follow-up
             rebalance due within it (a probing rebalance minutes away does not
             count)
  converged  stable, no learner, nothing planned, current assignment = target
  restored   no active task waits for state
  caught-up  input lag at most --max-lag on every partition
  drained    --instance owns no active task and each has an owner elsewhere; one
             that went at its deadline, or was stopped, is gone and not drained,
             which the result says, and the exit code is 0 too

--max-lag is 1 by default, since the marker at the end of a transaction is a
record that nobody reads: a partition written with transactions lags 1 for ever.

--timeout is 10m unless it is given; --timeout 0 looks once, and stable and
converged then do without --settle. A group counts as stable until the session of
an instance that has crashed ends (45s by default): where that matters, --settle
has to be longer. In a group of workers one that writes no status is in the way,
after about 8s. Progress goes to stderr, the result to stdout. Ctrl-C ends the
waiting and changes nothing else.`,
		Example: `  streamctl wait shop --for stable --settle 30s --timeout 10m
  streamctl wait shop --for restored --timeout 0
  streamctl wait shop --for drained --instance pod-c`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, a []string) (err error) {
			if o.group, err = d.groupArg(c, a); err != nil {
				return err
			}
			return runWait(c.Context(), o)
		},
		ValidArgsFunction: completeGroups(d, 1),
		Annotations:       map[string]string{annotationTimeout: "own"},
	}
	f := cmd.Flags()
	f.StringVar(&o.want, "for", "", "`condition` to wait for: stable, converged, caught-up, restored or drained")
	f.StringVar(&o.instance, "instance", "", "drained: the `instance`, in any way that names it")
	f.Duration(config.KeySettle, 0, "stable, converged: `time` without change (default 30s)")
	f.Int64(config.KeyMaxLag, 0, "caught-up: records that a partition may lag (default 1)")
	f.DurationVar(&o.interval, "interval", time.Second, "time between two looks")
	completeFlag(cmd, "for", fixed(conditionNames()...))
	bindNames(cmd, d, "instance", instanceNames)
	return cmd
}

func conditionNames() []string {
	out := make([]string, 0, len(progress.Conditions()))
	for _, c := range progress.Conditions() {
		out = append(out, string(c))
	}
	return out
}

// goal reads the flags. once means that one look is all there is.
func (o *waitOptions) goal() (goal progress.Goal, timeout time.Duration, once bool, err error) {
	conf := o.d.conf
	if o.want == "" {
		return goal, 0, false, errs.WithHint(errs.Usagef("wait needs --for CONDITION"), "one of stable, converged, caught-up, restored, drained")
	}
	if goal.For, err = progress.ParseCondition(o.want); err != nil {
		return goal, 0, false, usageErr("for", err)
	}
	if goal.For == progress.Drained && o.instance == "" {
		return goal, 0, false, errs.Usagef("--for drained needs --instance")
	}
	if goal.For != progress.Drained && o.instance != "" {
		return goal, 0, false, errs.Usagef("--instance goes with --for drained only")
	}
	if o.interval < 50*time.Millisecond {
		return goal, 0, false, errs.Usagef("--interval: %s is less than 50ms", o.interval)
	}
	timeout = defaultWaitTimeout
	if conf.Setting(config.KeyTimeout).IsSet() {
		timeout = conf.Duration(config.KeyTimeout)
	}
	once = timeout == 0 || o.d.flags.from != ""
	goal.MaxLag = defaultMaxLag
	if n, ok := conf.Number(config.KeyMaxLag); ok && conf.Setting(config.KeyMaxLag).IsSet() {
		goal.MaxLag = n
	}
	goal.Settle = conf.Duration(config.KeySettle)
	settles := goal.For == progress.Stable || goal.For == progress.Converged
	switch {
	case once && !conf.Setting(config.KeySettle).IsSet():
		goal.Settle = 0
	case settles && once && goal.Settle > 0:
		return goal, 0, false, errs.Usagef("--settle %s cannot be seen in one look", goal.Settle)
	case settles && goal.Settle > timeout && conf.Setting(config.KeySettle).IsSet():
		return goal, 0, false, errs.WithHint(errs.Usagef("--settle %s is longer than --timeout %s", goal.Settle, timeout), "give both, or --timeout 0 for one look")
	case settles && goal.Settle > timeout:
		o.hopeless = fmt.Sprintf("without change for %s, the default of --settle, does not fit into --timeout %s: give --settle too, or --timeout 0 for one look", goal.Settle, timeout)
	}
	return goal, timeout, once, nil
}

// waiting is a wait that runs.
type waiting struct {
	o       *waitOptions
	r       *reader
	goal    progress.Goal
	judge   *progress.Judge // nil until it is known whom drained is about
	name    string          // of the instance to be drained
	begin   time.Time
	timeout time.Duration
	once    bool
	group   *model.Group // last seen
	status  progress.Status
	told    string // last line of progress
	toldWhy string // what was in the way then
	toldAt  time.Time
	remarks []string
	failing string // error of the look before, "" when it went well
}

func runWait(ctx context.Context, o *waitOptions) error {
	goal, timeout, once, err := o.goal()
	if err != nil {
		return err
	}
	if err := o.d.checkOutput(report.NewWait(report.WaitResult{Goal: goal})); err != nil {
		return err
	}
	r, err := o.d.reader(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	w := &waiting{o: o, r: r, goal: goal, name: o.instance, begin: o.d.now(), timeout: timeout}
	limit := timeout
	if timeout == 0 {
		limit = o.d.conf.Duration(config.KeyTimeout) + 30*time.Second // one look, not for ever
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, timeoutError{limit})
	defer cancel()
	id, err := r.oneGroup(ctx, o.group)
	if err != nil {
		return err
	}
	o.d.onStop = "the wait is over, nothing was changed"
	if o.hopeless != "" {
		o.d.note("%s", o.hopeless)
	}
	w.once = once
	err = progress.Poll(ctx, o.interval, o.d.now, func(ctx context.Context) (*model.Group, error) { return w.look(ctx, id) },
		w.step)
	return w.finish(err)
}

// look reads the group, with no more than the goal needs.
func (w *waiting) look(ctx context.Context, id string) (*model.Group, error) {
	q := w.r.describeQuery([]string{id})
	if w.goal.For == progress.Stable {
		q.Commits, q.Logs, q.InternalTopics, q.Topics, q.Configs = false, false, false, nil, false
	}
	return w.r.readNow(ctx, q, id)
}

// step judges one look. A look that fails after one that did not is told and
// tried again: brokers come and go while a group is restarted.
func (w *waiting) step(at time.Time, g *model.Group, err error) (bool, error) {
	if err != nil {
		if w.group == nil {
			return true, err
		}
		if w.failing != err.Error() {
			w.failing = err.Error()
			w.o.d.note("%s  cannot look: %s; trying again", w.since(at), err)
		}
		return false, nil
	}
	w.failing = ""
	if err := w.start(g); err != nil {
		return true, err
	}
	if w.judge != nil {
		w.group, w.status = g, w.judge.Look(g, at)
	}
	w.remark()
	switch {
	case w.status.Lost != "":
		return true, errors.New(w.status.Lost)
	case w.status.Met || w.once:
		return true, nil
	}
	w.tell(at)
	return false, nil
}

// start makes the judge. Whom a name means is looked up in a group that tells
// its instances: in a rebalance the members' metadata is not there, so none of
// them is what it will be called after it.
func (w *waiting) start(g *model.Group) error {
	if w.judge != nil {
		return nil
	}
	if w.goal.For == progress.Drained {
		if g.AssignmentBasis != model.AssignmentCurrent && g.State != model.StateEmpty {
			w.group, w.status = g, progress.NotSettled(g)
			return nil
		}
		in, err := model.ResolveInstance(g, w.o.instance)
		_, missing := errors.AsType[*model.NotFoundError](err)
		gone, known := lastGone(g, w.o.instance)
		switch {
		case err == nil:
			w.goal.Instance, w.name = in.ID, in.Name
		case missing && known: // it left before anybody waited: its last word counts
			w.goal.Instance, w.name = gone.ID, gone.Name
		default:
			return resolveError(err)
		}
	}
	w.judge = progress.NewJudge(w.goal)
	return nil
}

func (w *waiting) since(at time.Time) string {
	return fmt.Sprintf("%4s", at.Sub(w.begin).Round(time.Second))
}

// remark writes, once, what the judgement rests on and cannot be seen.
func (w *waiting) remark() {
	for _, n := range w.status.Notes {
		if !slices.Contains(w.remarks, n) {
			w.remarks = append(w.remarks, n)
			w.o.d.note("%s", n)
		}
	}
}

// tell writes what is in the way, when more than the clock changed or for a
// reminder.
func (w *waiting) tell(at time.Time) {
	lines := report.WaitLines(w.goal.For, w.status)
	timeless := w.status.Timeless()
	text := fmt.Sprint(report.WaitLines(w.goal.For, timeless))
	timeless.Restore = nil
	why := fmt.Sprint(report.WaitLines(w.goal.For, timeless))
	if ago := at.Sub(w.toldAt); text == w.told && ago < waitReminder || why == w.toldWhy && ago < waitProgress {
		return
	}
	w.told, w.toldWhy, w.toldAt = text, why, at
	lead := w.since(at)
	for _, l := range lines {
		for _, part := range render.Wrap(oneLine(l), max(20, w.o.d.sayWidth()-len(lead)-2)) {
			fmt.Fprintf(w.o.d.io.Err, "%s  %s\n", lead, part) //nolint:errcheck // a note
			lead = strings.Repeat(" ", len(lead))
		}
	}
}

// finish writes the result: 0 when the goal was met, 4 when time ran out.
func (w *waiting) finish(err error) error {
	_, over := errors.AsType[timeoutError](err)
	ran := err == nil && !w.status.Met || over
	if err != nil && !ran {
		return err
	}
	if w.group == nil {
		if look := progress.LookOf(err); look != nil {
			return look
		}
		return fmt.Errorf("nothing could be read within %s", w.timeout)
	}
	res := report.WaitResult{
		Group: w.group, Goal: w.goal, Name: w.name, Status: w.status, Waited: w.o.d.now().Sub(w.begin),
	}
	if err := w.o.d.show(report.NewWait(res)); err != nil {
		return err
	}
	if !ran {
		return nil
	}
	after := ""
	if !w.once {
		after = " after " + w.timeout.String()
	}
	end := fmt.Errorf("group %q is not %s%s", w.group.ID, w.goal.For, after)
	if w.o.hopeless != "" {
		end = errs.WithHint(end, "a longer --timeout, or a shorter --settle")
	}
	return errs.WithCode(end, errs.TimedOut)
}

// resolveError adds to a name that matches nothing or too much what there is.
func resolveError(err error) error {
	if nf, ok := errors.AsType[*model.NotFoundError](err); ok && len(nf.Near) > 0 {
		return errs.WithHint(err, "there is "+strings.Join(nf.Near, ", "))
	}
	return err
}
