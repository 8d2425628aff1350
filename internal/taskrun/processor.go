package taskrun

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/model"
)

// Record is one input record.
type Record struct {
	Topic     string
	Partition int32
	Offset    int64
	Key       []byte // nil when the record has none
	Value     []byte // nil when the record has none
	Headers   []kgo.RecordHeader
	Timestamp time.Time
}

// Processor handles the input of one task, one record at a time and in the
// order of each partition. An error is reported as an event, and the same
// record comes again after a pause until it succeeds or the task stops: no
// record is skipped. After a crash records can come twice.
type Processor interface {
	// Process is given the task's store, nil for a stateless task. The store
	// must not be used after Process has returned.
	Process(r Record, s Store) error
}

// Store is the state of one stateful task. Put and Delete write through to the
// changelog. Keys and values that go in are copied; those that come out must
// not be changed.
type Store interface {
	Get(key []byte) (value []byte, ok bool)
	Put(key, value []byte) // a nil value deletes
	Delete(key []byte)
	Len() int // number of keys
	// Range calls f for each key, in byte order, until it returns false. What f
	// changes shows in later calls only.
	Range(f func(key, value []byte) bool)
}

// Committer commits input offsets: the next offset to read, by partition. It
// is fenced by the membership that owns the task. An error that wraps one of
// Kafka's fencing errors (see IsFenced) ends the processing of the task, so an
// implementation whose member is about to learn a newer generation, and still
// owns the task by it, commits again under that one instead of returning the
// error. Any other error is reported and the commit tried again.
type Committer interface {
	Commit(ctx context.Context, offsets map[model.TopicPartition]int64) error
}
