package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/seat"
)

func other(m Mode) Mode {
	if m == Upgrading {
		return Incremental
	}
	return Upgrading
}

// follow takes a mode record: with another mode the workers stop everything,
// keep their state, leave, and come back under the other protocol type. i.mu is
// held.
func (i *Instance) follow(mode Mode, epoch int64, allowed time.Duration) {
	news, leave := i.st.follow(mode, epoch, allowed, time.Now())
	if !news {
		return
	}
	i.events.emit(Event{Kind: ModeSeen, Mode: mode, Epoch: epoch})
	i.wakeUp()
	if !leave {
		return
	}
	i.events.emit(Event{Kind: SwitchBegun, Mode: mode, Epoch: epoch})
	i.resumed = time.Time{}
	for _, s := range i.slots {
		if s.is == slotActive && i.stopped.IsZero() {
			i.stopped = time.Now()
		}
	}
	for _, c := range i.seats {
		c.ses.set(func(s *session) { s.last = true })
		if c.seat != nil {
			c.seat.Hurry(true)
		}
	}
	i.reconcile()
	for _, c := range i.seats {
		c.move()
	}
}

// noticeWait, and a quarter of the session, bound the leader's look at the
// control topic in a round.
const noticeWait = 3 * time.Second

// notice is for the leader of a round in which instances are missing that were
// in the one before: perhaps they left for a mode switch that this instance did
// not read of yet. Then it must not take what they will come back with, so it
// looks before it assigns.
func (i *Instance) notice(protocolType string, r seat.Round) {
	before, here := 0, map[string]bool{}
	for _, m := range r.Members {
		if md, err := groupmeta.ParseWorkerMetadata(protocolType, m.Metadata); err == nil {
			here[md.Instance] = true
			before = max(before, int(md.LastInstances))
		}
	}
	if len(here) < before {
		ctx, cancel := context.WithTimeout(i.ctx, min(noticeWait, i.c.SessionTimeout/4))
		defer cancel()
		i.link.lookForMode(ctx)
	}
}

// goBack ends a switch whose time is up while the group does not let this
// instance in: the old mode, for all. i.mu is held.
func (i *Instance) goBack() {
	sw, back, epoch := i.st.sw, i.st.sw.from, i.st.epoch+1
	i.work.Go(func() {
		err := i.link.writeMode(i.ctx, back, epoch, sw.allowed)
		i.mu.Lock()
		defer i.mu.Unlock()
		if err != nil {
			sw.blind = true
			i.events.emit(Event{Kind: Trouble, Err: fmt.Errorf("go back to mode %s: %w", back, err)})
			return
		}
		i.events.emit(Event{Kind: SwitchRolledBack, Mode: back, Epoch: epoch})
		if i.st.sw == sw && !i.departing { // else a record that came meanwhile counts
			i.follow(back, epoch, sw.allowed)
		}
	})
}

// settleSwitch looks whether everything runs again after a mode switch, which
// ends the pause, and whether the switch is over; i.mu is held. A switch can go
// on for long after the pause, while the leader waits for instances that do not
// come back.
func (i *Instance) settleSwitch(over bool) {
	if over {
		i.switched = true
		for _, c := range i.seats {
			if c.seat != nil {
				c.seat.Hurry(false)
			}
		}
	}
	if !i.switched && i.stopped.IsZero() {
		return
	}
	all := i.runsAll()
	if all && i.resumed.IsZero() && !i.stopped.IsZero() {
		i.resumed = time.Now()
	}
	if !i.switched || i.st.sw != nil || !all {
		return
	}
	e := Event{Kind: SwitchDone, Mode: i.st.mode, Epoch: i.st.epoch}
	if !i.stopped.IsZero() {
		e.Pause = i.resumed.Sub(i.stopped)
	}
	i.switched, i.stopped, i.resumed = false, time.Time{}, time.Time{}
	i.events.emit(e)
}

// runsAll says whether all workers are members and all that they own processes;
// i.mu is held.
func (i *Instance) runsAll() bool {
	for _, m := range i.st.members {
		if !m.in {
			return false
		}
	}
	wants, _ := i.st.wants()
	for id, w := range wants {
		if s := i.slots[id]; len(w.owners) > 0 && (s == nil || !s.started) {
			return false
		}
	}
	return true
}
