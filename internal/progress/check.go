package progress

import (
	"fmt"
	"slices"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
)

// Answer is what a check says.
type Answer string

// The answers. Unknown is never taken for yes.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	Unknown Answer = "unknown"
)

// StopCheck says whether an instance can stop without a task waiting for
// state.
type StopCheck struct {
	Answer   Answer
	Active   []model.TaskID // active tasks on the instance, sorted
	Blockers []Blocker      // tasks in the way: first those that would wait for certain, each part by task
	Certain  int            // how many of Blockers would wait for certain
	Reason   string         // why it cannot be told for the whole group; "" when tasks say it
	Planned  bool           // streams groups: judged by where the prediction puts each task
	Rests    []plan.Finding // what that prediction assumes and what it cannot know, in the words of a plan
}

// CheckStop judges one look. It is yes only where every active task on the
// instance is stateless or has a copy elsewhere that is caught up for certain:
// a classic group's positions are as old as its last round, so a copy that
// lagged then counts as not known, one whose position reaches the present end
// as caught up. For streams groups the broker may give a task to an instance
// without a copy, so the prediction must put every task onto one that has one.
func CheckStop(g *model.Group, in *model.Instance) StopCheck { return checkStop(g, in, !live(g)) }

// CheckStopAfterRound is CheckStop for a look right after a round: the positions
// that a classic group shows are then those of now, so a copy that lags is a no.
func CheckStopAfterRound(g *model.Group, in *model.Instance) StopCheck {
	return checkStop(g, in, false)
}

func checkStop(g *model.Group, in *model.Instance, old bool) StopCheck {
	c := StopCheck{Answer: Yes}
	unreadable := 0
	for i := range in.Members {
		m := &in.Members[i]
		if m.Metadata.Status == model.MetadataNewer || m.Metadata.Status == model.MetadataMalformed ||
			m.Assignment.Status == model.MetadataNewer || m.Assignment.Status == model.MetadataMalformed {
			unreadable++
		}
		for _, t := range m.Tasks {
			if t.Role == model.Active && !t.TargetOnly {
				c.Active = append(c.Active, t.ID)
			}
		}
	}
	slices.SortFunc(c.Active, model.TaskID.Compare)
	switch {
	case g.AssignmentBasis != model.AssignmentCurrent:
		c.Answer, c.Reason = Unknown, fmt.Sprintf("the group is %s; its tasks are moving", stateWord(g))
		return c
	case unreadable > 0:
		c.Answer, c.Reason = Unknown, fmt.Sprintf("the metadata of %d of its members is not understood", unreadable)
		return c
	case len(c.Active) == 0:
		return c
	case g.Kind == model.Streams:
		return streamsStop(c, g, in)
	}
	return c.judged(func(id model.TaskID) (Blocker, Answer) { return copyOf(g, in, id, old) })
}

// judged puts the answers for all active tasks together.
func (c StopCheck) judged(judge func(model.TaskID) (Blocker, Answer)) StopCheck {
	var no, unknown []Blocker
	for _, id := range c.Active {
		b, answer := judge(id)
		switch answer {
		case No:
			no = append(no, b)
		case Unknown:
			unknown = append(unknown, b)
		case Yes:
		}
	}
	c.Blockers, c.Certain = append(no, unknown...), len(no)
	switch {
	case len(no) > 0:
		c.Answer = No
	case len(unknown) > 0:
		c.Answer = Unknown
	}
	return c
}

