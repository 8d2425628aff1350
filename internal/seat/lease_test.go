package seat_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/seat"
)

// brief makes a session short, since these tests sit out a whole one.
func brief(_ *member, o *seat.Options) { o.SessionTimeout = 3 * time.Second }

// A broker that answers, but is not the coordinator, does not count the member
// in: the coordinator may be about to give its tasks away.
func TestAnswersThatDoNotCountTheMemberInAreSilence(t *testing.T) {
	t.Parallel()
	c, _ := cluster(t)
	a := join(t, c, "a", brief)
	together(t, a)
	wrong := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat, kmsg.JoinGroup, kmsg.SyncGroup}, Group: group, Err: kerr.NotCoordinator, Count: 1 << 20})
	until(t, "a stops by itself", func() bool { return a.look(func(m *member) bool { return len(m.lost) == 1 }) })
	if !a.look(func(m *member) bool { return errors.Is(m.lost[0], seat.ErrSilent) }) {
		t.Errorf("lost %v", a.lost)
	}
	wrong.Remove()
	until(t, "a is assigned its tasks again", func() bool {
		return a.look(func(m *member) bool { return m.log[len(m.log)-1] == "assigned" })
	})
}

// One that waits for the leader's assignment says that it lives, of the
// generation that is about to begin: with the one before, the coordinator would
// drop it at the end of its session, and it would not know.
func TestHeldSyncIsNoSilence(t *testing.T) {
	t.Parallel()
	c, _ := cluster(t)
	slow := join(t, c, "slow", brief)
	together(t, slow)
	a := join(t, c, "a", brief)
	generation := together(t, slow, a)
	slow.mu.Lock()
	slow.think = 4 * time.Second // longer than a session
	slow.mu.Unlock()
	a.say("a, changed")
	a.Rejoin()
	until(t, "the slow leader has assigned", func() bool { return strings.Contains(string(a.session().Assignment), "a, changed") })
	if got := a.session().Generation; got != generation+1 {
		t.Errorf("generation %d after %d", got, generation)
	}
	for _, m := range []*member{a, slow} {
		if !m.look(func(m *member) bool { return len(m.lost) == 0 }) {
			t.Errorf("%s waited, and was lost: %v", m.says, m.lost)
		}
	}
}

// What only our own heartbeat was told ends the membership too, and the seat
// comes back.
func TestForgottenByItsOwnHeartbeatComesBack(t *testing.T) {
	t.Parallel()
	c, _ := cluster(t)
	a := join(t, c, "a", func(_ *member, o *seat.Options) { o.Heartbeat = 6 * time.Second })
	heard, once := make(chan struct{}), sync.Once{}
	c.ControlKey(int16(kmsg.Heartbeat), func(kmsg.Request) (kmsg.Response, error, bool) {
		once.Do(func() { close(heard) })
		return nil, nil, false
	})
	together(t, a)
	<-heard // that of the client, which comes half a second after a round
	throwOut(t, c, a.session().MemberID)
	until(t, "a knows", func() bool { return a.look(func(m *member) bool { return len(m.lost) == 1 }) })
	if !a.look(func(m *member) bool { return errors.Is(m.lost[0], seat.ErrForgotten) }) {
		t.Errorf("lost %v", a.lost)
	}
	until(t, "a is back", func() bool { return a.look(func(m *member) bool { return m.log[len(m.log)-1] == "assigned" }) })
}
