package plan

import (
	"fmt"

	"github.com/streamctl/streamctl/internal/model"
)

// MeasureRate takes the restore rate from two looks at a group that restores:
// of the instances with progress the slowest, all its copies together. Only
// worker groups and streams groups with task offsets tell positions between
// rounds; the error says why there is no rate.
func MeasureRate(first, second *model.Group) (Rate, error) {
	if first.ID != second.ID || first.TakenAt == nil || second.TakenAt == nil || !second.TakenAt.After(*first.TakenAt) {
		return Rate{}, fmt.Errorf("group %q: two looks at the same group, one after the other, are needed for a rate", second.ID)
	}
	if second.Kind == model.Classic {
		return Rate{}, fmt.Errorf("group %q: a classic group reports positions only in a rebalance: no rate can be measured", second.ID)
	}
	secs := second.TakenAt.Sub(*first.TakenAt).Seconds()
	before := positions(first)
	best := 0.0
	for key, now := range positions(second) {
		progress := 0.0
		for task, at := range now {
			if was, ok := before[key][task]; ok && at > was {
				progress += float64(at - was)
			}
		}
		if rate := progress / secs; rate > 0 && (best == 0 || rate < best) {
			best = rate
		}
	}
	if best == 0 {
		return Rate{}, fmt.Errorf("group %q: no copy came nearer to its end in %.0f s: no rate can be measured", second.ID, secs)
	}
	return Rate{Records: best}, nil
}

// positions are those of the copies that restore, by instance id and task.
func positions(g *model.Group) map[string]map[model.TaskID]int64 {
	out := make(map[string]map[model.TaskID]int64)
	for i := range g.Instances {
		in := &g.Instances[i]
		at := make(map[model.TaskID]int64)
		for j := range in.Members {
			for _, t := range in.Members[j].Tasks {
				if p := t.Restore.Position; p != nil && t.Restore.State != model.Running {
					at[t.ID] = max(at[t.ID], *p)
				}
			}
		}
		out[in.ID] = at
	}
	return out
}
