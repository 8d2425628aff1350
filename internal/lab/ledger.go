package lab

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/streamctl/streamctl/worker"
)

// keysPerTask is how many keys the producer writes to each partition, one after
// the other, so that every count is known in advance from the offset alone.
const keysPerTask = 500

// jobKey is the key of the record at an offset.
func jobKey(partition int32, offset int64) string {
	return fmt.Sprintf("page-%d-%03d", partition, offset%keysPerTask)
}

// wanted is what a key's count must be once the records below next are counted.
func wanted(key int, next int64) int64 {
	n := next / keysPerTask
	if next%keysPerTask > int64(key) {
		n++
	}
	return n
}

// ledger holds the counts of all stores against what was written, key by key:
// when a task begins to run its whole store, after that each count as it is
// made.
type ledger struct {
	mu    sync.Mutex
	tasks []tally // by partition
}

// tally is one task in the ledger.
type tally struct {
	next    int64   // the records below it are counted
	extra   []int64 // by key: counted more often than written; negative: less
	foreign bool    // the input holds records that the lab did not write

	owner string    // instance that processes it; "" when none does
	since time.Time // when the last owner stopped; zero before the first
	worst time.Duration
}

func newLedger(tasks int) *ledger { return &ledger{tasks: make([]tally, tasks)} }

// keyNumber is the number of a key within its task; false when the lab did not
// write it there.
func keyNumber(key []byte, partition int32, offset int64) (int, bool) {
	return int(offset % keysPerTask), string(key) == jobKey(partition, offset)
}

// look compares a whole store, before the record at offset is counted.
func (l *ledger) look(t worker.TaskID, offset int64, s worker.Store) {
	extra := make([]int64, keysPerTask)
	for k := range extra {
		extra[k] = -wanted(k, offset)
	}
	prefix := fmt.Sprintf("page-%d-", t.Partition)
	s.Range(func(key, value []byte) bool {
		if len(key) > len(prefix) && string(key[:len(prefix)]) == prefix {
			if k, err := strconv.Atoi(string(key[len(prefix):])); err == nil && k >= 0 && k < keysPerTask {
				extra[k] += countOf(value)
			}
		}
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tasks[t.Partition].next, l.tasks[t.Partition].extra = offset, extra
}

// count notes a count that was made of the record at offset.
func (l *ledger) count(r worker.Record, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := &l.tasks[r.Partition]
	t.next = r.Offset + 1
	if k, ours := keyNumber(r.Key, r.Partition, r.Offset); ours {
		t.extra[k] = n - wanted(k, t.next)
	} else {
		t.foreign = true
	}
}

// started and stopped note who processes a task.
func (l *ledger) started(t worker.TaskID, name string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tasks[t.Partition].begin(name, at)
}

func (x *tally) begin(name string, at time.Time) {
	if x.owner == "" && !x.since.IsZero() {
		x.worst = max(x.worst, at.Sub(x.since))
	}
	x.owner = name
}

// resumed is started, unless another instance has the task by now.
func (l *ledger) resumed(t worker.TaskID, name string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := &l.tasks[t.Partition]; x.owner == "" {
		x.begin(name, at)
	}
}

func (l *ledger) stopped(t worker.TaskID, name string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := &l.tasks[t.Partition]; x.owner == name {
		x.owner, x.since = "", at
	}
}

// gone notes that an instance processes nothing any more.
func (l *ledger) gone(name string, at time.Time) {
	for p := range l.tasks {
		l.stopped(worker.TaskID{Partition: int32(p)}, name, at)
	}
}

// Records is what was written and what became of it.
type Records struct {
	Produced int64 `json:"produced"` // written to the input
	Counted  int64 `json:"counted"`  // of these, in the stores
	Waiting  int64 `json:"waiting"`  // of these, still to be counted
	Twice    int64 `json:"twice"`    // counted again after a crash, as at-least-once allows
	Lost     int64 `json:"lost"`     // passed over, or counted and no longer in a store
	Foreign  bool  `json:"foreign"`  // others wrote to the input, so that Twice and Lost say nothing
}

func (l *ledger) records(produced int64) Records {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := Records{Produced: produced}
	for i := range l.tasks {
		t := &l.tasks[i]
		r.Counted += t.next
		r.Foreign = r.Foreign || t.foreign
		for _, n := range t.extra {
			r.Twice += max(0, n)
			r.Lost += max(0, -n)
		}
	}
	r.Produced = max(r.Produced, r.Counted) // a record may be counted before its write is answered
	r.Waiting = r.Produced - r.Counted
	return r
}

// idle lists the partitions whose task nobody processes, and says how long a
// task was without an owner at most.
func (l *ledger) idle(now time.Time) (partitions []int32, longest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.tasks {
		t := &l.tasks[p]
		longest = max(longest, t.worst)
		if t.owner != "" {
			continue
		}
		partitions = append(partitions, int32(p))
		if !t.since.IsZero() {
			longest = max(longest, now.Sub(t.since))
		}
	}
	return partitions, longest
}

// counter counts one task's records by key.
type counter struct {
	l      *ledger
	task   worker.TaskID
	looked bool
}

// Process counts a record.
func (c *counter) Process(r worker.Record, s worker.Store) error {
	if !c.looked {
		c.looked = true
		c.l.look(c.task, r.Offset, s)
	}
	n := int64(1)
	if b, ok := s.Get(r.Key); ok {
		n += countOf(b)
	}
	s.Put(r.Key, binary.BigEndian.AppendUint64(nil, uint64(n)))
	c.l.count(r, n)
	return nil
}

func countOf(b []byte) int64 {
	if len(b) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}
