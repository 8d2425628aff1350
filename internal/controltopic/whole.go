package controltopic

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/control"
)

// maxKept is how many bytes of keys and values of one topic are kept.
const maxKept = 64 << 20

// Contents are the records of a whole control topic.
type Contents struct {
	Records []control.Record // the last one of each key that is ours, without tombstones; by offset
	End     int64            // every record below it has been read
	Missing bool             // there is no such topic
	Skipped error            // what could not be read and was passed over: a batch, or other partitions; nil when nothing
}

// kept is the last record of each key, in bounded memory.
type kept struct {
	last  map[string]control.Record
	bytes int
}

func (k *kept) add(r control.Record) {
	if kind, _ := control.ParseKey(r.Key); kind == control.KindOther {
		return
	}
	if old, ok := k.last[r.Key]; ok {
		k.bytes -= size(old)
		delete(k.last, r.Key)
	}
	if r.Tombstone() {
		return
	}
	k.last[r.Key] = r
	k.bytes += size(r)
}

func size(r control.Record) int { return len(r.Key) + len(r.Value) }

// ReadAt reads the whole topic from where it is known to be. A leader that
// moved meanwhile, or cannot be reached, is looked up again, until ctx ends.
func ReadAt(ctx context.Context, send Send, at Place) (Contents, error) {
	c, _, err := readWhole(ctx, send, at, again, &unpacker{})
	if errors.Is(err, errMissing) {
		return Contents{Missing: true}, nil
	}
	return c, explain(at.Topic, reading, err)
}

// readWhole also says where the topic was found in the end. retry says after
// which errors it looks the topic up again.
func readWhole(ctx context.Context, send Send, at Place, retry func(error) bool, u *unpacker) (Contents, Place, error) {
	var before error
	for try := 1; ; try++ {
		c, err := readOnce(ctx, send, at, u)
		if err == nil || !retry(err) && !errors.Is(err, kerr.OffsetOutOfRange) {
			return c, at, ended(ctx, err, before)
		}
		if try > 1 && clock.Sleep(ctx, backoff(try)) != nil {
			return Contents{}, at, err
		}
		before = err
		found, lookErr := locate(ctx, send, at.Topic)
		switch {
		case lookErr == nil:
			at = found
		case !retry(lookErr):
			return Contents{}, at, ended(ctx, lookErr, before)
		}
	}
}

func readOnce(ctx context.Context, send Send, at Place, u *unpacker) (Contents, error) {
	k := kept{last: map[string]control.Record{}}
	var c Contents
	end, empty := int64(-1), 0
	for end < 0 || c.End < end {
		a, err := fetch(ctx, send, at, c.End, 0, u)
		if errors.Is(err, kerr.OffsetOutOfRange) && c.End == 0 { // the beginning was deleted
			start, startErr := logStart(ctx, send, at)
			if startErr != nil {
				return Contents{}, startErr
			}
			if c.End = start; start > 0 {
				continue
			}
		}
		if err != nil {
			return Contents{}, err
		}
		if end < 0 {
			end = a.end
		}
		for _, r := range a.records {
			k.add(r)
		}
		if k.bytes > maxKept {
			return Contents{}, &TooLargeError{at.Topic}
		}
		if a.skipped != nil {
			c.Skipped = a.skipped
		}
		c.End = a.next
		if a.empty && c.End < end {
			if empty++; empty == emptyAnswers {
				c.End = end
			}
		}
		if len(a.records) == 0 && c.End < end && clock.Sleep(ctx, emptyPause) != nil {
			return Contents{}, context.Cause(ctx)
		}
	}
	if c.Skipped == nil {
		c.Skipped = at.several()
	}
	c.Records = slices.SortedFunc(maps.Values(k.last), func(a, b control.Record) int { return cmp.Compare(a.Offset, b.Offset) })
	return c, nil
}

const emptyPause = 20 * time.Millisecond

func backoff(try int) time.Duration { return min(time.Duration(try)*50*time.Millisecond, time.Second) }
