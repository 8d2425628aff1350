package plan

import (
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// ends are the ends of all tasks.
func (in *Input) ends() []int64 {
	out := make([]int64, in.Topology.Len())
	for i, s := range in.Topology.Subtopologies() {
		first, end := in.Topology.Tasks(i)
		if !s.Stateful {
			continue
		}
		for t := first; t < end; t++ {
			if p := int(t - first); p < len(s.EndOffsets) {
				out[t] = s.EndOffsets[p]
			}
		}
	}
	return out
}

// merge joins two ascending lists.
func merge(a, b []assign.Task) []assign.Task {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	}
	out := make([]assign.Task, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case a[0] > b[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// minus gives the elements of a that are not in b, both ascending.
func minus(a, b []assign.Task) []assign.Task {
	var out []assign.Task
	for _, t := range a {
		for len(b) > 0 && b[0] < t {
			b = b[1:]
		}
		if len(b) == 0 || b[0] != t {
			out = append(out, t)
		}
	}
	return out
}

// both gives the elements that are in a and in b, both ascending.
func both(a, b []assign.Task) []assign.Task {
	var out []assign.Task
	for _, t := range a {
		for len(b) > 0 && b[0] < t {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == t {
			out = append(out, t)
		}
	}
	return out
}

func has(list []assign.Task, t assign.Task) bool {
	_, ok := slices.BinarySearch(list, t)
	return ok
}

func sortedTasks(set map[assign.Task]bool) []assign.Task { return slices.Sorted(maps.Keys(set)) }

func sorted(list []assign.Task) []assign.Task {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}

// compareIDs orders task ids as numbers.
func compareIDs(a, b string) int {
	x, err := model.ParseTaskID(a)
	y, err2 := model.ParseTaskID(b)
	if err != nil || err2 != nil {
		return slices.Compare([]byte(a), []byte(b))
	}
	return x.Compare(y)
}

// seconds turns milliseconds into seconds with three decimals.
func seconds(ms float64) float64 { return math.Round(ms) / 1000 }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func keysOf(m map[assign.Task]int64) iter.Seq[assign.Task] { return maps.Keys(m) }

// onDisk notes the state that a person says a new instance has.
func onDisk(top *assign.Topology, ends []int64, position map[assign.Task]int64, a Add) error {
	for t := range assign.Task(top.Len()) {
		if a.AllState && top.Stateful(t) {
			position[t] = ends[t]
		}
	}
	for _, id := range a.State {
		t, ok := top.Find(id)
		if !ok || !top.Stateful(t) {
			return &ChangeError{a.Describe(), "the group has no stateful task " + id.String()}
		}
		position[t] = ends[t]
	}
	return nil
}
