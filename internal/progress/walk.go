package progress

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// eachTask calls f for every task of every member, in the group's order.
func eachTask(g *model.Group, f func(*model.Instance, *model.Member, *model.Task)) {
	for i := range g.Instances {
		in := &g.Instances[i]
		for k := range in.Members {
			m := &in.Members[k]
			for n := range m.Tasks {
				f(in, m, &m.Tasks[n])
			}
		}
	}
}

func instance(g *model.Group, id string) *model.Instance {
	for i := range g.Instances {
		if g.Instances[i].ID == id {
			return &g.Instances[i]
		}
	}
	return nil
}

// activeOwners gives the instance that runs each task, as the present assignment
// has it.
func activeOwners(g *model.Group) map[model.TaskID]*model.Instance {
	out := map[model.TaskID]*model.Instance{}
	eachTask(g, func(in *model.Instance, _ *model.Member, t *model.Task) {
		if t.Role == model.Active && !t.TargetOnly {
			out[t.ID] = in
		}
	})
	return out
}

// sortedIDs are the keys of a map by task, in order.
func sortedIDs[V any](m map[model.TaskID]V) []model.TaskID {
	return slices.SortedFunc(maps.Keys(m), model.TaskID.Compare)
}

// idList writes task ids with blanks between; more than ten are counted.
func idList(ids []model.TaskID) string {
	const shown = 10
	words := make([]string, 0, shown+1)
	for i, id := range ids {
		if i == shown {
			words = append(words, fmt.Sprintf("and %d more", len(ids)-shown))
			break
		}
		words = append(words, id.String())
	}
	return strings.Join(words, " ")
}

func tasks(n int) string { return model.Count(n, "task") }

func round(d time.Duration) time.Duration { return d.Round(time.Second) }

func stateWord(g *model.Group) string {
	if g.State == "" {
		return "in an unknown state"
	}
	return g.State
}
