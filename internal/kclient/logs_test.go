package kclient

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

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

// Field case 74: refused log sizes are no error.
func TestFieldCase74LogDirsRefused(t *testing.T) {
	for _, c := range []struct {
		nodes []int32
		want  string
	}{{nil, "refused"}, {[]int32{1}, "refused by 1 of 3 brokers"}} {
		f := newFake(t, kfake.NumBrokers(3))
		f.topic("app-wide-changelog", 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
		f.commit("app", "app-wide-changelog", 1)
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

// A topic that the broker leaves out of its answer is missing all the same.
func TestTopicLeftOut(t *testing.T) {
	f := newFake(t)
	shop(t, f)
	f.onResponse(func(_ kmsg.Request, resp kmsg.Response) {
		if r, ok := resp.(*kmsg.MetadataResponse); ok {
			r.Topics = slices.DeleteFunc(r.Topics, func(x kmsg.MetadataResponseTopic) bool { return *x.Topic == "orders" })
		}
	})
	s := f.read(within(t, 10*time.Second), DescribeQuery("shop"))
	if want := []snapshot.MissingTopic{{Name: "orders", ErrorCode: kerr.UnknownTopicOrPartition.Code}}; !slices.Equal(s.Missing, want) {
		t.Errorf("missing: %+v", s.Missing)
	}
}
