package taskrun

import (
	"context"
	"errors"
	"fmt"
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
// A topic with too few partitions has none for the task.
func (h *Host) committed(ctx context.Context, t *task) (map[model.TopicPartition]int64, error) {
	topics, err := h.inputTopics(ctx, t)
	if err != nil || len(topics) == 0 {
		return map[model.TopicPartition]int64{}, err
	}
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group, req.RequireStable = h.o.Group, true
	offsets := map[model.TopicPartition]int64{}
	for _, topic := range topics {
		rt := kmsg.NewOffsetFetchRequestTopic()
		rt.Topic, rt.Partitions = topic, []int32{t.id.Partition}
		req.Topics = append(req.Topics, rt)
	}
	resp, err := req.RequestWith(ctx, h.inputs.cl)
	if err != nil {
		return nil, fmt.Errorf("committed offsets of group %q: %w", h.o.Group, err)
	}
	code := resp.ErrorCode
	if len(resp.Groups) > 0 && code == 0 {
		code = resp.Groups[0].ErrorCode
	}
	if code == kerr.GroupIDNotFound.Code {
		for _, topic := range topics {
			offsets[model.TopicPartition{Topic: topic, Partition: t.id.Partition}] = -1
		}
		return offsets, nil
	}
	if err := kerr.ErrorForCode(code); err != nil {
		return nil, fmt.Errorf("committed offsets of group %q: %w", h.o.Group, err)
	}
	for _, rt := range resp.Topics {
		for _, rp := range rt.Partitions {
			tp := model.TopicPartition{Topic: rt.Topic, Partition: rp.Partition}
			if err := kerr.ErrorForCode(rp.ErrorCode); err != nil {
				return nil, fmt.Errorf("committed offset of group %q for \"%s\": %w", h.o.Group, tp, err)
			}
			offsets[tp] = max(-1, rp.Offset)
		}
	}
	for _, topic := range topics {
		tp := model.TopicPartition{Topic: topic, Partition: t.id.Partition}
		if _, ok := offsets[tp]; !ok {
			return nil, fmt.Errorf("committed offset of group %q for \"%s\": not in the answer", h.o.Group, tp)
		}
	}
	return offsets, nil
}

// inputTopics gives the sources that have a partition of the task's number. All
// must exist.
func (h *Host) inputTopics(ctx context.Context, t *task) ([]string, error) {
	req := kmsg.NewPtrMetadataRequest()
	for _, topic := range t.sub.Sources {
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = kmsg.StringPtr(topic)
		req.Topics = append(req.Topics, rt)
	}
	resp, err := req.RequestWith(ctx, h.inputs.cl)
	if err != nil {
		return nil, fmt.Errorf("metadata of inputs: %w", err)
	}
	var topics []string
	for _, rt := range resp.Topics {
		if rt.Topic == nil {
			continue
		}
		if err := kerr.ErrorForCode(rt.ErrorCode); err != nil {
			return nil, fmt.Errorf("input %q: %w", *rt.Topic, err)
		}
		if int(t.id.Partition) < len(rt.Partitions) {
			topics = append(topics, *rt.Topic)
		}
	}
	return topics, nil
}
