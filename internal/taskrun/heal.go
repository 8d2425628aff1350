package taskrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Commits are fenced, changelog writes are not: what an owner of the past has
// under way can come behind the writes of the owner. Whoever restores later
// would take it for the state. So the owner that finds offsets in its changelog
// that are not its own reads what is there, and writes its own value of each key
// again that a foreign record has touched.

// run is a range of offsets, the second excluded.
type run struct{ from, to int64 }

// ownRuns are the offsets of a stint's own writes above the position.
type ownRuns []run

// add takes one more offset, above all before.
func (r *ownRuns) add(offset int64) {
	if n := len(*r); n > 0 && (*r)[n-1].to == offset {
		(*r)[n-1].to++
		return
	}
	*r = append(*r, run{offset, offset + 1})
}

func (r ownRuns) has(offset int64) bool {
	for _, x := range r {
		if x.from <= offset && offset < x.to {
			return true
		}
	}
	return false
}

const (
	healWait   = 10 * time.Second // for one healing
	healRounds = 8                // how often a writer may come in between
	endWait    = time.Second      // for the look at the end before a stint is over
)

// heal overrules the foreign records up to what the stint wrote last, or up to
// an offset above that. Only who has just committed as the owner may do it. It
// leaves the position above all that was read, so that what is made durable next
// includes it.
func (s *stint) heal(end int64) error {
	ctx, cancel := context.WithTimeout(s.a.ctx, healWait)
	defer cancel()
	keys, all := 0, run{from: -1}
	for range healRounds {
		s.t.mu.Lock()
		next, top, own := s.t.next, max(s.top, end), slices.Clone(s.own)
		s.t.mu.Unlock()
		if all.from < 0 {
			all = run{next, top}
		}
		if next >= top {
			s.h.trouble(s.t, &foreignError{changelog: s.t.changelog.String(), at: all, keys: keys})
			return nil
		}
		n, err := s.overrule(ctx, next, top, own)
		keys += n
		if err != nil {
			return err
		}
		if err := s.flush(); err != nil {
			return err
		}
		// All below top is in the store, or overruled by what is acknowledged.
		s.t.mu.Lock()
		s.t.next = max(s.t.next, top)
		for len(s.own) > 0 && s.own[0].from <= s.t.next {
			s.t.next = max(s.t.next, s.own[0].to)
			s.own = s.own[1:]
		}
		s.foreign = len(s.own) > 0
		s.t.mu.Unlock()
	}
	return fmt.Errorf("changelog %q: another writer does not stop", s.t.changelog)
}

// overrule reads a range of the changelog and writes the store's value of each
// key again that a record has which is not ours. It gives their number.
func (s *stint) overrule(ctx context.Context, from, to int64, own ownRuns) (keys int, err error) {
	seen := map[string]bool{}
	for from < to {
		p, err := s.h.fetchOnce(ctx, s.t.changelog, s.t.topic, from)
		if errors.Is(err, kerr.OffsetOutOfRange) {
			return keys, nil // it is deleted: nobody will restore it
		}
		if err != nil {
			return keys, err
		}
		fp, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
			Offset: from, IsolationLevel: kgo.ReadCommitted(), Topic: s.t.changelog.Topic, Partition: s.t.changelog.Partition, KeepControlRecords: true,
		}, p, s.h.unpacker(), nil)
		if fp.Err != nil {
			return keys, fmt.Errorf("changelog %q at %d: %w", s.t.changelog, from, fp.Err)
		}
		for _, r := range fp.Records {
			if r.Offset >= to || r.Attrs.IsControl() || r.Key == nil || own.has(r.Offset) || seen[string(r.Key)] {
				continue
			}
			seen[string(r.Key)] = true
			keys++
			s.again(r.Key)
		}
		if next == from {
			if p.LastStableOffset <= from {
				return keys, fmt.Errorf("changelog %q: a transaction of another writer is open at %d", s.t.changelog, from)
			}
			return keys, fmt.Errorf("changelog %q: nothing to be read at %d", s.t.changelog, from)
		}
		from = next
	}
	return keys, nil
}

// unpacker is that of the restore's client, which is bounded as it is there.
func (h *Host) unpacker() kgo.Decompressor {
	d, _ := h.restore.cl.OptValue(kgo.WithDecompressor).(kgo.Decompressor)
	return d
}

// again writes what the store has of a key, which may be nothing.
func (s *stint) again(key []byte) {
	s.t.mu.Lock()
	if s.dead || s.failed != nil {
		s.t.mu.Unlock()
		return
	}
	value, there := s.t.st.get(key)
	s.unacked++
	s.t.mu.Unlock()
	if there {
		value = clone(value)
	} else {
		value = nil
	}
	s.produce(clone(key), value)
}

// foreignTail gives the end of the changelog if something is behind what the
// stint wrote last, else 0. A look that fails is none.
func (s *stint) foreignTail() int64 {
	ctx, cancel := context.WithTimeout(s.a.ctx, endWait)
	defer cancel()
	end, err := s.h.offsetOf(ctx, s.t.changelog, atEnd)
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	if err != nil || end <= max(s.t.next, s.top) {
		return 0
	}
	return end
}

// foreignError says what another writer did.
type foreignError struct {
	changelog string
	at        run
	keys      int
}

func (e *foreignError) Error() string {
	return fmt.Sprintf("changelog %q has records of another writer between offsets %d and %d: the values of %d keys are written again", e.changelog, e.at.from, e.at.to, e.keys)
}
