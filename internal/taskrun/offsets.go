package taskrun

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/model"
)

// What ListOffsets calls the two ends of a log. Read committed, the end is the
// last stable offset.
const (
	atStart int64 = -2
	atEnd   int64 = -1
)

// offsets lists the offsets of partitions at one end, atStart or atEnd, as the
// start of an extent, from their leaders. All that were asked for are in the
// answer.
func (h *Host) offsets(ctx context.Context, topics map[string]TopicInfo, parts map[string][]int32, at int64) map[model.TopicPartition]extent {
	out := map[model.TopicPartition]extent{}
	by := map[int32]*kmsg.ListOffsetsRequest{}
	for topic, ps := range parts {
		t := topics[topic]
		for _, p := range ps {
			tp := model.TopicPartition{Topic: topic, Partition: p}
			switch {
			case t.Err != nil:
				out[tp] = extent{err: t.Err}
			case int(p) >= len(t.Leaders):
				out[tp] = extent{err: fmt.Errorf("partition %q: %w", tp, kerr.UnknownTopicOrPartition)}
			case t.Leaders[p] < 0:
				out[tp] = extent{err: fmt.Errorf("partition %q has no leader at the moment", tp)}
			default:
				out[tp] = extent{err: fmt.Errorf("offsets of %q: no answer", tp)}
				by[t.Leaders[p]] = wanting(by[t.Leaders[p]], tp, at)
			}
		}
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for leader, req := range by {
		all.Go(func() {
			kresp, err := h.topics.cl.Broker(int(leader)).RetriableRequest(ctx, req)
			mu.Lock()
			defer mu.Unlock()
			listed(out, req, kresp, err)
		})
	}
	all.Wait()
	doubt := false
	for tp, x := range out {
		doubt = doubt || x.err != nil
		x.topic = topics[tp.Topic].ID
		out[tp] = x
	}
	if doubt {
		h.topics.Doubt()
	}
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
				out[tp] = extent{err: fmt.Errorf("offsets of %q: %w", tp, err)}
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
				e.err = fmt.Errorf("offsets of %q: %w", tp, err)
			} else if rp.Offset < 0 {
				e.err = fmt.Errorf("offsets of %q: broker answered %d", tp, rp.Offset)
			}
			out[tp] = e
		}
	}
}

// offsetOf lists one offset of one partition; see offsets.
func (h *Host) offsetOf(ctx context.Context, tp model.TopicPartition, at int64) (int64, error) {
	var x extent
	for _, fresh := range []bool{false, true} { // the first leader may be one of the past
		leader, err := h.leaderOf(ctx, tp, fresh)
		if err != nil {
			return 0, err
		}
		out := map[model.TopicPartition]extent{tp: {err: fmt.Errorf("offsets of %q: no answer", tp)}}
		req := wanting(nil, tp, at)
		kresp, err := h.topics.cl.Broker(int(leader)).RetriableRequest(ctx, req)
		listed(out, req, kresp, err)
		if x = out[tp]; x.err == nil || ctx.Err() != nil {
			break
		}
	}
	return x.start, x.err
}

// leaderOf gives the broker that leads a partition: as the clients that move its
// records know it, or the last look at the topics; with fresh, as a look that
// begins now finds it.
func (h *Host) leaderOf(ctx context.Context, tp model.TopicPartition, fresh bool) (int32, error) {
	var since time.Time
	if fresh {
		since = time.Now()
	}
	for _, cl := range []*kgo.Client{h.restore.cl, h.inputs.cl} {
		if leader, _, err := cl.PartitionLeader(tp.Topic, tp.Partition); !fresh && err == nil && leader >= 0 {
			return leader, nil
		}
	}
	topics, err := h.topics.Find(ctx, since, map[string][]int32{tp.Topic: {tp.Partition}})
	if err != nil {
		return -1, err
	}
	t := topics[tp.Topic]
	switch {
	case t.Err != nil:
		return -1, t.Err
	case int(tp.Partition) >= len(t.Leaders) || t.Leaders[tp.Partition] < 0:
		return -1, fmt.Errorf("partition %q has no leader at the moment", tp)
	}
	return t.Leaders[tp.Partition], nil
}
