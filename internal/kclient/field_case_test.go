package kclient

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

var describeKey = kmsg.DescribeGroups

// Field case 30: the coordinator moved, or loads; the group is read all the
// same.
func TestFieldCase30CoordinatorMoves(t *testing.T) {
	for _, code := range []*kerr.Error{kerr.NotCoordinator, kerr.CoordinatorLoadInProgress, kerr.CoordinatorNotAvailable} {
		t.Run(code.Message, func(t *testing.T) {
			f := newFake(t, kfake.NumBrokers(3))
			shop(t, f)
			f.Fault(
				kfake.Fault{Keys: []kmsg.Key{describeKey}, Group: "shop", Err: code},
				kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Group: "shop", Err: code},
			)
			s := f.read(within(t, 10*time.Second), DescribeQuery("shop"))
			g := s.Group("shop")
			if len(s.Errors) != 0 || g.Classic == nil || len(g.Classic.Members) != 2 || !g.CommitsRead || len(g.Commits) != 2 {
				t.Errorf("errors %+v, group %+v", s.Errors, g)
			}
		})
	}
}

// Field case 30: FindCoordinator names a broker that is not the coordinator
// any more.
func TestFieldCase30StaleCoordinator(t *testing.T) {
	f := newFake(t, kfake.NumBrokers(2))
	shop(t, f)
	right := f.CoordinatorFor("shop")
	var wrong atomic.Bool
	f.onResponse(func(_ kmsg.Request, resp kmsg.Response) {
		if r, ok := resp.(*kmsg.FindCoordinatorResponse); ok && wrong.CompareAndSwap(false, true) {
			for i := range r.Coordinators {
				r.Coordinators[i].NodeID = 1 - right
			}
		}
	})
	s := f.read(within(t, 10*time.Second), DescribeQuery("shop"))
	g := s.Group("shop")
	if len(s.Errors) != 0 || g.Classic == nil || *g.Coordinator != right || !wrong.Load() {
		t.Errorf("errors %+v, group %+v", s.Errors, g)
	}
}

// Field case 30: a coordinator that never comes is the error by its name
// within the time given, and nothing is made up.
func TestFieldCase30NeverStops(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	f.Fault(
		kfake.Fault{Keys: []kmsg.Key{describeKey, kmsg.OffsetFetch}, Group: "shop", Err: kerr.NotCoordinator, Count: -1},
	)
	start := time.Now()
	s := f.read(within(t, 1500*time.Millisecond), DescribeQuery("shop"))
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	g, e := s.Group("shop"), errorOf(s, "group shop")
	if e == nil || e.Code != "NOT_COORDINATOR" || e.Hint == "" {
		t.Fatalf("errors: %+v", s.Errors)
	}
	if g.Classic != nil || g.Streams != nil || g.CommitsRead || g.Commits != nil {
		t.Errorf("group: %+v", g)
	}
}

// Field cases 45 and 49: commits of a group without members, and -1, are read
// as they are.
func TestFieldCase49CommitsWithoutMembers(t *testing.T) {
	f := newFake(t)
	f.topic("orders", 3, 10, 20, 30)
	f.commit("gone", "orders", 4, 20)
	s := f.read(within(t, 10*time.Second), DescribeQuery("gone"))
	g := s.Group("gone")
	if len(s.Errors) != 0 || g.Classic == nil || g.Classic.State != model.StateEmpty || len(g.Commits) != 2 {
		t.Fatalf("errors %+v, group %+v", s.Errors, g)
	}
	if l := logOf(t, s, "orders", 2); l.Start == nil || *l.Start != 0 || *l.End != 30 {
		t.Errorf("partition without a commit: %+v", l)
	}
}

