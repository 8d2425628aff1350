package kclient

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// withStreams makes the embedded cluster, which has no streams groups, answer
// for these in API 89, and say in the old call that they are no classic groups.
func (f *fake) withStreams(maxVersion int16, groups map[string]*kmsg.StreamsGroupDescribeResponseGroup) {
	f.onResponse(func(req kmsg.Request, resp kmsg.Response) {
		switch r := resp.(type) {
		case *kmsg.ApiVersionsResponse:
			k := kmsg.NewApiVersionsResponseApiKey()
			k.ApiKey, k.MaxVersion = keyStreamsDescribe, maxVersion
			r.ApiKeys = append(r.ApiKeys, k)
		case *kmsg.DescribeGroupsResponse:
			for i := range r.Groups {
				if g := &r.Groups[i]; groups[g.Group] != nil {
					g.ErrorCode, g.State = kerr.GroupIDNotFound.Code, "Dead"
					g.ErrorMessage = kmsg.StringPtr("Group " + g.Group + " is not a classic group.")
				}
			}
		case *kmsg.ListGroupsResponse:
			for i := range r.Groups {
				if groups[r.Groups[i].Group] != nil {
					r.Groups[i].GroupType, r.Groups[i].ProtocolType = "streams", "streams"
				}
			}
		}
	})
	f.ControlKey(keyStreamsDescribe, func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		req := kreq.(*kmsg.StreamsGroupDescribeRequest)
		resp := req.ResponseKind().(*kmsg.StreamsGroupDescribeResponse)
		for _, id := range req.Groups {
			g := kmsg.NewStreamsGroupDescribeResponseGroup()
			g.Group, g.ErrorCode = id, kerr.GroupIDNotFound.Code
			g.ErrorMessage = kmsg.StringPtr("Group " + id + " is not a streams group.")
			if want := groups[id]; want != nil {
				g = *want
				g.Group = id
			}
			resp.Groups = append(resp.Groups, g)
		}
		return resp, nil, true
	})
}

func billing() *kmsg.StreamsGroupDescribeResponseGroup {
	g := kmsg.NewStreamsGroupDescribeResponseGroup()
	g.State, g.Epoch, g.AssignmentEpoch = "Stable", 6, 6
	topology := kmsg.NewStreamsGroupDescribeResponseGroupTopology()
	s := kmsg.NewStreamsGroupDescribeResponseGroupTopologySubtopology()
	s.SubtopologyID, s.SourceTopics = "0", []string{"invoices"}
	changelog := kmsg.NewTopicInfo()
	changelog.Topic, changelog.NumPartitions = "billing-sums-changelog", 2
	s.StateChangelogTopics = []kmsg.TopicInfo{changelog}
	topology.Subtopologies = append(topology.Subtopologies, s)
	g.Topology = &topology
	for _, id := range []string{"m2", "m1"} { // in an order that is no sorting
		m := kmsg.NewStreamsGroupDescribeResponseGroupMember()
		m.MemberID, m.ProcessID = id, "p-"+id
		g.Members = append(g.Members, m)
	}
	return &g
}

func billingCluster(t *testing.T) *fake {
	t.Helper()
	f := newFake(t)
	shop(t, f)
	f.topic("invoices", 2, 7, 8)
	f.topic("billing-sums-changelog", 2, 1, 2)
	f.topic("billing-old-repartition", 1, 1)
	f.commit("billing", "invoices", 3)
	return f
}

// Field case 60: a named streams group is found although the old call says that
// it does not exist, and without a list.
func TestFieldCase60NamedStreamsGroup(t *testing.T) {
	f := billingCluster(t)
	f.withStreams(1, map[string]*kmsg.StreamsGroupDescribeResponseGroup{"billing": billing()})
	f.forget()
	s := f.read(within(t, 10*time.Second), DescribeQuery("billing", "shop"))
	if len(s.Errors) != 0 {
		t.Fatalf("errors: %+v", s.Errors)
	}
	g := s.Group("billing")
	if g.Streams == nil || g.Classic != nil || g.Streams.Version != 1 || g.Streams.Epoch != 6 {
		t.Fatalf("group: %+v", g)
	}
	if m := g.Streams.Members; len(m) != 2 || m[0].ID != "m2" || m[1].ID != "m1" {
		t.Errorf("members out of order: %+v", m)
	}
	if !g.CommitsRead || len(g.Commits) != 1 || g.Commits[0].Offset != 3 {
		t.Errorf("commits: %+v", g.Commits)
	}
	if l := logOf(t, s, "billing-sums-changelog", 1); *l.End != 2 {
		t.Errorf("changelog: %+v", l)
	}
	if l := logOf(t, s, "invoices", 1); *l.End != 8 {
		t.Errorf("partition without a commit: %+v", l)
	}
	if slices.ContainsFunc(s.Topics, func(t2 snapshot.Topic) bool { return t2.Name == "billing-old-repartition" }) {
		t.Error("a topic that only looks like the group's was read")
	}
	if other := s.Group("shop"); other.Classic == nil || other.Streams != nil {
		t.Errorf("the classic one: %+v", other)
	}
	if len(f.requests(kmsg.ListGroups.Int16())) != 0 {
		t.Error("asked for a list")
	}
}

