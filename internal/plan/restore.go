package plan

import (
	"math"

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
	for len(list) > 0 && secs > 0 {
		least := math.Inf(1)
		for _, x := range list {
			least = min(least, x.left)
		}
		turn := min(least, secs/float64(len(list)))
		spent := turn * float64(len(list))
		rest := list[:0]
		for _, x := range list {
			x.left -= turn
			if x.left <= 1e-9 {
				position[x.task] = ends[x.task]
				continue
			}
			rest = append(rest, x)
		}
		secs -= spent
		list = rest
	}
	for _, x := range list {
		position[x.task] = ends[x.task] - int64(math.Ceil(x.left*x.per))
	}
	return max(secs, 0)
}
