package chaos

import (
	"fmt"
	"maps"

	"github.com/streamctl/streamctl/worker"
)

// cold lists tasks that left a marked instance without a deadline for one whose
// copy was not ready. A copy that has caught up is as good, where a mode switch
// leaves a task to it.
func (j *Job) cold() []string {
	var bad []string
	ready := map[string]bool{}   // instance id and task whose learner is ready, whose copy has caught up, or that was the owner
	given := map[string]string{} // role that the last round gave an instance id for a task
	owner := map[worker.TaskID]entry{}
	leaving := map[string]bool{} // by instance id: marked, without a deadline
	for _, e := range j.sorted() {
		at := e.Instance + e.Task.String()
		switch e.Kind {
		case worker.MarkSeen, worker.MarkChanged:
			leaving[e.Instance] = e.Remaining == worker.NoTimeout
		case worker.MembershipLost: // what it had is anybody's
			maps.DeleteFunc(owner, func(_ worker.TaskID, had entry) bool { return had.Instance == e.Instance })
		case worker.MarkWithdrawn, worker.Expired:
			delete(leaving, e.Instance)
		case worker.RoundDone:
			if e.Round == nil {
				continue // an older protocol won it
			}
			for _, t := range e.Round.Instances[0].Tasks { // its own share
				given[e.Instance+t.ID.String()] = t.Role
				if t.Role == roleActive && ready[e.Instance+t.ID.String()] {
					owner[t.ID] = e // it has it now, though it may end before it has started it
				}
			}
		case worker.LearnerReady:
			ready[at] = true
		case worker.CaughtUp: // of one that is restored to be active it says nothing
			ready[at] = ready[at] || given[at] != "" && given[at] != roleActive
		case worker.CopyClosed:
			delete(ready, at)
			delete(given, at)
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
