package taskrun

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/streamctl/streamctl/internal/model"
)

// Copy, active, copy, active: the store is kept, the counts are exact, and
// nothing is restored twice.
func TestActiveAndBack(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, dir string) {
		r := newRig(t, 1)
		h, o := r.host(dir, nil)
		c := &commits{r: r}
		ok(t, h.Copy(task0()))
		ok(t, h.Activate(task0(), c))
		if err := h.Copy(task0()); err == nil {
			t.Fatal("an active task was made a copy")
		}
		for round := 1; round <= 3; round++ {
			r.put(input, numbered(0, 1000, 10)...)
			r.until("the counts", func() bool { return total(h.state(task0())) == 1000*round })
			if lag, known := h.Lag(task0()); lag != 0 || !known {
				t.Fatal(lag, known)
			}
			ok(t, h.Demote(soon(t), task0()))
			if got := r.committed(); got != int64(1000*round) {
				t.Fatalf("committed %d", got)
			}
			if p := h.position(task0()); p.Next != int64(1000*round) || p.Restored != 0 {
				t.Fatalf("%+v", p)
			}
			if dir != "" {
				r.until("the copy is durable", func() bool { return h.position(task0()).Durable == int64(1000*round) })
			}
			if len(h.Active()) != 0 || len(h.Held()) != 1 {
				t.Fatal(h.Active(), h.Held())
			}
			ok(t, h.Activate(task0(), c))
		}
		ok(t, h.Shutdown(soon(t)))
		if o.count(Started) != o.count(Stopped) || o.has(Trouble) || o.has(Cleared) {
			t.Fatal(o.kinds())
		}
	})
}

// A task goes to and fro between two hosts while a producer writes: every
// record is counted exactly once.
func TestHandOverUnderTraffic(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, dir string) {
		r := newRig(t, 1)
		second := ""
		if dir != "" {
			second = t.TempDir()
		}
		a, _ := r.host(dir, nil)
		b, _ := r.host(second, nil)
		hosts := []*Host{a, b}
		stop := make(chan struct{})
		var wg sync.WaitGroup
		var sent atomic.Int64
		wg.Go(func() {
			for i := 0; ; i += 50 {
				select {
				case <-stop:
					return
				default:
				}
				r.put2(input, numbered(i, 50, 20)...)
				sent.Add(50)
			}
		})
		ok(t, b.Copy(task0()))
		for move := range 8 {
			h := hosts[move%2]
			ok(t, h.Activate(task0(), &commits{r: r}))
			before := sent.Load()
			r.until("progress", func() bool { return int64(total(h.state(task0()))) > before })
			ok(t, h.Demote(soon(t), task0()))
		}
		close(stop)
		wg.Wait()
		ok(t, a.Activate(task0(), &commits{r: r}))
		r.until("all", func() bool { return int64(total(a.state(task0()))) >= sent.Load() })
		ok(t, a.Demote(soon(t), task0()))
		if got := total(a.state(task0())); int64(got) != sent.Load() {
			t.Fatalf("counted %d of %d", got, sent.Load())
		}
		r.until("the copy to be alike", func() bool { return fmt.Sprint(a.state(task0())) == fmt.Sprint(b.state(task0())) })
	})
}

// After a crash the store is what the checkpoint holds, only the tail is
// restored, nothing is lost, and duplicates are at most what was not committed.
func TestCrashAndRestart(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	dir := t.TempDir()
	h, _ := r.host(dir, nil)
	c := &commits{r: r}
	ok(t, h.Activate(task0(), c))
	r.put(input, numbered(0, 500, 50)...)
	r.until("a checkpoint", func() bool { return h.position(task0()).Durable == 500 && r.committed() == 500 })
	h.mu.Lock()
	h.tasks[task0()].mu.Lock()
	h.tasks[task0()].savedAt = time.Now().Add(time.Hour) // no checkpoint from here on
	h.tasks[task0()].mu.Unlock()
	h.mu.Unlock()
	c.refuse(errors.New("coordinator away")) // no commit either
	r.put(input, numbered(500, 300, 50)...)
	r.until("300 more in the changelog", func() bool { return total(h.state(task0())) == 800 && h.position(task0()).Next == 800 })
	h.Crash()

	h, o := r.host(dir, nil)
	if held := h.Held(); !slices.Equal(held, []taskID{task0()}) {
		t.Fatal(held)
	}
	r.until("the lag of what was found", func() bool { lag, known := h.Lag(task0()); return known && lag == 300 })
	c.refuse(nil)
	ok(t, h.Activate(task0(), c))
	r.until("the start", func() bool { return o.has(Started) })
	if e := o.last(Started); e.Records != 300 {
		t.Fatalf("restored %d records", e.Records)
	}
	// The 300 that were not committed are counted twice, none is lost.
	r.until("all", func() bool { return total(h.state(task0())) == 1100 })
	ok(t, h.Demote(soon(t), task0()))
	if r.committed() != 800 {
		t.Fatal(r.committed())
	}
}

