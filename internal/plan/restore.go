package plan

import (
	"cmp"
	"math"
	"slices"

	"github.com/streamctl/streamctl/internal/assign"
)

// share restores tasks of one instance for some seconds: all that are behind
// get the same part of its time. It returns the seconds that are left once all
// are there. A task without a known rate is restored at once.
func share(in *Input, rate Rate, ends []int64, position map[assign.Task]int64, tasks []assign.Task, secs float64) float64 {
	type open struct {
		task assign.Task
		left float64 // seconds alone
		per  float64
	}
	var list []open
	for _, t := range tasks {
		n := ends[t] - position[t]
		if n <= 0 {
			continue
		}
		per := rate.records(in.Logs[t])
		if per <= 0 {
			position[t] = ends[t]
			continue
		}
		list = append(list, open{t, float64(n) / per, per})
	}
	slices.SortFunc(list, func(a, b open) int { return cmp.Compare(a.left, b.left) })
	had := 0.0 // seconds that each of those left has had
	for len(list) > 0 && secs > 0 {
		need := list[0].left - had
		if turn := secs / float64(len(list)); turn < need-1e-9 {
			had, secs = had+turn, 0
			break
		}
		secs -= need * float64(len(list))
		had = list[0].left
		position[list[0].task] = ends[list[0].task]
		list = list[1:]
	}
	for _, x := range list {
		position[x.task] = ends[x.task] - int64(math.Ceil((x.left-had)*x.per))
	}
	return max(secs, 0)
}
