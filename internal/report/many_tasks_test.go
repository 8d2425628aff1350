package report

import (
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// A list of tasks that nobody runs takes time in proportion to them.
func TestManyUnassignedTasks(t *testing.T) {
	const n = 60_000
	g := healthy()
	g.Unassigned, g.Moving = make([]model.TaskID, n), nil
	for i := range g.Unassigned {
		g.Unassigned[i] = model.TaskID{Subtopology: "7", Partition: int32(i)}
	}
	before := taskGrid([]*model.Group{healthy()}).Len()
	start := time.Now()
	if got := taskGrid([]*model.Group{g}).Len(); got != before+n {
		t.Errorf("%d rows, want %d", got, before+n)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("took %s", took)
	}
}
