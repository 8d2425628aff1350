package cmd

import (
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/control"
)

// A pause is counted from before the record was written; one that was on already
// from when it was first seen.
func TestPauseBeginsBeforeTheWrite(t *testing.T) {
	c := clicksGroup(t)
	d := fakeDeps(t, c)
	d.conf, d.io.Err = &config.Resolved{}, t.Output()
	w := &switching{
		modeSetOptions: &modeSetOptions{change: newChange(d, "mode set", true), group: "clicks"}, r: &reader{d: d, cluster: c}, to: control.Upgrading,
		s: &steered{state: control.State{Mode: &control.Mode{Mode: control.Incremental, Epoch: 3}}},
	}
	before := d.now()
	if err := w.write(t.Context()); err != nil || w.record.Epoch != 4 {
		t.Fatalf("epoch %d, %v", w.record.Epoch, err)
	}
	w.begun = d.now().Add(time.Second)
	if a := newAwaited(w, false); a.whole.Before(before) || !a.whole.Before(w.begun) {
		t.Errorf("counted from %s, asked after %s", a.whole, before)
	}
	w.asked = time.Time{}
	if a := newAwaited(w, true); !a.whole.Equal(w.begun) {
		t.Errorf("on already, and counted from %s", a.whole)
	}
}

// After the last epoch nothing is written, and the way out is named.
func TestModeSetAfterTheLastEpoch(t *testing.T) {
	c := clicksGroup(t)
	d := fakeDeps(t, c)
	d.conf, d.io.Err = &config.Resolved{}, t.Output()
	w := &switching{
		modeSetOptions: &modeSetOptions{change: newChange(d, "mode set", true), group: "clicks"}, r: &reader{d: d, cluster: c}, to: control.Upgrading,
		s: &steered{state: control.State{Mode: &control.Mode{Mode: control.Incremental, Epoch: control.MaxEpoch}}},
	}
	if err := w.write(t.Context()); err == nil || !strings.Contains(err.Error(), "the last one that there is") || len(c.written) != 0 {
		t.Errorf("%d records, %v", len(c.written), err)
	}
}
