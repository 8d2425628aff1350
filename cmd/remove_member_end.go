package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
	"github.com/streamctl/streamctl/internal/report"
)

// remove throws the members out and waits a moment for the round that follows.
func (o *removeMemberOptions) remove(ctx context.Context, r *reader, c remover, g *model.Group, t removeTarget) error {
	list := make([]kclient.MemberToRemove, len(t.members))
	for i, m := range t.members {
		list[i] = kclient.MemberToRemove{ID: m.m.ID, InstanceID: m.m.InstanceID}
	}
	reason := "streamctl remove-member by " + o.d.who()
	if o.flags.reason != "" {
		reason += ": " + o.flags.reason
	}
	began := o.d.now()
	out, err := c.RemoveMembers(ctx, o.group, list, reason)
	if err != nil {
		return err
	}
	o.d.onStop = "the members are out; the round that follows goes on"
	res := o.document(g, t, out)
	text, failed := o.outcome(t, out)
	after, took := o.after(ctx, r, began)
	if after != nil {
		res.Group = after
		text = append(text, o.aftermath(after, t, took)...)
	} else {
		text = append(text, report.WarnLine("the round that follows is not over yet"))
	}
	res.Text = text
	if err := o.d.show(report.NewGroupChange(res)); err != nil {
		return err
	}
	return failed
}

// outcome says what became of each member; the error is about those that are
// still there.
func (o *removeMemberOptions) outcome(t removeTarget, out []kclient.RemovedMember) ([]report.ChangeLine, error) {
	var removed, gone, refused []string
	var failed []error
	for i, m := range out {
		name := t.members[i].m.Name
		switch {
		case m.Gone:
			gone = append(gone, name)
		case m.Code == "":
			removed = append(removed, name)
		default:
			refused = append(refused, name)
			why := m.Code
			if m.Code == "FENCED_INSTANCE_ID" {
				why += ": another process has taken the static id since, it was left alone"
			}
			failed = append(failed, fmt.Errorf("remove member %q of group %q: %s", name, o.group, why))
		}
	}
	var text []report.ChangeLine
	if len(removed) > 0 {
		text = append(text, report.GoodLine("removed from "+o.group+": "+strings.Join(removed, " ")))
	}
	if len(gone) > 0 {
		text = append(text, report.ChangeLine{Text: render.Escape("gone already: " + strings.Join(gone, " "))})
	}
	if len(refused) > 0 {
		text = append(text, report.WarnLine("not removed: "+strings.Join(refused, " ")))
	}
	return text, joinErrors(failed...)
}

// after is the group once it is Stable again, or Empty; nil when that is not
// within removeWait.
func (o *removeMemberOptions) after(ctx context.Context, r *reader, began time.Time) (*model.Group, time.Duration) {
	ctx, cancel := context.WithTimeoutCause(ctx, removeWait, timeoutError{removeWait})
	defer cancel()
	judge := progress.NewJudge(progress.Goal{For: progress.Stable, Settle: askSettle})
	var last *model.Group
	stable := began
	look := func(ctx context.Context) (*model.Group, error) {
		return r.readNow(ctx, r.describeQuery([]string{o.group}), o.group)
	}
	err := progress.Poll(ctx, askEvery, o.d.now, look, func(at time.Time, g *model.Group, err error) (bool, error) {
		if err != nil {
			return false, nil // brokers come and go; time runs out
		}
		if g.State != model.StateStable && g.State != model.StateEmpty {
			stable = at
		}
		last = g
		return g.State == model.StateEmpty || judge.Look(g, at).Met, nil
	})
	if err != nil {
		return nil, 0
	}
	return last, max(stable.Sub(began), 0)
}

// aftermath says who has the tasks now, and who came back.
func (o *removeMemberOptions) aftermath(after *model.Group, t removeTarget, took time.Duration) []report.ChangeLine {
	if after.State == model.StateEmpty {
		return []report.ChangeLine{report.WarnLine("the group is Empty: nobody runs its tasks")}
	}
	again := "Stable again"
	if took > 0 {
		again += " after " + render.Duration(took.Round(100*time.Millisecond))
	}
	text := []report.ChangeLine{{Text: again + "; tasks: " + report.Spread(after)}}
	var back []string
	for _, r := range t.members {
		for i := range after.Instances {
			for j := range after.Instances[i].Members {
				if m := &after.Instances[i].Members[j]; m.ClientID == r.m.ClientID && m.ID != r.m.ID {
					back = append(back, m.Name)
				}
			}
		}
	}
	if len(back) > 0 {
		slices.Sort(back)
		text = append(text, report.WarnLine("came back, so it is alive: "+strings.Join(slices.Compact(back), " ")))
	}
	if n := len(after.Unassigned); n > 0 {
		text = append(text, report.WarnLine(render.Count(n, "task")+" run nowhere yet"))
	}
	return text
}

// document is what was done, or would be where out is nil.
func (o *removeMemberOptions) document(g *model.Group, t removeTarget, out []kclient.RemovedMember) report.ChangeResult {
	rep := &report.RemovedReport{Members: []report.RemovedMember{}}
	var targets []string
	done := len(out) > 0
	for i, r := range t.members {
		m := report.RemovedMember{Member: r.m.ID, ClientID: r.m.ClientID, InstanceID: textOrNull(r.m.InstanceID), Instance: r.in.ID, Host: textOrNull(r.m.Host), Tasks: []string{}}
		m.Tasks = append(m.Tasks, activeTasks(r.m)...)
		if i < len(out) {
			m.Removed, m.Error = out[i].Code == "", textOrNull(out[i].Code)
			done = done && m.Removed
		}
		targets = append(targets, r.m.ID)
		rep.Members = append(rep.Members, m)
	}
	slices.SortFunc(rep.Members, func(a, b report.RemovedMember) int {
		return cmp.Or(strings.Compare(a.ClientID, b.ClientID), strings.Compare(a.Member, b.Member))
	})
	res := o.result(g, done, targets...)
	res.Removed = rep
	return res
}
