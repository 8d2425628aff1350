package taskrun

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/model"
)

// lookEvery is how often the ends of the changelogs are read.
const lookEvery = 500 * time.Millisecond

// extent is what a look found of one changelog partition.
type extent struct {
	topic      [16]byte
	start, end int64 // end is the last stable offset
	isBare     bool
	bare       int64 // with isBare: from this offset on there is no record below the end
	err        error
}

// watch reads topic ids, starts and ends of the changelogs of all tasks that
// are not running, at intervals and when asked to, and hands them to the
// restore poller.
func (h *Host) watch() {
	defer h.wg.Done()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-tick.C:
		case <-h.looks:
		}
		number, tasks := h.beginLook()
		if len(tasks) == 0 {
			continue
		}
		found := h.extents(tasks)
		h.restore.do(func() { h.looked(number, tasks, found) })
	}
}

// lookNow asks for a look at once and gives its number, or that of an earlier
// one that has not begun yet.
func (h *Host) lookNow() int64 {
	h.mu.Lock()
	n := h.look + 1
	h.mu.Unlock()
	select {
	case h.looks <- struct{}{}:
	default:
	}
	return n
}

// beginLook numbers a look and gives the tasks that it is for.
func (h *Host) beginLook() (int64, []*task) {
	h.mu.Lock()
	h.look++
	n := h.look
	h.mu.Unlock()
	var tasks []*task
	h.each(func(t *task) {
		if t.stateful() && t.role != running {
			tasks = append(tasks, t)
		}
	})
	return n, tasks
}

// extents asks for the extents of the tasks' changelogs. A request that fails
// is the error of all that it was to answer.
func (h *Host) extents(tasks []*task) map[model.TopicPartition]extent {
	ctx, cancel := context.WithTimeout(h.ctx, 10*time.Second)
	defer cancel()
	found := map[model.TopicPartition]extent{}
	parts := map[string][]int32{}
	for _, t := range tasks {
		found[t.changelog] = extent{err: fmt.Errorf("no answer about changelog \"%s\"", t.changelog)}
		parts[t.changelog.Topic] = append(parts[t.changelog.Topic], t.changelog.Partition)
	}
	meta := kmsg.NewPtrMetadataRequest()
	for topic := range parts {
		mt := kmsg.NewMetadataRequestTopic()
		mt.Topic = kmsg.StringPtr(topic)
		meta.Topics = append(meta.Topics, mt)
	}
	mr, err := meta.RequestWith(ctx, h.restore.cl)
	if err != nil {
		return failed(found, fmt.Errorf("metadata of changelogs: %w", err))
	}
	ids := map[string][16]byte{}
	for _, mt := range mr.Topics {
		if mt.Topic == nil {
			continue
		}
		if err := kerr.ErrorForCode(mt.ErrorCode); err != nil {
			failTopic(found, *mt.Topic, parts[*mt.Topic], fmt.Errorf("changelog %q: %w", *mt.Topic, err))
			delete(parts, *mt.Topic)
			continue
		}
		ids[*mt.Topic] = mt.TopicID
	}
	starts := h.offsets(ctx, parts, -2)
	ends := h.offsets(ctx, parts, -1)
	for topic, ps := range parts {
		for _, p := range ps {
			tp := model.TopicPartition{Topic: topic, Partition: p}
			s, e := starts[tp], ends[tp]
			switch {
			case e.err != nil:
				found[tp] = extent{err: e.err}
			case s.err != nil:
				found[tp] = extent{err: s.err}
			default:
				found[tp] = extent{topic: ids[topic], start: s.start, end: e.start}
			}
		}
	}
	for _, t := range tasks {
		t.mu.Lock()
		suspect, from := t.quiet.suspect, t.next
		t.mu.Unlock()
		if x := found[t.changelog]; suspect && x.err == nil && h.bare(ctx, t, x.topic, from, x.end) {
			x.isBare, x.bare = true, from
			found[t.changelog] = x
		}
	}
	return found
}

func failed(found map[model.TopicPartition]extent, err error) map[model.TopicPartition]extent {
	for tp := range found {
		found[tp] = extent{err: err}
	}
	return found
}

func failTopic(found map[model.TopicPartition]extent, topic string, parts []int32, err error) {
	for _, p := range parts {
		found[model.TopicPartition{Topic: topic, Partition: p}] = extent{err: err}
	}
}

// offsets lists the first (-2) or the last stable (-1) offsets of partitions,
// as start. All that were asked for are in the answer.
func (h *Host) offsets(ctx context.Context, parts map[string][]int32, at int64) map[model.TopicPartition]extent {
	out := map[model.TopicPartition]extent{}
	if len(parts) == 0 {
		return out
	}
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	req.IsolationLevel = 1 // read committed: the last stable offset
	for topic, ps := range parts {
		rt := kmsg.NewListOffsetsRequestTopic()
		rt.Topic = topic
		for _, p := range ps {
			rp := kmsg.NewListOffsetsRequestTopicPartition()
			rp.Partition, rp.Timestamp = p, at
			rt.Partitions = append(rt.Partitions, rp)
		}
		failTopic(out, topic, ps, fmt.Errorf("offsets of %q: no answer", topic))
		req.Topics = append(req.Topics, rt)
	}
	// One broker of several may fail.
	for _, shard := range h.restore.cl.RequestSharded(ctx, req) {
		if shard.Err != nil {
			if r, ok := shard.Req.(*kmsg.ListOffsetsRequest); ok {
				for _, rt := range r.Topics {
					for _, rp := range rt.Partitions {
						tp := model.TopicPartition{Topic: rt.Topic, Partition: rp.Partition}
						out[tp] = extent{err: fmt.Errorf("offsets of \"%s\": %w", tp, shard.Err)}
					}
				}
			}
			continue
		}
		r, ok := shard.Resp.(*kmsg.ListOffsetsResponse)
		if !ok {
			continue
		}
		for _, rt := range r.Topics {
			for _, rp := range rt.Partitions {
				tp := model.TopicPartition{Topic: rt.Topic, Partition: rp.Partition}
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
	return out
}
