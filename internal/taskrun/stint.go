package taskrun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/model"
)

// stint is one spell of processing: from the committed offsets until it is
// stopped or something fails.
type stint struct {
	a         *activation
	h         *Host
	t         *task
	processor Processor
	store     Store // nil for a stateless task
	box       inbox

	// Guarded by the task's mu.
	dead    bool    // writes are dropped
	unacked int     // changelog writes under way
	failed  error   // of a changelog write
	foreign bool    // acknowledged offsets have a gap that is not ours
	own     ownRuns // while foreign: our writes above the position
	top     int64   // offset after our last acknowledged write

	acked chan struct{} // a write has got its outcome

	// Of the goroutine that processes.
	done   map[model.TopicPartition]int64 // next input offsets, not committed yet
	last   map[model.TopicPartition]int64 // those committed last
	count  int64                          // records since the last commit
	healed time.Time                      // last try to overrule another writer
}

func newStint(a *activation) *stint {
	s := &stint{a: a, h: a.h, t: a.t, acked: make(chan struct{}, 1), done: map[model.TopicPartition]int64{}, last: map[model.TopicPartition]int64{}}
	s.box.ready = make(chan struct{}, 1)
	s.processor = a.h.o.NewProcessor(a.t.id)
	a.t.mu.Lock()
	defer a.t.mu.Unlock()
	if a.t.stateful() {
		s.store = &handle{s: s, mu: &a.t.mu, st: a.t.st}
	}
	a.stint = s
	s.dead = a.ctx.Err() != nil
	return s
}

// write puts a record into store and changelog.
func (s *stint) write(st backing, key, value []byte) {
	s.t.mu.Lock()
	if s.dead || s.failed != nil {
		s.t.mu.Unlock()
		return
	}
	if n := len(key) + len(value) + recordFrame; n > s.h.batchMax {
		// The client would refuse it later, behind records that are not to be
		// written any more.
		s.failed = fmt.Errorf("write changelog \"%s\": a record of %d bytes, the most is %d: %w", s.t.changelog, n, s.h.batchMax, kerr.MessageTooLarge)
		s.t.mu.Unlock()
		return
	}
	st.put(key, value)
	s.unacked++
	s.t.mu.Unlock()
	if value != nil {
		value = clone(value)
	}
	s.produce(clone(key), value)
}

// recordFrame is what a batch of one record has besides key and value, in bytes,
// at the most.
const recordFrame = 100

// produce writes a record to the changelog; it is counted as unacked already.
func (s *stint) produce(key, value []byte) {
	r := &kgo.Record{Topic: s.t.changelog.Topic, Partition: s.t.changelog.Partition, Key: key, Value: value}
	s.h.inputs.cl.Produce(s.a.ctx, r, s.written)
}

// written takes in the outcome of a changelog write. Outcomes of one partition
// come in the order of its offsets.
func (s *stint) written(r *kgo.Record, err error) {
	s.t.mu.Lock()
	s.unacked--
	switch {
	case err != nil:
		if s.failed == nil {
			s.failed = fmt.Errorf("write changelog \"%s\": %w", s.t.changelog, err)
		}
	case s.dead:
	case r.Offset == s.t.next:
		s.t.next++
		s.top = s.t.next
	default:
		// Somebody else has written in between. The position stays below until
		// that is overruled; if it never is, the next restore takes the changelog
		// as the truth.
		s.foreign = true
		s.own.add(r.Offset)
		s.top = r.Offset + 1
	}
	s.t.mu.Unlock()
	select {
	case s.acked <- struct{}{}:
	default:
	}
}

// work processes what comes until it is to finish.
func (s *stint) work() error {
	tick := time.NewTicker(s.h.o.CommitInterval)
	defer tick.Stop()
	for {
		select {
		case <-s.a.stop:
			return nil
		case <-s.a.ctx.Done():
			return s.a.ctx.Err()
		case <-s.acked:
			if err := s.failure(); err != nil {
				return err
			}
			if err := s.overruleSoon(); err != nil {
				return err
			}
		case <-tick.C:
			if err := s.commitTold(); err != nil {
				return err
			}
		case <-s.box.ready:
			if whole, err := s.batch(tick.C); !whole {
				return err
			}
		}
	}
}

