package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
)

// A wait that is not about state tells of copies that are seen to move, of
// learners, and of nothing that looks like a restore that stands still.
func TestWaitLinesTellWhatMoves(t *testing.T) {
	copyOf := func(name string, role model.Role, rate *float64, queued bool) progress.TaskRestore {
		return progress.TaskRestore{Task: task(1), Name: name, Role: role, Restored: ptr[int64](5003), Total: ptr[int64](5254), Rate: rate, Queued: queued}
	}
	s := progress.Status{Restore: []progress.TaskRestore{
		copyOf("moving", model.Active, ptr(10.0), false), copyOf("queued", model.Active, ptr(0.0), true), copyOf("running", model.Active, nil, false), copyOf("still", model.Active, ptr(0.0), false),
		copyOf("standby", model.Standby, ptr(10.0), false), copyOf("learner", model.Learner, nil, false),
	}}
	for want, names := range map[progress.Condition]string{
		progress.Stable:    "",
		progress.Converged: "moving queued learner",
		progress.Drained:   "moving queued standby learner",
		progress.Restored:  "moving queued running still standby learner",
	} {
		var got []string
		for _, line := range WaitLines(want, s)[1:] {
			got = append(got, strings.Fields(line)[2])
		}
		if !slices.Equal(got, strings.Fields(names)) {
			t.Errorf("%s: %q, want %s", want, got, names)
		}
	}
}

// How old positions are is told of the oldest too, where it stands apart.
func TestPositionsTellTheOldest(t *testing.T) {
	g := clicks()
	g.Kind = model.Worker
	newest, oldest := g.TakenAt.Add(-time.Second), g.TakenAt.Add(-7*time.Second)
	g.Positions = model.Positions{Basis: model.PositionsStatus, AsOf: &newest}
	if text := newScreen(&render.Page{}, g, DescribeOptions{}).positions(); text != "status records of the workers, 1s ago" {
		t.Errorf("%q", text)
	}
	g.Positions.Oldest, g.Positions.OldestName = &oldest, "pod-b"
	if text := newScreen(&render.Page{}, g, DescribeOptions{}).positions(); text != "status records of the workers, 1s ago; pod-b's 7s" {
		t.Errorf("%q", text)
	}
}
