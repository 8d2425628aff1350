package assign

import "slices"

// sortRuns sorts a list that consists of runs, each most often sorted already;
// ends has where each run ends, ascending. It takes n log k time for k sorted
// runs, writes to list and ends, and gives the sorted list.
func sortRuns[T any](list []T, ends []int, compare func(a, b T) int) []T {
	start := 0
	for _, end := range ends {
		if run := list[start:end]; !slices.IsSortedFunc(run, compare) {
			slices.SortFunc(run, compare)
		}
		start = end
	}
	if len(ends) < 2 {
		return list
	}
	other := make([]T, 0, len(list))
	for len(ends) > 1 {
		out := other[:0]
		next := ends[:0]
		start := 0
		for k := 0; k < len(ends); k += 2 {
			middle, end := ends[k], ends[min(k+1, len(ends)-1)]
			out = mergeRuns(out, list[start:middle], list[middle:end], compare)
			next, start = append(next, end), end
		}
		list, other, ends = out, list, next
	}
	return list
}

// mergeRuns appends two sorted runs as one.
func mergeRuns[T any](out, a, b []T, compare func(a, b T) int) []T {
	for len(a) > 0 && len(b) > 0 {
		if compare(b[0], a[0]) < 0 {
			out, b = append(out, b[0]), b[1:]
		} else {
			out, a = append(out, a[0]), a[1:]
		}
	}
	return append(append(out, a...), b...)
}
