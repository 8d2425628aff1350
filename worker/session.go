package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/seat"
	"github.com/streamctl/streamctl/internal/taskrun"
)

// session is the membership by which a worker's tasks commit. Its lock is a
// leaf: nothing is called under it.
type session struct {
	mu         sync.Mutex
	seat       *seat.Seat
	member     string
	generation int32
	in         bool // there is a membership to commit by
	closing    bool // tasks are stopped for a round or a departure: no newer generation will come before they are
	last       bool // the group is about to be left for a mode switch, as soon as all is stopped
	owned      map[model.TaskID]bool
	changed    chan struct{} // closed when anything here changes
}

func newSession() *session { return &session{changed: make(chan struct{})} }

// set changes the session and wakes who waits for a newer one.
func (s *session) set(f func(*session)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
	close(s.changed)
	s.changed = make(chan struct{})
}

// committer commits the input offsets of one task by a worker's membership.
type committer struct {
	s    *session
	all  []*session // of the instance
	task model.TaskID
}

const (
	commitRetry = 50 * time.Millisecond  // while the round is between join and sync
	fencedRetry = 500 * time.Millisecond // after a refused generation, should no newer one come
	commitWait  = 15 * time.Second       // for the assignment of a generation that is already complete
	hearWait    = 3 * time.Second        // for a worker that is no member, to whom the task may have gone
)

// Commit commits under the generation of the worker's last assignment. While a
// round that the worker takes part in is about to end, that one is refused
// already; then it waits for the new assignment, and commits under it if the
// task is still the worker's, or another's of the instance.
func (c committer) Commit(ctx context.Context, offsets map[model.TopicPartition]int64) error {
	ctx, cancel := context.WithTimeout(ctx, commitWait)
	defer cancel()
	began := time.Now()
	for {
		m, changed := c.membership(time.Since(began) < hearWait)
		if m.fenced {
			return fmt.Errorf("task %s: the worker is no member any more or lost the task: %w", c.task, kerr.UnknownMemberID)
		}
		if m.seat == nil {
			if !await(ctx, changed, m.pause) {
				return ctx.Err()
			}
			continue
		}
		err := m.seat.Commit(ctx, m.generation, m.member, offsets)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, kerr.RebalanceInProgress):
			m.pause = commitRetry
		case !taskrun.IsFenced(err) || m.closing && c.s.isClosing() || !errors.Is(err, kerr.IllegalGeneration):
			return err
		default:
			m.pause = max(m.pause, fencedRetry)
		}
		if !await(ctx, changed, m.pause) {
			return err
		}
	}
}

// membership is what a commit is made by.
type membership struct {
	seat       *seat.Seat // nil: not yet
	member     string
	generation int32
	closing    bool
	fenced     bool          // there is none, and will be none
	pause      time.Duration // after which to look again; 0: when the worker's session changes
}

// membership finds what the task commits by: its worker's membership, or, when
// the task went to another worker of the instance, that one's. The other may
// hear of it later, and patience is for one that is about to join. A worker
// that is about to join or to leave commits what it had in any case: the other
// may have left already.
func (c committer) membership(patience bool) (membership, <-chan struct{}) {
	c.s.mu.Lock()
	m := membership{seat: c.s.seat, member: c.s.member, generation: c.s.generation, closing: c.s.closing, fenced: !c.s.in}
	mine, last, changed := c.s.owned[c.task], c.s.last || c.s.closing, c.s.changed
	c.s.mu.Unlock()
	if m.fenced || mine {
		return m, changed
	}
	wait := false
	for _, o := range c.all {
		if o == c.s {
			continue
		}
		o.mu.Lock()
		x := membership{seat: o.seat, member: o.member, generation: o.generation, pause: commitRetry}
		in, owns := o.in, o.owned[c.task]
		o.mu.Unlock()
		if in && owns {
			return x, changed
		}
		wait = wait || in && x.generation != m.generation || !in && patience
	}
	switch {
	case last: // newer generations may come, since nobody waits for this task
		m.closing, m.pause = false, commitRetry
	case wait:
		m.seat, m.pause = nil, commitRetry
	default:
		m.fenced = true
	}
	return m, changed
}

// isClosing says whether the worker is still about to join. A commit that was
// sent then by a task that goes on, and is refused only after the worker has
// joined, says nothing: the next generation is about to be heard of.
func (s *session) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// await waits for a change, or for a pause if it is not 0. It is false when ctx
// ended first.
func await(ctx context.Context, changed <-chan struct{}, pause time.Duration) bool {
	var after <-chan time.Time
	if pause > 0 {
		t := time.NewTimer(pause)
		defer t.Stop()
		after = t.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-changed:
	case <-after:
	}
	return true
}
