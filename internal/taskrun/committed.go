package taskrun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/model"
)

// start gives the offsets that the stint begins at, by input partition: what
// the group committed, -1 where it committed nothing. It tries until it
// succeeds or is to stop.
func (s *stint) start() (map[model.TopicPartition]int64, error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		ctx, cancel := context.WithTimeout(s.a.ctx, askWait)
		offsets, err := s.h.committed(ctx, s.t)
		cancel()
		if err == nil && !s.a.stopping() {
			return offsets, nil
		}
		if err != nil && !s.a.stopping() {
			s.h.trouble(s.t, err)
		}
		if !s.a.pause(pause) {
			return nil, errors.Join(err, errStopped)
		}
	}
}

// errStopped is why a start was given up.
var errStopped = errors.New("told to stop")

// committed asks for the offsets that the group committed for a task's inputs.
// A topic with too few partitions has none for the task. Tasks that ask at about
// the same time are asked for together.
func (h *Host) committed(ctx context.Context, t *task) (map[model.TopicPartition]int64, error) {
	q := &question{t: t, answer: make(chan answer, 1)}
	h.mu.Lock()
	h.questions = append(h.questions, q)
	first := len(h.questions) == 1
	h.mu.Unlock()
	if first {
		h.acts.Go(h.askCommitted)
	}
	select {
	case a := <-q.answer:
		return a.offsets, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("committed offsets of group %q: %w", h.o.Group, ctx.Err())
	}
}

// question is a task whose committed offsets are asked for.
type question struct {
	t      *task
	answer chan answer // one, of a task that may not wait any more
}

type answer struct {
	offsets map[model.TopicPartition]int64
	err     error
}

// askWait bounds the requests for committed offsets, and the wait for their
// answer.
const askWait = 30 * time.Second

// askCommitted answers the questions that have come up.
func (h *Host) askCommitted() {
	_ = clock.Sleep(h.ctx, askTogether) // all who wait get the error of a host that ends
	h.mu.Lock()
	list := h.questions
	h.questions = nil
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(h.ctx, askWait)
	defer cancel()
	parts := map[string][]int32{}
	for _, q := range list {
		for _, topic := range q.t.sub.Sources {
			parts[topic] = append(parts[topic], q.t.id.Partition)
		}
	}
	topics, err := h.inputTopics(ctx, parts)
	if err == nil {
		err = h.fetchCommitted(ctx, topics, parts, list)
	}
	if err != nil {
		for _, q := range list {
			q.answer <- answer{err: err}
		}
	}
}

// fetchCommitted asks for the committed offsets of all inputs at once and
// answers the questions, unless it returns an error. A partition that a topic
// does not have is not asked for.
func (h *Host) fetchCommitted(ctx context.Context, topics map[string]TopicInfo, parts map[string][]int32, list []*question) error {
	there := map[string][]int32{}
	for topic, ps := range parts {
		slices.Sort(ps)
		for _, p := range slices.Compact(ps) {
			if int(p) < len(topics[topic].Leaders) {
				there[topic] = append(there[topic], p)
			}
		}
	}
	found, none := map[model.TopicPartition]committedOffset{}, false
	if len(there) > 0 {
		var err error
		if found, none, err = h.offsetFetch(ctx, topics, there); err != nil {
			return fmt.Errorf("committed offsets of group %q: %w", h.o.Group, err)
		}
	}
	for _, x := range found {
		if errors.Is(x.err, kerr.UnknownTopicID) { // made anew since it was looked at
			h.topics.Doubt()
			break
		}
	}
	for _, q := range list {
		q.answer <- h.answerOf(q.t, topics, found, none)
	}
	return nil
}

// answerOf puts together what was found about one task. All of its inputs must
// exist.
func (h *Host) answerOf(t *task, topics map[string]TopicInfo, found map[model.TopicPartition]committedOffset, none bool) answer {
	offsets := map[model.TopicPartition]int64{}
	for _, topic := range t.sub.Sources {
		it := topics[topic]
		if it.Err != nil {
			return answer{err: fmt.Errorf("input: %w", it.Err)}
		}
		if int(t.id.Partition) >= len(it.Leaders) {
			continue
		}
		tp := model.TopicPartition{Topic: topic, Partition: t.id.Partition}
		x, there := found[tp]
		switch {
		case none:
			x.at = -1
		case !there:
			return answer{err: fmt.Errorf("committed offset of group %q for %q: not in the answer", h.o.Group, tp)}
		case x.err != nil:
			return answer{err: fmt.Errorf("committed offset of group %q for %q: %w", h.o.Group, tp, x.err)}
		}
		offsets[tp] = x.at
	}
	return answer{offsets: offsets}
}

