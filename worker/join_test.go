package worker

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// A worker does not join while a task is still being stopped that went to
// another worker of its instance: that one may never hear of it, and then the
// round gives it away.
func TestJoinWaitsForWhatAnotherWorkerGot(t *testing.T) {
	g := newGroup(t, 2)
	s := g.join("S1", func(c *Config) { c.Workers = 2 })
	i := &Instance{st: s, slots: map[model.TaskID]*slot{}, c: Config{MetadataMaxAge: time.Hour}}
	i.cond = sync.NewCond(&i.mu)
	i.ctx, i.end = context.WithCancel(context.Background())
	defer i.end()
	i.events = newEvents("", 2, nil, func(model.TaskID) {})
	defer i.events.close()
	var err error
	if i.topics, err = openTopics(nil, nil); err != nil {
		t.Fatal(err)
	}
	defer i.topics.close()
	first := &chair{i: i, ses: newSession()}
	moved := model.ClassicTask("", 0, 0)
	i.slots[moved] = &slot{is: slotActive, owner: 0, busy: true} // it is being stopped
	s.members[0].in, s.members[0].learnerWon = true, true
	joins := make(chan struct{})
	go func() {
		(&sitter{chair: first}).BeforeJoin()
		close(joins)
	}()
	closing := func() bool {
		first.ses.mu.Lock()
		defer first.ses.mu.Unlock()
		return first.ses.closing
	}
	for end := time.Now().Add(10 * time.Second); !closing(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not begin to join, or joined at once")
		}
	}
	select {
	case <-joins:
		t.Fatal("it joins")
	default:
	}
	i.mu.Lock()
	i.slots[moved].is, i.slots[moved].busy = slotCopy, false
	i.cond.Broadcast()
	i.mu.Unlock()
	select {
	case <-joins:
	case <-time.After(10 * time.Second):
		t.Error("it does not join")
	}
}
