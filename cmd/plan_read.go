package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/report"
)

// planInterval is the time between two looks at a group that rebalances.
const planInterval = time.Second

// planReading reads the groups of a plan and waits until each is Stable.
type planReading struct {
	o       *planOptions
	r       *reader
	timeout time.Duration
	pending []string // still to be read, or read while they rebalanced

	ready    []*model.Group
	last     map[string]*model.Group  // as last seen, of those pending
	inputs   map[string]*plan.Input   // by group, of scenarios
	measured map[string]plan.Measured // by group, with --sample
	sizes    string                   // what became of the sizes in bytes
	told     string
	failures []error
	unread   []model.ReadError // why groups cannot be read, as a document has it

	options *plan.Options           // of the plans that are made while others are waited for; nil: none are
	made    map[string]plannedGroup // those, by group
}

// plannedGroup is the plan of one group, or why there is none.
type plannedGroup struct {
	plan *report.Plan
	err  error
}

// read reads until no group is pending. Those that could be read are in ready,
// the error is about the others.
func (w *planReading) read(ctx context.Context) error {
	w.o.d.onStop = "nothing was changed"
	err := progress.Poll(ctx, planInterval, w.o.d.now, w.look, func(at time.Time, groups []*model.Group, err error) (bool, error) {
		over, err := w.step(at, groups, err)
		if !over && err == nil {
			w.ahead(ctx)
		}
		return over, err
	})
	if _, over := errors.AsType[timeoutError](err); over && len(w.last) > 0 {
		err = w.ranOut()
	} else if look := progress.LookOf(err); over && look != nil {
		err = look
	}
	if w.o.d.flags.sample > 0 && len(w.ready) > 0 && err == nil {
		err = w.again(ctx)
	}
	return joinErrors(append(w.failures, err)...)
}

// ahead makes the plans of the groups that are ready while others are waited
// for: when that wait runs out, there is no time left for any.
func (w *planReading) ahead(ctx context.Context) {
	if w.options == nil || w.o.d.flags.sample > 0 { // a second look at them is to come
		return
	}
	for _, g := range w.ready {
		if _, done := w.made[g.ID]; !done {
			p, err := w.o.plan(ctx, w, g, *w.options)
			w.made[g.ID] = plannedGroup{p, err}
		}
	}
}

// planOf is the plan of a group that is ready.
func (w *planReading) planOf(ctx context.Context, g *model.Group, po plan.Options) (*report.Plan, error) {
	if m, done := w.made[g.ID]; done {
		return m.plan, m.err
	}
	return w.o.plan(ctx, w, g, po)
}

func (w *planReading) look(ctx context.Context) ([]*model.Group, error) {
	q := w.r.describeQuery(w.pending)
	if w.last != nil {
		q.SettleFor = 0
	}
	s, err := w.r.cluster.Snapshot(ctx, q)
	w.r.tell(s)
	if err != nil {
		return nil, err
	}
	w.sizes = s.Options[kclient.OptionLogDirs]
	groups, err := w.r.build(s, w.pending)
	w.unread = append(w.unread, w.r.unread...)
	return groups, err
}

// step sorts out what is ready.
func (w *planReading) step(at time.Time, groups []*model.Group, err error) (bool, error) {
	if err != nil {
		if groups == nil && w.last == nil || len(w.last) == 0 {
			w.failures = append(w.failures, err)
		} else {
			w.o.d.note("cannot look: %s; trying again", err)
			return false, nil
		}
	}
	w.last = map[string]*model.Group{}
	w.pending = nil
	for _, g := range groups {
		switch {
		case !w.waits(g):
			w.ready = append(w.ready, g)
		case !w.r.offline() && w.timeout > 0:
			w.pending = append(w.pending, g.ID)
			w.last[g.ID] = g
		default:
			w.failures = append(w.failures, w.unsettled(g))
		}
	}
	if len(w.pending) == 0 {
		return true, nil
	}
	w.tell()
	return false, nil
}

// tell names the groups that are waited for, once.
func (w *planReading) tell() {
	var list []string
	for _, id := range w.pending {
		list = append(list, fmt.Sprintf("%s (%s)", id, w.last[id].State))
	}
	if text := strings.Join(list, ", "); text != w.told {
		w.told = text
		w.o.d.note("waiting for %s to be Stable", text)
	}
}

// unsettled is the error for a group that was looked at once, and moves.
func (w *planReading) unsettled(g *model.Group) error {
	err := errs.WithHint(fmt.Errorf("group %q is %s, not Stable: its tasks are moving", g.ID, g.State), "--force plans from what it shows all the same")
	if w.r.offline() {
		return err
	}
	return errs.WithCode(err, errs.TimedOut)
}

// ranOut is the error for groups that did not become Stable in time.
func (w *planReading) ranOut() error {
	var out []error
	for _, id := range w.pending {
		out = append(out, errs.WithCode(fmt.Errorf("group %q is still %s after %s", id, w.last[id].State, w.timeout), errs.TimedOut))
	}
	return errors.Join(out...)
}

// waits reports whether a group may become one that can be planned. One
// without members, or of another kind, does not; that is left to the plan to
// say.
func (w *planReading) waits(g *model.Group) bool {
	switch {
	case w.o.force || !g.Kind.IsStream() || g.Metadata.Mixed:
		return false
	case g.State == model.StateStable || g.State == model.StateEmpty || g.State == model.StateDead:
		return false
	}
	return true
}

// groups are those that can be planned, by name.
func (w *planReading) groups() []*model.Group {
	slices.SortFunc(w.ready, func(a, b *model.Group) int { return strings.Compare(a.ID, b.ID) })
	return w.ready
}

// noBytes says why sizes in bytes are not known; "" when nothing speaks against
// them.
func (w *planReading) noBytes() string {
	switch w.sizes {
	case "", kclient.OptionRead:
		return ""
	}
	return "DescribeLogDirs " + w.sizes
}
