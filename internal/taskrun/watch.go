package taskrun

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/model"
)

// lookEvery is how often the ends of the changelogs are read.
const lookEvery = 500 * time.Millisecond

// How often a look asks for the starts of changelogs too, and for their topics.
// A copy that stands still short of its end, or is above it, may be one of a topic
// that was made anew.
const (
	startsEvery = 5 * time.Second
	topicsEvery = 30 * time.Second
	oddEvery    = 5 * time.Second // while a copy is odd
)

// lookLatest is what the pause between looks grows to while no broker answers.
// Each pause is half to one and a half of it, at random, so that instances do not
// ask all at once.
const lookLatest = 2 * time.Second

// extent is what a look found of one changelog partition.
type extent struct {
	topic      [16]byte
	start, end int64 // end is the last stable offset
	isBare     bool
	bare       int64 // with isBare: from this offset on there is no record below the end
	err        error
}

// watch reads topic ids, starts and ends of the changelogs of all tasks that
// are not running, at intervals and when asked to, and hands them to the
// restore poller. Brokers that do not answer are asked less and less often.
func (h *Host) watch() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var starts begins
	var next time.Time // not before
	rest := lookEvery
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-tick.C:
		case <-h.looks:
			h.gather()
		}
		if time.Now().Before(next) {
			continue
		}
		number, anew, tasks := h.beginLook()
		if len(tasks) == 0 {
			continue
		}
		found, answered := h.extents(&starts, anew, tasks)
		h.restore.do(func() { h.looked(number, tasks, found) })
		if answered {
			rest = lookEvery
		} else {
			next = time.Now().Add(rest/2 + rand.N(rest))
			rest = min(2*rest, lookLatest)
		}
	}
}

// askTogether is how long a look, or a question for committed offsets, waits for
// others: tasks come by the dozen.
const askTogether = 10 * time.Millisecond

// gather waits for others that ask for a look; it serves them all.
func (h *Host) gather() {
	_ = clock.Sleep(h.ctx, askTogether) // whose end the watch looks at
	select {
	case <-h.looks:
	default:
	}
}

// lookNow asks for a look at once and gives its number, or that of an earlier
// one that has not begun yet. With anew it takes nothing from an earlier look.
func (h *Host) lookNow(anew bool) int64 {
	h.mu.Lock()
	n := h.look + 1
	h.anew = h.anew || anew
	h.mu.Unlock()
	select {
	case h.looks <- struct{}{}:
	default:
	}
	return n
}

// beginLook numbers a look and gives the tasks that it is for.
func (h *Host) beginLook() (n int64, anew bool, tasks []*task) {
	h.mu.Lock()
	h.look++
	n, anew = h.look, h.anew
	h.anew = false
	h.mu.Unlock()
	h.each(func(t *task) {
		if t.stateful() && t.role != running {
			tasks = append(tasks, t)
		}
	})
	return n, anew, tasks
}

// begins are the starts of changelogs as they were asked for last.
type begins struct {
	at     time.Time
	starts map[model.TopicPartition]extent
}

// cover reports whether they are fresh, and are of the topics that there are.
func (b *begins) cover(topics map[string]TopicInfo, parts map[string][]int32) bool {
	if time.Since(b.at) > startsEvery {
		return false
	}
	for topic, ps := range parts {
		for _, p := range ps {
			x, ok := b.starts[model.TopicPartition{Topic: topic, Partition: p}]
			if !ok || x.err != nil || x.topic != topics[topic].ID {
				return false
			}
		}
	}
	return true
}

// extents asks for the extents of the tasks' changelogs. A request that fails
// is the error of all that it was to answer; answered says that the topics were
// known, or a broker described them. With anew it takes nothing from an earlier look.
func (h *Host) extents(b *begins, anew bool, tasks []*task) (found map[model.TopicPartition]extent, answered bool) {
	ctx, cancel := context.WithTimeout(h.ctx, 10*time.Second)
	defer cancel()
	parts := map[string][]int32{}
	for _, t := range tasks {
		parts[t.changelog.Topic] = append(parts[t.changelog.Topic], t.changelog.Partition)
	}
	now := time.Now()
	since := now.Add(-topicsEvery)
	switch {
	case anew:
		since = now
	case anyOdd(tasks):
		since = now.Add(-oddEvery)
	}
	topics, err := h.topics.Find(ctx, since, parts)
	if err != nil {
		return failed(parts, fmt.Errorf("changelogs: %w", err)), false
	}
	if anew || !b.cover(topics, parts) {
		*b = begins{at: now, starts: h.offsets(ctx, topics, parts, atStart)}
	}
	found = h.offsets(ctx, topics, parts, atEnd)
	for tp, e := range found {
		s := b.starts[tp]
		switch {
		case e.err != nil:
		case s.err != nil:
			found[tp] = s
		default:
			found[tp] = extent{topic: e.topic, start: s.start, end: e.start}
		}
	}
	for _, t := range tasks {
		t.mu.Lock()
		suspect, from := t.quiet.suspect, t.next
		t.mu.Unlock()
		if x := found[t.changelog]; suspect && x.err == nil && h.bare(ctx, t, x.topic, from, x.end) {
			x.isBare, x.bare = true, from
			found[t.changelog] = x
		}
	}
	return found, true
}

// anyOdd reports whether a copy has not moved since the last look, and is not at
// its end.
func anyOdd(tasks []*task) bool {
	odd := false
	for _, t := range tasks {
		t.mu.Lock()
		odd = odd || t.attached && t.end >= 0 && t.next != t.end && t.next == t.before
		t.before = t.next
		t.mu.Unlock()
	}
	return odd
}

func failed(parts map[string][]int32, err error) map[model.TopicPartition]extent {
	found := map[model.TopicPartition]extent{}
	for topic, ps := range parts {
		for _, p := range ps {
			found[model.TopicPartition{Topic: topic, Partition: p}] = extent{err: err}
		}
	}
	return found
}
