package taskrun

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/streamctl/streamctl/internal/clock"
)

// flush waits until all changelog writes are acknowledged.
func (s *stint) flush() error {
	for {
		s.t.mu.Lock()
		n, err := s.unacked, s.failed
		s.t.mu.Unlock()
		if err != nil || n == 0 {
			return err
		}
		select {
		case <-s.acked:
		case <-s.a.ctx.Done():
			return s.a.ctx.Err()
		}
	}
}

// commitTold commits; a failure that may pass is told and tried again later.
func (s *stint) commitTold() error {
	err := s.commit()
	var passing *passingError
	if errors.As(err, &passing) {
		s.h.trouble(s.t, err)
		return nil
	}
	return err
}

// passingError is a failed commit that is tried again.
type passingError struct{ err error }

func (e *passingError) Error() string { return "commit of input offsets: " + e.err.Error() }

func (e *passingError) Unwrap() error { return e.err }

// overruleSoon commits at once when another writer was seen, which leads to it
// being overruled, but tries no more often than now and then.
func (s *stint) overruleSoon() error {
	if !s.isForeign() || time.Since(s.healed) < lastPause {
		return nil
	}
	return s.commitTold()
}

// commit makes sure of the changelog first, then of the input offsets. The
// store is made durable in between if that is due. The records of another writer
// are overruled at the end: then the task is known to be ours.
func (s *stint) commit() error {
	if err := s.flush(); err != nil {
		return err
	}
	if err := s.checkpoint(); err != nil {
		return err
	}
	foreign := s.isForeign()
	if err := s.commitOffsets(foreign); err != nil || !foreign {
		return err
	}
	return s.overruleAll(0)
}

// commitLast is the commit by which a stint ends. The group waits for it, so
// nothing else is waited for: whether somebody wrote behind us is looked at
// meanwhile, and the copy that the task is from now on is made durable when it
// is its turn.
func (s *stint) commitLast() error {
	if err := s.flush(); err != nil {
		return err
	}
	if !s.halted {
		s.halted = true
		s.h.tell(Event{Kind: Halted, Task: s.t.id})
	}
	tail := make(chan int64, 1)
	if s.t.stateful() {
		s.h.acts.Go(func() { tail <- s.foreignTail() })
	} else {
		tail <- 0
	}
	foreign := s.isForeign()
	if err := s.commitOffsets(foreign); err != nil {
		return err
	}
	end := <-tail
	if end > 0 && !foreign {
		foreign = true
		if err := s.commitOffsets(true); err != nil { // once more, now that we know
			return err
		}
	}
	if !foreign {
		return nil
	}
	return s.overruleAll(end)
}

func (s *stint) isForeign() bool {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	return s.foreign
}

// overruleAll overrules the records of another writer, up to an offset at least.
// The last commit was of this stint, and accepted.
func (s *stint) overruleAll(end int64) error {
	if len(s.last) == 0 {
		return nil
	}
	s.healed = time.Now()
	if err := s.heal(end); err != nil {
		if s.failure() != nil || s.a.ctx.Err() != nil {
			return err
		}
		s.h.trouble(s.t, err) // tried again with a later commit
		return nil
	}
	return s.checkpoint()
}

// commitOffsets commits the input offsets; with again also those that are
// committed, if there is nothing newer.
func (s *stint) commitOffsets(again bool) error {
	offsets := s.done
	if len(offsets) == 0 && again {
		offsets = s.last
	}
	if len(offsets) == 0 {
		return nil
	}
	if err := s.a.ctx.Err(); err != nil {
		return err
	}
	s.t.mu.Lock()
	c := s.t.committer
	s.t.mu.Unlock()
	err := c.Commit(s.a.ctx, maps.Clone(offsets))
	switch {
	case err == nil:
	case IsFenced(err):
		return &fencedError{err: err}
	case s.a.ctx.Err() != nil:
		return context.Cause(s.a.ctx)
	default:
		return &passingError{err: err}
	}
	if len(s.done) > 0 {
		s.h.tell(Event{Kind: Committed, Task: s.t.id, Records: s.count})
	}
	maps.Copy(s.last, s.done)
	clear(s.done)
	s.count = 0
	return nil
}

// checkpoint makes the store durable. A failure only means that a crash would
// restore more, until too much waits in memory.
func (s *stint) checkpoint() error {
	if !s.t.stateful() {
		return nil
	}
	now := time.Now()
	due := s.full(1)
	s.t.mu.Lock()
	var err error
	if !s.dead && (due || now.Sub(s.t.savedAt) >= saveEvery) {
		err = s.t.save(now)
	}
	s.t.mu.Unlock()
	if err == nil {
		return nil
	}
	if s.full(4) {
		return err
	}
	s.h.trouble(s.t, err)
	return nil
}

// finish commits for the last time, until that succeeds or is of no use.
func (s *stint) finish() error {
	for {
		err := s.commitLast()
		var passing *passingError
		if !errors.As(err, &passing) {
			return err
		}
		s.h.trouble(s.t, err)
		if ended := clock.Sleep(s.a.ctx, firstPause); ended != nil {
			return errors.Join(err, ended)
		}
	}
}
