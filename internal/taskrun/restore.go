package taskrun

import (
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/model"
)

const (
	fetchWait  = 200 * time.Millisecond // how long a broker holds a fetch without records
	idleWait   = 10 * time.Second       // how long one poll waits; whatever else is to be done ends it
	rateWait   = 200 * time.Millisecond // how long a restore rests that is ahead of its rate
	restoreMax = 10_000                 // records of one poll
	saveEvery  = time.Second            // how old what is not durable yet may get
	errorPause = 100 * time.Millisecond // after a poll that gave nothing but errors
)

// restoreLoop fetches changelogs into the stores of copies.
func (h *Host) restoreLoop() {
	var due time.Time // with a restore rate: when the next records may come
	for h.ctx.Err() == nil {
		h.restore.runJobs()
		rate, now := int(h.rate.Load()), time.Now()
		h.prioritise(now)
		if wait := due.Sub(now); rate > 0 && wait > 0 {
			h.restore.rest(h.ctx, min(wait, rateWait))
			h.saveOld(time.Now())
			continue
		}
		limit := restoreMax
		if rate > 0 {
			// A twentieth of a second at a time. Fetches stay as big as they are:
			// the client holds what they brought, and fetches no more meanwhile.
			limit = max(1, min(limit, rate/20))
		}
		wait := idleWait
		if len(h.byChangelog) > 0 {
			wait = saveEvery
		}
		fs := h.restore.poll(h.ctx, wait, limit)
		n, bad := 0, false
		fs.EachPartition(func(ft kgo.FetchTopicPartition) {
			n += len(ft.Records)
			bad = h.applied(ft) || bad
		})
		now = time.Now()
		if rate > 0 {
			if due.Before(now) {
				due = now
			}
			due = due.Add(time.Duration(n) * time.Second / time.Duration(rate))
		}
		if n == 0 && bad {
			h.restore.rest(h.ctx, errorPause)
		}
		h.saveOld(now)
	}
}

// applied puts fetched changelog records into their store and reports whether
// the partition brought an error.
func (h *Host) applied(ft kgo.FetchTopicPartition) (bad bool) {
	if ft.Topic == "" { // the poll itself ended, or the client is closed
		return ft.Err != nil && h.ctx.Err() == nil && !timedOut(ft.Err)
	}
	t := h.byChangelog[model.TopicPartition{Topic: ft.Topic, Partition: ft.Partition}]
	if t == nil {
		return false
	}
	t.mu.Lock()
	before := t.next
	for _, r := range ft.Records {
		if r.Offset < t.next {
			continue
		}
		// A record without a key cannot be addressed by anyone.
		if !r.Attrs.IsControl() && r.Key != nil {
			t.st.put(r.Key, r.Value)
			t.restored++
		}
		t.next = r.Offset + 1
	}
	if ft.Err == nil {
		t.end = max(t.end, ft.LastStableOffset)
	}
	if t.next != before {
		t.quiet, t.movedAt = quiet{}, time.Now()
	}
	var err error
	if t.st.pending() > h.pendingLimit() {
		err = t.save(time.Now())
	}
	t.mu.Unlock()
	if err != nil {
		h.trouble(t, err)
		h.detach(t)
		t.mu.Lock()
		t.goBack()
		t.mu.Unlock()
		return true
	}
	if ft.Err != nil {
		h.fetchFailed(t, ft.Err)
		return true
	}
	h.settle(t)
	return false
}

// fetchFailed handles an error after which the client fetches the partition no
// more. The next look attaches it again.
func (h *Host) fetchFailed(t *task, err error) {
	h.detach(t)
	var lost *kgo.ErrDataLoss
	switch {
	case errors.Is(err, kerr.OffsetOutOfRange), errors.As(err, &lost):
		h.clear(t, fmt.Sprintf("offset %d is not in the log any more", t.next))
		h.lookNow(true)
	case errors.Is(err, kerr.UnknownTopicID):
		h.lookNow(true) // tells by the topic's id
	default:
		h.trouble(t, fmt.Errorf("fetch changelog %q: %w", t.changelog, err))
	}
}

// looked takes in what a look found.
func (h *Host) looked(number int64, tasks []*task, found map[model.TopicPartition]extent) {
	purged := map[string]bool{}
	fetch := map[string]map[int32]kgo.Offset{}
	for _, t := range tasks {
		x := found[t.changelog]
		if x.err != nil {
			if h.ctx.Err() == nil {
				h.trouble(t, x.err)
			}
			continue
		}
		if h.admit(t, number, x, purged) {
			h.attach(t, fetch)
			h.settle(t)
		}
	}
	h.restore.cl.AddConsumePartitions(fetch)
}

