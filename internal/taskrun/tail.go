package taskrun

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/model"
)

// tailBytes is how much of a changelog one look at its tail may bring.
const tailBytes = 64 << 10

// tailSteps bounds the fetches of one look at a tail.
const tailSteps = 16

// bare asks the leader of a changelog itself whether there is no record from
// one offset up to another: what the client did not bring may as well be on its
// way.
func (h *Host) bare(ctx context.Context, t *task, topic [16]byte, from, end int64) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for range tailSteps {
		p, err := h.fetchOnce(ctx, t.changelog, topic, from)
		if err != nil || p.LastStableOffset < end {
			return false
		}
		next, records := emptyBatches(p.RecordBatches, from)
		switch {
		case records:
			return false
		case next >= end || next == from: // nothing more below the end
			return true
		}
		from = next
	}
	return false
}

// fetchOnce asks the leader of a partition for what it has from an offset on, as
// all restores do: read committed.
func (h *Host) fetchOnce(ctx context.Context, tp model.TopicPartition, topic [16]byte, from int64) (*kmsg.FetchResponseTopicPartition, error) {
	leader, err := h.leaderOf(ctx, tp, false)
	if err != nil {
		return nil, err
	}
	req := kmsg.NewPtrFetchRequest()
	req.IsolationLevel, req.MaxBytes = 1, tailBytes
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic, rt.TopicID = tp.Topic, topic
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes = tp.Partition, from, tailBytes
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	kresp, err := h.topics.cl.Broker(int(leader)).RetriableRequest(ctx, req)
	if err != nil {
		h.topics.Doubt()
		return nil, fmt.Errorf("fetch %q from broker %d: %w", tp, leader, err)
	}
	resp, ok := kresp.(*kmsg.FetchResponse)
	if !ok || len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return nil, fmt.Errorf("fetch %q from broker %d: an answer about something else", tp, leader)
	}
	p := &resp.Topics[0].Partitions[0]
	if err := errors.Join(kerr.ErrorForCode(resp.ErrorCode), kerr.ErrorForCode(p.ErrorCode)); err != nil {
		if !errors.Is(err, kerr.OffsetOutOfRange) {
			h.topics.Doubt()
		}
		return nil, fmt.Errorf("fetch %q from broker %d: %w", tp, leader, err)
	}
	return p, nil
}

// emptyBatches walks over record batches from an offset on. It gives the offset
// after those without records, and whether one has any. What is no whole batch
// of the format that has been in use since 0.11 counts as one with records.
func emptyBatches(b []byte, from int64) (next int64, records bool) {
	const (
		header    = 61
		atMagic   = 16
		atDelta   = 23
		atRecords = 57
	)
	for next = from; len(b) > 0; {
		if len(b) < header || b[atMagic] != 2 {
			return next, true
		}
		size := 12 + int64(int32(binary.BigEndian.Uint32(b[8:])))
		last := int64(binary.BigEndian.Uint64(b)) + int64(int32(binary.BigEndian.Uint32(b[atDelta:])))
		if size < header || size > int64(len(b)) {
			return next, true
		}
		if last >= from {
			if int32(binary.BigEndian.Uint32(b[atRecords:])) != 0 {
				return next, true
			}
			next = last + 1
		}
		b = b[size:]
	}
	return next, false
}
