package seat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/model"
)

// Commit commits input offsets in the name of a generation. The coordinator
// takes them until the next generation is complete and refuses them from then
// on with ILLEGAL_GENERATION, which fences an owner of the past. Unlike the
// client's own commits it does not wait for a join in flight.
//
// A coordinator takes one commit of a connection after the other and has each
// replicated. So what is to be committed while a commit of the same membership
// is under way waits, and goes in one request with all else that came meanwhile:
// a worker that stops all its tasks commits them together. When ctx ends first,
// the offsets may be committed all the same, since others wait for that request.
func (s *Seat) Commit(ctx context.Context, generation int32, memberID string, offsets map[model.TopicPartition]int64) error {
	if len(offsets) == 0 {
		return nil
	}
	b, err := s.gather(membership{generation, memberID}, offsets)
	if err != nil {
		return fmt.Errorf("commit for group %q: %w", s.o.Group, err)
	}
	select {
	case <-b.done:
	case <-ctx.Done():
		s.commits.leave(b)
		return fmt.Errorf("commit for group %q: %w", s.o.Group, ctx.Err())
	}
	if b.err != nil {
		return fmt.Errorf("commit for group %q: %w", s.o.Group, b.err)
	}
	var errs []error
	for _, p := range slices.SortedFunc(maps.Keys(offsets), model.TopicPartition.Compare) {
		if err := b.refused[p]; err != nil && !slices.Contains(errs, err) {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("commit for group %q, generation %d: %w", s.o.Group, generation, errors.Join(errs...))
	}
	return nil
}

// membership is in whose name a commit is made.
type membership struct {
	generation int32
	member     string
}

// batch is what is committed by one request.
type batch struct {
	by      membership
	offsets map[model.TopicPartition]int64
	waiting int                // who waits for it
	cancel  context.CancelFunc // of the request; nil before that
	done    chan struct{}
	err     error // set before done is closed, as refused is
	refused map[model.TopicPartition]error
}

// commits holds, by membership, what is to be committed next, and whether a
// request is under way.
type commits struct {
	mu     sync.Mutex
	next   map[membership]*batch // being gathered
	busy   map[membership]bool   // sendAll runs
	closed bool
}

func newCommits() *commits {
	return &commits{next: map[membership]*batch{}, busy: map[membership]bool{}}
}

// close lets no commit begin any more.
func (c *commits) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// gather adds offsets to the batch that is sent next.
func (s *Seat) gather(by membership, offsets map[model.TopicPartition]int64) (*batch, error) {
	c := s.commits
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, kgo.ErrClientClosed
	}
	b := c.next[by]
	if b == nil {
		b = &batch{by: by, offsets: map[model.TopicPartition]int64{}, done: make(chan struct{})}
		c.next[by] = b
	}
	maps.Copy(b.offsets, offsets)
	b.waiting++
	if !c.busy[by] {
		c.busy[by] = true
		s.watch.Go(func() { s.sendAll(by) })
	}
	return b, nil
}

// leave ends a batch for which nobody waits any more.
func (c *commits) leave(b *batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b.waiting--
	if b.waiting > 0 {
		return
	}
	if b.cancel != nil {
		b.cancel()
	}
	if c.next[b.by] == b {
		delete(c.next, b.by)
	}
}

// take gives the batch that is to be sent, nil when there is none.
func (c *commits) take(by membership) (*batch, context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.next[by]
	delete(c.next, by)
	if b == nil {
		delete(c.busy, by)
		return nil, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	return b, ctx
}

// sendAll sends one batch after the other until nothing is left.
func (s *Seat) sendAll(by membership) {
	for {
		b, ctx := s.commits.take(by)
		if b == nil {
			return
		}
		b.refused, b.err = s.send(ctx, b)
		b.cancel()
		close(b.done)
	}
}

// send commits a batch, and gives what was refused.
func (s *Seat) send(ctx context.Context, b *batch) (map[model.TopicPartition]error, error) {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation, req.MemberID = s.o.Group, b.by.generation, b.by.member
	if s.o.InstanceID != "" {
		req.InstanceID = kmsg.StringPtr(s.o.InstanceID)
	}
	var topics []string
	for _, p := range slices.SortedFunc(maps.Keys(b.offsets), model.TopicPartition.Compare) {
		if n := len(topics); n == 0 || topics[n-1] != p.Topic {
			t := kmsg.NewOffsetCommitRequestTopic()
			t.Topic = p.Topic
			req.Topics, topics = append(req.Topics, t), append(topics, p.Topic)
		}
		t := &req.Topics[len(req.Topics)-1]
		rp := kmsg.NewOffsetCommitRequestTopicPartition()
		rp.Partition, rp.Offset = p.Partition, b.offsets[p]
		t.Partitions = append(t.Partitions, rp)
	}
	ids, err := s.topicIDs(ctx, topics)
	if err != nil {
		return nil, err
	}
	names := make(map[[16]byte]string, len(ids))
	for i := range req.Topics {
		t := &req.Topics[i]
		t.TopicID = ids[t.Topic] // from version 10 on commits go by id
		names[t.TopicID] = t.Topic
	}
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil {
		return nil, err
	}
	refused := map[model.TopicPartition]error{}
	for _, t := range resp.Topics {
		if t.Topic == "" {
			t.Topic = names[t.TopicID]
		}
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				refused[model.TopicPartition{Topic: t.Topic, Partition: p.Partition}] = err
			}
			if p.ErrorCode == kerr.UnknownTopicID.Code {
				s.forgetID(t.Topic) // made anew
			}
		}
	}
	return refused, nil
}
