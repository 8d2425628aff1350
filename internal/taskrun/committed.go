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

	"github.com/streamctl/streamctl/internal/model"
)

// start gives the offsets that the stint begins at, by input partition: what
// the group committed, -1 where it committed nothing. It tries until it
// succeeds or is to stop.
func (s *stint) start() (map[model.TopicPartition]int64, error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		ctx, cancel := context.WithTimeout(s.a.ctx, 30*time.Second)
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

// askTogether is how long a question waits for others.
const askTogether = 10 * time.Millisecond

// askWait bounds the requests for committed offsets.
const askWait = 30 * time.Second

// askCommitted answers the questions that have come up.
func (h *Host) askCommitted() {
	time.Sleep(askTogether)
	h.mu.Lock()
	list := h.questions
	h.questions = nil
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(h.ctx, askWait)
	defer cancel()
	topics, err := h.inputTopics(ctx, list)
	if err == nil {
		err = h.fetchCommitted(ctx, topics, list)
	}
	if err != nil {
		for _, q := range list {
			q.answer <- answer{err: err}
		}
	}
}

// fetchCommitted asks for the committed offsets of all inputs at once and
// answers the questions, unless it returns an error.
func (h *Host) fetchCommitted(ctx context.Context, topics map[string]topicInfo, list []*question) error {
	parts := map[string][]int32{}
	for _, q := range list {
		for _, topic := range q.t.sub.Sources {
			if int(q.t.id.Partition) < len(topics[topic].leaders) && !slices.Contains(parts[topic], q.t.id.Partition) {
				parts[topic] = append(parts[topic], q.t.id.Partition)
			}
		}
	}
	found, none := map[model.TopicPartition]committedOffset{}, false
	if len(parts) > 0 {
		var err error
		if found, none, err = h.offsetFetch(ctx, parts); err != nil {
			return fmt.Errorf("committed offsets of group %q: %w", h.o.Group, err)
		}
	}
	for _, q := range list {
		q.answer <- h.answerOf(q.t, topics, found, none)
	}
	return nil
}

// answerOf puts together what was found about one task. All of its inputs must
// exist.
func (h *Host) answerOf(t *task, topics map[string]topicInfo, found map[model.TopicPartition]committedOffset, none bool) answer {
	offsets := map[model.TopicPartition]int64{}
	for _, topic := range t.sub.Sources {
		it := topics[topic]
		if it.err != nil {
			return answer{err: fmt.Errorf("input: %w", it.err)}
		}
		if int(t.id.Partition) >= len(it.leaders) {
			continue
		}
		tp := model.TopicPartition{Topic: topic, Partition: t.id.Partition}
		x, there := found[tp]
		switch {
		case none:
			x.at = -1
		case !there:
			return answer{err: fmt.Errorf("committed offset of group %q for \"%s\": not in the answer", h.o.Group, tp)}
		case x.err != nil:
			return answer{err: fmt.Errorf("committed offset of group %q for \"%s\": %w", h.o.Group, tp, x.err)}
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

// offsetFetch asks the coordinator; none says that there is no such group.
func (h *Host) offsetFetch(ctx context.Context, parts map[string][]int32) (found map[model.TopicPartition]committedOffset, none bool, err error) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group, req.RequireStable = h.o.Group, true
	for _, topic := range slices.Sorted(maps.Keys(parts)) {
		rt := kmsg.NewOffsetFetchRequestTopic()
		rt.Topic, rt.Partitions = topic, parts[topic]
		req.Topics = append(req.Topics, rt)
	}
	resp, err := req.RequestWith(ctx, h.inputs.cl)
	if err != nil {
		return nil, false, err
	}
	code := resp.ErrorCode
	if len(resp.Groups) > 0 && code == 0 {
		code = resp.Groups[0].ErrorCode
	}
	if code == kerr.GroupIDNotFound.Code {
		return nil, true, nil
	}
	if err := kerr.ErrorForCode(code); err != nil {
		return nil, false, err
	}
	found = map[model.TopicPartition]committedOffset{}
	for _, rt := range resp.Topics {
		for _, rp := range rt.Partitions {
			found[model.TopicPartition{Topic: rt.Topic, Partition: rp.Partition}] = committedOffset{max(-1, rp.Offset), kerr.ErrorForCode(rp.ErrorCode)}
		}
	}
	return found, false, nil
}

// inputTopics looks at the topics that the tasks read. It is never answered from
// a cache: a task of a new partition must not be started without it.
func (h *Host) inputTopics(ctx context.Context, list []*question) (map[string]topicInfo, error) {
	topics := map[string]bool{}
	for _, q := range list {
		for _, topic := range q.t.sub.Sources {
			topics[topic] = true
		}
	}
	infos, err := h.topicInfos(ctx, slices.Sorted(maps.Keys(topics)))
	if err != nil {
		return nil, fmt.Errorf("inputs: %w", err)
	}
	return infos, nil
}
