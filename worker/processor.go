package worker

import (
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/taskrun"
)

// TaskID names a task. It is comparable.
type TaskID struct {
	Subtopology int32
	Partition   int32
}

// String gives <subtopology>_<partition>, for example "0_1".
func (t TaskID) String() string {
	return strconv.Itoa(int(t.Subtopology)) + "_" + strconv.Itoa(int(t.Partition))
}

func taskID(t model.TaskID) TaskID {
	n, _ := strconv.ParseInt(t.Subtopology, 10, 32) // ids of this package are always made of numbers
	return TaskID{Subtopology: int32(n), Partition: t.Partition}
}

func (t TaskID) internal() model.TaskID { return model.ClassicTask("", t.Subtopology, t.Partition) }

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
// order of each partition. When it returns an error the same record comes again
// after a pause, until it succeeds or the task stops: no record is skipped.
// After a crash records can come twice.
type Processor interface {
	// Process is given the task's store, nil for a stateless task. The store
	// must not be used after Process has returned.
	Process(Record, Store) error
}

// Store is the state of one task. What is put and deleted goes to the changelog
// too. Keys and values that go in are copied; those that come out must not be
// changed.
type Store interface {
	Get(key []byte) (value []byte, ok bool)
	Put(key, value []byte) // a nil value deletes
	Delete(key []byte)
	Len() int // number of keys
	// Range calls f for each key, in byte order, until it returns false. What f
	// changes shows in later calls only: all keys and values are copied into
	// memory before the first call, so it is not for large states.
	Range(f func(key, value []byte) bool)
}

// processor gives records of the tasks' runtime to a processor of the public
// one.
type processor struct{ Processor }

// Process hands one record over.
func (p processor) Process(r taskrun.Record, s taskrun.Store) error {
	out := Record(r)
	if s == nil {
		return p.Processor.Process(out, nil)
	}
	return p.Processor.Process(out, s)
}
