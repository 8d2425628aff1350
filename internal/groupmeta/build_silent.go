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
)

// silentFindings name instances of a worker group that are still members, but
// have written no status while all others went on: they may have crashed, and the
// broker learns of that at the end of their session. Times are by the clocks of
// the instances, so the others must also have written that much since.
func (b *groupBuilder) silentFindings() {
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
		if !ok || since < saysEvery+silentLate || since < pauseAfter(in.ID, &s)+silentLate || g.Control.End-1-s.Offset < atLeast {
			continue
		}
		b.find(model.FindingSilent, "instance "+in.Name, "%s has written no status for %s, the others did: it may have crashed or be cut off, and its %s would stand still until its session ends",
			in.Name, shortSpan(since), model.Count(in.Active, "task"))
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