// Field case 52: a deleted topic is missing by name, the rest is read.
func TestFieldCase52TopicDeleted(t *testing.T) {
	f := newFake(t)
	f.topic("in", 1, 10)
	f.topic("gone", 1, 5)
	f.commit("app", "in", 3)
	f.commit("app", "gone", 5)
	f.onResponse(func(_ kmsg.Request, resp kmsg.Response) { // the embedded broker drops commits with their topic
		if r, ok := resp.(*kmsg.OffsetFetchResponse); ok {
			for i := range r.Groups {
				topic := kmsg.NewOffsetFetchResponseGroupTopic()
				topic.Topic = "gone"
				p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
				p.Offset = 5
				topic.Partitions = append(topic.Partitions, p)
				r.Groups[i].Topics = append(r.Groups[i].Topics, topic)
			}
		}
	})
	if _, err := f.admin().DeleteTopics(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	for _, internal := range []bool{true, false} {
		q := DescribeQuery("app")
		q.InternalTopics = internal
		s := f.read(within(t, 10*time.Second), q)
		want := []snapshot.MissingTopic{{Name: "gone", ErrorCode: kerr.UnknownTopicOrPartition.Code}}
		if !slices.Equal(s.Missing, want) || len(s.Errors) != 0 {
			t.Errorf("missing %+v, errors %+v", s.Missing, s.Errors)
		}
		if l := logOf(t, s, "in", 0); *l.End != 10 {
			t.Errorf("log: %+v", l)
		}
	}
}

// Field case 57: an unknown group is one that the broker does not know, on old
// brokers and new ones, and no error of reading.
func TestFieldCase57UnknownGroup(t *testing.T) {
	for name, v := range map[string]*kversion.Versions{"new": nil, "old": kversion.V2_8_0()} {
		t.Run(name, func(t *testing.T) {
			var opts []kfake.Opt
			if v != nil {
				opts = append(opts, kfake.MaxVersions(v))
			}
			f := newFake(t, opts...)
			s := f.read(within(t, 10*time.Second), DescribeQuery("nobody"))
			g := s.Group("nobody")
			if len(s.Errors) != 0 || g.Classic == nil || isThere(g.Classic) || g.Streams != nil || g.Consumer != nil {
				t.Errorf("errors %+v, group %+v", s.Errors, g)
			}
		})
	}
}

// Field case 57: a port that accepts and says nothing ends within the time
// given.
func TestFieldCase57SilentBroker(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
		}
	}()
	c := dialTest(t, config.Connection{Bootstrap: []string{l.Addr().String()}, RequestTimeout: 10 * time.Second})
	start := time.Now()
	s, err := c.Snapshot(within(t, time.Second), DescribeQuery("shop"))
	if took := time.Since(start); err == nil || s != nil || took > 2*time.Second {
		t.Errorf("after %v: %v, %v", took, s, err)
	}
	a, ok := c.trace.settled(l.Addr().String())
	if !ok || a.step != config.StepVersions || a.read {
		t.Errorf("attempt: %+v", a)
	}
}

// Field case 58: a port where nothing listens is an error at once.
func TestFieldCase58DeadPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	c := dialTest(t, config.Connection{Bootstrap: []string{addr}})
	start := time.Now()
	_, err = c.Snapshot(within(t, 10*time.Second), ListQuery())
	if took := time.Since(start); err == nil || took > time.Second {
		t.Errorf("after %v: %v", took, err)
	}
	if a, _ := c.trace.settled(addr); a.step != config.StepDial {
		t.Errorf("attempt: %+v", a)
	}
}

// A dead bootstrap server costs nothing when another one answers.
func TestOneBootstrapServerDead(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	conn := f.connection()
	conn.Bootstrap = append([]string{"127.0.0.1:1", "127.0.0.1:2"}, conn.Bootstrap...)
	for range 3 {
		s, err := dialTest(t, conn).Snapshot(within(t, 5*time.Second), DescribeQuery("shop"))
		if err != nil || len(s.Errors) != 0 || s.Group("shop").Classic == nil {
			t.Fatalf("%v, %+v", err, s)
		}
	}
}

// Field case 61: a broker without API 89 says so in the options; classic
// groups are read.
func TestFieldCase61BrokerWithoutStreams(t *testing.T) {
	f := newFake(t, kfake.MaxVersions(kversion.V3_6_0()))
	shop(t, f)
	s := f.read(within(t, 10*time.Second), DescribeQuery("shop"))
	if len(s.Errors) != 0 || s.Group("shop").Classic == nil || s.Options[OptionStreams] != "unsupported" {
		t.Errorf("errors %+v, options %v", s.Errors, s.Options)
	}
	if list := f.read(within(t, 10*time.Second), ListQuery()); list.Options[OptionStreams] != "unsupported" || list.Group("shop").Classic == nil {
		t.Errorf("list: options %v", list.Options)
	}
	for _, k := range s.APIVersions[0].Keys {
		if k.Key == keyStreamsDescribe {
			t.Error("API 89 in the versions")
		}
	}
}

// Old brokers take one group a request, and list no states or types.
func TestOldBroker(t *testing.T) {
	f := newFake(t, kfake.MaxVersions(kversion.V2_4_0()))
	shop(t, f)
	f.commit("second", "orders", 1)
	q := DescribeQuery("shop", "second")
	q.ListAll = true
	s := f.read(within(t, 10*time.Second), q)
	if len(s.Errors) != 0 || len(s.Groups) != 2 {
		t.Fatalf("errors %+v, groups %+v", s.Errors, s.Groups)
	}
	for _, g := range s.Groups {
		if g.Classic == nil || !g.CommitsRead || len(g.Commits) == 0 || g.Listed == nil || g.Listed.Type != "" {
			t.Errorf("group: %+v", g)
		}
	}
}

