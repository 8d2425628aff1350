package taskrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/model"
)

// Host runs the tasks of one instance. Its methods can be called from several
// goroutines, but those of one task one after the other.
type Host struct {
	o        Options
	subs     map[string]Subtopology // by id as in model.TaskID
	inputs   *poller                // also writes changelogs
	restore  *poller
	topics   *Topics
	fetches  *fetchCounter
	rate     atomic.Int64
	looks    chan struct{}
	batchMax int // bytes that one changelog write may have
	lock     *dirLock

	ctx    context.Context // ends with the host
	cancel context.CancelFunc
	wg     sync.WaitGroup // the loops
	acts   sync.WaitGroup // activations

	mu     sync.Mutex
	tasks  map[model.TaskID]*task
	look   int64 // number of the last look that began
	anew   bool  // the next one is to take nothing from it
	closed bool

	questions []*question // not asked yet; guarded by mu

	byChangelog map[model.TopicPartition]*task  // attached ones; restore poller only
	byInput     map[model.TopicPartition]*stint // inputs poller only

	adding map[string]map[int32]kgo.Offset // inputs that the client is to fetch; inputs poller only
}

// errClosed is what a host says after Shutdown or Crash.
var errClosed = errors.New("the host is closed")

// Open starts a host without tasks. Copies that it finds in Options.Dir are
// listed by Held and rest: their lag is known, but they are not restored until
// Copy or Activate.
func Open(o Options) (*Host, error) {
	subs, err := o.check()
	if err != nil {
		return nil, err
	}
	h := &Host{
		o: o, subs: subs, fetches: &fetchCounter{n: map[int32]int64{}}, looks: make(chan struct{}, 1),
		tasks: map[model.TaskID]*task{}, byChangelog: map[model.TopicPartition]*task{}, byInput: map[model.TopicPartition]*stint{},
		adding: map[string]map[int32]kgo.Offset{},
	}
	h.rate.Store(int64(max(0, o.RestoreRate)))
	if o.Dir != "" {
		if h.lock, err = lockDir(o.Dir, o.Group); err != nil {
			return nil, err
		}
		if err := h.find(); err != nil {
			return nil, errors.Join(err, h.lock.close())
		}
	}
	if err := h.dial(); err != nil {
		return nil, errors.Join(err, h.lock.close())
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.wg.Go(h.restoreLoop)
	h.wg.Go(h.inputsLoop)
	h.wg.Go(h.watch)
	return h, nil
}

// unpackedMax is how many bytes a batch that a broker sends may unpack to; without
// a bound a small one could fill the memory.
const unpackedMax = 256 << 20

// dial makes the clients. None connects before it has something to do.
func (h *Host) dial() error {
	if h.topics = h.o.Topics; h.topics == nil {
		var names []string
		for _, s := range h.o.Subtopologies {
			names = append(names, s.topics()...)
		}
		var err error
		if h.topics, err = OpenTopics(h.o.Opts, names); err != nil {
			return err
		}
	}
	// What the app sets counts, so that a topic with batches that big can be read.
	bound := []kgo.Opt{kgo.MaxDecompressBatchBytes(unpackedMax)}
	both := []kgo.Opt{kgo.FetchMaxWait(fetchWait), kgo.MetadataMinAge(lookEvery / 2)}
	restore := slices.Concat(bound, h.o.Opts, both, []kgo.Opt{
		kgo.KeepControlRecords(), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.WithHooks(h.fetches),
	})
	inputs := slices.Concat(bound, h.o.Opts, both, []kgo.Opt{
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.RequiredAcks(kgo.AllISRAcks()),
		// What a task that was stopped has under way must not be tried again
		// later, over what its next owner writes.
		kgo.AllowIdempotentProduceCancellation(),
		// Markers are read too, so that the committed offset can pass them; and
		// nothing is ever read from elsewhere without our saying so.
		kgo.KeepControlRecords(), kgo.ConsumeResetOffset(kgo.NoResetOffset()),
	})
	rc, err := kgo.NewClient(restore...)
	if err != nil {
		h.closeTopics()
		return fmt.Errorf("client of the restore: %w", err)
	}
	ic, err := kgo.NewClient(inputs...)
	if err != nil {
		h.closeTopics()
		rc.Close()
		return fmt.Errorf("client of the inputs: %w", err)
	}
	h.restore, h.inputs = newPoller(rc), newPoller(ic)
	if n, ok := ic.OptValue(kgo.ProducerBatchMaxBytes).(int32); ok {
		h.batchMax = int(n)
	}
	return nil
}

// closeTopics closes the client of the topics if it is the host's own.
func (h *Host) closeTopics() {
	if h.o.Topics == nil {
		h.topics.Close()
	}
}

// newTask makes a task that is not held yet, at rest.
func (h *Host) newTask(id model.TaskID) (*task, error) {
	sub, ok := h.subs[id.Subtopology]
	if !ok || id.Topology != "" {
		return nil, fmt.Errorf("task %q: this topology has no such subtopology", id)
	}
	t := &task{id: id, sub: sub, end: -1}
	if sub.Changelog != "" {
		t.changelog = model.TopicPartition{Topic: sub.Changelog, Partition: id.Partition}
		if h.o.Dir != "" {
			t.path = storePath(h.o.Dir, id)
		}
	}
	return t, nil
}

// hold gives the task of an id, made if it is not held, with its store open.
// Where both are locked, a task's mu comes before the host's.
func (h *Host) hold(id model.TaskID) (*task, error) {
	fresh, err := h.newTask(id)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, errClosed
	}
	t := h.tasks[id]
	if t == nil {
		t = fresh
		h.tasks[id] = t
	}
	h.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stateful() && t.st == nil {
		if err := h.openStore(t); err != nil {
			if t == fresh {
				h.forget(t)
			}
			return nil, fmt.Errorf("task %q: %w", id, err)
		}
	}
	return t, nil
}

// openStore opens the store of a task; its mu is held.
func (h *Host) openStore(t *task) error {
	if t.path == "" {
		t.st = newMemory()
		return nil
	}
	s, damaged, err := openBolt(t.path)
	if err != nil {
		return err
	}
	if damaged != nil {
		h.tell(Event{Kind: Cleared, Task: t.id, Err: damaged})
	}
	t.st, t.saved = s, s.saved()
	t.next, t.topic, t.misfits = t.saved.next, t.saved.topic, false
	return nil
}

// gone reports whether the task was closed and its place taken or left empty.
func (h *Host) gone(t *task) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tasks[t.id] != t
}

// pendingLimit is how many bytes of one store may wait in memory.
func (h *Host) pendingLimit() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(pendingAll/max(1, len(h.tasks)), pendingLeast)
}

// What all stores together, and one at the least, hold in memory before they
// write, in bytes.
const (
	pendingAll   = 64 << 20
	pendingLeast = 256 << 10
)

// SetRestoreRate changes Options.RestoreRate from now on.
func (h *Host) SetRestoreRate(recordsPerSecond int) {
	h.rate.Store(int64(max(0, recordsPerSecond)))
	h.restore.do(func() {})
}
