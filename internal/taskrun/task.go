package taskrun

import (
	"sync"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// role is what a task is on this host.
type role int

const (
	resting   role = iota // state is here, nothing happens to it but that its lag is known
	copying               // follows its changelog
	restoring             // follows its changelog in order to become active
	running               // restored: belongs to its activation
)

// task is one task that this host holds. In the roles copying and restoring its
// store belongs to the restore poller, in running to the activation; all of it
// is guarded by mu, since lags and positions are read from anywhere.
type task struct {
	id        model.TaskID
	sub       Subtopology
	changelog model.TopicPartition // zero for a stateless task
	path      string               // of the store file; "" in memory

	mu        sync.Mutex
	role      role
	st        backing // nil for a stateless task, and for one that rests on disk
	saved     mark    // what is durable, also while st is nil
	savedAt   time.Time
	next      int64 // every changelog record below it is in the store
	topic     [16]byte
	start     int64     // first offset of the changelog at the last look
	end       int64     // last stable offset at the last look, -1 unknown
	look      int64     // number of that look
	before    int64     // next when that look began
	needLook  int64     // restoring: the end must be of this look or a later one
	attached  bool      // its changelog is being fetched
	paused    bool      // not for now: tasks that are to become active come first
	movedAt   time.Time // when a restore last made headway, or was made urgent
	misfits   bool      // resting: the state will not fit its changelog any more
	restored  int64     // records
	act       *activation
	committer Committer
	ready     chan struct{} // restoring: closed as the role becomes running

	quiet     quiet
	caughtUp  bool
	within    within
	toldAt    time.Time // last Progress
	troubleAt time.Time // last Trouble, and what it was
	trouble   string
}

// within is on which side of the acceptable lag a copy was when last told.
type within int

const (
	unknown within = iota
	inside
	outside
)

// stateful reports whether the task has a store and a changelog.
func (t *task) stateful() bool { return t.sub.Changelog != "" }

// lag is Host.Lag; mu is held.
func (t *task) lag() (records int64, known bool) {
	switch {
	case !t.stateful():
		return 0, false
	case t.role == running:
		return 0, true
	case t.end < 0:
		return 0, false
	case t.misfits:
		return max(0, t.end-t.start), true
	case t.quiet.upTo >= t.end && t.quiet.upTo > 0:
		return 0, true
	}
	return max(0, t.end-max(t.next, t.start)), true
}

// mark is what the store in memory reflects; mu is held.
func (t *task) mark() mark { return mark{next: t.next, topic: t.topic} }

// save makes the store durable; mu is held, but not while the disk is waited
// for: whoever wants to know how far the task is does not wait for that. Only
// who the store belongs to may save.
func (t *task) save(now time.Time) error {
	st := t.st
	s := st.begin(t.mark())
	t.mu.Unlock()
	err := s.write()
	t.mu.Lock()
	s.end(err)
	if err != nil {
		return err
	}
	t.saved, t.savedAt = st.saved(), now
	return nil
}

// goBack makes the store what was saved; mu is held. What was there before is
// in the changelog, also if nobody has looked at its end since.
func (t *task) goBack() {
	if t.st == nil {
		return
	}
	t.end = max(t.end, t.next)
	t.st.discard()
	t.saved = t.st.saved()
	t.next, t.topic = t.saved.next, t.saved.topic
	t.quiet = quiet{}
}

// empty drops the whole state; mu is held.
func (t *task) empty() error {
	err := t.st.clear()
	t.saved = t.st.saved()
	t.next, t.topic, t.quiet = 0, [16]byte{}, quiet{}
	t.caughtUp, t.misfits = false, false
	return err
}
