package taskrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/streamctl/streamctl/internal/model"
)

// Copy makes a stateful task a copy that follows its changelog. It does nothing
// to a task that is a copy already, and is refused for an active one (see
// Demote) and for a stateless one.
func (h *Host) Copy(id model.TaskID) error {
	t, err := h.hold(id)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !t.stateful():
		h.forget(t)
		return fmt.Errorf("task %q is stateless: there is nothing to copy", id)
	case t.act != nil && !t.act.over():
		return fmt.Errorf("task %q is active: demote it first", id)
	case t.role == resting:
		t.role = copying
		h.lookNow(false)
	}
	return nil
}

// Activate makes a task active and returns at once: the restore is finished
// first, then Started is reported. For a task that is active already only the
// committer is replaced, from its next commit on.
func (h *Host) Activate(id model.TaskID, c Committer) error {
	if c == nil {
		return fmt.Errorf("task %q: activated without a committer", id)
	}
	t, err := h.hold(id)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.committer = c
	if t.act != nil && !t.act.over() {
		return nil
	}
	a := newActivation(h, t, t.act)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errClosed
	}
	t.act = a
	h.tasks[id] = t
	h.acts.Go(a.run)
	return nil
}

// Demote stops the processing of tasks, all at the same time: each finishes the
// record in hand, waits for its changelog writes and commits. A stateful task
// is a copy afterwards, a stateless one is closed. Tasks that are not active
// are left as they are. When ctx ends first, what was not committed is given up
// (others process it again) and the error wraps ctx's; an error that IsFenced
// means the same. In any case the task does not process any more, but for a
// call of Process that does not return: its writes are dropped.
func (h *Host) Demote(ctx context.Context, ids ...model.TaskID) error {
	errs := make([]error, len(ids))
	var wg sync.WaitGroup
	for i, id := range ids {
		h.mu.Lock()
		t := h.tasks[id]
		h.mu.Unlock()
		if t == nil {
			continue
		}
		t.mu.Lock()
		a := t.act
		t.mu.Unlock()
		if a != nil && !a.over() {
			wg.Go(func() { errs[i] = a.end(ctx) })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Close demotes a task if it is active and forgets it. With keep its state
// stays and rests, as if found by Open; without, it is deleted.
func (h *Host) Close(ctx context.Context, id model.TaskID, keep bool) error {
	err := h.Demote(ctx, id)
	h.mu.Lock()
	t := h.tasks[id]
	h.mu.Unlock()
	if t == nil || !t.stateful() {
		return err
	}
	if t.waitOver(ctx) {
		err = errors.Join(err, h.rest(t, keep))
	} else {
		err = errors.Join(err, fmt.Errorf("task %q: still in a call of Process: its state stays open", id))
	}
	return err
}

// waitOver waits until no activation has the task.
func (t *task) waitOver(ctx context.Context) bool {
	t.mu.Lock()
	a := t.act
	t.mu.Unlock()
	return a == nil || a.wait(ctx)
}

// rest ends the restore of a copy and closes its store. When the host ends
// meanwhile the restore may still be at the store, which is then left to the
// host's end.
func (h *Host) rest(t *task, keep bool) error {
	left := h.restore.call(h.ctx, func() {
		t.mu.Lock()
		t.role = resting
		t.mu.Unlock()
		h.detach(t)
	})
	if !left {
		return fmt.Errorf("task %q: %w", t.id, errClosed)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.role, t.caughtUp, t.within, t.act = resting, false, unknown, nil
	var err error
	switch {
	case !keep:
		if t.st != nil {
			err = t.st.close()
			t.st = nil
		}
		if t.path != "" {
			if e := os.Remove(t.path); e != nil && !errors.Is(e, os.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
		h.forget(t)
	case t.path != "" && t.st != nil:
		err = errors.Join(save(t.st, t.mark()), t.st.close())
		t.saved = t.st.saved()
		t.next, t.topic, t.st = t.saved.next, t.saved.topic, nil
	}
	if err != nil {
		return fmt.Errorf("task %q: %w", t.id, err)
	}
	return nil
}

// forget takes a task out of those held.
func (h *Host) forget(t *task) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tasks[t.id] == t {
		delete(h.tasks, t.id)
	}
}

// each calls f with every task, in order, its mu held.
func (h *Host) each(f func(*task)) {
	h.mu.Lock()
	var all []*task
	for _, t := range h.tasks {
		all = append(all, t)
	}
	h.mu.Unlock()
	slices.SortFunc(all, func(a, b *task) int { return a.id.Compare(b.id) })
	for _, t := range all {
		t.mu.Lock()
		f(t)
		t.mu.Unlock()
	}
}

// Lag is the number of records that a copy has still to restore, 0 for an
// active stateful task that processes. It is not known for a task that is not
// held, a stateless one, and until the end of the changelog was read.
func (h *Host) Lag(id model.TaskID) (records int64, known bool) {
	h.mu.Lock()
	t := h.tasks[id]
	h.mu.Unlock()
	if t == nil {
		return 0, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lag()
}

// Positions gives the progress of all stateful tasks that are held, by task.
func (h *Host) Positions() []Position {
	var out []Position
	h.each(func(t *task) {
		if !t.stateful() {
			return
		}
		p := Position{Task: t.id, Active: t.role == running, Next: t.next, Durable: t.saved.next, End: t.end, Restored: t.restored}
		if t.path == "" {
			p.Durable = 0
		}
		out = append(out, p)
	})
	return out
}

// Held lists the tasks whose state is here and that are not active: copies and
// those that rest, in order.
func (h *Host) Held() []model.TaskID {
	var out []model.TaskID
	h.each(func(t *task) {
		if t.stateful() && (t.act == nil || t.act.over()) {
			out = append(out, t.id)
		}
	})
	return out
}

// Active lists the tasks that process or are being activated, in order.
func (h *Host) Active() []model.TaskID {
	var out []model.TaskID
	h.each(func(t *task) {
		if t.act != nil && !t.act.over() {
			out = append(out, t.id)
		}
	})
	return out
}
