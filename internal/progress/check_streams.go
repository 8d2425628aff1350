package progress

import (
	"cmp"
	"fmt"

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
		to, err := destinations(g, in, v)
		if err != nil {
			return c.unknown("no prediction can be made: " + err.Error())
		}
		one := c.judged(func(id model.TaskID) (Blocker, Answer) { return destined(g, in, id, to[id.String()]) })
		switch {
		case i == 0:
			out = one
		case one.Answer != out.Answer:
			return c.unknown("where the tasks go depends on the version of the broker, which cannot be told")
		}
	}
	return out
}

func (c StopCheck) unknown(reason string) StopCheck {
	c.Answer, c.Reason = Unknown, reason
	return c
}

// destinations tells by task to which instance each goes when one leaves.
func destinations(g *model.Group, in *model.Instance, version string) (map[string]string, error) {
	input, err := plan.FromGroup(g)
	if err != nil {
		return nil, err
	}
	p, err := plan.Make(input, plan.Options{Changes: []plan.Change{plan.Remove{Instance: in.ID, How: plan.HowLeave}}, KafkaVersion: version})
	if err != nil {
		return nil, err
	}
	to := make(map[string]string)
	for _, r := range p.Rounds {
		for _, m := range r.Moves {
			to[m.Task] = m.To
		}
	}
	return to, nil
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
