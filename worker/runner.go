package worker

import (
	"context"
	"slices"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/taskrun"
)

// slotState is what is of a task on this instance.
type slotState uint8

const (
	slotNone   slotState = iota
	slotRest             // state that is not restored
	slotCopy             // it follows its changelog
	slotActive           // it processes, or restores in order to
)

// slot is one task of the instance as it is, beside the want of how it shall
// be. One step at a time brings it there.
type slot struct {
	is      slotState
	owner   int // worker by whose membership it is active, or about to be
	started bool
	busy    bool
	quick   bool               // it stops at once, without waiting for its commit
	giveUp  context.CancelFunc // ends the wait for what is being stopped; nil: nothing is
	again   time.Time
}

// op is one step of a slot.
type op uint8

const (
	opNone   op = iota
	opStop      // active → copy, or closed when it is stateless
	opCopy      // → copy
	opStart     // → active
	opRest      // copy → its state at rest
	opForget    // → closed, its state deleted
)

// next is the step that brings a slot nearer to what is wanted. State is only
// deleted once the whole instance is settled: another worker of it may be
// about to get the task.
func (s *slot) next(w want, settled bool) op {
	switch {
	case s.is == slotActive && !slices.Contains(w.owners, s.owner):
		return opStop
	case s.is == slotActive:
		return opNone
	case len(w.owners) > 0:
		return opStart
	case w.copies && s.is != slotCopy:
		return opCopy
	case w.keep && !w.copies && s.is == slotCopy:
		return opRest
	case w.copies || w.keep || s.is == slotNone || !settled:
		return opNone
	}
	return opForget
}

// stopWait bounds how long a task may take to stop and commit, by the time that
// the group waits for a member; after a lost membership by what is left of the
// session, of which the seat leaves a sixth.
func (i *Instance) stopWait(quick bool) time.Duration {
	if quick {
		return min(time.Second, i.c.SessionTimeout/12)
	}
	return i.c.RebalanceTimeout / 2
}

// retryPause is how long a step that failed waits before the next try.
const retryPause = 500 * time.Millisecond

// reconcile starts the steps that are due; i.mu is held. Whoever waits for a
// step waits on i.cond.
func (i *Instance) reconcile() {
	if i.dead {
		return
	}
	i.reconciled = time.Now()
	wants, settled := i.st.wants()
	for id := range wants {
		if i.slots[id] == nil {
			i.slots[id] = &slot{}
		}
	}
	now := time.Now()
	for id, s := range i.slots {
		w, wanted := wants[id]
		if s.busy || now.Before(s.again) {
			continue
		}
		todo := s.next(w, settled && !i.st.leaving)
		if todo == opNone {
			if !wanted && s.is == slotNone {
				delete(i.slots, id)
			}
			continue
		}
		s.busy = true
		worker := s.owner
		if todo == opStart {
			worker = w.owners[0]
			s.owner = worker
		}
		ctx := i.ctx
		if todo == opStop {
			ctx, s.giveUp = context.WithTimeout(ctx, i.stopWait(s.quick))
		}
		i.work.Go(func() { i.step(ctx, id, s, todo, worker) })
	}
	i.cond.Broadcast()
}

// retries says whether a step that failed is due again; i.mu is held. All other
// steps are started by whatever makes them necessary.
func (i *Instance) retries() bool {
	now := time.Now()
	for _, s := range i.slots {
		if !s.busy && !s.again.IsZero() && now.After(s.again) {
			s.again = time.Time{}
			return true
		}
	}
	return false
}

// step does one step of a task and looks for the next.
func (i *Instance) step(ctx context.Context, id model.TaskID, s *slot, todo op, worker int) {
	var err error
	is := s.is
	switch todo {
	case opStop:
		err = i.tasks.Demote(ctx, id)
		is = slotNone
		if i.st.stateful(id) {
			is = slotCopy
		}
	case opCopy:
		if err = i.tasks.Copy(id); err == nil {
			is = slotCopy
		}
	case opStart:
		i.events.owner(id, worker)
		if err = i.tasks.Activate(id, i.committer(worker, id)); err == nil {
			is = slotActive
		}
	case opRest:
		if err = i.tasks.Close(i.ctx, id, true); err == nil {
			is = slotRest
		}
	case opForget:
		if err = i.tasks.Close(i.ctx, id, false); err == nil {
			is = slotNone
		}
	}
	if err != nil && i.ctx.Err() == nil && !taskrun.IsFenced(err) {
		i.events.emit(Event{Kind: Trouble, Task: taskID(id), Err: err})
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case todo == opCopy && err == nil:
		i.events.emit(Event{Kind: CopyOpened, Task: taskID(id)})
	case todo == opForget && err == nil:
		i.events.emit(Event{Kind: CopyClosed, Task: taskID(id)})
	}
	if err != nil && todo != opStop {
		s.again = time.Now().Add(retryPause)
	}
	if s.giveUp != nil {
		s.giveUp()
	}
	s.is, s.owner, s.busy, s.quick, s.giveUp = is, worker, false, false, nil
	if is != slotActive {
		s.started = false
	}
	i.reconcile()
}

// committer commits a task by a worker's membership.
func (i *Instance) committer(worker int, id model.TaskID) committer {
	c := committer{s: i.seats[worker].ses, task: id}
	for _, x := range i.seats {
		c.all = append(c.all, x.ses)
	}
	return c
}

// anything matches every slot.
func anything(model.TaskID, *slot) bool { return true }

// waitStopped waits until none of the tasks is active, or the instance is dead;
// i.mu is held.
func (i *Instance) waitStopped(of func(model.TaskID, *slot) bool) {
	for !i.dead {
		open := false
		for id, s := range i.slots {
			open = open || (s.is == slotActive || s.busy) && of(id, s)
		}
		if !open {
			return
		}
		i.cond.Wait()
	}
}