// Brokers that do not know group configs, or refuse them, are no error.
func TestGroupConfigs(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	var code atomic.Int32
	f.onResponse(func(_ kmsg.Request, resp kmsg.Response) {
		if r, ok := resp.(*kmsg.DescribeConfigsResponse); ok {
			for i := range r.Resources {
				r.Resources[i].ErrorCode = int16(code.Load())
				if code.Load() == 0 {
					c := kmsg.NewDescribeConfigsResponseResourceConfig()
					c.Name, c.Value, c.Source = "streams.num.standby.replicas", kmsg.StringPtr("1"), kmsg.ConfigSourceDefaultConfig
					r.Resources[i].Configs = []kmsg.DescribeConfigsResponseResourceConfig{c}
				}
			}
		}
	})
	for c, want := range map[*kerr.Error]string{nil: "read", kerr.InvalidRequest: "unsupported", kerr.GroupAuthorizationFailed: "refused"} {
		code.Store(0)
		if c != nil {
			code.Store(int32(c.Code))
		}
		s := f.read(within(t, 10*time.Second), DescribeQuery("shop"))
		if len(s.Errors) != 0 || s.Options[OptionGroupConfigs] != want {
			t.Errorf("%v: errors %+v, option %q", c, s.Errors, s.Options[OptionGroupConfigs])
		}
		configs := s.Group("shop").Configs
		if c == nil && (len(configs) != 1 || configs[0].Source != "DEFAULT_CONFIG" || *configs[0].Value != "1") {
			t.Errorf("configs: %+v", configs)
		}
	}
}

// Field case 69: a list asks for no offsets and no topics, and for many groups
// at once.
func TestFieldCase69ManyGroups(t *testing.T) {
	f := newFake(t, kfake.NumBrokers(3))
	f.topic("in", 1, 1)
	const n = 1000
	for i := range n {
		f.commit(groupName(i), "in", 1)
	}
	f.forget()
	s := f.read(within(t, 10*time.Second), ListQuery())
	if len(s.Groups) != n || len(s.Errors) != 0 {
		t.Fatalf("%d groups, errors %+v", len(s.Groups), s.Errors)
	}
	for _, g := range s.Groups {
		if g.Classic == nil || g.Listed == nil || g.Coordinator == nil {
			t.Fatalf("group: %+v", g)
		}
	}
	for _, key := range f.keys() {
		switch key {
		case keyOffsetFetch, kmsg.ListOffsets.Int16(), kmsg.FindCoordinator.Int16(), kmsg.DescribeLogDirs.Int16():
			t.Errorf("asked for API %d", key)
		}
	}
	for _, req := range f.requests(kmsg.Metadata.Int16()) {
		if m := req.(*kmsg.MetadataRequest); m.Topics == nil || len(m.Topics) > 0 {
			t.Error("asked for topics")
		}
	}
	if got := len(f.requests(describeKey.Int16())); got > 9 {
		t.Errorf("%d describe requests", got)
	}
}

func groupName(i int) string { return "g" + string(rune('a'+i%26)) + "-" + strings.Repeat("x", i/26) }

// Field case 69: one coordinator that is too slow costs its own rows only.
func TestFieldCase69SlowCoordinator(t *testing.T) {
	f := newFake(t, kfake.NumBrokers(2))
	f.topic("in", 2, 5, 5)
	var slow, quick []string
	for i := range 60 {
		name := groupName(i)
		f.commit(name, "in", 1, 2)
		if f.CoordinatorFor(name) == 0 {
			slow = append(slow, name)
		} else {
			quick = append(quick, name)
		}
	}
	f.ControlKey(keyOffsetFetch, func(kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		if f.CurrentNode() == 0 {
			f.SleepControl(func() { time.Sleep(2 * time.Second) })
		}
		return nil, nil, false
	})
	q := ListQuery()
	q.Commits, q.Logs = true, true
	start := time.Now()
	s := f.read(within(t, time.Second), q)
	if took := time.Since(start); took > 1500*time.Millisecond {
		t.Errorf("took %v", took)
	}
	for _, name := range quick {
		if g := s.Group(name); !g.CommitsRead || len(g.Commits) != 2 {
			t.Fatalf("quick group: %+v", g)
		}
	}
	for _, name := range slow {
		if g := s.Group(name); g.CommitsRead || g.Classic == nil {
			t.Fatalf("slow group: %+v", g)
		}
	}
	if e := errorOf(s, "broker 0"); e == nil || !strings.Contains(e.Text, "commits") {
		t.Errorf("errors: %+v", s.Errors)
	}
	if len(s.Logs) == 0 {
		t.Error("no logs although half of the commits came")
	}
}

