package seat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/model"
)

// topicIDAge is how old a topic's id may be that a commit is sent with.
const topicIDAge = time.Minute

// Commit commits input offsets in the name of a generation. The coordinator
// takes them until the next generation is complete and refuses them from then
// on with ILLEGAL_GENERATION, which fences an owner of the past. Unlike the
// client's own commits it does not wait for a join in flight.
func (s *Seat) Commit(ctx context.Context, generation int32, memberID string, offsets map[model.TopicPartition]int64) error {
	if len(offsets) == 0 {
		return nil
	}
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation, req.MemberID = s.o.Group, generation, memberID
	if s.o.InstanceID != "" {
		req.InstanceID = kmsg.StringPtr(s.o.InstanceID)
	}
	parts := make([]model.TopicPartition, 0, len(offsets))
	for p := range offsets {
		parts = append(parts, p)
	}
	slices.SortFunc(parts, model.TopicPartition.Compare)
	for _, p := range parts {
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != p.Topic {
			t := kmsg.NewOffsetCommitRequestTopic()
			t.Topic = p.Topic
			req.Topics = append(req.Topics, t)
		}
		t := &req.Topics[len(req.Topics)-1]
		rp := kmsg.NewOffsetCommitRequestTopicPartition()
		rp.Partition, rp.Offset = p.Partition, offsets[p]
		t.Partitions = append(t.Partitions, rp)
	}
	if err := s.fillTopicIDs(ctx, req); err != nil {
		return fmt.Errorf("commit for group %q: %w", s.o.Group, err)
	}
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil {
		return fmt.Errorf("commit for group %q: %w", s.o.Group, err)
	}
	var errs []error
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil && !slices.Contains(errs, err) {
				errs = append(errs, err)
			}
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("commit for group %q, generation %d: %w", s.o.Group, generation, errors.Join(errs...))
	}
	return nil
}

// fillTopicIDs names the topics by id too: from version 10 on commits go by id.
func (s *Seat) fillTopicIDs(ctx context.Context, req *kmsg.OffsetCommitRequest) error {
	meta := kmsg.NewPtrMetadataRequest()
	for _, t := range req.Topics {
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = kmsg.StringPtr(t.Topic)
		meta.Topics = append(meta.Topics, rt)
	}
	resp, err := s.client.RequestCachedMetadata(ctx, meta, topicIDAge)
	if err != nil {
		return err
	}
	ids := make(map[string][16]byte, len(resp.Topics))
	for _, t := range resp.Topics {
		if t.Topic != nil {
			ids[*t.Topic] = t.TopicID
		}
	}
	for i := range req.Topics {
		req.Topics[i].TopicID = ids[req.Topics[i].Topic]
	}
	return nil
}