// batch processes what lies in the inbox. When it is to finish or something
// fails it is not whole: the rest is dropped, to be read again by others, and
// nothing that comes after it may be processed in this stint any more, or the
// rest would be committed unread.
func (s *stint) batch(tick <-chan time.Time) (whole bool, err error) {
	for _, r := range s.box.take(s) {
		if s.a.stopping() {
			return false, s.a.ctx.Err()
		}
		select {
		case <-tick:
			if err := s.commitTold(); err != nil {
				return false, err
			}
		default:
		}
		if ok, err := s.one(r); !ok {
			return false, err
		}
		if err := s.failure(); err != nil {
			return false, err
		}
		if s.full(1) {
			if err := s.commitTold(); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// one processes a record until that succeeds, or until the stint is to finish:
// then it is false.
func (s *stint) one(r *kgo.Record) (ok bool, err error) {
	if r.Attrs.IsControl() { // the end of a transaction: read, and nothing to process
		s.done[model.TopicPartition{Topic: r.Topic, Partition: r.Partition}] = r.Offset + 1
		return true, nil
	}
	in := Record{
		Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Key: r.Key, Value: r.Value, Headers: r.Headers, Timestamp: r.Timestamp,
	}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := s.processor.Process(in, s.store)
		if s.a.ctx.Err() != nil {
			return false, s.a.ctx.Err()
		}
		if err == nil {
			s.done[model.TopicPartition{Topic: r.Topic, Partition: r.Partition}] = r.Offset + 1
			s.count++
			return true, nil
		}
		s.h.trouble(s.t, fmt.Errorf("process record %d of \"%s-%d\": %w", r.Offset, r.Topic, r.Partition, err))
		if !s.a.pause(pause) {
			return false, s.a.ctx.Err()
		}
	}
}

// failure is what a changelog write has failed with.
func (s *stint) failure() error {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	return s.failed
}

// full reports whether more of the store waits in memory than is allowed, times
// n.
func (s *stint) full(n int) bool {
	if !s.t.stateful() {
		return false
	}
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	return s.t.st.pending() > n*s.h.pendingLimit()
}

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
	err := s.commit(false)
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
	s.t.mu.Lock()
	foreign := s.foreign
	s.t.mu.Unlock()
	if !foreign || time.Since(s.healed) < lastPause {
		return nil
	}
	return s.commitTold()
}

// commit makes sure of the changelog first, then of the input offsets. The
// store is made durable in between if that is due or last is set. The records
// of another writer are overruled at the end: then the task is known to be ours.
func (s *stint) commit(last bool) error {
	if err := s.flush(); err != nil {
		return err
	}
	if err := s.checkpoint(last); err != nil {
		return err
	}
	end := int64(0)
	if last && s.t.stateful() {
		end = s.foreignTail()
	}
	s.t.mu.Lock()
	foreign := s.foreign || end > 0
	s.t.mu.Unlock()
	if err := s.commitOffsets(foreign); err != nil || !foreign || len(s.last) == 0 {
		return err
	}
	s.healed = time.Now()
	if err := s.heal(end); err != nil {
		if s.failure() != nil || s.a.ctx.Err() != nil {
			return err
		}
		s.h.trouble(s.t, err) // tried again with a later commit
		return nil
	}
	return s.checkpoint(last)
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
func (s *stint) checkpoint(last bool) error {
	if !s.t.stateful() {
		return nil
	}
	now := time.Now()
	due := last || s.full(1)
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
		err := s.commit(true)
		var passing *passingError
		if !errors.As(err, &passing) {
			return err
		}
		s.h.trouble(s.t, err)
		t := time.NewTimer(firstPause)
		select {
		case <-t.C:
		case <-s.a.ctx.Done():
			t.Stop()
			return errors.Join(err, s.a.ctx.Err())
		}
	}
}

// leave ends the stint with a store that reflects the changelog.
func (s *stint) leave() {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	s.dead = true
	s.a.stint = nil
}

// abandon ends the stint and takes the store back to what is durable.
func (s *stint) abandon() {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	s.dead = true
	s.a.stint = nil
	s.t.goBack()
}