// Field case 70: a partition without leader is an error by name, the others
// are read.
func TestFieldCase70NoLeader(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: "orders", Partitions: []int32{1}, Err: kerr.LeaderNotAvailable, Count: -1})
	s := f.read(within(t, 10*time.Second), DescribeQuery("shop"))
	if l := logOf(t, s, "orders", 0); l.End == nil || *l.End != 10 {
		t.Errorf("log of the other partition: %+v", l)
	}
	l := logOf(t, s, "orders", 1)
	if l.End != nil || l.Start != nil || l.ErrorCode != kerr.LeaderNotAvailable.Code {
		t.Errorf("log: %+v", l)
	}
	e := errorOf(s, "topic orders")
	if e == nil || e.Code != "LEADER_NOT_AVAILABLE" || !strings.Contains(e.Text, "partition 1") || len(s.Errors) != 1 {
		t.Errorf("errors: %+v", s.Errors)
	}
}

// A leader that moved between metadata and the question is found again.
func TestLeaderMoves(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: "orders", Err: kerr.NotLeaderForPartition, Count: 2})
	s := f.read(within(t, 10*time.Second), DescribeQuery("shop"))
	if l := logOf(t, s, "orders", 1); len(s.Errors) != 0 || l.End == nil || *l.End != 20 || l.ErrorCode != 0 {
		t.Errorf("errors %+v, log %+v", s.Errors, l)
	}
}

// Field case 73: one group is read without ListGroups and without the metadata
// of all topics.
func TestFieldCase73LeastRights(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	f.onResponse(func(req kmsg.Request, resp kmsg.Response) {
		if r, ok := resp.(*kmsg.MetadataResponse); ok && req.(*kmsg.MetadataRequest).Topics == nil {
			r.Topics = nil // hidden without an error
		}
	})
	f.ControlKey(kmsg.ListGroups.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		resp := req.ResponseKind().(*kmsg.ListGroupsResponse)
		resp.ErrorCode = kerr.ClusterAuthorizationFailed.Code
		return resp, nil, true
	})
	s := f.read(within(t, 10*time.Second), DescribeQuery("shop"))
	g := s.Group("shop")
	if len(s.Errors) != 0 || g.Classic == nil || len(g.Commits) != 2 {
		t.Fatalf("errors %+v, group %+v", s.Errors, g)
	}
	if l := logOf(t, s, "orders", 0); l.End == nil || *l.End != 10 {
		t.Errorf("log: %+v", l)
	}
	if len(f.requests(kmsg.ListGroups.Int16())) != 0 {
		t.Error("asked for a list")
	}
}

// What is hidden is said: a topic that members run and that no answer names is
// asked for by name, and the permission is named.
func TestHiddenTopic(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	refused := kerr.TopicAuthorizationFailed.Code
	f.onResponse(func(req kmsg.Request, resp kmsg.Response) {
		switch r := resp.(type) {
		case *kmsg.MetadataResponse:
			if req.(*kmsg.MetadataRequest).Topics == nil {
				r.Topics = nil
			}
			for i := range r.Topics {
				r.Topics[i].ErrorCode, r.Topics[i].Partitions = refused, nil
			}
		case *kmsg.OffsetFetchResponse:
			for i := range r.Groups {
				if req.(*kmsg.OffsetFetchRequest).Groups[i].Topics == nil {
					r.Groups[i].Topics = nil
				}
				for j := range r.Groups[i].Topics {
					for k := range r.Groups[i].Topics[j].Partitions {
						p := &r.Groups[i].Topics[j].Partitions[k]
						p.Offset, p.ErrorCode = -1, refused
					}
				}
			}
		}
	})
	s := f.read(within(t, 10*time.Second), DescribeQuery("shop"))
	want := []snapshot.MissingTopic{{Name: "orders", ErrorCode: refused}}
	if !slices.Equal(s.Missing, want) {
		t.Errorf("missing: %+v", s.Missing)
	}
	e := errorOf(s, "topic orders")
	if e == nil || e.Code != "TOPIC_AUTHORIZATION_FAILED" || e.Hint != `needs DESCRIBE on topic "orders"` {
		t.Errorf("errors: %+v", s.Errors)
	}
	if g := s.Group("shop"); len(g.Commits) != 2 || g.Commits[0].Offset != -1 || g.Commits[0].ErrorCode != refused {
		t.Errorf("commits: %+v", g.Commits)
	}
}

