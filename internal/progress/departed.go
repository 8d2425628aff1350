package progress

import (
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

// Departed is what became of the tasks of instances that have stopped.
type Departed struct {
	Settled   bool // the group is Stable, and each of the tasks has an owner
	Ownerless []model.TaskID
	HandOvers []Handover // by task; From and To differ
	Astray    []Handover // of these, those that went where nothing foretold
}

// Departed compares who owns the tasks now with what the last look foretold.
// What was ready there then did not restore cold.
func (d *Departing) Departed(g *model.Group) Departed {
	out := Departed{Settled: g.State == model.StateStable && g.AssignmentBasis == model.AssignmentCurrent}
	owner := activeOwners(g)
	for _, id := range sortedIDs(d.foretold) {
		t := d.foretold[id]
		to := owner[t.Task]
		if to == nil {
			out.Settled = false
			out.Ownerless = append(out.Ownerless, t.Task)
			continue
		}
		if to.ID == t.From {
			continue
		}
		h := Handover{Task: t.Task, From: t.From, To: to.ID, ToName: to.Name, Warm: Unknown}
		k := slices.Index(t.To, to.ID)
		if k >= 0 {
			h.Warm = t.Each[k]
		} else {
			h.judge(g)
		}
		if h.Warm == No && h.Records == nil {
			h.Records = t.Remaining
		}
		out.HandOvers = append(out.HandOvers, h)
		if k < 0 {
			out.Astray = append(out.Astray, h)
		}
	}
	return out
}
