package worker

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/controltopic"
)

// link is the instance's side of the control topic. It never holds the protocol
// up: while the topic cannot be read, the instance goes on with what it knows
// and says so in its status.
type link struct {
	i     *Instance
	topic *controltopic.Topic
	first chan struct{} // closed when the topic was read, or could not be
	once  sync.Once
	push  chan struct{} // a status is due

	absent absences  // of the goroutine that publishes
	read   time.Time // of the goroutine that follows: when it last read something

	writing sync.Mutex // one status is written at a time
	final   bool       // under writing: the last one is written

	mu      sync.Mutex // a leaf, but for Instance.mu taken before it
	heard   heard
	kept    time.Duration // statusKept, but for tests
	whole   bool          // the topic was read once
	there   bool          // it exists, as far as is known
	ignored string        // id of a mark on this instance from before its start
	ahead   int64         // offset of a mode record that was looked for: the follower comes to older ones later, which count no more
	offset  int64
	failed  error // why it cannot be read
	unsaid  error // why the status cannot be written
}

// firstRead is how long Start waits for the first look at the topic.
const firstRead = 5 * time.Second

// writeWait bounds one write. The way out of an instance waits for two.
const writeWait = 3 * time.Second

func openLink(i *Instance) (*link, error) {
	t, err := controltopic.Open(i.opts, i.c.Group)
	if err != nil {
		return nil, err
	}
	return &link{
		i: i, topic: t, heard: newHeard(i.id), first: make(chan struct{}), push: make(chan struct{}, 1), kept: statusKept, absent: absences{},
	}, nil
}

// start follows the topic and waits for the first look.
func (l *link) start(ctx context.Context) {
	l.i.work.Go(func() {
		wants := func(key string) bool { return concerns(control.Record{Key: key}, l.i.id) }
		_ = l.topic.Follow(l.i.ctx, controltopic.Follower{Wants: wants, Whole: l.readWhole, Record: l.record, ReadUpTo: l.readUpTo, Failed: l.fail, Skipped: l.skipped})
	})
	wait, cancel := context.WithTimeout(ctx, firstRead)
	defer cancel()
	select {
	case <-l.first:
	case <-wait.Done():
	}
	l.make(ctx)
	l.i.work.Go(l.publish)
}

// make makes the topic if the first look found none, before the first status
// would: seats join by it. Who may not make one hears of it with the first status.
func (l *link) make(ctx context.Context) {
	l.mu.Lock()
	missing := l.whole && !l.there && l.failed == nil
	l.mu.Unlock()
	if !missing {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, writeWait)
	defer cancel()
	if _, err := l.topic.Ensure(ctx); err == nil {
		l.mu.Lock()
		l.there = true
		l.mu.Unlock()
	}
}

// isThere says whether the topic exists and can be read.
func (l *link) isThere() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.there && l.failed == nil
}

func (l *link) looked() { l.once.Do(func() { close(l.first) }) }

// readWhole takes the whole topic. At the first time a mark on this instance is
// one from before its start: it is withdrawn, and does not count.
func (l *link) readWhole(c controltopic.Contents) {
	l.mu.Lock()
	l.heard, l.ahead = newHeard(l.i.id), 0
	for _, r := range c.Records {
		l.heard.take(r)
	}
	first := !l.whole
	l.whole, l.there = true, !c.Missing
	old, marked := l.heard.mark()
	if first && marked {
		l.ignored = old.Mark
	}
	l.mu.Unlock()
	if first && marked {
		l.withdraw(l.i.ctx)
	}
	l.apply(first)
	l.looked()
}

func (l *link) record(r control.Record) {
	l.mu.Lock()
	l.heard.take(r)
	if r.Key == control.KeyLeaving(l.i.id) && len(r.Value) > 0 {
		l.ignored = "" // written since the start
	}
	l.mu.Unlock()
	if concerns(r, l.i.id) {
		l.apply(false)
		l.say()
	}
}

// followEvery is the least time between two fetches of a busy topic, and
// followSeldom what it grows to in a large group. The status of every instance
// wakes up all others: in a large group each reads at once what many have written.
const (
	followEvery  = 100 * time.Millisecond
	followSeldom = 500 * time.Millisecond
)

// followPause is the least time between two fetches.
func followPause(instances int32) time.Duration {
	return min(max(time.Duration(instances)*statusTurn, followEvery), followSeldom)
}

