package kclient

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/streamctl/streamctl/internal/model"
)

const describeKey = kmsg.DescribeGroups

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