// committedOffset is what the coordinator says of one partition; -1: nothing is
// committed.
type committedOffset struct {
	at  int64
	err error
}

// offsetFetch asks the coordinator; none says that there is no such group. The
// topics are named by their ids as well, or the client would have to ask for them
// with all their partitions.
func (h *Host) offsetFetch(ctx context.Context, topics map[string]TopicInfo, parts map[string][]int32) (found map[model.TopicPartition]committedOffset, none bool, err error) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group, req.RequireStable = h.o.Group, true
	group := kmsg.NewOffsetFetchRequestGroup()
	group.Group = h.o.Group
	names := map[[16]byte]string{}
	for _, topic := range slices.Sorted(maps.Keys(parts)) {
		rt, gt := kmsg.NewOffsetFetchRequestTopic(), kmsg.NewOffsetFetchRequestGroupTopic()
		rt.Topic, rt.Partitions = topic, parts[topic]
		gt.Topic, gt.TopicID, gt.Partitions = topic, topics[topic].ID, parts[topic]
		req.Topics, group.Topics = append(req.Topics, rt), append(group.Topics, gt)
		names[gt.TopicID] = topic
	}
	req.Groups = append(req.Groups, group)
	resp, err := h.askCoordinator(ctx, req)
	switch {
	case errors.Is(err, kerr.GroupIDNotFound):
		return nil, true, nil
	case err != nil:
		return nil, false, err
	}
	found = map[model.TopicPartition]committedOffset{}
	take := func(topic string, partition int32, offset int64, code int16) {
		found[model.TopicPartition{Topic: topic, Partition: partition}] = committedOffset{max(-1, offset), kerr.ErrorForCode(code)}
	}
	for _, rt := range resp.Topics { // before version 8
		for _, rp := range rt.Partitions {
			take(rt.Topic, rp.Partition, rp.Offset, rp.ErrorCode)
		}
	}
	for _, rg := range resp.Groups {
		for _, rt := range rg.Topics {
			if rt.Topic == "" { // from version 10 on
				rt.Topic = names[rt.TopicID]
			}
			for _, rp := range rt.Partitions {
				take(rt.Topic, rp.Partition, rp.Offset, rp.ErrorCode)
			}
		}
	}
	return found, false, nil
}

// coordinatorTries is how often a coordinator that moves or loads is asked.
const coordinatorTries = 5

// askCoordinator asks the group's coordinator for offsets, and again for a while
// when it has moved or does not know them yet.
func (h *Host) askCoordinator(ctx context.Context, req *kmsg.OffsetFetchRequest) (*kmsg.OffsetFetchResponse, error) {
	pause := firstPause
	for try := 1; ; try++ {
		resp, err := h.askOnce(ctx, req)
		if !kerr.IsRetriable(err) || try == coordinatorTries {
			return resp, err
		}
		if clock.Sleep(ctx, pause) != nil {
			return nil, err
		}
		pause *= 2
	}
}

// askOnce finds the coordinator and asks it.
func (h *Host) askOnce(ctx context.Context, req *kmsg.OffsetFetchRequest) (*kmsg.OffsetFetchResponse, error) {
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKey = h.o.Group
	at, err := find.RequestWith(ctx, h.topics.cl)
	if err == nil {
		err = kerr.ErrorForCode(at.ErrorCode)
	}
	if err != nil {
		return nil, fmt.Errorf("find the coordinator: %w", err)
	}
	kresp, err := h.topics.cl.Broker(int(at.NodeID)).RetriableRequest(ctx, req)
	if err != nil {
		return nil, err
	}
	resp, ok := kresp.(*kmsg.OffsetFetchResponse)
	if !ok {
		return nil, fmt.Errorf("broker %d answered a request for committed offsets with a %T", at.NodeID, kresp)
	}
	code := resp.ErrorCode
	if len(resp.Groups) > 0 { // from version 8 on
		code = resp.Groups[0].ErrorCode
	}
	return resp, kerr.ErrorForCode(code)
}

// inputTopics gives the topics that the tasks read, from a look of the last
// topicsEvery. A partition that is not in it is looked for anew: a task of a new
// partition must not be started without it.
func (h *Host) inputTopics(ctx context.Context, parts map[string][]int32) (map[string]TopicInfo, error) {
	topics, err := h.topics.Find(ctx, time.Now().Add(-topicsEvery), parts)
	if err != nil {
		return nil, fmt.Errorf("inputs: %w", err)
	}
	return topics, nil
}
