package progress

import (
	"fmt"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// lookGap is how far two looks lie apart at the least for what happened between
// them to be told with care.
const lookGap = 15 * time.Second

// judgeGone judges a target that is gone, and its mark with it. One that goes as
// it was asked to withdraws its mark and says in its last status that it has no
// task any more (docs/protocol/stream-protocol.md, What can go wrong). Without
// that word anybody may have withdrawn the mark of an instance that died, or the
// topic was made anew.
func (d *Drain) judgeGone(t *draining, s *control.State, at time.Time, owners map[model.TaskID]*model.Instance) {
	said, spoke := s.Status[t.ID]
	if len(t.owned) == 0 || spoke && len(said.Tasks) == 0 || !spoke && d.allReady(t, owners) {
		t.departed, t.owned = true, nil
		return
	}
	t.died = true
	owned := tasks(len(t.owned)) + " not handed over: " + idList(t.owned)
	if gap := at.Sub(d.seenAt); !d.seenAt.IsZero() && gap >= lookGap {
		t.died, t.unseen = false, true
		t.lost = fmt.Sprintf("%s went while nobody could look for %s, and how is not known; before that it had %s", t.Name, round(gap), owned)
		return
	}
	t.lost = fmt.Sprintf("%s is gone with %s", t.Name, owned)
}

// allReady reports whether each task that a target owned has gone to an instance
// whose copy was ready at the last look.
func (d *Drain) allReady(t *draining, owners map[model.TaskID]*model.Instance) bool {
	for _, id := range t.owned {
		if to := owners[id]; to == nil || !d.copies[id][to.ID].ready {
			return false
		}
	}
	return true
}
