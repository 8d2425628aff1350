package worker

import (
	"slices"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// revive notes which tasks have stopped by themselves; i.mu is held. That is so
// when a commit was refused for good. If the worker is no member any more, a
// heartbeat says so before they are started again.
func (i *Instance) revive() {
	active := i.tasks.Active() // in order
	for id, s := range i.slots {
		if s.is != slotActive || s.busy {
			continue
		}
		if _, runs := slices.BinarySearchFunc(active, id, model.TaskID.Compare); runs {
			continue
		}
		s.is, s.started = slotNone, false
		if i.st.stateful(id) {
			s.is = slotCopy
		}
		s.again = time.Now().Add(max(retryPause, 2*i.c.Heartbeat))
	}
}
