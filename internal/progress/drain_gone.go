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

// judgeGone judges a target that is gone, and its mark with it.
func (d *Drain) judgeGone(t *draining, s *control.State, at time.Time, owners map[model.TaskID]*model.Instance) {
	said, spoke := s.Status[t.ID]
	ready := func(id model.TaskID) bool { to := owners[id]; return to != nil && d.copies[id][to.ID].ready }
	if wentWhole(t.owned, spoke, said.Left != "", ready) {
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
