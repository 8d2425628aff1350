package groupmeta

import (
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// How often a worker writes its status (docs/protocol/control.md, status), and by
// how much it may be late before that means something.
const (
	saysEvery  = 5 * time.Second // at least so often,
	saysRate   = 100_000         // but no more bytes a second than these
	silentLate = 3 * time.Second
	oldLate    = time.Second // before the age of its positions is told apart
)

// silentFindings name instances of a worker group that are still members, but
// have written no status while all others went on: they may have crashed, and the
// broker learns of that at the end of their session. Times are by the clocks of
// the instances, so the others must also have written that much since.
func (b *groupBuilder) silentFindings() {
	b.late(silentLate, func(in *model.Instance, _ *control.Status, since time.Duration) {
		b.find(model.FindingSilent, "instance "+in.Name, "%s has written no status for %s, the others did: it may have crashed or be cut off, and its %s would stand still until its session ends",
			in.Name, shortSpan(since), model.Count(in.Active, "task"))
	})
}

// oldestPositions tells the age of the positions that are the oldest: they are
// not as new as those of the others.
func (b *groupBuilder) oldestPositions() {
	p := &b.g.Positions
	if p.Basis != model.PositionsStatus {
		return
	}
	b.late(oldLate, func(in *model.Instance, s *control.Status, _ time.Duration) {
		if st := b.status[in.ID]; st != nil && st.used && (p.Oldest == nil || s.At.Before(*p.Oldest)) {
			at := s.At
			p.Oldest, p.OldestName = &at, in.Name
		}
	})
}

// late gives the instances of a worker group whose status is older than the
// newest by more than they write, and by so much more.
func (b *groupBuilder) late(by time.Duration, each func(in *model.Instance, s *control.Status, since time.Duration)) {
	g := b.g
	if b.control == nil || g.Kind != model.Worker || g.State != model.StateStable || len(g.Instances) < 2 || !b.identified() {
		return
	}
	var newest time.Time
	for i := range g.Instances {
		if s, ok := b.control.Status[g.Instances[i].ID]; ok && s.At.After(newest) {
			newest = s.At
		}
	}
	atLeast := int64(len(g.Instances) - 1) // a status of each of the others
	for i := range g.Instances {
		in := &g.Instances[i]
		s, ok := b.control.Status[in.ID]
		since := newest.Sub(s.At)
		if !ok || since < saysEvery+by || since < pauseAfter(in.ID, &s)+by || g.Control.End-1-s.Offset < atLeast {
			continue
		}
		each(in, &s, since)
	}
}

// pauseAfter is how long a worker writes nothing after a status, for its size.
func pauseAfter(instance string, s *control.Status) time.Duration {
	r, err := s.Record(instance)
	if err != nil {
		return 0
	}
	return time.Duration(len(r.Value)) * time.Second / saysRate
}