// admit notes an extent and reports whether the task is to follow its changelog.
// A state that does not belong to this log, or misses records that the log has
// lost, is emptied (at once if it is restored, else when it will be).
func (h *Host) admit(t *task, number int64, x extent, purged map[string]bool) bool {
	t.mu.Lock()
	if t.role == running || h.gone(t) {
		t.mu.Unlock()
		return false
	}
	known := t.topic != [16]byte{}
	why := ""
	switch {
	case known && x.topic != t.topic:
		why = "the topic was deleted and made anew"
	case t.next > 0 && t.next < x.start:
		why = fmt.Sprintf("the log begins at offset %d, above %d: records in between are deleted", x.start, t.next)
	}
	t.start, t.end, t.look = x.start, x.end, number
	if t.role == resting {
		t.misfits = why != ""
		t.mu.Unlock()
		return false
	}
	anew := known && x.topic != t.topic
	t.mu.Unlock()
	if why != "" {
		h.detach(t)
		if anew && !purged[t.changelog.Topic] {
			// The clients go on with the old topic until they are told.
			purged[t.changelog.Topic] = true
			h.restore.cl.PurgeTopicsFromClient(t.changelog.Topic)
			h.inputs.cl.PurgeTopicsFromProducing(t.changelog.Topic)
		}
		h.clear(t, why)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.topic = x.topic
	t.next = max(t.next, x.start)
	if x.isBare && x.bare == t.next {
		t.quiet.upTo = x.end
	}
	if t.attached && t.next < t.end {
		leader, _, err := h.restore.cl.PartitionLeader(t.changelog.Topic, t.changelog.Partition)
		if err != nil {
			leader = -1
		}
		t.quiet.look(t.next, leader, h.fetches.of(leader), time.Now())
	}
	return true
}

// clear empties a store for a reason.
func (h *Host) clear(t *task, why string) {
	t.mu.Lock()
	had := t.next > 0 || t.st.size() > 0
	err := t.empty()
	t.mu.Unlock()
	if had {
		h.tell(Event{Kind: Cleared, Task: t.id, Err: &misfitError{changelog: t.changelog, why: why}})
	}
	if err != nil {
		h.trouble(t, err)
	}
}

// attach has the changelog fetched from the position on, once what is added to
// fetch is given to the client. A task that is to become active and lacks nothing
// is not fetched: settle has it go on at once.
func (h *Host) attach(t *task, fetch map[string]map[int32]kgo.Offset) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.attached || t.role != copying && t.role != restoring || t.complete() {
		return
	}
	t.attached = true
	h.byChangelog[t.changelog] = t
	if fetch[t.changelog.Topic] == nil {
		fetch[t.changelog.Topic] = map[int32]kgo.Offset{}
	}
	fetch[t.changelog.Topic][t.changelog.Partition] = kgo.NewOffset().At(t.next)
}

// complete reports whether the task is to become active and the last look found
// nothing that its store lacks; mu is held.
func (t *task) complete() bool {
	lag, known := t.lag()
	return t.role == restoring && t.look >= t.needLook && known && lag == 0
}

// detach ends the fetching of the changelog.
func (h *Host) detach(t *task) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.attached {
		return
	}
	t.attached = false
	t.quiet = quiet{}
	delete(h.byChangelog, t.changelog)
	one := map[string][]int32{t.changelog.Topic: {t.changelog.Partition}}
	h.restore.cl.RemoveConsumePartitions(one)
	if t.paused { // a pause outlives a removal
		t.paused = false
		h.restore.cl.ResumeFetchPartitions(one)
	}
}

// settle tells what the position means now, and hands a task that is restored
// to its activation.
func (h *Host) settle(t *task) {
	t.mu.Lock()
	lag, known := t.lag()
	reached := known && lag == 0 && t.attached
	if t.complete() {
		t.mu.Unlock()
		h.detach(t)
		t.mu.Lock()
		if t.role == restoring {
			t.role = running
			// Below the end there is nothing that the store lacks, also where
			// the last batches have no records.
			t.next = max(t.next, t.end)
			close(t.ready)
		}
		t.mu.Unlock()
		return
	}
	events := t.standing(lag, known, reached, h.o.AcceptableLag, time.Now())
	t.mu.Unlock()
	for _, e := range events {
		h.tell(e)
	}
}

// standing gives the events that a copy's lag makes; mu is held.
func (t *task) standing(lag int64, known, reached bool, acceptable int64, now time.Time) []Event {
	if !known || t.role != copying && t.role != restoring {
		return nil
	}
	var events []Event
	add := func(k Kind) {
		events = append(events, Event{Kind: k, Task: t.id, Lag: lag, Records: t.restored})
	}
	side := outside
	if lag <= acceptable {
		side = inside
	}
	if side != t.within {
		t.within = side
		if side == inside {
			add(Within)
		} else {
			add(Beyond)
		}
	}
	if reached && !t.caughtUp {
		t.caughtUp = true
		add(CaughtUp)
	}
	if !reached && !t.caughtUp && now.Sub(t.toldAt) >= time.Second {
		t.toldAt = now
		add(Progress)
	}
	return events
}

// saveOld makes durable what has waited long enough.
func (h *Host) saveOld(now time.Time) {
	for _, t := range h.byChangelog {
		t.mu.Lock()
		var err error
		if t.mark() != t.saved && now.Sub(t.savedAt) >= saveEvery {
			if err = t.save(now); err != nil {
				t.savedAt = now
			}
		}
		t.mu.Unlock()
		if err != nil {
			h.trouble(t, err)
		}
	}
}