// copyOf judges the copies of one active task on other instances: the best one
// decides. old says that positions may have moved on since they were told.
func copyOf(g *model.Group, stopping *model.Instance, id model.TaskID, old bool) (Blocker, Answer) {
	stateful := true
	best := No
	b := taskBlocker(id, "has no copy elsewhere")
	where := []string{}
	eachTask(g, func(in *model.Instance, _ *model.Member, t *model.Task) {
		if t.ID != id || t.TargetOnly {
			return
		}
		if in.ID == stopping.ID {
			if t.Role == model.Active && t.Stateful != nil && !*t.Stateful {
				stateful = false
			}
			return
		}
		if t.Role == model.Active || best == Yes {
			return
		}
		where = append(where, in.Name)
		r := t.Restore
		switch {
		case r.State == model.CaughtUp || r.RemainingRecords != nil && *r.RemainingRecords == 0:
			why := unheard(g, in)
			if why == "" {
				best = Yes
				return
			}
			best = Unknown
			b.Copy = in.ID
			b.Why = fmt.Sprintf("copy on %s was caught up, but %s", in.Name, why)
		case r.RemainingRecords != nil && old:
			best = Unknown
			b.Copy, b.RemainingRecords = in.ID, r.RemainingRecords
			b.Why = fmt.Sprintf("copy on %s as of the last round%s: up to %s records behind", in.Name, roundAge(g), model.Thousands(*r.RemainingRecords))
		case r.RemainingRecords != nil:
			b.Copy, b.RemainingRecords = in.ID, r.RemainingRecords
			b.Why = fmt.Sprintf("copy on %s still restores %s records", in.Name, model.Thousands(*r.RemainingRecords))
		case best == No:
			best = Unknown
			b.Copy = in.ID
			b.Why = fmt.Sprintf("copy on %s has not reported its position", in.Name)
		}
	})
	if !stateful || best == Yes {
		return b, Yes
	}
	if best == No && len(where) == 0 {
		if s := statefulness(g, id); s == nil {
			b.Why = "has no copy elsewhere, and it is not known whether it has state"
			return b, Unknown
		}
	}
	return b, best
}

// statusIsOld is the age at which the newest status of a worker group bears no
// answer any more. Workers write one every five seconds (docs/protocol/control.md,
// status); the rest is for clocks that differ.
const statusIsOld = time.Minute

// unheard says why what a worker's status told of a copy need not hold any more;
// "" where it does.
func unheard(g *model.Group, in *model.Instance) string {
	if g.Kind != model.Worker || g.Positions.Basis != model.PositionsStatus {
		return ""
	}
	silent := func(f model.Finding) bool {
		return f.Code == model.FindingSilent && f.Object == "instance "+in.Name
	}
	if slices.ContainsFunc(g.Findings, silent) {
		return "it has written no status since, as the others did"
	}
	if as, now := g.Positions.AsOf, g.TakenAt; as != nil && now != nil && now.Sub(*as) > statusIsOld {
		return fmt.Sprintf("no worker has written a status for %s, by the clock here", round(now.Sub(*as)))
	}
	return ""
}

// roundAge says how long ago the last round was, as far as that is known.
func roundAge(g *model.Group) string {
	if g.Positions.AsOf == nil || g.TakenAt == nil {
		return ""
	}
	age := round(g.TakenAt.Sub(*g.Positions.AsOf)).String() + " ago"
	if g.Positions.Estimated {
		age = "~" + age
	}
	return ", " + age
}

// statefulness is what any copy of the task says about it; nil when none does.
func statefulness(g *model.Group, id model.TaskID) *bool {
	var out *bool
	eachTask(g, func(_ *model.Instance, _ *model.Member, t *model.Task) {
		if t.ID == id && t.Stateful != nil {
			out = t.Stateful
		}
	})
	return out
}

// Headline is the answer in one sentence, with the instance's name.
func (c *StopCheck) Headline(name string) string {
	blockers := c.Blockers
	if c.Answer == No {
		blockers = blockers[:c.Certain]
	}
	ids := make([]model.TaskID, len(blockers))
	for i, b := range blockers {
		ids[i] = b.Task
	}
	switch {
	case c.Answer == Yes && len(c.Active) == 0:
		return fmt.Sprintf("yes: %s runs no task", name)
	case c.Answer == Yes && c.Planned && len(c.Active) == 1:
		return fmt.Sprintf("yes: the only active task on %s goes to a caught-up copy or has no state", name)
	case c.Answer == Yes && len(c.Active) == 1:
		return fmt.Sprintf("yes: the only active task on %s has a caught-up copy elsewhere or no state", name)
	case c.Answer == Yes && c.Planned:
		return fmt.Sprintf("yes: every one of the %d active tasks on %s goes to a caught-up copy or has no state", len(c.Active), name)
	case c.Answer == Yes:
		return fmt.Sprintf("yes: every one of the %d active tasks on %s has a caught-up copy elsewhere or no state", len(c.Active), name)
	case c.Answer == No:
		return fmt.Sprintf("no: %s on %s would wait for state (%s)", tasks(len(ids)), name, idList(ids))
	case c.Reason != "":
		return fmt.Sprintf("cannot tell: %s", c.Reason)
	}
	return fmt.Sprintf("cannot tell: %s on %s may wait for state (%s)", tasks(len(ids)), name, idList(ids))
}
