package taskrun

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Pauses between attempts at what failed: doubling from the first to the last.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// giveUp is how long an activation that was told to stop at once may take for
// that before it is left behind.
const giveUp = 250 * time.Millisecond

// fencedError is why a stint ended whose commit was refused for good.
type fencedError struct{ err error }

func (e *fencedError) Error() string {
	return "commit refused, another member owns the task: " + e.err.Error()
}

func (e *fencedError) Unwrap() error { return e.err }

// activation is a task's time as an active one, from Activate until it is
// demoted or fenced. One goroutine runs it.
type activation struct {
	h      *Host
	t      *task
	prev   *activation     // must be over first
	ctx    context.Context // ends when all is to be dropped
	cancel context.CancelFunc
	stop   chan struct{} // closed when it is to finish
	once   sync.Once
	done   chan struct{}
	err    error  // how it ended; read after done
	stint  *stint // under way; guarded by the task's mu
}

func newActivation(h *Host, t *task, prev *activation) *activation {
	a := &activation{h: h, t: t, prev: prev, stop: make(chan struct{}), done: make(chan struct{})}
	a.ctx, a.cancel = context.WithCancel(h.ctx)
	return a
}

// over reports whether its goroutine has left the task alone.
func (a *activation) over() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// wait waits until it is over.
func (a *activation) wait(ctx context.Context) bool {
	select {
	case <-a.done:
		return true
	default:
	}
	select {
	case <-a.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// end has it finish, and drop everything when ctx ends before that.
func (a *activation) end(ctx context.Context) error {
	a.once.Do(func() { close(a.stop) })
	if a.wait(ctx) {
		return a.err
	}
	a.drop()
	grace, cancel := context.WithTimeout(context.Background(), giveUp)
	defer cancel()
	if a.wait(grace) {
		return a.err
	}
	return fmt.Errorf("task %q: a call of Process does not return; what it writes is dropped: %w", a.t.id, ctx.Err())
}

// drop ends all that the task writes, at once.
func (a *activation) drop() {
	a.cancel()
	a.t.mu.Lock()
	defer a.t.mu.Unlock()
	if a.stint != nil {
		a.stint.dead = true
	}
}

// stopping reports whether it is to finish.
func (a *activation) stopping() bool {
	select {
	case <-a.stop:
		return true
	case <-a.ctx.Done():
		return true
	default:
		return false
	}
}

// pause waits, and reports false when it is to finish.
func (a *activation) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-a.stop:
	case <-a.ctx.Done():
	}
	return false
}

// run restores and processes, again after a failure, until it is to finish or
// a commit is fenced.
func (a *activation) run() {
	defer close(a.done)
	defer a.cancel()
	if a.prev != nil {
		<-a.prev.done
		a.prev = nil
	}
	for pause := firstPause; !a.stopping(); pause = min(2*pause, lastPause) {
		if !a.restored() {
			break
		}
		began := time.Now()
		err := a.process()
		var fenced *fencedError
		if err == nil || errors.As(err, &fenced) || a.stopping() {
			a.err = err
			break
		}
		a.h.trouble(a.t, err)
		if time.Since(began) > lastPause {
			pause = firstPause
		}
		a.follow()
		if !a.pause(pause) {
			break
		}
	}
	a.follow()
	if !a.t.stateful() {
		a.h.forget(a.t)
	}
}

// restored waits until the store has all that the changelog holds now.
func (a *activation) restored() bool {
	if !a.t.stateful() {
		return true
	}
	a.t.mu.Lock()
	a.t.role = restoring
	a.t.movedAt = time.Now()
	a.t.ready = make(chan struct{})
	a.t.needLook = a.h.lookNow(a.t.topic != [16]byte{}) // is what it has of the topic that there is now?
	ready := a.t.ready
	a.t.mu.Unlock()
	select {
	case <-ready:
		return true
	case <-a.stop:
	case <-a.ctx.Done():
	}
	return false
}

// follow makes the task a copy again.
func (a *activation) follow() {
	if !a.t.stateful() {
		return
	}
	a.t.mu.Lock()
	defer a.t.mu.Unlock()
	if a.t.role == running {
		a.t.quiet, a.t.caughtUp, a.t.within = quiet{}, false, unknown
	}
	a.t.role = copying
	a.h.lookNow(false)
}

// process runs one stint: from the committed offsets until it is to finish or
// something fails. What the store and the changelog hold after an error is left
// as the copy's business.
func (a *activation) process() error {
	s := newStint(a)
	offsets, err := s.start()
	if err != nil {
		s.abandon()
		if a.stopping() {
			return nil // nothing was begun
		}
		return err
	}
	for tp, at := range offsets {
		if at >= 0 {
			s.last[tp] = at
		}
	}
	s.attach(offsets)
	a.h.tell(Event{Kind: Started, Task: a.t.id, Records: a.t.restoredRecords()})
	err = s.work()
	s.detach()
	if err == nil {
		err = s.finish()
	}
	var fenced *fencedError
	switch {
	case errors.As(err, &fenced):
		// The commit came after the changelog writes: the store is right.
		s.leave()
		a.h.tell(Event{Kind: Fenced, Task: a.t.id, Err: err})
	case err != nil:
		s.abandon()
	default:
		s.leave()
	}
	if err != nil {
		err = fmt.Errorf("task %q: %w", a.t.id, err)
	}
	a.h.tell(Event{Kind: Stopped, Task: a.t.id, Err: err})
	return err
}

// restoredRecords is task.restored, from outside.
func (t *task) restoredRecords() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.restored
}
