package seat_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/seat"
)

const (
	group = "shop"
	topic = "orders"
)

func cluster(t *testing.T) (*kfake.Cluster, *kadm.Client) {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, topic), kfake.GroupMinSessionTimeout(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return c, kadm.NewClient(cl)
}

// member is a handler that notes what it is told.
type member struct {
	*seat.Seat
	frame func([]byte) []byte // wraps metadata and assignments; nil: bare

	mu      sync.Mutex
	says    string
	log     []string
	last    seat.Session
	got     int // rounds
	lost    []error
	refused []error
	hold    time.Duration // how long BeforeJoin takes
	think   time.Duration // how long Assign takes
	parts   map[string]int32
}

func (m *member) note(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf(format, args...))
}

func (m *member) BeforeJoin() {
	m.mu.Lock()
	m.note("before join")
	hold := m.hold
	m.mu.Unlock()
	time.Sleep(hold)
}

func (m *member) Metadata() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wrap(m.says)
}

func (m *member) wrap(s string) []byte {
	if m.frame == nil {
		return []byte(s)
	}
	return m.frame([]byte(s))
}

func (m *member) Assign(r seat.Round) (map[string][]byte, error) {
	m.mu.Lock()
	think := m.think
	m.mu.Unlock()
	time.Sleep(think)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parts = r.Partitions
	all := ""
	for _, x := range r.Members {
		all += string(x.Metadata) + ";"
	}
	out := map[string][]byte{}
	for _, x := range r.Members {
		out[x.ID] = m.wrap(fmt.Sprintf("%s led %v gen %d of %s", x.Metadata, x.ID == r.Leader, r.Generation, all))
	}
	return out, nil
}

func (m *member) Assigned(s seat.Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("assigned")
	m.last, m.got = s, m.got+1
}

func (m *member) Lost(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note("lost")
	m.lost = append(m.lost, err)
}

func (m *member) Refused(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = append(m.refused, err)
}

func (m *member) say(s string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.says = s
}

func (m *member) look(f func(*member) bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return f(m)
}

func join(t *testing.T, c *kfake.Cluster, name string, change ...func(*member, *seat.Options)) *member {
	t.Helper()
	m := &member{says: name}
	o := seat.Options{
		Group: group, Opts: []kgo.Opt{kgo.SeedBrokers(c.ListenAddrs()...)}, ClientID: name, Sources: []string{topic},
		SessionTimeout: 6 * time.Second, RebalanceTimeout: 20 * time.Second, Heartbeat: 100 * time.Millisecond,
		MetadataMaxAge: 300 * time.Millisecond, Type: seat.TypeStream, Handler: m,
	}
	for _, f := range change {
		f(m, &o)
	}
	s, err := seat.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	m.Seat = s
	t.Cleanup(func() { _ = s.Leave(context.Background()) })
	return m
}

// until waits for a condition.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out: %s", what)
		}
	}
}

// together waits until the members are in one round of so many.
func together(t *testing.T, ms ...*member) int32 {
	t.Helper()
	var generation int32
	until(t, fmt.Sprintf("%d members in one round", len(ms)), func() bool {
		generation = ms[0].session().Generation
		for _, m := range ms {
			s := m.session()
			if s.Generation != generation || strings.Count(string(s.Assignment), ";") != len(ms) {
				return false
			}
		}
		return true
	})
	return generation
}

func (m *member) session() seat.Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}
