package seat_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/seat"
)

func TestSeatsMeetInOneRound(t *testing.T) {
	t.Parallel()
	c, _ := cluster(t)
	a := join(t, c, "a")
	together(t, a)
	b := join(t, c, "b")
	generation := together(t, a, b)
	if !a.look(func(m *member) bool { return slices.Contains(m.log, "before join") && m.parts[topic] == 4 }) {
		t.Errorf("leader: log %v, partitions %v", a.log, a.parts)
	}
	// A follower's wish counts when its metadata differ, and only then.
	b.Rejoin()
	until(t, "the follower was answered", func() bool { return b.look(func(m *member) bool { return m.got >= 2 }) })
	if got := b.session().Generation; got != generation {
		t.Errorf("unchanged metadata started generation %d after %d", got, generation)
	}
	b.say("b, changed")
	b.Rejoin()
	until(t, "a new round", func() bool {
		return a.session().Generation > generation && strings.Contains(string(a.session().Assignment), "b, changed")
	})
	generation = together(t, a, b)
	a.Rejoin() // the leader's wish counts always
	until(t, "the leader's round", func() bool { return b.session().Generation > generation })
}

func TestLeaveIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	c, _ := cluster(t)
	a, b := join(t, c, "a"), join(t, c, "b")
	together(t, a, b)
	before := time.Now()
	if err := a.Leave(context.Background()); err != nil {
		t.Fatal(err)
	}
	together(t, b)
	if took := time.Since(before); took > 3*time.Second {
		t.Errorf("took %v", took)
	}
	if !a.look(func(m *member) bool { return len(m.lost) == 0 }) {
		t.Error("one that leaves was told that it is lost")
	}
}

func TestNewPartitionsStartARound(t *testing.T) {
	t.Parallel()
	c, adm := cluster(t)
	a := join(t, c, "a")
	generation := together(t, a)
	if _, err := adm.CreatePartitions(context.Background(), 2, topic); err != nil {
		t.Fatal(err)
	}
	until(t, "the leader sees six partitions", func() bool {
		return a.look(func(m *member) bool { return m.parts[topic] == 6 && m.last.Generation > generation })
	})
}

func TestThrownOutIsLostThenBack(t *testing.T) {
	t.Parallel()
	c, _ := cluster(t)
	a := join(t, c, "a")
	together(t, a)
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Group: group, Err: kerr.IllegalGeneration, Count: 1})
	until(t, "lost", func() bool { return a.look(func(m *member) bool { return len(m.lost) == 1 }) })
	until(t, "back", func() bool { return a.look(func(m *member) bool { return m.log[len(m.log)-1] == "assigned" }) })
	if !a.look(func(m *member) bool { return errors.Is(m.lost[0], kerr.IllegalGeneration) && m.log[1] == "lost" }) {
		t.Errorf("log %v, lost %v", a.log, a.lost)
	}
}

// A member that the coordinator forgot and that finds out by joining must not
// join as if nothing had happened.
func TestForgottenIsLostBeforeItJoinsAnew(t *testing.T) {
	t.Parallel()
	c, _ := cluster(t)
	a, b := join(t, c, "a"), join(t, c, "b")
	together(t, a, b)
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Group: group, Err: kerr.RebalanceInProgress, Count: 1000})
	throwOut(t, c, b.session().MemberID)
	until(t, "b knows", func() bool { return b.look(func(m *member) bool { return len(m.lost) == 1 }) })
	if !b.look(func(m *member) bool {
		return errors.Is(m.lost[0], seat.ErrForgotten) || errors.Is(m.lost[0], kerr.UnknownMemberID)
	}) {
		t.Errorf("lost %v", b.lost)
	}
}

// throwOut removes a member behind its back.
func throwOut(t *testing.T, c *kfake.Cluster, id string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.MemberID = group, id
	m := kmsg.NewLeaveGroupRequestMember()
	m.MemberID = id
	req.Members = append(req.Members, m)
	if _, err := req.RequestWith(context.Background(), cl); err != nil {
		t.Fatal(err)
	}
}

func TestSilenceEndsASession(t *testing.T) {
	t.Parallel()
	c, _ := cluster(t)
	net := seat.NewNetwork()
	a := join(t, c, "a", func(_ *member, o *seat.Options) { o.Network = net })
	b := join(t, c, "b")
	generation := together(t, a, b)
	before := time.Now()
	net.Cut()
	until(t, "a stops by itself", func() bool { return a.look(func(m *member) bool { return len(m.lost) == 1 }) })
	took := time.Since(before)
	if b.session().Generation != generation {
		t.Error("the group gave a's tasks away before a stopped")
	}
	if !a.look(func(m *member) bool { return errors.Is(m.lost[0], seat.ErrSilent) }) || took > 7*time.Second {
		t.Errorf("after %v: %v", took, a.lost)
	}
	together(t, b)
	net.Restore()
	together(t, a, b)
}

