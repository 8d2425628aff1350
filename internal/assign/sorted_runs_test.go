package assign

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSortRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []int
		var ends []int
		for range rapid.IntRange(0, 9).Draw(t, "runs") {
			run := rapid.SliceOfN(rapid.IntRange(0, 20), 0, 8).Draw(t, "run")
			if rapid.IntRange(0, 3).Draw(t, "sorted") > 0 {
				slices.Sort(run)
			}
			list = append(list, run...)
			ends = append(ends, len(list))
		}
		want := slices.Sorted(slices.Values(list))
		if got := sortRuns(list, ends, cmp.Compare[int]); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