// A fenced commit ends the processing for good; others read the records again.
func TestFencedCommit(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, dir string) {
		r := newRig(t, 1)
		h, o := r.host(dir, nil)
		c := &commits{r: r}
		ok(t, h.Activate(task0(), c))
		r.put(input, numbered(0, 100, 10)...)
		r.until("a commit", func() bool { return r.committed() == 100 })
		c.refuse(fmt.Errorf("member x: %w", kerr.IllegalGeneration))
		r.put(input, numbered(100, 1, 10)...)
		r.until("the end", func() bool { return o.has(Fenced) && o.has(Stopped) && len(h.Held()) == 1 })
		if err := o.last(Stopped).Err; !IsFenced(err) {
			t.Fatal(err)
		}
		ok(t, h.Demote(soon(t), task0())) // nothing to do any more
		r.caughtUp(h, 10)                 // a copy again
		// Given the task anew, it goes on from the commit.
		ok(t, h.Activate(task0(), &commits{r: r}))
		r.until("the record that came again", func() bool { return r.committed() == 101 })
	})
}

// A stateless task has neither store nor lag, and leaves nothing behind.
func TestStateless(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	var n atomic.Int64
	h, o := r.host(t.TempDir(), func(o *Options) {
		o.Subtopologies[0].Changelog = ""
		o.NewProcessor = func(model.TaskID) Processor {
			return processFunc(func(_ Record, s Store) error {
				if s != nil {
					return errors.New("a store")
				}
				n.Add(1)
				return nil
			})
		}
	})
	if err := h.Copy(task0()); err == nil {
		t.Fatal("a copy of nothing")
	}
	ok(t, h.Activate(task0(), &commits{r: r}))
	r.put(input, numbered(0, 100, 10)...)
	r.until("all", func() bool { return n.Load() == 100 })
	if _, known := h.Lag(task0()); known || len(h.Positions()) != 0 {
		t.Fatal("a lag")
	}
	ok(t, h.Demote(soon(t), task0()))
	if r.committed() != 100 || len(h.Held()) != 0 || len(h.Active()) != 0 || o.has(Trouble) {
		t.Fatal(r.committed(), h.Held(), o.kinds())
	}
}

type processFunc func(Record, Store) error

func (f processFunc) Process(r Record, s Store) error { return f(r, s) }

// Two hosts do not share a directory, nor does one of another group take it.
func TestDirectoryIsOfOneHost(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	dir := t.TempDir()
	h, _ := r.host(dir, nil)
	again := func(group string) error {
		h, err := Open(Options{Group: group, Dir: dir, NewProcessor: func(model.TaskID) Processor { return counter{} }})
		if err == nil {
			h.Crash()
		}
		return err
	}
	if err := again(group); err == nil {
		t.Fatal("opened twice")
	}
	ok(t, h.Shutdown(soon(t)))
	if err := again("other"); err == nil {
		t.Fatal("opened for another group")
	}
	ok(t, again(group))
	if err := h.Copy(task0()); err == nil {
		t.Fatal("a closed host took a task")
	}
}

// More than one host's worth of tasks, in one: all are counted, and all files
// found again.
func TestManyTasks(t *testing.T) {
	t.Parallel()
	r := newRig(t, 12)
	dir := t.TempDir()
	h, _ := r.host(dir, nil)
	var want []taskID
	for p := range int32(12) {
		id := model.ClassicTask("", 0, p)
		want = append(want, id)
		ok(t, h.Activate(id, &commits{r: r}))
		recs := numbered(0, 200, 20)
		for _, rec := range recs {
			rec.Partition = p
		}
		r.put(input, recs...)
	}
	r.until("all counts", func() bool {
		n := 0
		for _, id := range want {
			n += total(h.state(id))
		}
		return n == 12*200
	})
	ok(t, h.Shutdown(soon(t)))
	h, _ = r.host(dir, nil)
	if got := h.Held(); !slices.Equal(got, want) {
		t.Fatal(got)
	}
	r.until("all lags", func() bool {
		for _, id := range want {
			if lag, known := h.Lag(id); !known || lag != 0 {
				return false
			}
		}
		return true
	})
}
