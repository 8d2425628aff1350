package cmd

import (
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// learns is a group in which two learners have so many records left.
func learns(left ...int64) *model.Group {
	g := &model.Group{Instances: []model.Instance{{ID: "b", Members: []model.Member{{ID: "b-1"}}}}}
	for i, n := range left {
		g.Instances[0].Members[0].Tasks = append(g.Instances[0].Members[0].Tasks, model.Task{
			ID: model.TaskID{Partition: int32(i)}, Role: model.Learner, Restore: model.Restore{RemainingRecords: &n},
		})
	}
	return g
}

// The next rebalance is asked for when the first learner should be ready, by
// what was restored since the last one, and never sooner than it may.
func TestPaceOfRebalances(t *testing.T) {
	begin := time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC)
	p := newPace(5 * time.Second)
	for i, c := range []struct {
		after time.Duration
		left  []int64
		moved int
		want  time.Duration
		why   string
	}{
		{0, []int64{1_000_000, 2_000_000}, 0, 5 * time.Second, "nothing is known of the first round"},
		{10 * time.Second, []int64{900_000, 1_900_000}, 0, 89 * time.Second, "10,000 a second, and 890,000 until the first is within the lag"},
		{100 * time.Second, []int64{5_000, 1_000_000}, 0, 5 * time.Second, "ready already"},
		{110 * time.Second, []int64{1_000_000}, 1, 5 * time.Second, "a task has moved: another learner began"},
		{120 * time.Second, []int64{1_000_000}, 0, 10 * time.Second, "nothing was restored: twice as long"},
		{140 * time.Second, []int64{1_000_000}, 0, 20 * time.Second, "and again"},
		{1000 * time.Second, []int64{999_999}, 0, longestPause, "no longer than that, however slow it is"},
	} {
		if got := p.next(learns(c.left...), begin.Add(c.after), c.moved, 0); got.Round(time.Second) != c.want {
			t.Errorf("round %d: %s, want %s: %s", i+1, got, c.want, c.why)
		}
	}
	least := newPace(5 * time.Second)
	if got := least.next(learns(), begin, 0, 1); got < 5*time.Second || got > 6*time.Second {
		t.Errorf("with the longest draw: %s", got)
	}
	long := newPace(time.Hour)
	for i := range 3 {
		if got := long.next(learns(7), begin.Add(time.Duration(i)*time.Hour), 0, 0); got < time.Hour {
			t.Errorf("%s is less than --min-interval", got)
		}
	}
}
