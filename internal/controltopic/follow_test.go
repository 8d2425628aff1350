package controltopic_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/controltopic"
)

// A follower is told that there is nothing, then what is written, soon.
func TestFollow(t *testing.T) {
	r := newRig(t, kfake.NumBrokers(3))
	s := follow(t, r.open())
	s.until(t, "told that there is no topic", func() bool { return len(s.wholes) == 1 && s.wholes[0].Missing })
	writer := r.open()
	for _, id := range []string{"m-1", "m-2"} {
		offset, err := writer.Write(within(t, 5*time.Second), mark(t, id))
		if err != nil {
			t.Fatal(err)
		}
		s.until(t, "mark "+id, func() bool { return s.mark(instanceA) == id && s.pos == offset+1 })
	}
	if _, err := writer.Write(within(t, 5*time.Second), control.Withdrawal(instanceA)); err != nil {
		t.Fatal(err)
	}
	s.until(t, "withdrawn", func() bool { return s.pos == 3 && s.mark(instanceA) == "" })
	s.locked(func() {
		if len(s.errs) != 0 || len(s.wholes) != 2 {
			t.Errorf("errors %v, read whole %d times", s.errs, len(s.wholes))
		}
	})
}

// A topic that goes away stays as it was known; made anew, what is not in it is
// withdrawn.
func TestFollowTopicMadeAnew(t *testing.T) {
	r := newRig(t)
	r.create(compacted())
	a, b := mark(t, "m-a"), markOf(t, "m-b", instanceB)
	r.put(text(a.Key, string(a.Value)), text(b.Key, string(b.Value)))
	s := follow(t, r.open())
	s.until(t, "both marks", func() bool { return len(s.state.Leaving) == 2 })
	r.remove()
	s.until(t, "told that it is gone", func() bool { return len(s.errs) == 1 })
	s.locked(func() {
		if len(s.state.Leaving) != 2 || !strings.Contains(s.errs[0].Error(), topicName) {
			t.Errorf("marks %v, errors %v", s.state.Leaving, s.errs)
		}
	})
	r.create(compacted())
	r.put(text(b.Key, string(b.Value)), text(b.Key, string(b.Value)), text(b.Key, string(b.Value)))
	s.until(t, "the new topic", func() bool { return len(s.state.Leaving) == 1 && s.mark(instanceB) == "m-b" && s.pos == 3 })
}

// Made anew while nobody looks, with as many records as before: the id tells.
func TestFollowTopicMadeAnewUnseen(t *testing.T) {
	r := newRig(t)
	r.create(compacted())
	a, b := mark(t, "m-a"), markOf(t, "m-b", instanceB)
	r.put(text(a.Key, string(a.Value)))
	var net cutter
	s := follow(t, r.open(net.opt()))
	s.until(t, "the mark", func() bool { return s.mark(instanceA) == "m-a" })
	net.cut()
	r.remove()
	r.create(compacted())
	r.put(text(b.Key, string(b.Value)))
	s.until(t, "told that it cannot be read", func() bool { return len(s.errs) > 0 })
	s.locked(func() {
		if s.mark(instanceA) != "m-a" {
			t.Error("forgotten while it cannot be read")
		}
	})
	net.mend()
	s.until(t, "the new topic", func() bool { return len(s.state.Leaving) == 1 && s.mark(instanceB) == "m-b" })
}

// Cut off for longer than tombstones are kept: what is absent is withdrawn, even
// though no tombstone is seen. A short cut costs nothing.
func TestFollowCutOff(t *testing.T) {
	for _, c := range []struct {
		name   string
		keeps  string // delete.retention.ms
		off    time.Duration
		wholes int
	}{
		{"longer", "1100", 1500 * time.Millisecond, 2},
		{"shorter", "86400000", 300 * time.Millisecond, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.create(map[string]*string{"cleanup.policy": kadm.StringPtr("compact"), "delete.retention.ms": kadm.StringPtr(c.keeps)})
			a, b := mark(t, "m-a"), markOf(t, "m-b", instanceB)
			r.put(text(a.Key, string(a.Value)), text(b.Key, string(b.Value)))
			var net cutter
			s := follow(t, r.open(net.opt()))
			s.until(t, "both marks", func() bool { return len(s.state.Leaving) == 2 })
			net.cut()
			began := time.Now()
			r.put(&kgo.Record{Key: []byte(a.Key)})
			if c.wholes == 2 { // the cleaner takes the tombstone away
				r.put(text("other", "x"))
				time.Sleep(time.Until(began.Add(c.off)))
				r.c.Compact()
			}
			time.Sleep(time.Until(began.Add(c.off)))
			net.mend()
			s.until(t, "withdrawn", func() bool { return len(s.state.Leaving) == 1 && s.mark(instanceB) == "m-b" })
			s.locked(func() {
				if len(s.wholes) != c.wholes {
					t.Errorf("read whole %d times, want %d", len(s.wholes), c.wholes)
				}
			})
		})
	}
}

// A fetch that hangs does not end following, and is told.
func TestFollowThroughHang(t *testing.T) {
	r := newRig(t)
	topic := r.open()
	controltopic.SetRequestTimeout(topic, time.Second)
	r.create(compacted())
	s := follow(t, topic)
	s.until(t, "read", func() bool { return len(s.wholes) == 1 })
	free := make(chan struct{})
	r.c.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
		r.c.SleepControl(func() { <-free })
		return nil, nil, false
	})
	s.until(t, "told that it hangs", func() bool { return len(s.errs) > 0 })
	close(free)
	m := mark(t, "m-1")
	r.put(text(m.Key, string(m.Value)))
	s.until(t, "the mark", func() bool { return s.mark(instanceA) == "m-1" })
}

// No permission is told once, with the topic's name, and reading begins when it
// is given.
func TestFollowDenied(t *testing.T) {
	r, topic := secured(t)
	r.create(compacted())
	m := mark(t, "m-1")
	r.put(text(m.Key, string(m.Value)))
	s := follow(t, topic)
	s.until(t, "refused", func() bool { return len(s.errs) == 1 })
	s.locked(func() {
		if d, ok := errors.AsType[*controltopic.DeniedError](s.errs[0]); !ok || d.Topic != topicName || len(s.wholes) != 0 {
			t.Errorf("%v, wholes %v", s.errs[0], s.wholes)
		}
	})
	acl := kadm.NewACLs().Topics(topicName).ResourcePatternType(kadm.ACLPatternLiteral).Allow("User:alice").
		AllowHosts("*").Operations(kadm.OpRead, kadm.OpDescribe)
	if _, err := r.adm.CreateACLs(within(t, 5*time.Second), acl); err != nil {
		t.Fatal(err)
	}
	s.until(t, "the mark", func() bool { return s.mark(instanceA) == "m-1" })
}