func (l *link) readUpTo(pos int64) {
	l.mu.Lock()
	l.offset, l.failed = pos, nil
	l.mu.Unlock()
	if soon := followPause(l.i.others()) - time.Since(l.read); soon > 0 && pos > 0 {
		_ = clock.Sleep(l.i.ctx, soon) // the follower looks at the context
	}
	l.read = time.Now()
}

func (l *link) fail(err error) {
	l.mu.Lock()
	l.failed = err
	l.mu.Unlock()
	l.i.events.emit(Event{Kind: Trouble, Err: err})
	l.looked()
}

// skipped tells of records that could not be read; the topic itself can.
func (l *link) skipped(err error) { l.i.events.emit(Event{Kind: Trouble, Err: err}) }

// apply brings what the topic says to the instance.
func (l *link) apply(first bool) {
	l.mu.Lock()
	m, marked := l.heard.mark()
	marked = marked && m.Mark != l.ignored
	mode := l.heard.state.Mode
	if mode != nil && mode.Offset < l.ahead {
		mode = nil
	}
	l.mu.Unlock()
	i := l.i
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.departing || i.dead {
		return
	}
	if marked {
		i.marked(m.Mark, m.Timeout)
	} else {
		i.unmarked()
	}
	if mode == nil {
		return
	}
	if first && len(i.seats) == 0 {
		i.st.startIn(Mode(mode.Mode), mode.Epoch, time.Now().Add(mode.Allowed))
		return
	}
	i.follow(Mode(mode.Mode), mode.Epoch, mode.Allowed)
}

// lookForMode reads the topic once more, beside the follower, and takes a mode
// record that the follower has not come to yet.
func (l *link) lookForMode(ctx context.Context) {
	c, err := l.topic.Read(ctx)
	if err != nil {
		return // the follower says what is wrong with the topic
	}
	l.foundMode(c)
}

func (l *link) foundMode(c controltopic.Contents) {
	now := newHeard(l.i.id)
	for _, r := range c.Records {
		now.take(r)
	}
	mode := now.state.Mode
	l.mu.Lock()
	news := mode != nil && mode.Offset >= l.heard.offset
	if news {
		l.ahead = mode.Offset
	}
	l.mu.Unlock()
	if !news {
		return
	}
	l.i.mu.Lock()
	defer l.i.mu.Unlock()
	if !l.i.departing && !l.i.dead {
		l.i.follow(Mode(mode.Mode), mode.Epoch, mode.Allowed)
	}
}

// marked takes a mark on this instance; i.mu is held.
func (i *Instance) marked(id string, timeout *time.Duration) {
	now := time.Now()
	fresh, changed := i.st.setMark(id, timeout, now)
	if !changed {
		return
	}
	e := Event{Kind: MarkChanged, Mark: id, Remaining: NoTimeout}
	if fresh {
		e.Kind = MarkSeen
	}
	if d := i.st.expiresAt(); !d.IsZero() {
		e.Remaining = max(0, d.Sub(now))
	}
	i.events.emit(e)
	i.wakeUp()
}

// unmarked takes the absence of a mark; i.mu is held.
func (i *Instance) unmarked() {
	if id := i.st.clearMark(); id != "" {
		i.events.emit(Event{Kind: MarkWithdrawn, Mark: id})
		i.wakeUp()
	}
}

// withdraw writes the tombstone of the mark on this instance.
func (l *link) withdraw(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, writeWait)
	defer cancel()
	if _, err := l.topic.Write(ctx, control.Withdrawal(l.i.id)); err != nil {
		l.i.events.emit(Event{Kind: Trouble, Err: fmt.Errorf("withdraw the mark on this instance: %w", err)})
	}
}

// writeMode writes a mode record.
func (l *link) writeMode(ctx context.Context, mode Mode, epoch int64, allowed time.Duration) error {
	r, err := control.Mode{
		Mode: control.RebalanceMode(mode), Epoch: epoch, Allowed: max(allowed.Truncate(time.Millisecond), control.MinAllowed), At: time.Now(),
		Who: "worker " + l.i.id, Reason: "the group did not form in time after a mode switch",
	}.Record()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writeWait)
	defer cancel()
	_, err = l.topic.Write(ctx, r)
	return err
}

func (l *link) close() { l.topic.Close() }