// A refused group names the permission; the others are unharmed.
func TestRefusedGroup(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	f.commit("secret", "orders", 1)
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.FindCoordinator, describeKey, kmsg.OffsetFetch}, Group: "secret", Err: kerr.GroupAuthorizationFailed, Count: -1})
	s := f.read(within(t, 10*time.Second), DescribeQuery("shop", "secret"))
	e := errorOf(s, "group secret")
	if e == nil || e.Code != "GROUP_AUTHORIZATION_FAILED" || e.Hint != `needs DESCRIBE on group "secret"` || len(s.Errors) != 1 {
		t.Fatalf("errors: %+v", s.Errors)
	}
	if g := s.Group("shop"); g.Classic == nil || len(g.Commits) != 2 {
		t.Errorf("the other group: %+v", g)
	}
}

// Field case 74: refused log sizes are no error.
func TestFieldCase74LogDirsRefused(t *testing.T) {
	for _, c := range []struct {
		nodes []int32
		want  string
	}{{nil, "refused"}, {[]int32{1}, "refused by 1 of 3 brokers"}} {
		f := newFake(t, kfake.NumBrokers(3))
		f.topic("wide", 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
		f.commit("app", "wide", 1)
		f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeLogDirs}, Nodes: c.nodes, TopLevel: true, Err: kerr.ClusterAuthorizationFailed, Count: -1})
		s := f.read(within(t, 10*time.Second), DescribeQuery("app"))
		if len(s.Errors) != 0 || s.Options[OptionLogDirs] != c.want {
			t.Errorf("errors %+v, option %q, want %q", s.Errors, s.Options[OptionLogDirs], c.want)
		}
		if (c.nodes == nil) != (len(s.LogSizes) == 0) {
			t.Errorf("%d sizes", len(s.LogSizes))
		}
	}
}

// A broker that dies costs its own part; its name and address are told.
func TestAdvertisedBrokerUnknown(t *testing.T) {
	f := newFake(t, kfake.NumBrokers(2))
	shop(t, f)
	dead := f.CoordinatorFor("shop")
	f.onResponse(func(_ kmsg.Request, resp kmsg.Response) {
		if r, ok := resp.(*kmsg.MetadataResponse); ok {
			for i := range r.Brokers {
				if r.Brokers[i].NodeID == dead {
					r.Brokers[i].Host = "broker-7.invalid"
				}
			}
		}
	})
	conn := f.connection()
	conn.Bootstrap = []string{f.ListenAddrs()[1-dead]}
	start := time.Now()
	s, err := dialTest(t, conn).Snapshot(within(t, 10*time.Second), DescribeQuery("shop"))
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if e := errorOf(s, "group shop"); e == nil || !strings.Contains(e.Text, "broker-7.invalid") {
		t.Errorf("errors: %+v", s.Errors)
	}
}

// A rebalance is waited for before it is reported.
func TestSettle(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	var looks atomic.Int32
	f.onResponse(func(_ kmsg.Request, resp kmsg.Response) {
		if r, ok := resp.(*kmsg.DescribeGroupsResponse); ok && looks.Add(1) <= 2 {
			r.Groups[0].State, r.Groups[0].Protocol = model.StatePreparingRebalance, ""
		}
	})
	s := f.read(within(t, 10*time.Second), DescribeQuery("shop"))
	if g := s.Group("shop"); g.Classic.State != model.StateStable || looks.Load() != 3 || !g.CommitsRead {
		t.Errorf("after %d looks: %+v", looks.Load(), g.Classic)
	}
	looks.Store(-1000)
	q := DescribeQuery("shop")
	q.SettleFor = 300 * time.Millisecond
	s = f.read(within(t, 10*time.Second), q)
	if g := s.Group("shop"); g.Classic.State != model.StatePreparingRebalance || len(s.Errors) != 0 {
		t.Errorf("errors %+v, %+v", s.Errors, g.Classic)
	}
}

// Ctrl-C ends everything with the context's own error.
func TestCancelled(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	f.ControlKey(describeKey.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		return nil, nil, true // never answered
	})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	start := time.Now()
	_, err := dialTest(t, f.connection()).Snapshot(ctx, DescribeQuery("shop"))
	if err != context.Canceled || time.Since(start) > 2*time.Second { //nolint:errorlint // exactly that error
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}
