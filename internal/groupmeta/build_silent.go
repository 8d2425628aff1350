package groupmeta

import (
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

const (
	saysEvery   = 5 * time.Second // a worker writes its status no more seldom (docs/protocol/control.md)
	silentAfter = saysEvery + 3*time.Second
)

// silentFindings name instances of a worker group that are members still, but
// have written no status while all others went on: they may have crashed, and the
// broker learns of that at the end of their session. That others have written so
// much since is what counts besides the times, which are by their own clocks.
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
		if !ok || since < silentAfter || g.Control.End-1-s.Offset < atLeast {
			continue
		}
		b.find(model.FindingSilent, "instance "+in.Name, "%s has written no status for %s, the others did: it may have crashed or be cut off, and its %s would stand still until its session ends",
			in.Name, shortSpan(since), model.Count(in.Active, "task"))
	}
}
