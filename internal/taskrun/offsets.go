package taskrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/model"
)

// topicInfo is what a broker says of a topic.
type topicInfo struct {
	id      [16]byte
	leaders []int32 // by partition, -1: none at the moment
	err     error
}

// topicInfos asks for topics. It asks a broker itself: an answer that goes
// through the client is kept there by topic and partition, and where topics have
// thousands of partitions, that is most of the work of a look.
func (h *Host) topicInfos(ctx context.Context, names []string) (map[string]topicInfo, error) {
	out := map[string]topicInfo{}
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range names {
		out[name] = topicInfo{err: fmt.Errorf("topic %q: not in the answer", name)}
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, rt)
	}
	if len(names) == 0 {
		return out, nil
	}
	resp, err := h.metadata(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	for _, rt := range resp.Topics {
		if rt.Topic == nil {
			continue
		}
		t := topicInfo{id: rt.TopicID, leaders: make([]int32, len(rt.Partitions))}
		if err := kerr.ErrorForCode(rt.ErrorCode); err != nil {
			t.err = fmt.Errorf("topic %q: %w", *rt.Topic, err)
		}
		for i := range t.leaders {
			t.leaders[i] = -1
		}
		for _, rp := range rt.Partitions {
			if rp.Partition >= 0 && int(rp.Partition) < len(t.leaders) {
				t.leaders[rp.Partition] = rp.Leader
			}
		}
		out[*rt.Topic] = t
	}
	return out, nil
}

// metadata asks the first broker that answers.
func (h *Host) metadata(ctx context.Context, req *kmsg.MetadataRequest) (*kmsg.MetadataResponse, error) {
	var errs []error
	for _, b := range slices.Concat(h.restore.cl.DiscoveredBrokers(), h.restore.cl.SeedBrokers()) {
		kresp, err := b.Request(ctx, req)
		if resp, ok := kresp.(*kmsg.MetadataResponse); err == nil && ok {
			return resp, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(errs...)
}

// offsets lists the first (-2) or the last stable (-1) offsets of partitions,
// as start, from their leaders. All that were asked for are in the answer.
func (h *Host) offsets(ctx context.Context, topics map[string]topicInfo, parts map[string][]int32, at int64) map[model.TopicPartition]extent {
	out := map[model.TopicPartition]extent{}
	by := map[int32]*kmsg.ListOffsetsRequest{}
	for topic, ps := range parts {
		t := topics[topic]
		for _, p := range ps {
			tp := model.TopicPartition{Topic: topic, Partition: p}
			switch {
			case t.err != nil:
				out[tp] = extent{err: t.err}
			case int(p) >= len(t.leaders):
				out[tp] = extent{err: fmt.Errorf("\"%s\": %w", tp, kerr.UnknownTopicOrPartition)}
			case t.leaders[p] < 0:
				out[tp] = extent{err: fmt.Errorf("\"%s\" has no leader at the moment", tp)}
			default:
				out[tp] = extent{err: fmt.Errorf("offsets of \"%s\": no answer", tp)}
				by[t.leaders[p]] = wanting(by[t.leaders[p]], tp, at)
			}
		}
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for leader, req := range by {
		all.Go(func() {
			kresp, err := h.restore.cl.Broker(int(leader)).RetriableRequest(ctx, req)
			mu.Lock()
			defer mu.Unlock()
			listed(out, req, kresp, err)
		})
	}
	all.Wait()
	return out
}

// wanting adds a partition to a request, which is made if it is nil.
func wanting(req *kmsg.ListOffsetsRequest, tp model.TopicPartition, at int64) *kmsg.ListOffsetsRequest {
	if req == nil {
		req = kmsg.NewPtrListOffsetsRequest()
		req.ReplicaID, req.IsolationLevel = -1, 1 // read committed: the last stable offset
	}
	if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != tp.Topic {
		rt := kmsg.NewListOffsetsRequestTopic()
		rt.Topic = tp.Topic
		req.Topics = append(req.Topics, rt)
	}
	rt := &req.Topics[len(req.Topics)-1]
	rp := kmsg.NewListOffsetsRequestTopicPartition()
	rp.Partition, rp.Timestamp = tp.Partition, at
	rt.Partitions = append(rt.Partitions, rp)
	return req
}

// listed takes in one leader's answer.
func listed(out map[model.TopicPartition]extent, req *kmsg.ListOffsetsRequest, kresp kmsg.Response, err error) {
	if err != nil {
		for _, rt := range req.Topics {
			for _, rp := range rt.Partitions {
				tp := model.TopicPartition{Topic: rt.Topic, Partition: rp.Partition}
				out[tp] = extent{err: fmt.Errorf("offsets of \"%s\": %w", tp, err)}
			}
		}
		return
	}
	resp, ok := kresp.(*kmsg.ListOffsetsResponse)
	if !ok {
		return
	}
	for _, rt := range resp.Topics {
		for _, rp := range rt.Partitions {
			tp := model.TopicPartition{Topic: rt.Topic, Partition: rp.Partition}
			if _, asked := out[tp]; !asked {
				continue
			}
			e := extent{start: rp.Offset}
			if err := kerr.ErrorForCode(rp.ErrorCode); err != nil {
				e.err = fmt.Errorf("offsets of \"%s\": %w", tp, err)
			} else if rp.Offset < 0 {
				e.err = fmt.Errorf("offsets of \"%s\": broker answered %d", tp, rp.Offset)
			}
			out[tp] = e
		}
	}
}

// offsetOf lists one offset of one partition; see offsets.
func (h *Host) offsetOf(ctx context.Context, tp model.TopicPartition, at int64) (int64, error) {
	leader, err := h.leaderOf(ctx, tp)
	if err != nil {
		return 0, err
	}
	out := map[model.TopicPartition]extent{tp: {err: fmt.Errorf("offsets of \"%s\": no answer", tp)}}
	req := wanting(nil, tp, at)
	kresp, err := h.restore.cl.Broker(int(leader)).RetriableRequest(ctx, req)
	listed(out, req, kresp, err)
	return out[tp].start, out[tp].err
}

// leaderOf gives the broker that leads a partition, as the clients know it, or
// else by asking.
func (h *Host) leaderOf(ctx context.Context, tp model.TopicPartition) (int32, error) {
	for _, cl := range []*kgo.Client{h.restore.cl, h.inputs.cl} {
		if leader, _, err := cl.PartitionLeader(tp.Topic, tp.Partition); err == nil && leader >= 0 {
			return leader, nil
		}
	}
	topics, err := h.topicInfos(ctx, []string{tp.Topic})
	if err != nil {
		return -1, err
	}
	t := topics[tp.Topic]
	switch {
	case t.err != nil:
		return -1, t.err
	case int(tp.Partition) >= len(t.leaders) || t.leaders[tp.Partition] < 0:
		return -1, fmt.Errorf("\"%s\" has no leader at the moment", tp)
	}
	return t.leaders[tp.Partition], nil
}
