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
	task model.TaskID
}

const (
	commitRetry = 50 * time.Millisecond // while the round is between join and sync
	commitWait  = 15 * time.Second      // for the assignment of a generation that is already complete
)

// Commit commits under the generation of the worker's last assignment. While a
// round that the worker takes part in is about to end, that one is refused
// already; then it waits for the new assignment, and commits under it if the
// task is still the worker's.
func (c committer) Commit(ctx context.Context, offsets map[model.TopicPartition]int64) error {
	ctx, cancel := context.WithTimeout(ctx, commitWait)
	defer cancel()
	for {
		c.s.mu.Lock()
		by, generation, member, in, closing, owned, changed := c.s.seat, c.s.generation, c.s.member, c.s.in, c.s.closing, c.s.owned[c.task], c.s.changed
		c.s.mu.Unlock()
		if !in || !owned && !closing {
			return fmt.Errorf("task %s: the worker is no member any more or lost the task: %w", c.task, kerr.UnknownMemberID)
		}
		if by == nil { // its seat is about to be there
			if !await(ctx, changed, 0) {
				return ctx.Err()
			}
			continue
		}
		err := by.Commit(ctx, generation, member, offsets)
		pause := time.Duration(0)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, kerr.RebalanceInProgress):
			pause = commitRetry
		case !taskrun.IsFenced(err) || closing || !errors.Is(err, kerr.IllegalGeneration):
			return err
		}
		if !await(ctx, changed, pause) {
			return err
		}
	}
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
