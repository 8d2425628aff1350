package kclient

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

const controlTopic = "clicks-streamctl-control"

// clicks fills the cluster with a group of our own protocol with one worker.
func clicks(t *testing.T, f *fake) {
	t.Helper()
	f.topic("views", 1, 10)
	id := model.ClassicTask("", 0, 0)
	meta, err := groupmeta.EncodeWorkerMetadata(groupmeta.ProtocolTypeStream, &groupmeta.StreamMetadata{
		StreamIdentity:  groupmeta.StreamIdentity{Instance: "7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001", Workers: 1},
		StreamModeState: groupmeta.StreamModeState{Mode: groupmeta.StreamIncremental},
		Settings:        groupmeta.DefaultStreamSettings(),
		Topology:        []groupmeta.StreamSubtopology{{SourceTopics: []string{"views"}, Partitions: 1}},
		Tasks:           []groupmeta.StreamTask{{ID: id, Role: model.Active}},
	})
	if err != nil {
		t.Fatal(err)
	}
	f.join("clicks", groupmeta.ProtocolTypeStream, groupmeta.LearnerProtocol, joiner{"clicks-a", meta, nil})
}

func (f *fake) produce(topic string, keyValues ...string) {
	f.t.Helper()
	for i := 0; i < len(keyValues); i += 2 {
		r := &kgo.Record{Topic: topic, Key: []byte(keyValues[i])}
		if keyValues[i+1] != "" {
			r.Value = []byte(keyValues[i+1])
		}
		if err := f.cl.ProduceSync(f.t.Context(), r).FirstErr(); err != nil {
			f.t.Fatal(err)
		}
	}
}

func TestControlRecords(t *testing.T) {
	f := newFake(t)
	clicks(t, f)
	f.topic(controlTopic, 1)
	f.produce(controlTopic, "mode", "one", "other", "x", "mode", "two", "standbys", "three", "standbys", "")
	s := f.read(within(t, 10*time.Second), DescribeQuery("clicks"))
	g := s.Group("clicks")
	if len(s.Errors) != 0 || g.ControlEnd == nil || *g.ControlEnd != 5 {
		t.Fatalf("errors %+v, group %+v", s.Errors, g)
	}
	if len(g.Control) != 1 || g.Control[0].Key != "mode" || string(g.Control[0].Value) != "two" || g.Control[0].Offset != 2 {
		t.Errorf("records: %+v", g.Control)
	}
	for _, topic := range s.Topics {
		if topic.Name == controlTopic {
			t.Errorf("the control topic is among the group's topics")
		}
	}
}

// Of a control topic with several partitions only the first is read, and that is
// said.
func TestControlTopicWithSeveralPartitions(t *testing.T) {
	f := newFake(t)
	clicks(t, f)
	f.topic(controlTopic, 3)
	s := f.read(within(t, 10*time.Second), DescribeQuery("clicks"))
	if len(s.Errors) != 1 || s.Errors[0].Object != "topic "+controlTopic || !strings.Contains(s.Errors[0].Text, "has 3 partitions, and only the first one is used") || s.Errors[0].Hint == "" {
		t.Errorf("errors %+v", s.Errors)
	}
	if g := s.Group("clicks"); g.ControlEnd == nil {
		t.Error("the first partition was not read")
	}
}

// A worker group without a control topic is nothing to speak of.
func TestControlTopicMissing(t *testing.T) {
	f := newFake(t)
	clicks(t, f)
	s := f.read(within(t, 10*time.Second), DescribeQuery("clicks"))
	if g := s.Group("clicks"); len(s.Errors) != 0 || len(s.Missing) != 0 || g.Control != nil || g.ControlEnd != nil {
		t.Errorf("errors %+v, missing %+v, group %+v", s.Errors, s.Missing, g)
	}
}

// Looking for the control topic of a group of another kind costs no request;
// what is there is read.
func TestControlOfOtherKinds(t *testing.T) {
	f := billingCluster(t)
	f.withStreams(1, map[string]*kmsg.StreamsGroupDescribeResponseGroup{"billing": billing()})
	asked := func(group string, look bool) []int16 {
		f.forget()
		q := DescribeQuery(group)
		q.Control = look
		if s := f.read(within(t, 10*time.Second), q); len(s.Errors) != 0 || len(s.Missing) != 0 || (s.Group(group).ControlEnd != nil) != (look && f.TopicInfo(group+"-streamctl-control") != nil) {
			t.Errorf("group %s: errors %+v, missing %+v, control end %v", group, s.Errors, s.Missing, s.Group(group).ControlEnd)
		}
		keys := f.keys()
		slices.Sort(keys)
		return keys
	}
	for _, group := range []string{"shop", "billing"} {
		without, with := asked(group, false), asked(group, true)
		if !slices.Equal(without, with) {
			t.Errorf("group %s: requests %v, without control records %v", group, with, without)
		}
		f.topic(group+"-streamctl-control", 1)
		f.produce(group+"-streamctl-control", "mode", "x")
		// Fetches have a connection of their own, which begins with ApiVersions.
		want := slices.Sorted(slices.Values(append(without, kmsg.Fetch.Int16(), keyAPIVersions)))
		if with = asked(group, true); !slices.Equal(with, want) {
			t.Errorf("group %s with a control topic: requests %v, want %v", group, with, want)
		}
	}
}

// A control topic that may not be read is told of, with the permission to ask
// for; everything else is there.
func TestControlTopicRefused(t *testing.T) {
	f := newFake(t)
	clicks(t, f)
	f.topic(controlTopic, 1)
	f.onResponse(func(_ kmsg.Request, resp kmsg.Response) {
		if r, ok := resp.(*kmsg.FetchResponse); ok {
			r.Topics[0].Partitions[0].ErrorCode = kerr.TopicAuthorizationFailed.Code
		}
	})
	s := f.read(within(t, 10*time.Second), DescribeQuery("clicks"))
	e := errorOf(s, "topic "+controlTopic)
	if e == nil || e.Code != "TOPIC_AUTHORIZATION_FAILED" || !strings.Contains(e.Hint, `READ on topic "`+controlTopic+`"`) || len(s.Errors) != 1 {
		t.Fatalf("errors: %+v", s.Errors)
	}
	if g := s.Group("clicks"); g.ControlEnd != nil || len(g.Classic.Members) != 1 || *logOf(t, s, "views", 0).End != 10 {
		t.Errorf("group: %+v", g)
	}
}

// A fetch that is never answered takes no longer than one request may.
func TestControlFetchHangs(t *testing.T) {
	f := newFake(t)
	clicks(t, f)
	f.topic(controlTopic, 1)
	free := make(chan struct{})
	defer close(free)
	f.ControlKey(kmsg.Fetch.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		f.SleepControl(func() { <-free })
		return nil, nil, false
	})
	conn := f.connection()
	conn.RequestTimeout = 300 * time.Millisecond
	began := time.Now()
	s, err := dialTest(t, conn).Snapshot(within(t, 20*time.Second), DescribeQuery("clicks"))
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 5*time.Second || errorOf(s, "topic "+controlTopic) == nil {
		t.Errorf("%s, errors %+v", took, s.Errors)
	}
	if g := s.Group("clicks"); len(g.Classic.Members) != 1 {
		t.Errorf("group: %+v", g)
	}
}
