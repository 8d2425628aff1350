package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
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
