package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// watchOptions is everything watch needs.
type watchOptions struct {
	d        *deps
	group    string
	length   time.Duration
	failOn   string
	interval time.Duration
}

func newWatchCmd(d *deps) *cobra.Command {
	o := &watchOptions{d: d}
	cmd := &cobra.Command{
		Use: "watch [GROUP]", Short: "Log what changes in a group, with the inferred cause",
		Long: `Log every change of a group: its state, each rebalance with the members whose
tasks changed and the inferred cause, findings that begin or end. No broker tells
why a group rebalances; the cause is worked out from two looks and marked ~.

Rebalances are counted by changes of state and of the assignment, for streams
groups by epochs. With -o json each event is one object on a line of its own.`,
		Example: "  streamctl watch shop --for 5m --fail-on rebalances=3\n  streamctl watch shop -o json",
		Args:    args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, a []string) (err error) {
			if o.group, err = d.groupArg(c, a); err != nil {
				return err
			}
			return runWatch(c.Context(), o)
		},
		ValidArgsFunction: completeGroups(d, 1),
		Annotations:       map[string]string{annotationTimeout: "own"},
	}
	f := cmd.Flags()
	f.DurationVar(&o.length, "for", 0, "end after this `time` (default: at Ctrl-C)")
	f.StringVar(&o.failOn, "fail-on", "", "rebalances=`N`: exit 3 at the Nth rebalance")
	f.DurationVar(&o.interval, "interval", time.Second, "time between two looks")
	return cmd
}

// maxRebalances reads --fail-on; 0 is no limit.
func (o *watchOptions) maxRebalances() (int, error) {
	if o.failOn == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(strings.TrimPrefix(o.failOn, "rebalances="))
	if err != nil || n < 1 || !strings.HasPrefix(o.failOn, "rebalances=") {
		return 0, errs.Usagef("--fail-on: %q is not rebalances=N", o.failOn)
	}
	return n, nil
}

func (o *watchOptions) check() error {
	switch f := o.d.flags.output; {
	case o.d.flags.from != "":
		return errs.Usagef("watch and --from exclude one another: a file does not change")
	case o.interval < 50*time.Millisecond:
		return errs.Usagef("--interval: %s is less than 50ms", o.interval)
	case o.length < 0:
		return errs.Usagef("--for: %s is negative", o.length)
	case f.Machine() && !f.Document():
		return asUsageOfOutput(&render.FormError{Format: f})
	}
	return nil
}

func runWatch(ctx context.Context, o *watchOptions) error {
	limit, err := o.maxRebalances()
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	r, err := o.d.reader(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	first, cancel := o.d.withTimeout(ctx)
	id, err := r.oneGroup(first, o.group)
	cancel()
	if err != nil {
		return err
	}
	if o.length > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.length, watchedError{})
		defer cancel()
	}
	w := &watching{o: o, r: r, limit: limit}
	err = progress.Poll(ctx, o.interval, o.d.now, func(ctx context.Context) (*model.Group, error) { return w.look(ctx, id) }, w.step)
	if look := progress.LookOf(err); errors.Is(err, watchedError{}) && !w.seen && look != nil {
		return look
	}
	if errors.Is(err, watchedError{}) {
		o.d.note("watched for %s: %s", render.Duration(o.length), render.Count(w.watcher.Rebalances(), "rebalance"))
		return w.unmet(w.watcher.Rebalances())
	}
	return err
}

// watchedError is the cause of a context that --for ended.
type watchedError struct{}

func (watchedError) Error() string { return "watched long enough" }

// Is lets readers that name the cause of a deadline find one.
func (watchedError) Is(target error) bool { return target == context.DeadlineExceeded }

// watching is a watch that runs.
type watching struct {
	o       *watchOptions
	r       *reader
	limit   int // rebalances; 0: none
	watcher progress.Watcher
	seen    bool
	failing string
}

func (w *watching) look(ctx context.Context, id string) (*model.Group, error) {
	ctx, cancel := w.o.d.withTimeout(ctx)
	defer cancel()
	return w.r.readNow(ctx, w.r.describeQuery([]string{id}), id)
}

func (w *watching) step(at time.Time, g *model.Group, err error) (bool, error) {
	if err != nil {
		if !w.seen {
			return true, err
		}
		if w.failing != err.Error() {
			w.failing = err.Error()
			w.o.d.note("%s  cannot look: %s; trying again", at.UTC().Format(time.TimeOnly), err)
		}
		return false, nil
	}
	w.failing = ""
	if !w.seen {
		w.seen = true
		w.o.d.note("watching group %s: %s, %s; Ctrl-C ends it", g.ID, g.State, render.Count(members(g), "member"))
		printError(w.o.d.io, partialOf([]*model.Group{g}))
	}
	for _, e := range w.watcher.Look(g, at) {
		if err := w.show(report.NewEvent(g, e)); err != nil {
			return true, err
		}
	}
	if n := w.watcher.Rebalances(); w.limit > 0 && ended(g) && n >= w.limit {
		return true, w.unmet(n)
	}
	return false, nil
}

// show writes one event: a line, or one of several YAML documents.
func (w *watching) show(e *report.Event) error {
	if w.o.d.flags.output == render.YAML {
		if _, err := io.WriteString(w.o.d.io.Out, "---\n"); err != nil {
			return err
		}
	}
	return w.o.d.show(e)
}

// ended reports that no classic round runs, so that the last line of a round is
// written before the watch ends with it.
func ended(g *model.Group) bool {
	return g.State != model.StatePreparingRebalance && g.State != model.StateCompletingRebalance
}

func (w *watching) unmet(n int) error {
	if w.limit == 0 || n < w.limit {
		return nil
	}
	return errs.WithCode(fmt.Errorf("%s, --fail-on allows less than %d", render.Count(n, "rebalance"), w.limit), errs.Unmet)
}

func members(g *model.Group) int {
	n := 0
	for i := range g.Instances {
		n += len(g.Instances[i].Members)
	}
	return n
}