// Field case 60: a list goes by its types.
func TestFieldCase60ListedTypes(t *testing.T) {
	f := billingCluster(t)
	f.withStreams(0, map[string]*kmsg.StreamsGroupDescribeResponseGroup{"billing": billing()})
	f.join("connectors", "connect", "default", joiner{client: "c", metadata: []byte{0}})
	f.onResponse(func(_ kmsg.Request, resp kmsg.Response) {
		if r, ok := resp.(*kmsg.ListGroupsResponse); ok {
			g := kmsg.NewListGroupsResponseGroup()
			g.Group, g.ProtocolType, g.GroupType, g.GroupState = "shared", "share", "share", "Stable"
			r.Groups = append(r.Groups, g)
		}
	})
	f.forget()
	s := f.read(within(t, 10*time.Second), ListQuery())
	if len(s.Errors) != 0 || len(s.Groups) != 4 {
		t.Fatalf("errors %+v, %d groups", s.Errors, len(s.Groups))
	}
	if g := s.Group("billing"); g.Streams == nil || g.Classic != nil || g.Streams.Version != 0 {
		t.Errorf("streams: %+v", g)
	}
	if g := s.Group("shop"); g.Classic == nil || g.Streams != nil {
		t.Errorf("classic: %+v", g)
	}
	for _, id := range []string{"connectors", "shared"} {
		if g := s.Group(id); g.Listed == nil || g.Classic != nil || g.Streams != nil || g.Consumer != nil {
			t.Errorf("%s: %+v", id, g)
		}
	}
	for _, req := range f.requests(describeKey.Int16()) {
		if got := req.(*kmsg.DescribeGroupsRequest).Groups; !slices.Equal(got, []string{"shop"}) {
			t.Errorf("described as classic: %q", got)
		}
	}
	q := ListQuery()
	q.Kinds = append(q.Kinds, "connect")
	if g := f.read(within(t, 10*time.Second), q).Group("connectors"); g.Classic == nil || g.Classic.ProtocolType != "connect" {
		t.Errorf("connect group: %+v", g)
	}
}

// Field case 60: what is neither classic nor streams is asked for as a KIP-848
// consumer group.
func TestFieldCase60NamedConsumerGroup(t *testing.T) {
	f := billingCluster(t)
	f.withStreams(1, nil)
	f.onResponse(func(_ kmsg.Request, resp kmsg.Response) {
		if r, ok := resp.(*kmsg.DescribeGroupsResponse); ok {
			r.Groups[0].ErrorCode, r.Groups[0].State = kerr.GroupIDNotFound.Code, "Dead"
		}
	})
	f.ControlKey(kmsg.ConsumerGroupDescribe.Int16(), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		resp := kreq.ResponseKind().(*kmsg.ConsumerGroupDescribeResponse)
		g := kmsg.NewConsumerGroupDescribeResponseGroup()
		g.Group, g.State, g.AssignorName = "billing", "Stable", "uniform"
		m := kmsg.NewConsumerGroupDescribeResponseGroupMember()
		m.MemberID = "c1"
		tp := kmsg.NewAssignmentTopicPartition()
		tp.Topic, tp.Partitions = "invoices", []int32{0, 1}
		m.Assignment.TopicPartitions = append(m.Assignment.TopicPartitions, tp)
		g.Members = append(g.Members, m)
		resp.Groups = append(resp.Groups, g)
		return resp, nil, true
	})
	s := f.read(within(t, 10*time.Second), DescribeQuery("billing"))
	g := s.Group("billing")
	if len(s.Errors) != 0 || g.Consumer == nil || g.Classic != nil || g.Streams != nil {
		t.Fatalf("errors %+v, group %+v", s.Errors, g)
	}
	if m := g.Consumer.Members; len(m) != 1 || len(m[0].Partitions) != 2 {
		t.Errorf("members: %+v", m)
	}
	if l := logOf(t, s, "invoices", 1); *l.End != 8 {
		t.Errorf("log: %+v", l)
	}
}

