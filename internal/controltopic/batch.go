package controltopic

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/control"
)

const (
	batchHeader = 61 // bytes of a record batch before its records
	setHeader   = 17 // bytes up to the magic byte, in every format

	maxBatchRecords = 100_000  // that a batch may claim
	maxUnpacked     = 16 << 20 // bytes of a batch
)

// batch is where one batch of a fetch answer lies.
type batch struct {
	raw   []byte
	next  int64 // offset after its last record
	count int32 // records that it claims
}

// nextBatch splits the first batch off; ok is false when what is left is none,
// or only a part of one.
func nextBatch(raw []byte) (b batch, rest []byte, ok bool) {
	if len(raw) < setHeader {
		return batch{}, nil, false
	}
	first := int64(binary.BigEndian.Uint64(raw))
	length := int64(int32(binary.BigEndian.Uint32(raw[8:]))) + 12
	if length < setHeader || length > int64(len(raw)) {
		return batch{}, nil, false
	}
	b = batch{raw: raw[:length], next: first + 1}
	if raw[16] == 2 && length >= batchHeader {
		b.next += int64(int32(binary.BigEndian.Uint32(raw[23:])))
		b.count = int32(binary.BigEndian.Uint32(raw[57:]))
	}
	return b, raw[length:], true
}

// unpack gives the records of a fetch answer from offset from on, and the
// offset after them. A batch that cannot be read is passed over: bytes that
// some stranger wrote must not stop those who come after it. skipped says what
// was wrong with the last such batch. An answer that unpacks to more than one
// batch may, in bytes or in records, is given up to there: the next fetch goes
// on from next.
func unpack(topic string, answer *kmsg.FetchResponseTopicPartition, from int64, u *unpacker) (records []control.Record, next int64, skipped error) {
	next = from
	bytes := 0
	for raw := answer.RecordBatches; ; {
		b, rest, ok := nextBatch(raw)
		if !ok || bytes >= maxUnpacked || len(records) >= maxBatchRecords {
			return records, next, skipped
		}
		raw = rest
		got, err := b.records(topic, next, u)
		if err != nil {
			skipped = fmt.Errorf("control topic %q: the records before offset %d cannot be read and are passed over: %w", topic, b.next, err)
		}
		for _, r := range got {
			bytes += size(r) + r.TooLarge + r.Unread
		}
		records = append(records, got...)
		next = max(next, b.next)
	}
}

func (b *batch) records(topic string, from int64, u *unpacker) ([]control.Record, error) {
	if b.next <= from {
		return nil, nil
	}
	if b.count < 0 || b.count > maxBatchRecords {
		return nil, fmt.Errorf("a batch claims %d records", b.count)
	}
	one := kmsg.NewFetchResponseTopicPartition()
	one.RecordBatches = b.raw
	got, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{Offset: from, Topic: topic}, &one, u, nil)
	defer u.copied() // below, as nothing of the batch is kept
	if got.Err != nil {
		return nil, got.Err
	}
	out := make([]control.Record, 0, len(got.Records))
	for _, r := range got.Records {
		// A record must not keep the whole batch that it came in.
		rec := control.Record{Key: string(r.Key), Offset: r.Offset}
		switch {
		case len(r.Value) > control.MaxValue:
			rec.TooLarge = len(r.Value)
		case u.wants != nil && !u.wants(rec.Key):
			rec.Unread = len(r.Value)
		default:
			rec.Value = slices.Clone(r.Value)
		}
		out = append(out, rec)
	}
	return out, nil
}
