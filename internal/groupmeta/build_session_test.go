package groupmeta_test

import (
	"slices"
	"testing"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

// Workers say how long their sessions are; of several the longest counts, and
// those that are gone say nothing any more.
func TestSessionOfWorkers(t *testing.T) {
	says := func(n string, ms int64) control.Record {
		return status(n, func(s *control.Status) { s.Session = &ms })
	}
	g := build(t, withControl(clicks{protocolType: "stream"}.snapshot(), says("1", 6000), says("2", 8000), says("3", 1<<50), says("9", 60_000)), groupmeta.BuildOptions{})
	want := model.Setting{Key: "session.timeout.ms", Value: "8000", Source: model.SourceWorkers}
	if g.Timing.SessionMs == nil || *g.Timing.SessionMs != 8000 || !slices.Contains(g.Facts.Settings, want) {
		t.Errorf("%+v, %+v", g.Timing, g.Facts.Settings)
	}
	g = build(t, withControl(clicks{protocolType: "stream"}.snapshot(), status("1", nil)), groupmeta.BuildOptions{})
	if g.Timing.SessionMs != nil || slices.ContainsFunc(g.Facts.Settings, func(s model.Setting) bool { return s.Key == want.Key }) {
		t.Errorf("nobody says: %+v, %+v", g.Timing, g.Facts.Settings)
	}
}
