package taskrun

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// lookEvery is how often the ends of the changelogs are read.
const lookEvery = 500 * time.Millisecond

// wholeEvery is how often a look asks for topic ids and starts too. That a topic
// was made anew, or has lost its beginning, shows sooner where it is fetched.
const wholeEvery = 5 * time.Second

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
// restore poller.
func (h *Host) watch() {
	defer h.wg.Done()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	known := known{}
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-tick.C:
		case <-h.looks:
			known.stale = true
		}
		number, tasks := h.beginLook()
		if len(tasks) == 0 {
			continue
		}
		found := h.extents(&known, tasks)
		h.restore.do(func() { h.looked(number, tasks, found) })
	}
}

// lookNow asks for a look at once and gives its number, or that of an earlier
// one that has not begun yet.
func (h *Host) lookNow() int64 {
	h.mu.Lock()
	n := h.look + 1
	h.mu.Unlock()
	select {
	case h.looks <- struct{}{}:
	default:
	}
	return n
}

// beginLook numbers a look and gives the tasks that it is for.
func (h *Host) beginLook() (int64, []*task) {
	h.mu.Lock()
	h.look++
	n := h.look
	h.mu.Unlock()
	var tasks []*task
	h.each(func(t *task) {
		if t.stateful() && t.role != running {
			tasks = append(tasks, t)
		}
	})
	return n, tasks
}

// known is what was asked last of what changes seldom.
type known struct {
	at     time.Time
	stale  bool // it was asked to look: it may have changed
	topics map[string]topicInfo
	starts map[model.TopicPartition]extent
}

// covers reports whether it is fresh and has all that a look needs.
func (k *known) covers(found map[model.TopicPartition]extent) bool {
	if k.stale || time.Since(k.at) > wholeEvery {
		return false
	}
	for tp := range found {
		if x, ok := k.starts[tp]; !ok || x.err != nil {
			return false
		}
	}
	return true
}

// extents asks for the extents of the tasks' changelogs. A request that fails
// is the error of all that it was to answer.
func (h *Host) extents(k *known, tasks []*task) map[model.TopicPartition]extent {
	ctx, cancel := context.WithTimeout(h.ctx, 10*time.Second)
	defer cancel()
	found := map[model.TopicPartition]extent{}
	parts := map[string][]int32{}
	for _, t := range tasks {
		found[t.changelog] = extent{err: fmt.Errorf("no answer about changelog \"%s\"", t.changelog)}
		parts[t.changelog.Topic] = append(parts[t.changelog.Topic], t.changelog.Partition)
	}
	if !k.covers(found) {
		began := time.Now()
		topics, err := h.topicInfos(ctx, slices.Sorted(maps.Keys(parts)))
		if err != nil {
			return failed(found, fmt.Errorf("changelogs: %w", err))
		}
		*k = known{at: began, topics: topics, starts: h.offsets(ctx, topics, parts, -2)}
	}
	ends := h.offsets(ctx, k.topics, parts, -1)
	for topic, ps := range parts {
		for _, p := range ps {
			tp := model.TopicPartition{Topic: topic, Partition: p}
			s, e := k.starts[tp], ends[tp]
			switch {
			case e.err != nil:
				found[tp] = extent{err: e.err}
			case s.err != nil:
				found[tp] = extent{err: s.err}
			default:
				found[tp] = extent{topic: k.topics[topic].id, start: s.start, end: e.start}
			}
			k.stale = k.stale || found[tp].err != nil
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
	return found
}

func failed(found map[model.TopicPartition]extent, err error) map[model.TopicPartition]extent {
	for tp := range found {
		found[tp] = extent{err: err}
	}
	return found
}
