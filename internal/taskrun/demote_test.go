package taskrun

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/streamctl/streamctl/internal/model"
)

// Demote does not wait longer than it may: what could not be committed is given
// up, and the store is that of the last checkpoint.
func TestDemoteIsBounded(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, dir string) {
		r := newRig(t, 1)
		h, o := r.host(dir, nil)
		c := &commits{r: r}
		ok(t, h.Activate(task0(), c))
		r.put(input, numbered(0, 10, 10)...)
		r.until("a commit", func() bool { return r.committed() == 10 })
		c.refuse(kerr.CoordinatorNotAvailable)
		r.put(input, numbered(10, 10, 10)...)
		r.until("trouble", func() bool { return o.has(Trouble) })
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		if err := h.Demote(ctx, task0()); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if len(h.Active()) != 0 {
			t.Fatal("still active")
		}
		r.caughtUp(h, 10)
		if got := total(h.state(task0())); got != 20 {
			t.Fatalf("the changelog's truth is 20, the store has %d", got)
		}
	})
}

// stuck is a processor that does not return until it is told to.
type stuck struct{ in, out chan struct{} }

func (p stuck) Process(r Record, s Store) error {
	close(p.in)
	<-p.out
	s.Put(r.Key, []byte("too late"))
	return nil
}

// A call of Process that does not return holds nobody up, and what it writes in
// the end is dropped.
func TestDemoteLeavesAStuckProcessor(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	p := stuck{make(chan struct{}), make(chan struct{})}
	h, _ := r.host("", func(o *Options) { o.NewProcessor = func(model.TaskID) Processor { return p } })
	ok(t, h.Activate(task0(), &commits{r: r}))
	r.put(input, numbered(0, 1, 1)...)
	<-p.in
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := h.Demote(ctx, task0()); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	close(p.out)
	r.until("it to return", func() bool { return len(h.Active()) == 0 })
	r.caughtUp(h, 0)
	if p := h.position(task0()); p.End != 0 || r.committed() != -1 {
		t.Fatalf("%+v, committed %d", p, r.committed())
	}
}

// slow is a store whose disk does not answer.
type slow struct {
	backing
	let    chan struct{} // closed when it does
	writes chan struct{} // it was asked to write
}

func (s slow) begin(m mark) *saving {
	x := s.backing.begin(m)
	return &saving{end: x.end, write: func() error {
		select {
		case s.writes <- struct{}{}:
		default:
		}
		<-s.let
		return x.write()
	}}
}

// A task that stops does not wait for the disk: the group waits for it, and
// what is not durable yet is restored at the worst.
func TestDemoteDoesNotWaitForTheDisk(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	h, o := r.host(t.TempDir(), nil)
	ok(t, h.Activate(task0(), &commits{r: r}))
	r.until("it runs", func() bool { return o.has(Started) })
	let := make(chan struct{})
	x := h.tasks[task0()]
	x.mu.Lock()
	x.st, x.savedAt = slow{x.st, let, make(chan struct{}, 1)}, time.Now().Add(time.Hour)
	x.act.stint.store = &handle{s: x.act.stint, mu: &x.mu, st: x.st}
	x.mu.Unlock()
	r.put(input, numbered(0, 10, 10)...)
	r.until("the counts", func() bool { return total(h.state(task0())) == 10 })
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := h.Demote(ctx, task0())
	close(let)
	ok(t, err)
	if got := r.committed(); got != 10 {
		t.Errorf("committed %d", got)
	}
	if !o.has(Halted) || o.count(Halted) != o.count(Stopped) {
		t.Error(o.tail())
	}
	x.mu.Lock()
	x.savedAt = time.Time{}
	x.mu.Unlock()
	r.until("the copy is durable", func() bool { return h.position(task0()).Durable == 10 })
}

// How far a copy is can be asked, and what is restored can be read, while the
// disk is waited for: the instance asks under its lock, by which it also stops
// tasks when it loses its membership.
func TestLagDoesNotWaitForTheDisk(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	h, _ := r.host(t.TempDir(), nil)
	ok(t, h.Copy(task0()))
	r.caughtUp(h, 0)
	let := make(chan struct{})
	writes := make(chan struct{}, 1)
	x := h.tasks[task0()]
	x.mu.Lock()
	x.st = slow{x.st, let, writes}
	x.mu.Unlock()
	r.put(clog, numbered(0, 10, 10)...)
	<-writes
	asked := make(chan int64)
	go func() {
		lag, _ := h.Lag(task0())
		asked <- lag
	}()
	select {
	case lag := <-asked:
		if lag != 0 || len(h.state(task0())) != 10 {
			t.Errorf("lag %d, %v", lag, h.state(task0()))
		}
	case <-time.After(5 * time.Second):
		t.Error("no answer while the store is saved")
	}
	close(let)
	r.until("the copy is durable", func() bool { return h.position(task0()).Durable == 10 })
}
