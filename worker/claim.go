package worker

import (
	"maps"
	"slices"
	"time"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

// claim is one task that a worker has: one that it owns, or a copy.
type claim struct {
	role    model.Role
	learned bool // of an active: tagged beingLearned
	release bool // of an active: it is given up before the next join
	open    bool // of an active: it may process. Closed it is still claimed
	ready   bool // of a learner: tagged isReady
	asked   bool // of a ready learner: a round was asked for since
	rests   bool // of a copy found on disk: it is not restored until an assignment says so
}

// member is one worker of the instance, as the protocol sees it.
type member struct {
	n          int       // its number in the instance
	as         Mode      // that it joins in: the mode, unless it looks for a way in
	moves      int       // how often it had to leave and come back: a seat that is older does not count
	id         string    // member id of the last round
	generation int32     // of its last assignment, hence of its claims; 0: none
	since      time.Time // when it had that
	epoch      int64     // mode epoch in which that was counted
	last       int32     // instances of its last round
	carried    bool      // its claims come from the group before a mode switch
	request    int64

	in         bool // it has an assignment and did not lose its membership
	round      bool // a round is on: it has begun to join and has no assignment yet
	learnerWon bool // in the last round
	switching  bool // for it the mode switch is not over
	leads      bool // it decided the last round
	drained    bool // it joined the last round as leaving and owns nothing after it

	said    said      // when it joined last
	askedOf said      // what the last wish was about
	askAt   time.Time // when the next wish is due, zero: none
	askFor  string    // its cause
	pause   time.Duration
	refused time.Time // since when its joins are refused for the protocol type; zero: they are not

	tasks map[model.TaskID]*claim
}

// said is what a worker tells the leader besides its tasks. A change of it is
// worth a round.
type said struct {
	mark     string
	deadline time.Time
	expired  bool
	mode     Mode
	epoch    int64
	unmarked int
}

func (m *member) ids() []model.TaskID {
	return slices.SortedFunc(maps.Keys(m.tasks), model.TaskID.Compare)
}

// has says whether the worker may process a task.
func (m *member) has(id model.TaskID) bool {
	c := m.tasks[id]
	return c != nil && c.role == model.Active && c.open
}

// learners are the tasks that the worker learns, sorted.
func (m *member) learners() []model.TaskID {
	var list []model.TaskID
	for id, c := range m.tasks {
		if c.role == model.Learner {
			list = append(list, id)
		}
	}
	slices.SortFunc(list, model.TaskID.Compare)
	return list
}

// toCopies makes everything that the worker has a copy: what it owns no more,
// or may own no more. Stateless tasks are gone.
func (m *member) toCopies(stateful func(model.TaskID) bool) {
	for id, c := range m.tasks {
		if !stateful(id) {
			delete(m.tasks, id)
			continue
		}
		m.tasks[id] = &claim{role: model.Standby, rests: c.rests}
	}
}

// tags are the draft's tags of a task as it stands in the metadata. An active
// that still processes is never said to be revoked.
func (c *claim) tags(stateful, leaving bool) groupmeta.StreamTags {
	if !stateful {
		return 0
	}
	t := groupmeta.TagStateful
	switch c.role {
	case model.Active:
		if c.learned && !c.open {
			t |= groupmeta.TagBeingLearned
		}
		if leaving {
			t |= groupmeta.TagLeaving
		}
	case model.Learner:
		t |= groupmeta.TagLearner
		if c.ready {
			t |= groupmeta.TagReady
		}
	}
	return t
}

// shown are the tags as people see them, between rounds: beingLearned counts
// whether or not the task is revoked yet.
func (c *claim) shown(stateful, leaving bool) groupmeta.StreamTags {
	t := c.tags(stateful, leaving)
	if stateful && c.role == model.Active && c.learned {
		t |= groupmeta.TagBeingLearned
	}
	return t
}
