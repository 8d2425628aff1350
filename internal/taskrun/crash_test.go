package taskrun

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
)

func numberedTask(partition int32) model.TaskID {
	id := task0()
	id.Partition = partition
	return id
}

// Closing copies while the host crashes does not take the store from under the
// restore that is still at it.
func TestCloseWhileItCrashes(t *testing.T) {
	t.Parallel()
	const tasks, rounds = 8, 10
	for range rounds {
		r := newRig(t, tasks)
		h, _ := r.host(t.TempDir(), nil)
		r.put(clog, numbered(0, 3000, 3000)...)
		for p := range int32(tasks) {
			ok(t, h.Copy(numberedTask(p)))
		}
		var all sync.WaitGroup
		for p := range int32(tasks) {
			all.Go(func() {
				if err := h.Close(context.Background(), numberedTask(p), p%2 == 0); err != nil && !errors.Is(err, errClosed) {
					t.Errorf("task %d: %v", p, err)
				}
			})
		}
		all.Go(h.Crash)
		all.Wait()
	}
}

// A copy that could not be taken from the restore keeps its store until the host
// has ended.
func TestCloseAfterTheHostEnded(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	h, _ := r.host(t.TempDir(), nil)
	ok(t, h.Copy(task0()))
	h.mu.Lock()
	task := h.tasks[task0()]
	h.mu.Unlock()
	h.cancel()
	h.wg.Wait() // nobody runs jobs any more
	if err := h.Close(context.Background(), task0(), false); !errors.Is(err, errClosed) {
		t.Fatal(err)
	}
	task.mu.Lock()
	open := task.st != nil
	task.mu.Unlock()
	if !open {
		t.Error("the store was closed while the restore may be at it")
	}
	h.Crash()
}