// A coordinator that was silent for too long for us, but not for itself, still
// counts the member in: it must take part again, though nobody starts a round.
func TestSilenceThatTheCoordinatorDidNotNoticeIsNoEnd(t *testing.T) {
	t.Parallel()
	c, _ := cluster(t)
	a := join(t, c, "a")
	generation := together(t, a)
	const session = 6 * time.Second
	var once sync.Once
	c.ControlKey(int16(kmsg.Heartbeat), func(kmsg.Request) (kmsg.Response, error, bool) {
		once.Do(func() { c.SleepControl(func() { time.Sleep(session - session/12) }) })
		return nil, nil, false
	})
	until(t, "a stops by itself", func() bool { return a.look(func(m *member) bool { return len(m.lost) == 1 }) })
	until(t, "a is assigned its tasks again", func() bool {
		return a.look(func(m *member) bool { return m.log[len(m.log)-1] == "assigned" })
	})
	if !a.look(func(m *member) bool { return errors.Is(m.lost[0], seat.ErrSilent) && len(m.lost) == 1 }) {
		t.Errorf("lost %v", a.lost)
	}
	if got := a.session().Generation; got < generation {
		t.Errorf("generation %d after %d", got, generation)
	}
}

func TestCrashIsSilent(t *testing.T) {
	t.Parallel()
	c, adm := cluster(t)
	a, b := join(t, c, "a"), join(t, c, "b")
	together(t, a, b)
	a.Crash()
	d, err := adm.DescribeGroups(context.Background(), group)
	if err != nil || len(d[group].Members) != 2 {
		t.Errorf("right after the crash: %v, %v", d[group].Members, err)
	}
}

// A join that another member holds up is no silence: the seat asks beside it.
func TestHeldJoinIsNoSilence(t *testing.T) {
	t.Parallel()
	c, _ := cluster(t)
	a := join(t, c, "a")
	slow := join(t, c, "slow")
	together(t, a, slow)
	slow.mu.Lock()
	slow.hold = 7 * time.Second
	slow.mu.Unlock()
	a.say("a, changed")
	a.Rejoin()
	until(t, "the slow one joins", func() bool { return strings.Contains(string(slow.session().Assignment), "a, changed") })
	if !a.look(func(m *member) bool { return len(m.lost) == 0 }) {
		t.Errorf("a member that waited was lost: %v", a.lost)
	}
}

func TestCommitIsFencedByItsGeneration(t *testing.T) {
	t.Parallel()
	c, adm := cluster(t)
	a := join(t, c, "a")
	old := together(t, a)
	id := a.session().MemberID
	offsets := map[model.TopicPartition]int64{{Topic: topic, Partition: 1}: 7, {Topic: topic, Partition: 3}: 9}
	if err := a.Commit(context.Background(), old, id, offsets); err != nil {
		t.Fatal(err)
	}
	got, err := adm.FetchOffsets(context.Background(), group)
	if err != nil || got.Offsets().KOffsets()[topic][3].EpochOffset().Offset != 9 {
		t.Errorf("committed %v, %v", got, err)
	}
	b := join(t, c, "b")
	together(t, a, b)
	if err := a.Commit(context.Background(), old, id, offsets); !errors.Is(err, kerr.IllegalGeneration) {
		t.Errorf("a commit of a generation that is over: %v", err)
	}
}

// While another type holds the group, a join is refused and tried again.
func TestOtherTypeIsRefused(t *testing.T) {
	t.Parallel()
	c, _ := cluster(t)
	a := join(t, c, "a")
	together(t, a)
	b := join(t, c, "b", asConsumer)
	b.Hurry(true)
	until(t, "refused three times", func() bool {
		return b.look(func(m *member) bool {
			return len(m.refused) >= 3 && errors.Is(m.refused[0], kerr.InconsistentGroupProtocol) && len(m.lost) == 0
		})
	})
}

// subscription is a consumer frame with our bytes as its user data.
func subscription(b []byte) []byte {
	m := kmsg.NewConsumerMemberMetadata()
	m.Topics, m.UserData = []string{topic}, b
	return m.AppendTo(nil)
}

func asConsumer(m *member, o *seat.Options) {
	m.frame, o.Type, o.Older = subscription, seat.TypeConsumer, []kgo.GroupBalancer{kgo.RangeBalancer()}
}

func TestUpgradingBesideAPlainConsumer(t *testing.T) {
	t.Parallel()
	c, _ := cluster(t)
	plain, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic),
		kgo.Balancers(kgo.RangeBalancer()), kgo.HeartbeatInterval(100*time.Millisecond), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	a := join(t, c, "a", asConsumer)
	until(t, "range gives a two partitions", func() bool {
		s := a.session()
		return s.Protocol == "range" && len(s.Owned[topic]) == 2
	})
	plain.Close()
	until(t, "learner wins", func() bool { return a.session().Protocol == seat.Protocol })
	if s := a.session(); s.Owned != nil || len(s.Assignment) == 0 {
		t.Errorf("session %+v", s)
	}
}
