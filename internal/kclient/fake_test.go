package kclient

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// fake is an embedded cluster whose answers a test can rewrite on their way
// out, and which notes every request.
type fake struct {
	*kfake.Cluster
	t   *testing.T
	cl  *kgo.Client
	adm *kadm.Client

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
	if resp.IsFlexible() && resp.Key() != keyApiVersions {
		head = 9
	}
	if err := resp.ReadFrom(b[head:]); err != nil {
		return c.Conn.Write(b)
	}
	for _, fn := range rewrite {
		fn(req, resp)
	}
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

var testTime = time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)

func dialTest(t *testing.T, conn config.Connection) *Client {
	t.Helper()
	c, err := Dial(t.Context(), conn, Options{Now: func() time.Time { return testTime }})
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

// joiner is one member that a test puts into a group.
type joiner struct {
	client     string
	metadata   []byte
	assignment []byte
}

// streamsMember is a member whose frames name topics and partitions.
func streamsMember(t *testing.T, client string, topics []string, runs ...groupmeta.TopicPartitions) joiner {
	t.Helper()
	sub := groupmeta.ConsumerSubscription{Version: 1, Topics: topics, UserData: []byte{1, 2, 3}}
	meta, err := sub.Encode()
	if err != nil {
		t.Fatal(err)
	}
	a := groupmeta.ConsumerAssignment{Version: 1, Assigned: runs, UserData: []byte{4, 5}}
	assignment, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return joiner{client, meta, assignment}
}

func runsOf(topic string, partitions ...int32) groupmeta.TopicPartitions {
	return groupmeta.TopicPartitions{Topic: topic, Partitions: partitions}
}

// member speaks the group protocol by hand, on a connection of its own.
type member struct {
	t    *testing.T
	conn net.Conn
	corr int32
}

func (f *fake) dialMember(group string) *member {
	f.t.Helper()
	addrs := f.ListenAddrs()
	conn, err := net.Dial("tcp", addrs[f.CoordinatorFor(group)])
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = conn.Close() })
	return &member{t: f.t, conn: conn}
}

func (m *member) send(client string, req kmsg.Request) {
	m.t.Helper()
	m.corr++
	b := kmsg.NewRequestFormatter(kmsg.FormatterClientID(client)).AppendRequest(nil, req, m.corr)
	if _, err := m.conn.Write(b); err != nil {
		m.t.Fatal(err)
	}
}

func (m *member) receive(resp kmsg.Response) {
	m.t.Helper()
	var head [4]byte
	if _, err := io.ReadFull(m.conn, head[:]); err != nil {
		m.t.Fatal(err)
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(m.conn, body); err != nil {
		m.t.Fatal(err)
	}
	if err := resp.ReadFrom(body[4:]); err != nil {
		m.t.Fatal(err)
	}
}

// awaitRebalance heartbeats until the broker has heard of a newcomer.
func (m *member) awaitRebalance(group, id string, gen int32) {
	m.t.Helper()
	for range 5000 {
		req := kmsg.NewPtrHeartbeatRequest()
		req.Group, req.MemberID, req.Generation = group, id, gen
		m.send("", req)
		resp := kmsg.NewPtrHeartbeatResponse()
		m.receive(resp)
		if resp.ErrorCode == kerr.RebalanceInProgress.Code {
			return
		}
		time.Sleep(time.Millisecond)
	}
	m.t.Fatalf("group %q did not start a round", group)
}

// join brings a classic group to Stable with these members.
func (f *fake) join(group, protocolType, protocol string, joiners ...joiner) {
	f.t.Helper()
	members := make([]*member, len(joiners))
	ids := make([]string, len(joiners))
	reqs := make([]*kmsg.JoinGroupRequest, len(joiners))
	for i, j := range joiners {
		req := kmsg.NewPtrJoinGroupRequest()
		req.Version = 5
		req.Group, req.ProtocolType = group, protocolType
		req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 60000, 60000
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name, p.Metadata = protocol, j.metadata
		req.Protocols = append(req.Protocols, p)
		m := f.dialMember(group)
		m.send(j.client, req)
		resp := req.ResponseKind().(*kmsg.JoinGroupResponse)
		m.receive(resp)
		req.MemberID = resp.MemberID
		members[i], reqs[i], ids[i] = m, req, resp.MemberID
	}
	gen, leader := int32(0), ""
	for n := range members { // each newcomer starts a round that all before it join again
		members[n].send(joiners[n].client, reqs[n])
		for i, m := range members[:n] {
			m.awaitRebalance(group, ids[i], gen)
			m.send(joiners[i].client, reqs[i])
		}
		for i, m := range members[:n+1] {
			resp := reqs[i].ResponseKind().(*kmsg.JoinGroupResponse)
			m.receive(resp)
			if resp.ErrorCode != 0 {
				f.t.Fatalf("join group %q: %s", group, codeName(resp.ErrorCode))
			}
			gen, leader = max(gen, resp.Generation), resp.LeaderID
		}
	}
	for i, m := range members {
		req := kmsg.NewPtrSyncGroupRequest()
		req.Version = 3
		req.Group, req.Generation, req.MemberID = group, gen, ids[i]
		if ids[i] == leader {
			for k, j := range joiners {
				a := kmsg.NewSyncGroupRequestGroupAssignment()
				a.MemberID, a.MemberAssignment = ids[k], j.assignment
				req.GroupAssignment = append(req.GroupAssignment, a)
			}
		}
		m.send(joiners[i].client, req)
	}
	for i, m := range members {
		resp := kmsg.NewPtrSyncGroupResponse()
		resp.Version = 3
		m.receive(resp)
		if resp.ErrorCode != 0 {
			f.t.Fatalf("sync group %q, member %d: %s", group, i, codeName(resp.ErrorCode))
		}
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
