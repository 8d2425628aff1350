package worker

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/controltopic"
	"github.com/streamctl/streamctl/internal/model"
)

// An instance that looked ahead for a mode, as the leader of a round does, does
// not go back to the records before it when it comes to them.
func TestFollowerPassesWhatWasLookedFor(t *testing.T) {
	c := Config{Settings: DefaultSettings(), Workers: 1}
	const id = "00000000-0000-4000-8000-000000000001"
	i := &Instance{id: id, st: newState(id, &c), slots: map[model.TaskID]*slot{}, kick: make(chan struct{}, 1)}
	i.cond = sync.NewCond(&i.mu)
	var seen []Event
	i.events = newEvents(id, 1, func(e Event) { seen = append(seen, e) }, func(model.TaskID) {})
	l := &link{i: i, heard: newHeard(id), push: make(chan struct{}, 1)}
	record := func(m control.RebalanceMode, epoch, offset int64) control.Record {
		r, err := control.Mode{Mode: m, Epoch: epoch, Allowed: time.Minute, At: time.Now(), Who: "test"}.Record()
		if err != nil {
			t.Fatal(err)
		}
		r.Offset = offset
		return r
	}
	there, back, last := record(control.Upgrading, 1, 5), record(control.Incremental, 2, 6), record(control.Upgrading, 3, 7)
	l.foundMode(controltopic.Contents{Records: []control.Record{there, back}})
	if i.st.mode != Incremental || i.st.epoch != 2 {
		t.Errorf("mode %s, epoch %d", i.st.mode, i.st.epoch)
	}
	l.record(there)
	l.record(back)
	if i.st.mode != Incremental || i.st.epoch != 2 || i.st.members[0].moves != 0 {
		t.Errorf("mode %s, epoch %d, left %d times", i.st.mode, i.st.epoch, i.st.members[0].moves)
	}
	l.record(last)
	if i.st.mode != Upgrading || i.st.epoch != 3 || i.st.members[0].moves != 1 {
		t.Errorf("mode %s, epoch %d, left %d times", i.st.mode, i.st.epoch, i.st.members[0].moves)
	}
	i.events.close()
	if n := len(seen); n != 3 {
		t.Errorf("%d events: %+v", n, seen)
	}
}

// Records that were passed over are told, and do not make the instance one that
// cannot read the topic; that it cannot does.
func TestSkippedIsNotFailed(t *testing.T) {
	const id = "00000000-0000-4000-8000-000000000001"
	var seen []Event
	i := &Instance{id: id}
	i.events = newEvents(id, 1, func(e Event) { seen = append(seen, e) }, func(model.TaskID) {})
	l := &link{i: i, heard: newHeard(id), first: make(chan struct{}), push: make(chan struct{}, 1)}
	passed, cut := errors.New("passed over"), errors.New("cut off")
	l.skipped(passed)
	if l.failed != nil {
		t.Errorf("failed: %v", l.failed)
	}
	l.fail(cut)
	if !errors.Is(l.failed, cut) {
		t.Errorf("failed: %v", l.failed)
	}
	i.events.close()
	if len(seen) != 2 || seen[0].Kind != Trouble || !errors.Is(seen[0].Err, passed) || !errors.Is(seen[1].Err, cut) {
		t.Errorf("told %+v", seen)
	}
}
