package worker_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/worker"
)

const (
	much = 200 // records of a task that an instance restores only if it has lost its state
	tail = 10  // those that come while it is away
)

// of gives the events of one kind of an instance, from the nth event on.
func (r *rig) of(name string, kind worker.EventKind, from int) (list []worker.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events[from:] {
		if e.Kind == kind && r.names[e.Instance] == name {
			list = append(list, e)
		}
	}
	return list
}

func (r *rig) happened() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events)
}

// restoredTail checks that an instance has restored no more than what came
// while it was away, and something.
func (r *rig) restoredTail(name string, from int) {
	r.t.Helper()
	restored := int64(0)
	for _, e := range r.of(name, worker.CaughtUp, from) {
		restored += e.Records
		if e.Records > 2*tail {
			r.t.Errorf("task %s restored %d records, %d came while it was away", e.Task, e.Records, tail)
		}
	}
	if restored == 0 {
		r.t.Error("nothing was restored: it went on restoring, or had nothing to do")
	}
}

func (r *rig) ends(name string) {
	r.t.Helper()
	r.until(name+" ends", func() bool {
		select {
		case <-r.live[name].Done():
			return true
		default:
			return false
		}
	})
	delete(r.live, name)
}

// pair brings a[T2,T3,T4] b[T1] about, with much state.
func pair(t *testing.T, change ...func(*worker.Config)) *rig {
	r := newRig(t, 4)
	r.produce(much)
	change = append(change, func(c *worker.Config) { c.Settings.RejoinPolicy = worker.RejoinEager })
	r.start("a", change...)
	r.becomes("a[T1,T2,T3,T4]")
	r.running()
	r.counted()
	b := r.start("b", change...)
	r.until("b runs T1", func() bool {
		for _, task := range b.Stats().Tasks {
			if task.ID.Partition == 0 && task.Processing {
				return true
			}
		}
		return false
	})
	r.running()
	r.produce(tail)
	r.counted()
	return r
}

// A rolling restart with a drain: the instance finds its state when it comes
// back, and restores what it missed alone. While it is leaving, what it handed
// over is neither restored nor told.
func TestDrainedComesBackWithItsState(t *testing.T) {
	t.Parallel()
	r := pair(t)
	r.open(2)
	from := r.happened()
	r.mark("a", "m", time.Hour)
	r.becomes("a[T3,T4] b[T1,T2] learns T3,T4")
	r.until("what is handed over rests on disk, untold", func() bool {
		_, err := os.Stat(filepath.Join(r.dir, "a", "tasks", "0_1.store"))
		return err == nil && len(r.live["a"].Stats().Tasks) == 2
	})
	r.openAll()
	r.ends("a")
	for _, e := range append(r.of("a", worker.CopyClosed, from), r.of("a", worker.CopyOpened, from)...) {
		if e.Task.Partition != 0 { // T1 went before the mark
			t.Errorf("%s of task %s", e.Kind, e.Task)
		}
	}
	r.becomes("b[T1,T2,T3,T4]")
	r.running()
	r.produce(tail)
	r.counted()
	from = r.happened()
	r.start("a")
	r.until("a has tasks again", func() bool { return len(r.of("a", worker.ActiveStarted, from)) > 0 && r.runningTasks() == 4 })
	r.restoredTail("a", from)
	r.produce(tail)
	if extra := r.counted(); extra > 0 {
		t.Errorf("%d records were counted twice", extra)
	}
	r.noTaskTwice()
}

// A mark that is withdrawn before the end: what was handed over is a copy that
// the leader may use as it is.
func TestUnmarkedUsesWhatItKept(t *testing.T) {
	t.Parallel()
	r := pair(t, func(c *worker.Config) { c.Settings.StandbyReplicas = 1 })
	r.open(2)
	from := r.happened()
	r.mark("a", "m", time.Hour)
	r.until("a has two tasks and tells of no other", func() bool { return len(r.live["a"].Stats().Tasks) == 2 })
	r.produce(tail)
	r.counted()
	if n := len(r.of("a", worker.CopyOpened, from)); n > 0 {
		t.Errorf("a marked instance restores %d copies", n)
	}
	from = r.happened()
	r.write(control.Withdrawal(r.live["a"].ID()), nil)
	r.until("a has copies of what b has", func() bool {
		return len(r.live["a"].Stats().Tasks) == 4 && len(r.of("a", worker.CaughtUp, from)) == 2
	})
	r.restoredTail("a", from)
	if n := len(r.of("a", worker.CopyClosed, from)); n > 0 {
		t.Errorf("%d copies were deleted", n)
	}
	r.noTaskTwice()
}

// An instance whose time is up keeps its state too.
func TestExpiredComesBackWithItsState(t *testing.T) {
	t.Parallel()
	r := pair(t)
	r.open(2)
	r.mark("a", "m", 2*time.Second)
	r.ends("a")
	if n := r.count(worker.Expired); n != 1 {
		t.Errorf("expired %d times", n)
	}
	r.openAll()
	r.becomes("b[T1,T2,T3,T4]")
	r.running()
	r.produce(tail)
	r.counted()
	from := r.happened()
	r.start("a")
	r.until("a has tasks again", func() bool { return len(r.of("a", worker.ActiveStarted, from)) > 0 && r.runningTasks() == 4 })
	r.restoredTail("a", from)
	r.noTaskTwice()
}
