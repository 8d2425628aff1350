package progress

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
)

// streamsStop judges the stop of an instance of a streams group. The broker may
// give a task to another instance than the one that has its copy, so a copy is
// not enough: the prediction must put every task onto one that is caught up.
func streamsStop(c StopCheck, g *model.Group, in *model.Instance) StopCheck {
	c.Planned = true
	switch {
	case g.State != model.StateStable:
		return c.unknown(fmt.Sprintf("the group is %s; its tasks are moving", stateWord(g)))
	case g.Assignor != "" && g.Assignor != "sticky":
		return c.unknown(fmt.Sprintf("the broker decides by assignor %q, whose rules are not known", g.Assignor))
	}
	versions := []string{g.Facts.KafkaVersion}
	if versions[0] == "" {
		versions = []string{"4.3", "4.4"} // which rules hold cannot be told: all must agree
	}
	var out StopCheck
	for i, v := range versions {
		to, rests, err := destinations(g, in, v)
		if err != nil {
			return c.unknown("no prediction can be made: " + err.Error())
		}
		for _, f := range rests {
			if !slices.Contains(c.Rests, f) {
				c.Rests = append(c.Rests, f)
			}
		}
		one := c.judged(func(id model.TaskID) (Blocker, Answer) { return destined(g, in, id, to[id.String()]) })
		switch {
		case i == 0:
			out = one
		case one.Answer != out.Answer:
			return c.unknown("where the tasks go depends on the version of the broker, which cannot be told")
		}
	}
	out.Rests = c.Rests
	return out
}

func (c StopCheck) unknown(reason string) StopCheck {
	c.Answer, c.Reason = Unknown, reason
	return c
}

// destinations predicts to which instance each task goes when one leaves, by
// task, and gives what the prediction assumes and cannot know.
func destinations(g *model.Group, in *model.Instance, version string) (map[string]string, []plan.Finding, error) {
	input, err := plan.FromGroup(g)
	if err != nil {
		return nil, nil, err
	}
	p, err := plan.Make(input, plan.Options{Changes: []plan.Change{plan.Remove{Instance: in.ID, How: plan.HowLeave}}, KafkaVersion: version})
	if err != nil {
		return nil, nil, err
	}
	to := make(map[string]string)
	for _, r := range p.Rounds {
		for _, m := range r.Moves {
			to[m.Task] = m.To
		}
	}
	rests := slices.DeleteFunc(slices.Clone(p.Findings), func(f plan.Finding) bool { return f.Code != plan.NoteAssumed && f.Code != plan.NoteUnknown })
	return to, rests, nil
}

// destined judges one active task by the copy at the instance that it goes to.
func destined(g *model.Group, stopping *model.Instance, id model.TaskID, to string) (Blocker, Answer) {
	stateful := statefulness(g, id)
	if stateful != nil && !*stateful {
		return Blocker{}, Yes
	}
	if to == "" || to == stopping.ID {
		return taskBlocker(id, "goes to nobody: no other instance is left"), No
	}
	b := taskBlocker(id, "")
	name, answer := to, No
	for i := range g.Instances {
		if g.Instances[i].ID == to {
			name = cmp.Or(g.Instances[i].Name, to)
		}
	}
	var found *model.Task
	eachTask(g, func(at *model.Instance, _ *model.Member, t *model.Task) {
		if at.ID == to && t.ID == id && !t.TargetOnly && t.Role != model.Active {
			found = t
		}
	})
	if found == nil {
		if left, ok := leftOver(g, to, id); ok {
			return left.judge(b, to, name)
		}
	}
	switch {
	case found == nil && stateful == nil:
		b.Why, answer = fmt.Sprintf("goes to %s, which has no copy, and it is not known whether it has state", name), Unknown
	case found == nil:
		b.Why = fmt.Sprintf("goes to %s, which has no copy", name)
	case found.Restore.State == model.CaughtUp || found.Restore.RemainingRecords != nil && *found.Restore.RemainingRecords == 0:
		answer = Yes
	case found.Restore.RemainingRecords == nil:
		b.Copy = to
		b.Why, answer = fmt.Sprintf("goes to %s, whose copy has not reported its position", name), Unknown
	default:
		b.Copy, b.RemainingRecords = to, found.Restore.RemainingRecords
		b.Why = fmt.Sprintf("goes to %s, whose copy still restores %s records", name, model.Thousands(*found.Restore.RemainingRecords))
	}
	return b, answer
}

// leftOverState is state of a task on the disk of an instance that has no copy of it
// assigned: brokers from 4.4 on tell the offset, and the instance goes on from
// there when it gets the task.
type leftOverState struct {
	position  int64
	remaining *int64 // nil: the end of the changelogs is not known
}

func leftOver(g *model.Group, instance string, id model.TaskID) (leftOverState, bool) {
	out, found := leftOverState{}, false
	for i := range g.Instances {
		if g.Instances[i].ID != instance {
			continue
		}
		for j := range g.Instances[i].Members {
			for _, r := range g.Instances[i].Members[j].Reported {
				if r.Task == id && r.Sum > 0 && r.Sum >= out.position {
					out.position, found = r.Sum, true
				}
			}
		}
	}
	for _, l := range g.Facts.Logs {
		if found && l.Task == id && l.End != nil {
			n := max(0, *l.End-out.position)
			out.remaining = &n
		}
	}
	return out, found
}

func (l leftOverState) judge(b Blocker, to, name string) (Blocker, Answer) {
	b.Copy, b.RemainingRecords = to, l.remaining
	switch {
	case l.remaining == nil:
		b.Why = fmt.Sprintf("goes to %s, which has state left over; how far that is from the end is not known", name)
		return b, Unknown
	case *l.remaining == 0:
		return b, Yes
	}
	b.Why = fmt.Sprintf("goes to %s, whose left-over state lacks %s records", name, model.Thousands(*l.remaining))
	return b, No
}
