package kclient

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// fake is an embedded cluster whose answers a test can rewrite on their way
// out, and which notes every request.
type fake struct {
	*kfake.Cluster
	t   *testing.T
	cl  *kgo.Client
	adm *kadm.Client

	rewriting sync.Mutex // one answer at a time

	mu      sync.Mutex
	rewrite []func(kmsg.Request, kmsg.Response)
	asked   []kmsg.Request
}

func newFake(t *testing.T, opts ...kfake.Opt) *fake {
	t.Helper()
	f := &fake{t: t}
	opts = append([]kfake.Opt{kfake.NumBrokers(1), kfake.ClusterID("cluster-of-the-test")}, opts...)
	opts = append(opts, kfake.ListenFn(func(network, addr string) (net.Listener, error) {
		l, err := net.Listen(network, addr)
		return &fakeListener{l, f}, err
	}))
	c, err := kfake.NewCluster(opts...)
	if err != nil {
		t.Fatal(err)
	}
	f.Cluster = c
	t.Cleanup(c.Close)
	return f
}

// admin gives a client to fill the cluster with.
func (f *fake) admin(opts ...kgo.Opt) *kadm.Client {
	f.t.Helper()
	if f.adm == nil {
		cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(f.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
		if err != nil {
			f.t.Fatal(err)
		}
		f.t.Cleanup(cl.Close)
		f.cl, f.adm = cl, kadm.NewClient(cl)
	}
	return f.adm
}

// onResponse rewrites answers; it runs for every answer on every connection.
func (f *fake) onResponse(fn func(kmsg.Request, kmsg.Response)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rewrite = append(f.rewrite, fn)
}

// keys lists the API keys of what was asked since forget, in order.
func (f *fake) keys() []int16 {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []int16
	for _, r := range f.asked {
		out = append(out, r.Key())
	}
	return out
}

func (f *fake) requests(key int16) []kmsg.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []kmsg.Request
	for _, r := range f.asked {
		if r.Key() == key {
			out = append(out, r)
		}
	}
	return out
}

func (f *fake) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = nil
}

type fakeListener struct {
	net.Listener
	f *fake
}

func (l *fakeListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &fakeConn{Conn: c, f: l.f, sent: map[int32]kmsg.Request{}}, nil
}

// fakeConn sees whole requests and answers pass.
type fakeConn struct {
	net.Conn
	f    *fake
	in   bytes.Buffer
	mu   sync.Mutex
	sent map[int32]kmsg.Request
}

func (c *fakeConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.in.Write(b[:n])
	for c.in.Len() >= 4 {
		raw := c.in.Bytes()
		size := int(binary.BigEndian.Uint32(raw))
		if len(raw) < 4+size {
			break
		}
		c.note(raw[4 : 4+size])
		c.in.Next(4 + size)
	}
	return n, err
}

func (c *fakeConn) note(raw []byte) {
	r := kbin.Reader{Src: append([]byte(nil), raw...)}
	key, version, corr := r.Int16(), r.Int16(), r.Int32()
	_ = r.NullableString()
	req := kmsg.RequestForKey(key)
	req.SetVersion(version)
	if req.IsFlexible() {
		kmsg.SkipTags(&r)
	}
	if req.ReadFrom(r.Src) != nil {
		return
	}
	c.mu.Lock()
	c.sent[corr] = req
	c.mu.Unlock()
	c.f.mu.Lock()
	c.f.asked = append(c.f.asked, req)
	c.f.mu.Unlock()
}

func (c *fakeConn) Write(b []byte) (int, error) {
	c.f.mu.Lock()
	rewrite := c.f.rewrite
	c.f.mu.Unlock()
	corr := int32(binary.BigEndian.Uint32(b[4:]))
	c.mu.Lock()
	req := c.sent[corr]
	delete(c.sent, corr)
	c.mu.Unlock()
	if len(rewrite) == 0 || req == nil {
		return c.Conn.Write(b)
	}
	resp := req.ResponseKind()
	head := 8
	if resp.IsFlexible() && resp.Key() != keyAPIVersions {
		head = 9
	}
	if err := resp.ReadFrom(b[head:]); err != nil {
		return c.Conn.Write(b)
	}
	c.f.rewriting.Lock()
	for _, fn := range rewrite {
		fn(req, resp)
	}
	c.f.rewriting.Unlock()
	out := resp.AppendTo(append([]byte(nil), b[:head]...))
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	if _, err := c.Conn.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// connection to the fake, with short times so that a test that hangs fails.
func (f *fake) connection() config.Connection {
	return config.Connection{
		Bootstrap: f.ListenAddrs()[:1], ClientID: "streamctl", RequestTimeout: 5 * time.Second, DialTimeout: 5 * time.Second,
	}
}

func testTime() time.Time { return time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC) }

func dialTest(t *testing.T, conn config.Connection) *Client {
	t.Helper()
	c, err := Dial(t.Context(), conn, Options{Now: testTime})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// read takes one snapshot with a client of its own.
func (f *fake) read(ctx context.Context, q Query) *snapshot.Snapshot {
	f.t.Helper()
	s, err := dialTest(f.t, f.connection()).Snapshot(ctx, q)
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func (f *fake) topic(name string, partitions int32, records ...int) {
	f.t.Helper()
	replicas := int16(1)
	if _, err := f.admin().CreateTopic(f.t.Context(), partitions, replicas, nil, name); err != nil {
		f.t.Fatal(err)
	}
	var all []*kgo.Record
	for p, n := range records {
		for range n {
			all = append(all, &kgo.Record{Topic: name, Partition: int32(p), Value: []byte("x")})
		}
	}
	if err := f.cl.ProduceSync(f.t.Context(), all...).FirstErr(); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fake) commit(group, topic string, at ...int64) {
	f.t.Helper()
	var os kadm.Offsets
	for p, o := range at {
		os.AddOffset(topic, int32(p), o, -1)
	}
	if err := f.admin().CommitAllOffsets(f.t.Context(), group, os); err != nil {
		f.t.Fatal(err)
	}
}

func errorOf(s *snapshot.Snapshot, object string) *snapshot.Error {
	for i := range s.Errors {
		if s.Errors[i].Object == object {
			return &s.Errors[i]
		}
	}
	return nil
}

func logOf(t *testing.T, s *snapshot.Snapshot, topic string, partition int32) snapshot.Log {
	t.Helper()
	for _, l := range s.Logs {
		if l.Topic == topic && l.Partition == partition {
			return l
		}
	}
	t.Fatalf("no log of %s-%d in %+v", topic, partition, s.Logs)
	return snapshot.Log{}
}
