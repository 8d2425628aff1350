package controltopic_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/controltopic"
)

const (
	group     = "clicks"
	topicName = "clicks-streamctl-control"
	instanceA = "7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001"
	instanceB = "7b9f2c10-4d53-4f0e-9a41-0c5d1be0a002"
)

// rig is an embedded cluster with a client that may do everything.
type rig struct {
	t   *testing.T
	c   *kfake.Cluster
	cl  *kgo.Client
	adm *kadm.Client
}

func newRig(t *testing.T, opts ...kfake.Opt) *rig {
	t.Helper()
	return rigWith(t, nil, opts...)
}

func rigWith(t *testing.T, login []kgo.Opt, opts ...kfake.Opt) *rig {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	cl, err := kgo.NewClient(append(login, kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.DisableIdempotentWrite(), kgo.ProducerBatchMaxBytes(8<<20), kgo.MetadataMinAge(10*time.Millisecond))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return &rig{t, c, cl, kadm.NewClient(cl)}
}

func (r *rig) open(opts ...kgo.Opt) *controltopic.Topic {
	r.t.Helper()
	topic, err := controltopic.Open(append([]kgo.Opt{kgo.SeedBrokers(r.c.ListenAddrs()...)}, opts...), group)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(topic.Close)
	return topic
}

// put writes raw records, as a stranger would.
func (r *rig) put(recs ...*kgo.Record) {
	r.t.Helper()
	for _, rec := range recs {
		rec.Topic = topicName
	}
	if err := r.cl.ProduceSync(within(r.t, 5*time.Second), recs...).FirstErr(); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) create(config map[string]*string) {
	r.t.Helper()
	r.createWith(1, config)
}

func (r *rig) createWith(partitions int32, config map[string]*string) {
	r.t.Helper()
	if _, err := r.adm.CreateTopic(within(r.t, 5*time.Second), partitions, 1, config, topicName); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) remove() {
	r.t.Helper()
	if _, err := r.adm.DeleteTopics(within(r.t, 5*time.Second), topicName); err != nil {
		r.t.Fatal(err)
	}
	r.cl.PurgeTopicsFromClient(topicName)
}

func text(key, value string) *kgo.Record { return &kgo.Record{Key: []byte(key), Value: []byte(value)} }

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func mark(t *testing.T, id string) control.Record {
	t.Helper()
	return markOf(t, id, instanceA)
}

func markOf(t *testing.T, id, instance string) control.Record {
	t.Helper()
	r, err := control.Leaving{Mark: id, At: time.Date(2026, 11, 30, 6, 30, 0, 0, time.UTC), Who: "alice@ops-1"}.Record(instance)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// seen notes what a follower is told.
type seen struct {
	mu     sync.Mutex
	wholes []controltopic.Contents
	state  control.State
	pos    int64
	errs   []error
	passed []error // over records that cannot be read
}

// follow runs a follower until the test ends.
func follow(t *testing.T, topic *controltopic.Topic) *seen {
	t.Helper()
	s := &seen{}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = topic.Follow(ctx, controltopic.Follower{
			Whole: func(c controltopic.Contents) {
				s.locked(func() { s.wholes, s.state = append(s.wholes, c), control.Fold(c.Records) })
			},
			Record:   func(r control.Record) { s.locked(func() { s.state.Apply(r) }) },
			ReadUpTo: func(pos int64) { s.locked(func() { s.pos = pos }) },
			Failed:   func(err error) { s.locked(func() { s.errs = append(s.errs, err) }) },
			Skipped:  func(err error) { s.locked(func() { s.passed = append(s.passed, err) }) },
		})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return s
}

func (s *seen) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// until waits for a condition on what was told.
func (s *seen) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	end := time.Now().Add(10 * time.Second)
	for {
		ok := false
		s.locked(func() { ok = holds() })
		if ok {
			return
		}
		if time.Now().After(end) {
			s.locked(func() {
				t.Fatalf("never: %s; wholes %d, marks %v, read up to %d, errors %v", what, len(s.wholes), s.state.Leaving, s.pos, s.errs)
			})
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (s *seen) mark(instance string) string { return s.state.Leaving[instance].Mark }

// cutter is a dialer whose connections can be cut, and kept from coming back.
type cutter struct {
	mu    sync.Mutex
	off   bool
	conns []net.Conn
}

func (c *cutter) opt() kgo.Opt {
	return kgo.Dialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.off {
			return nil, &net.OpError{Op: "dial", Net: network, Err: context.DeadlineExceeded}
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil {
			c.conns = append(c.conns, conn)
		}
		return conn, err
	})
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off = true
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.conns = nil
}

func (c *cutter) mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off = false
}

// contextWithin is within for functions that have no test; the deadline frees
// it.
func contextWithin(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	time.AfterFunc(d, cancel)
	return ctx
}
