package taskrun

import (
	"fmt"
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
	halted bool                           // Halted is told
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
		s.failed = fmt.Errorf("write changelog %q: a record of %d bytes, the most is %d: %w", s.t.changelog, n, s.h.batchMax, kerr.MessageTooLarge)
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
			s.failed = fmt.Errorf("write changelog %q: %w", s.t.changelog, err)
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
// n. It is asked for after each record, so the host, whose lock all tasks share,
// is asked only when it matters.
func (s *stint) full(n int) bool {
	if !s.t.stateful() {
		return false
	}
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	waits := s.t.st.pending()
	return waits > n*pendingLeast && waits > n*s.h.pendingLimit()
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
