package taskrun

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// gate counts by key, and holds one record up until it is told to go on.
type gate struct {
	mu     sync.Mutex
	number string // value of the record that is held up
	inside chan struct{}
	open   chan struct{}
	seen   map[string]bool // values processed
}

// hold has the record of a number held up.
func (g *gate) hold(number int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.number, g.inside, g.open = strconv.Itoa(number), make(chan struct{}), make(chan struct{})
}

func (g *gate) Process(r Record, s Store) error {
	g.mu.Lock()
	held, inside, open := string(r.Value) == g.number, g.inside, g.open
	g.seen[string(r.Value)] = true
	g.mu.Unlock()
	if held {
		close(inside)
		<-open
	}
	return counter{}.Process(r, s)
}

// arrivedUpTo reports whether a task's inputs are fetched up to an offset.
func (h *Host) arrivedUpTo(id model.TaskID, offset int64) bool {
	h.mu.Lock()
	t := h.tasks[id]
	h.mu.Unlock()
	t.mu.Lock()
	s := t.act.stint
	t.mu.Unlock()
	return s.box.rewind(model.TopicPartition{Topic: input}, -1) >= offset
}

// A task that is stopped while records wait leaves all from one on, also when
// more arrive and a commit is due at the same moment: none is passed over.
func TestStopAmongRecords(t *testing.T) {
	t.Parallel()
	const rounds, before, after = 40, 10, 5
	r := newRig(t, 1)
	g := &gate{seen: map[string]bool{}}
	h, _ := r.host(t.TempDir(), func(o *Options) {
		o.CommitInterval = time.Millisecond
		o.NewProcessor = func(model.TaskID) Processor { return g }
	})
	n := 0
	for range rounds {
		g.hold(n + 1)
		ok(t, h.Activate(task0(), &commits{r: r}))
		r.put(input, numbered(n, before, 5)...)
		<-g.inside
		r.until("a first batch", func() bool { return h.arrivedUpTo(task0(), int64(n+before)) })
		r.put(input, numbered(n+before, after, 5)...)
		n += before + after
		r.until("a second batch", func() bool { return h.arrivedUpTo(task0(), int64(n)) })
		done := make(chan error)
		go func() { done <- h.Demote(soon(t), task0()) }()
		r.until("the stop", func() bool { return h.stopping(task0()) })
		close(g.open)
		ok(t, <-done)
	}
	ok(t, h.Activate(task0(), &commits{r: r}))
	r.until("all", func() bool { return r.committed() == int64(n) })
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range n {
		if !g.seen[strconv.Itoa(i)] {
			t.Errorf("record %d was passed over", i)
		}
	}
	if got := total(h.state(task0())); got != n {
		t.Errorf("%d of %d records counted", got, n)
	}
}

// stopping reports whether a task was told to stop.
func (h *Host) stopping(id model.TaskID) bool {
	h.mu.Lock()
	t := h.tasks[id]
	h.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.act.stopping()
}

// A stint that ends before its inputs are fetched leaves nothing that is fetched
// for nobody: the next one begins where it would have.
func TestStopBeforeAnythingIsFetched(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	h, o := r.host(t.TempDir(), nil)
	r.put(input, numbered(0, 50, 5)...)
	held, release := make(chan struct{}), make(chan struct{})
	h.inputs.do(func() { close(held); <-release })
	<-held
	ok(t, h.Activate(task0(), &commits{r: r}))
	r.until("the start", func() bool { return o.count(Started) == 1 })
	ok(t, h.Demote(soon(t), task0()))
	added := make(chan int, 1)
	h.inputs.do(func() { added <- len(h.adding) })
	close(release) // the inputs come and go in one
	if n := <-added; n > 0 {
		t.Error("the next poll begins with inputs that nobody has")
	}
	ok(t, h.Activate(task0(), &commits{r: r}))
	r.until("all", func() bool { return r.committed() == 50 })
	if got := total(h.state(task0())); got != 50 {
		t.Errorf("%d of 50 records counted", got)
	}
}
