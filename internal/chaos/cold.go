package chaos

import (
	"fmt"
	"maps"

	"github.com/streamctl/streamctl/worker"
)

// cold lists tasks that left a marked instance without a deadline for one whose
// copy was not ready, and marked instances that did not end by themselves.
func (j *Job) cold() []string {
	var bad []string
	ready := map[string]bool{} // instance id and task whose learner is ready, or that was the owner
	owner := map[worker.TaskID]entry{}
	leaving := map[string]bool{} // by instance id: marked, without a deadline
	for _, e := range j.sorted() {
		at := e.Instance + e.Task.String()
		switch e.Kind {
		case worker.MarkSeen:
			leaving[e.Instance] = e.Remaining == worker.NoTimeout
		case worker.MarkChanged:
			leaving[e.Instance] = e.Remaining == worker.NoTimeout
		case worker.MembershipLost: // what it had is anybody's
			maps.DeleteFunc(owner, func(_ worker.TaskID, had entry) bool { return had.Instance == e.Instance })
		case worker.MarkWithdrawn, worker.Expired:
			delete(leaving, e.Instance)
		case worker.LearnerReady:
			ready[at] = true
		case worker.CopyClosed:
			delete(ready, at)
		case worker.ActiveStarted:
			before, known := owner[e.Task]
			if known && before.Instance != e.Instance && leaving[before.Instance] && e.Task.Subtopology == 0 && !ready[at] && !j.crashed(before) {
				bad = append(bad, fmt.Sprintf("task %s went from %s, which was being drained, to %s, whose copy was not ready, at %s",
					j.label(e.Task), before.name, e.name, clock(e.At)))
			}
			owner[e.Task], ready[at] = e, true
		}
	}
	return bad
}

// crashed says whether that life of an instance was ended by the test.
func (j *Job) crashed(e entry) bool {
	j.Journal.mu.Lock()
	defer j.Journal.mu.Unlock()
	x, ok := j.ends[lifeOf(e.name, e.life)]
	return ok && x.how != "ended"
}
