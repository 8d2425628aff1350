package taskrun

import "time"

// urgentFor is how long a task that is to become active holds back the copies
// after its restore last made headway: one that is stuck holds nobody up.
const urgentFor = time.Second

// prioritise has the tasks come first that are to become active, since nobody
// processes them meanwhile: as long as one restores, copies are not fetched. In
// the restore poller.
func (h *Host) prioritise(now time.Time) {
	urgent := false
	for _, t := range h.byChangelog {
		t.mu.Lock()
		urgent = urgent || t.role == restoring && now.Sub(t.movedAt) < urgentFor
		t.mu.Unlock()
	}
	pause, resume := map[string][]int32{}, map[string][]int32{}
	for tp, t := range h.byChangelog {
		t.mu.Lock()
		wait := urgent && t.role == copying
		switch {
		case wait && !t.paused:
			pause[tp.Topic] = append(pause[tp.Topic], tp.Partition)
		case !wait && t.paused:
			resume[tp.Topic] = append(resume[tp.Topic], tp.Partition)
		}
		if t.paused = wait; wait {
			t.quiet = quiet{}
		}
		t.mu.Unlock()
	}
	if len(pause) > 0 {
		h.restore.cl.PauseFetchPartitions(pause)
	}
	if len(resume) > 0 {
		h.restore.cl.ResumeFetchPartitions(resume)
	}
}
