package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/seat"
)

// depart begins the way out: everything is closed and committed, a mark that
// asked for it is withdrawn, and the workers leave. i.mu is held.
func (i *Instance) depart(why EventKind) {
	if i.departing || i.dead {
		return
	}
	i.departing = true
	e := Event{Kind: why}
	if i.st.mark != nil {
		e.Mark = i.st.mark.id
	}
	i.st.closeAll()
	i.reconcile()
	go i.leave(e)
}

// leave is the way out. A worker in the middle of a round takes it to its end;
// what it is given then it does not open.
func (i *Instance) leave(e Event) {
	i.mu.Lock()
	i.waitStopped(anything)
	i.st.expired = e.Kind == Expired
	for i.moving() && !i.dead {
		i.cond.Wait()
	}
	dead := i.dead
	i.mu.Unlock()
	if dead {
		return
	}
	if e.Kind != Left {
		i.events.emit(e)
		i.link.withdraw(i.ctx)
	}
	i.link.last(departureOf(e.Kind))
	ctx, cancel := context.WithTimeout(i.ctx, leaveWait)
	defer cancel()
	errs := make([]error, len(i.seats))
	var all sync.WaitGroup
	for n, s := range i.sitting() {
		all.Go(func() { errs[n] = s.Leave(ctx) })
	}
	all.Wait()
	err := i.tasks.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("worker: shut the tasks down: %w", err)
	}
	i.finish(errors.Join(err, errors.Join(errs...)))
}

// departureOf says in the control topic's words why an instance goes.
func departureOf(why EventKind) control.Departure {
	switch why {
	case Drained:
		return control.LeftDrained
	case Expired:
		return control.LeftExpired
	default:
		return control.LeftStopped
	}
}

func (i *Instance) moving() bool {
	for _, c := range i.seats {
		if c.moving {
			return true
		}
	}
	return false
}

// sitting are the seats that there are, by worker.
func (i *Instance) sitting() map[int]*seat.Seat {
	i.mu.Lock()
	defer i.mu.Unlock()
	list := map[int]*seat.Seat{}
	for n, c := range i.seats {
		if c.seat != nil {
			list[n] = c.seat
		}
	}
	return list
}

// finish ends the instance, once.
func (i *Instance) finish(why error) {
	i.ended.Do(func() {
		i.mu.Lock()
		i.dead, i.departing = true, true
		i.cond.Broadcast()
		i.mu.Unlock()
		i.end()
		i.work.Wait()
		i.link.close()
		i.topics.close()
		i.die()
		i.why = why
		i.events.emit(Event{Kind: Left, Err: why})
		i.events.close()
		close(i.over)
	})
}

// Close stops all tasks, commits, leaves the group, and ends the instance. Its
// state stays in StateDir. When ctx ends first the rest is given up.
func (i *Instance) Close(ctx context.Context) error {
	i.mu.Lock()
	i.depart(Left)
	i.mu.Unlock()
	select {
	case <-i.over:
		return i.why
	case <-ctx.Done():
		i.Kill()
		return fmt.Errorf("worker: close: %w", ctx.Err())
	}
}

// crashSeats crashes all seats, those too that are being opened: once nothing
// moves any more, none is added.
func (i *Instance) crashSeats() {
	for moving := true; moving; {
		i.mu.Lock()
		moving = i.moving()
		i.mu.Unlock()
		for _, s := range i.sitting() {
			s.Crash()
		}
		i.mu.Lock()
		for i.moving() {
			i.cond.Wait()
		}
		i.mu.Unlock()
	}
}

// Kill ends the instance as a crash would: nothing is committed, nobody is
// told. For tests.
func (i *Instance) Kill() {
	i.net.Cut()
	i.die()
	i.mu.Lock()
	i.dead, i.departing = true, true
	i.cond.Broadcast()
	i.mu.Unlock()
	i.end()
	i.tasks.Crash()
	i.crashSeats()
	i.finish(ErrKilled)
	<-i.over
}
