package controltopic

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/control"
)

const (
	followWait  = 500 * time.Millisecond // of one fetch without news
	missingWait = time.Second            // between looks for a topic that is not there
	longestWait = 5 * time.Second        // before the next try
	muchWork    = 50                     // a try after which the next one waits for longestWait
)

// Follower is told what the topic holds. Its functions are called one after
// another, by the goroutine that called Follow.
type Follower struct {
	// Wants says whether the value of a record with that key is needed; nil: all
	// are. The others come without it, as control.Record.Unread says.
	Wants func(key string) bool
	// Whole comes first, and again whenever the topic had to be read from its
	// beginning: because it was made anew, or because this reader was cut off
	// for longer than the topic keeps tombstones. What is not in it is
	// withdrawn. A topic that does not exist is an empty one, at first; one that
	// goes away later stays as it was known until it is made anew.
	Whole func(Contents)
	// Record is one more record, also of keys that are not ours, also a
	// tombstone.
	Record func(control.Record)
	// ReadUpTo says that all records below pos have been told. It comes after
	// Whole, after records, and when reading works again after Failed.
	ReadUpTo func(pos int64)
	// Failed says that the topic cannot be read for now; what is known stays.
	// It comes once for each new text of an error.
	Failed func(error)
	// Skipped says that records could not be read and were passed over; reading
	// goes on. It comes once for each fetch, after ReadUpTo. Contents.Skipped is
	// told here as well.
	Skipped func(error)
}

// Follow reads the whole topic and then what comes, until ctx ends, which is the
// error it returns. It never gives up.
func (t *Topic) Follow(ctx context.Context, f Follower) error {
	w := follow{t: t, f: f, tombstones: defaultTombstones, unpack: unpacker{wants: f.Wants}}
	for try := 1; ctx.Err() == nil; try++ {
		err := w.step(ctx)
		switch {
		case ctx.Err() != nil:
		case err == nil:
			try = 0
		case errors.Is(err, errMissing):
			w.missing()
			_ = clock.Sleep(ctx, missingWait) // the loop looks at ctx
		default:
			if try > 1 || !moved(err) { // a leader that moved once is no news
				w.fail(explain(t.name, reading, err))
			}
			if _, ok := errors.AsType[*TooLargeError](err); ok {
				try = muchWork
			}
			_ = clock.Sleep(ctx, min(time.Duration(try)*100*time.Millisecond, longestWait))
		}
	}
	return context.Cause(ctx)
}

// follow is the state of one Follow.
type follow struct {
	t *Topic
	f Follower

	at     Place
	known  bool // at is where the topic is
	told   bool // Whole was called
	whole  bool // at and pos belong to a topic that was read from its beginning
	pos    int64
	failed string // the text told last; "" while reading works

	caughtUp   time.Time // when all that there was had last been read; by the monotonic clock
	tombstones time.Duration
	unpack     unpacker
}

// step does one thing: find the topic, read it whole, or fetch what is new.
func (w *follow) step(ctx context.Context) error {
	if !w.known {
		at, err := w.t.locate(ctx)
		if err != nil {
			return err
		}
		if w.whole && at.ID != w.at.ID {
			w.whole = false
		}
		w.at, w.known = at, true
	}
	if w.whole = w.whole && !w.cutOff(); !w.whole {
		return w.readWhole(ctx)
	}
	return w.fetch(ctx)
}

// cutOff reports that tombstones may have gone unseen: nothing was read for
// longer than the topic keeps them.
func (w *follow) cutOff() bool {
	return time.Since(w.caughtUp) > max(w.tombstones, leastTombstones)
}

func (w *follow) readWhole(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	began := time.Now()
	c, at, err := readWhole(ctx, w.t.send, w.at, moved, &w.unpack) // a broker that cannot be reached is told, and tried again
	if err != nil {
		w.known = false
		return err
	}
	w.at, w.known, w.pos, w.whole, w.caughtUp = at, true, c.End, true, began
	if text, ok := w.t.setting(ctx, keyTombstones); ok {
		if ms, err := strconv.ParseInt(text, 10, 64); err == nil && ms >= 0 && ms < int64(maxDuration/time.Millisecond) {
			w.tombstones = time.Duration(ms) * time.Millisecond
		}
	}
	w.told, w.failed = true, ""
	w.f.Whole(c)
	w.f.ReadUpTo(w.pos)
	if c.Skipped != nil {
		w.f.Skipped(c.Skipped)
	}
	return nil
}

const (
	maxDuration     = time.Duration(1<<63 - 1)
	leastTombstones = time.Second // shorter ones cannot be told from a slow answer
)

func (w *follow) fetch(ctx context.Context) error {
	a, err := fetch(ctx, w.t.send, w.at, w.pos, followWait, &w.unpack)
	if errors.Is(err, kerr.OffsetOutOfRange) || err == nil && w.cutOff() { // made anew, its beginning was deleted; or we slept
		w.whole = false
		return nil
	}
	if err != nil {
		w.known = false
		return err
	}
	for _, r := range a.records {
		w.f.Record(r)
	}
	news := a.next > w.pos || w.failed != ""
	w.pos = a.next
	if w.pos >= a.end || a.empty {
		w.caughtUp = time.Now()
	}
	w.failed = ""
	if news {
		w.f.ReadUpTo(w.pos)
	}
	if a.skipped != nil {
		w.f.Skipped(a.skipped)
	}
	return nil
}

// missing tells of a topic that is not there.
func (w *follow) missing() {
	if !w.told {
		w.told = true
		w.f.Whole(Contents{Missing: true})
		w.f.ReadUpTo(0)
		return
	}
	if w.whole {
		w.fail(fmt.Errorf("control topic %q does not exist any more: what was read of it stays", w.t.name))
	}
}

func (w *follow) fail(err error) {
	if text := err.Error(); text != w.failed {
		w.failed = text
		w.f.Failed(err)
	}
}
