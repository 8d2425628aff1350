package taskrun

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/model"
)

const (
	inputMax = 2_000 // records of one poll
	boxMax   = 4_000 // records that wait for a task before its inputs are paused

	boxAll   = 64 << 20 // bytes of keys and values that wait for all tasks before inputs are paused
	boxLeast = 1 << 20  // bytes of these that any task may have
)

// boxBytes is how many bytes wait for one task before its inputs are paused.
func (h *Host) boxBytes() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(boxAll/max(1, len(h.tasks)), boxLeast)
}

// inbox holds what was fetched for a stint and is not processed yet.
type inbox struct {
	mu      sync.Mutex
	records []*kgo.Record
	bytes   int                            // keys and values of records
	next    map[model.TopicPartition]int64 // offset to come, of all inputs
	paused  bool
	ready   chan struct{}
}

// take empties the box and has paused inputs go on once nothing is left.
func (b *inbox) take(s *stint) []*kgo.Record {
	b.mu.Lock()
	records := b.records
	b.records, b.bytes = nil, 0
	resume := b.paused && len(records) == 0
	again := b.paused && len(records) > 0
	if resume {
		b.paused = false
	}
	b.mu.Unlock()
	if again {
		b.wake() // comes back with an empty box
	}
	if resume {
		s.h.inputs.do(func() {
			if s.attached() {
				s.h.inputs.cl.ResumeFetchPartitions(b.partitions())
			}
		})
	}
	return records
}

func (b *inbox) wake() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// put adds what was fetched and reports whether the inputs are to pause: more
// than boxMax records wait, or more than so many bytes.
func (b *inbox) put(tp model.TopicPartition, records []*kgo.Record, most int) (pause bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range records {
		if r.Offset >= b.next[tp] {
			b.next[tp] = r.Offset + 1
			b.records = append(b.records, r)
			b.bytes += len(r.Key) + len(r.Value)
		}
	}
	b.wake()
	pause = (len(b.records) > boxMax || b.bytes > most) && !b.paused
	b.paused = b.paused || pause
	return pause
}

// partitions gives the inputs as kgo wants them.
func (b *inbox) partitions() map[string][]int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string][]int32{}
	for tp := range b.next {
		out[tp.Topic] = append(out[tp.Topic], tp.Partition)
	}
	return out
}

// attached reports whether the stint's inputs are fetched; in the inputs
// poller.
func (s *stint) attached() bool {
	for tp := range s.box.next {
		return s.h.byInput[tp] == s
	}
	return false
}

// attach has the inputs fetched from the given offsets on; below 0 is the start
// of the log.
func (s *stint) attach(offsets map[model.TopicPartition]int64) {
	s.box.next = offsets
	s.h.inputs.do(func() {
		for tp, at := range offsets {
			s.h.byInput[tp] = s
			s.h.addInput(tp, at)
		}
	})
}

// addInput adds one input to those that the next poll begins with; in the inputs
// poller.
func (h *Host) addInput(tp model.TopicPartition, at int64) {
	o := kgo.NewOffset().AtStart()
	if at >= 0 {
		o = kgo.NewOffset().At(at)
	}
	if h.adding[tp.Topic] == nil {
		h.adding[tp.Topic] = map[int32]kgo.Offset{}
	}
	h.adding[tp.Topic][tp.Partition] = o
}

// addInputs has the client fetch what was added. It looks at the whole topic each
// time that it is given partitions of it.
func (h *Host) addInputs() {
	h.inputs.cl.AddConsumePartitions(h.adding)
	clear(h.adding)
}

// dropInputs takes back what was added since the last poll. It would be fetched
// for nobody, and a stint to come, whose inputs the client fetches already, would
// begin behind that.
func (h *Host) dropInputs(ps map[string][]int32) {
	for topic, list := range ps {
		for _, p := range list {
			delete(h.adding[topic], p)
		}
		if len(h.adding[topic]) == 0 {
			delete(h.adding, topic)
		}
	}
}

// detach ends the fetching.
func (s *stint) detach() {
	s.h.inputs.do(func() {
		ps := s.box.partitions()
		for tp, of := range s.h.byInput {
			if of == s {
				delete(s.h.byInput, tp)
			}
		}
		s.h.dropInputs(ps)
		s.h.inputs.cl.RemoveConsumePartitions(ps)
		s.h.inputs.cl.ResumeFetchPartitions(s.box.partitions()) // a pause outlives a removal
	})
}

// inputsLoop fetches inputs and hands them to the stints.
func (h *Host) inputsLoop() {
	for h.ctx.Err() == nil {
		h.inputs.runJobs()
		h.addInputs()
		fs := h.inputs.poll(h.ctx, idleWait, inputMax)
		n, bad := 0, false
		fs.EachPartition(func(ft kgo.FetchTopicPartition) {
			n += len(ft.Records)
			bad = h.arrived(ft) || bad
		})
		if n == 0 && bad {
			h.inputs.rest(h.ctx, errorPause)
		}
	}
}

// arrived hands over fetched records and reports whether the partition brought
// an error. After most errors the client fetches it no more, so it is added
// again.
func (h *Host) arrived(ft kgo.FetchTopicPartition) (bad bool) {
	if ft.Topic == "" {
		return ft.Err != nil && h.ctx.Err() == nil && !timedOut(ft.Err)
	}
	tp := model.TopicPartition{Topic: ft.Topic, Partition: ft.Partition}
	s := h.byInput[tp]
	if s == nil {
		return false
	}
	if s.box.put(tp, ft.Records, h.boxBytes()) {
		h.inputs.cl.PauseFetchPartitions(s.box.partitions())
	}
	if ft.Err == nil {
		return false
	}
	if errors.Is(ft.Err, kerr.OffsetOutOfRange) {
		h.inputs.cl.RemoveConsumePartitions(map[string][]int32{tp.Topic: {tp.Partition}})
		h.wg.Go(func() { h.reposition(s, tp) })
		return true
	}
	h.trouble(s.t, fmt.Errorf("fetch input %q: %w", tp, ft.Err))
	var lost *kgo.ErrDataLoss
	if errors.As(ft.Err, &lost) {
		s.box.rewind(tp, lost.ResetTo) // the client goes on by itself
		return true
	}
	h.inputs.cl.RemoveConsumePartitions(map[string][]int32{tp.Topic: {tp.Partition}})
	at := s.box.rewind(tp, -1)
	if errors.Is(ft.Err, kerr.UnknownTopicID) {
		// Made anew: nothing of the old offsets holds.
		h.inputs.cl.PurgeTopicsFromConsuming(tp.Topic)
		at = s.box.rewind(tp, 0)
	}
	h.addInput(tp, at)
	return true
}

// rewind sets the offset to come if to is not negative, and gives it.
func (b *inbox) rewind(tp model.TopicPartition, to int64) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if to >= 0 {
		b.next[tp] = to
	}
	return b.next[tp]
}

// timedOut reports whether a poll ended since its time was up or a job came.
func timedOut(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