// A named group that is neither is looked up in the list, so that a share group
// does not look as if it did not exist.
func TestFieldCase60NamedShareGroup(t *testing.T) {
	f := billingCluster(t)
	f.withStreams(1, nil)
	f.onResponse(func(_ kmsg.Request, resp kmsg.Response) {
		switch r := resp.(type) {
		case *kmsg.DescribeGroupsResponse:
			g := &r.Groups[0]
			g.ErrorCode, g.State, g.ErrorMessage = kerr.GroupIDNotFound.Code, "Dead", kmsg.StringPtr("Group billing is not a classic group.")
		case *kmsg.ListGroupsResponse:
			for i := range r.Groups {
				r.Groups[i].GroupType, r.Groups[i].ProtocolType = "share", "share"
			}
		}
	})
	s := f.read(within(t, 10*time.Second), DescribeQuery("billing"))
	g := s.Group("billing")
	if len(s.Errors) != 0 || g.Listed == nil || g.Listed.Type != "share" || len(s.Groups) != 1 {
		t.Errorf("errors %+v, group %+v", s.Errors, g)
	}
}

// A streams group that may not be read is refused whole; the hint names what
// is needed.
func TestRefusedStreamsGroup(t *testing.T) {
	f := billingCluster(t)
	refused := kmsg.NewStreamsGroupDescribeResponseGroup()
	refused.ErrorCode = kerr.TopicAuthorizationFailed.Code
	f.withStreams(1, map[string]*kmsg.StreamsGroupDescribeResponseGroup{"billing": &refused})
	for _, q := range []Query{DescribeQuery("billing"), ListQuery()} {
		s := f.read(within(t, 10*time.Second), q)
		e := errorOf(s, "group billing")
		want := `needs DESCRIBE on all topics of the group: its sources and the prefix "billing-"`
		if e == nil || e.Code != "TOPIC_AUTHORIZATION_FAILED" || e.Hint != want || !strings.Contains(e.Text, "billing") {
			t.Errorf("errors: %+v", s.Errors)
		}
		if g := s.Group("billing"); g.Streams == nil || g.Streams.ErrorCode == 0 || g.Classic != nil {
			t.Errorf("group: %+v", g)
		}
	}
}

// The feature streams.version can be off although the API is there.
func TestStreamsFeatureOff(t *testing.T) {
	f := billingCluster(t)
	f.withStreams(1, nil)
	off := kmsg.NewStreamsGroupDescribeResponseGroup()
	off.ErrorCode = kerr.UnsupportedVersion.Code
	f.onResponse(func(_ kmsg.Request, resp kmsg.Response) {
		if r, ok := resp.(*kmsg.StreamsGroupDescribeResponse); ok {
			for i := range r.Groups {
				r.Groups[i].ErrorCode = off.ErrorCode
			}
		}
	})
	s := f.read(within(t, 10*time.Second), DescribeQuery("shop"))
	if g := s.Group("shop"); len(s.Errors) != 0 || g.Classic == nil || g.Streams != nil || s.Options[OptionStreams] != "unsupported" {
		t.Errorf("errors %+v, options %v, group %+v", s.Errors, s.Options, g)
	}
}

// Brokers that do not know group configs, or refuse them, are no error.
func TestGroupConfigs(t *testing.T) {
	f := billingCluster(t)
	f.withStreams(1, map[string]*kmsg.StreamsGroupDescribeResponseGroup{"billing": billing()})
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
		s := f.read(within(t, 10*time.Second), DescribeQuery("billing", "shop"))
		if len(s.Errors) != 0 || s.Options[OptionGroupConfigs] != want {
			t.Errorf("%v: errors %+v, option %q", c, s.Errors, s.Options[OptionGroupConfigs])
		}
		if s.Group("shop").Configs != nil {
			t.Error("configs of a classic group")
		}
		configs := s.Group("billing").Configs
		if c == nil && (len(configs) != 1 || configs[0].Source != "DEFAULT_CONFIG" || *configs[0].Value != "1") {
			t.Errorf("configs: %+v", configs)
		}
	}
}
