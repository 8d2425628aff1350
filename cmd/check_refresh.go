package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
)

// refreshed asks a classic group for a rebalance where that can change the
// answer, and reads it again once it has settled. asked is false where nothing
// was asked for: then group and instance are as they were.
func (o *checkStopOptions) refreshed(ctx context.Context, r *reader, g *model.Group, in *model.Instance, c progress.StopCheck) (
	_ *model.Group, _ *model.Instance, asked bool, _ error,
) {
	switch {
	case g.Kind != model.Classic:
		o.d.note("members of a %s group report by themselves: nothing is asked for", g.Kind)
		return g, in, false, nil
	case c.Answer == progress.Yes:
		o.d.note("the answer is yes already: nothing is asked for")
		return g, in, false, nil
	case g.State != model.StateStable:
		return nil, nil, false, errs.WithHint(fmt.Errorf("group %q is %s, and only a Stable group is asked for a rebalance", g.ID, g.State), "wait "+render.ShellWord(g.ID)+" --for stable, then try again")
	}
	if err := o.checkWriting(); err != nil {
		return nil, nil, false, err
	}
	v, ok := r.cluster.(visitor)
	if !ok {
		return nil, nil, false, errors.New("this cluster cannot be asked for a rebalance")
	}
	o.d.onStop = "nothing was done"
	agreed, err := o.agree(ctx, intent{
		group: g, doing: "asking for a rebalance, nobody is removed", question: "Ask group " + g.ID + " for a rebalance?",
		details: []string{
			"every member joins again and reports how far its copies are; warm-ups that have caught up take over",
			"a member that hangs or polls slowly holds all of them up, at worst for its max.poll.interval.ms (5m by default), and is then thrown out; an app on the eager protocol stops all its tasks for the round",
		},
		look: func(ctx context.Context) (*model.Group, error) {
			now, _, err := o.find(ctx, r)
			return now, err
		},
	})
	if err != nil {
		return nil, nil, false, err
	}
	if !agreed {
		o.d.note("dry run: nothing was asked for; the answer is that of the last round")
		return g, in, false, nil
	}
	if err := o.visit(ctx, v, g.ID); err != nil {
		return nil, nil, false, notOver(g.ID, "", err)
	}
	if err := o.settle(ctx, r, g.ID); err != nil {
		return nil, nil, true, err
	}
	o.instance = in.ID // a name may mean another one now
	g, in, err = o.find(ctx, r)
	return g, in, true, err
}

// visit asks for the rebalance.
func (o *checkStopOptions) visit(ctx context.Context, v visitor, group string) error {
	done, err := o.d.visit(ctx, v, group)
	if !done.Joined.IsZero() {
		o.d.onStop = "a rebalance was asked for; the visitor has left"
	}
	if done.Visitor != "" && !done.Gone {
		o.d.onStop = fmt.Sprintf("the visitor %s may still be a member, for at most %s", done.Visitor, done.Session)
	}
	if err != nil {
		return visitError(err)
	}
	if n := len(done.Missing); n > 0 {
		o.d.warn(fmt.Sprintf("%s did not join again", model.Count(n, "member")))
	}
	return nil
}

// settle waits until the group is Stable, and no rebalance follows at once.
func (o *checkStopOptions) settle(ctx context.Context, r *reader, group string) error {
	stable := progress.NewJudge(progress.Goal{For: progress.Stable, Settle: askSettle})
	var last progress.Status
	err := progress.Poll(ctx, askEvery, o.d.now, func(ctx context.Context) (*model.Group, error) {
		return r.readNow(ctx, r.describeQuery([]string{group}), group)
	}, func(at time.Time, g *model.Group, err error) (bool, error) {
		if err != nil {
			return false, nil
		}
		last = stable.Look(g, at)
		return last.Met, nil
	})
	why := ""
	if len(last.Blockers) > 0 {
		why = last.Blockers[0].Why + ": "
	}
	return notOver(group, why, err)
}

// notOver says what time ran out on: a rebalance that was asked for.
func notOver(group, why string, err error) error {
	if _, over := errors.AsType[timeoutError](err); !over {
		return err
	}
	return errs.WithHint(fmt.Errorf("group %q was asked for a rebalance that is not over: %s%w", group, why, err),
		"a member that does not join holds the others up; without --refresh the answer goes by the last round that is over")
}
