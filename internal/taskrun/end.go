package taskrun

import (
	"context"
	"errors"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// Shutdown demotes all active tasks, writes all checkpoints and ends
// everything, at the latest when ctx ends. It returns what could not be
// committed. The host is of no use afterwards.
func (h *Host) Shutdown(ctx context.Context) error {
	if !h.close() {
		return nil
	}
	var ids []model.TaskID
	h.each(func(t *task) { ids = append(ids, t.id) })
	err := h.Demote(ctx, ids...)
	h.cancel()
	if !h.ended() {
		err = errors.Join(err, ctx.Err())
	}
	h.each(func(t *task) {
		if t.st == nil || t.act != nil && !t.act.over() {
			return
		}
		err = errors.Join(err, t.save(time.Now()), t.st.close())
		t.st = nil
	})
	return errors.Join(err, h.lock.close())
}

// Crash ends everything at once without flush, commit or checkpoint, and leaves
// the directory as a crash of the process would. For tests.
func (h *Host) Crash() {
	if !h.close() {
		return
	}
	h.cancel()
	h.each(func(t *task) {
		if t.act != nil && t.act.stint != nil {
			t.act.stint.dead = true
		}
	})
	h.ended()
	h.each(func(t *task) {
		if t.st == nil || t.act != nil && !t.act.over() {
			return
		}
		_ = t.st.close()
		t.st = nil
	})
	_ = h.lock.close()
}

// close has no task begin any more; false when that was so already.
func (h *Host) close() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.closed
	h.closed = true
	return !was
}

// ended closes the clients and waits for the goroutines, of which one that is
// in a call of Process may never end.
func (h *Host) ended() bool {
	h.wg.Wait()
	h.restore.cl.Close()
	h.inputs.cl.Close()
	h.closeTopics()
	done := make(chan struct{})
	go func() {
		h.acts.Wait()
		close(done)
	}()
	t := time.NewTimer(giveUp)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// tell gives an event to the observer.
func (h *Host) tell(e Event) {
	if h.o.Events != nil {
		h.o.Events(e)
	}
}

// sameTrouble is how long the same words are not told again of one task.
const sameTrouble = 5 * time.Second

// trouble tells what failed and is tried again.
func (h *Host) trouble(t *task, err error) {
	if err == nil || h.ctx.Err() != nil {
		return
	}
	now := time.Now()
	t.mu.Lock()
	same := t.trouble == err.Error() && now.Sub(t.troubleAt) < sameTrouble
	if !same {
		t.trouble, t.troubleAt = err.Error(), now
	}
	t.mu.Unlock()
	if !same {
		h.tell(Event{Kind: Trouble, Task: t.id, Err: err})
	}
}
