package taskrun

import (
	"errors"
	"io"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/model"
)

// picky fails on a record some times.
type picky struct{ left *atomic.Int64 }

func (p picky) Process(r Record, s Store) error {
	if string(r.Value) == "3" && p.left.Add(-1) >= 0 {
		return errors.New("not now")
	}
	return counter{}.Process(r, s)
}

// A record that fails comes again, and none after it comes first.
func TestFailingProcessor(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	var left atomic.Int64
	left.Store(1 << 40)
	h, o := r.host("", func(o *Options) { o.NewProcessor = func(model.TaskID) Processor { return picky{&left} } })
	ok(t, h.Activate(task0(), &commits{r: r}))
	r.put(input, numbered(0, 10, 10)...)
	r.until("trouble, and the commit of what came before", func() bool { return o.has(Trouble) })
	ok(t, h.Demote(soon(t), task0()))
	if r.committed() != 3 || total(h.state(task0())) != 3 {
		t.Fatal(r.committed(), h.state(task0()))
	}
	left.Store(1)
	ok(t, h.Activate(task0(), &commits{r: r}))
	r.until("all", func() bool { return r.committed() == 10 && total(h.state(task0())) == 10 })
}

// Broker trouble is ridden out: faults at every request that a task makes, and
// connections that are cut. Nothing is lost or counted twice, since the host
// itself lives on.
func TestBrokerTrouble(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	h, o := r.host(t.TempDir(), nil)
	fault := func(key kmsg.Key, err *kerr.Error, n int) {
		r.c.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Err: err, Count: n})
	}
	fault(kmsg.ListOffsets, kerr.NotLeaderForPartition, 3)
	fault(kmsg.OffsetFetch, kerr.CoordinatorLoadInProgress, 2)
	fault(kmsg.Fetch, kerr.NotLeaderForPartition, 2)
	fault(kmsg.Produce, kerr.NotLeaderForPartition, 2)
	fault(kmsg.OffsetCommit, kerr.NotCoordinator, 2)
	ok(t, h.Activate(task0(), &commits{r: r}))
	for i := range 5 {
		r.put2(input, numbered(i*100, 100, 10)...)
		// The broker that leads the changelog cuts the connection of one write.
		r.c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) { return nil, io.EOF, true })
	}
	r.until("all", func() bool { return total(h.state(task0())) >= 500 && r.committed() == 500 })
	ok(t, h.Demote(soon(t), task0()))
	if got := total(h.state(task0())); got != 500 {
		t.Fatalf("counted %d: %v", got, o.tail())
	}
}

// A value that the broker refuses stops the task and takes the store back; the
// record comes again.
func TestChangelogWriteFails(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, dir string) {
		r := newRig(t, 1)
		var left atomic.Int64
		left.Store(1)
		h, o := r.host(dir, func(o *Options) {
			o.NewProcessor = func(model.TaskID) Processor {
				return processFunc(func(rec Record, s Store) error {
					if left.Add(-1) == 0 {
						s.Put(rec.Key, make([]byte, 3<<20))
						return nil
					}
					return counter{}.Process(rec, s)
				})
			}
		})
		ok(t, h.Activate(task0(), &commits{r: r}))
		r.put(input, numbered(0, 20, 5)...)
		r.until("all", func() bool { return r.committed() == 20 })
		if got := total(h.state(task0())); got != 20 || !o.has(Trouble) || o.count(Started) != 2 {
			t.Fatal(got, o.kinds())
		}
	})
}
