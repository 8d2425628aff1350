package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/streamctl/streamctl/internal/control"
)

// statusKept is how long the status of an instance stays that is in none of the
// leader's rounds (docs/protocol/control.md, Keys).
const statusKept = 24 * time.Hour

// forgetRetry is how long a leader waits that could not write a tombstone.
const forgetRetry = time.Minute

// absences notes since when instances that have a status are in no round of
// this leader, by its own clock. A leader that is followed by another forgets.
type absences map[string]time.Time

// due gives the instances that have been absent for long enough. with are those
// that have a status, in are those of the last round.
func (a absences) due(now time.Time, with []string, in map[string]bool, kept time.Duration) []string {
	has := map[string]bool{}
	var list []string
	for _, id := range with {
		has[id] = true
		since, absent := a[id]
		switch {
		case in[id]:
			delete(a, id)
		case !absent:
			a[id] = now
		case now.Sub(since) >= kept:
			list = append(list, id)
		}
	}
	for id := range a {
		if !has[id] {
			delete(a, id)
		}
	}
	return list
}

// forget takes the status of those away that are gone for good, if this
// instance leads.
func (l *link) forget(ctx context.Context, now time.Time) {
	in := l.i.inRound()
	if in == nil {
		clear(l.absent)
		return
	}
	l.mu.Lock()
	with, kept := l.heard.withStatus(), l.kept
	l.mu.Unlock()
	for _, id := range l.absent.due(now, with, in, kept) {
		ctx, cancel := context.WithTimeout(ctx, writeWait)
		_, err := l.topic.Write(ctx, control.NoStatus(id))
		cancel()
		if err != nil {
			l.absent[id] = now.Add(forgetRetry - kept)
			l.i.events.emit(Event{Kind: Trouble, Err: fmt.Errorf("remove the status of instance %s, which is gone: %w", id, err)})
		}
	}
}

// inRound gives the instances of the last round if this instance led it, else
// nil.
func (i *Instance) inRound() map[string]bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.leads() {
		return nil
	}
	in := map[string]bool{}
	for n := range i.led.result.Instances {
		in[i.led.result.Instances[n].ID] = true
	}
	return in
}

// leads says whether the instance led the last round that it took part in; i.mu
// is held.
func (i *Instance) leads() bool {
	generation := i.st.generation()
	return i.led != nil && generation > 0 && i.ledGen == generation
}
