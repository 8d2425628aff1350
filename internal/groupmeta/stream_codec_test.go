package groupmeta

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/streamctl/streamctl/internal/model"
)

func TestStreamMetadataRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genMetadata(t)
		for _, protocolType := range []string{ProtocolTypeStream, ProtocolTypeConsumer} {
			b, err := EncodeWorkerMetadata(protocolType, m)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ParseWorkerMetadata(protocolType, b)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, m) {
				t.Fatalf("as %s\ngot  %+v\nwant %+v", protocolType, got, m)
			}
		}
	})
}

func TestStreamAssignmentRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := genAssignment(t)
		active := []model.TopicPartition{{Topic: "orders", Partition: 1}, {Topic: "clicks", Partition: 2}, {Topic: "orders", Partition: 0}}
		for _, protocolType := range []string{ProtocolTypeStream, ProtocolTypeConsumer} {
			b, err := EncodeWorkerAssignment(protocolType, a, active)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ParseWorkerAssignment(protocolType, b)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, a) {
				t.Fatalf("as %s\ngot  %+v\nwant %+v", protocolType, got, a)
			}
		}
	})
}

// The broker parses what a member sends under type consumer: it must be a
// subscription to the topics that the worker reads.
func TestWorkerMetadataUnderConsumerIsASubscription(t *testing.T) {
	m := largeMetadata(4)
	m.Topology = []StreamSubtopology{
		{ID: 1, SourceTopics: []string{"orders"}, RepartitionSourceTopics: []string{"by-key-repartition"}},
		{ID: 0, SourceTopics: []string{"clicks", "orders"}, RepartitionSinkTopics: []string{"by-key-repartition"}, ChangelogTopics: []string{"clicks-changelog"}},
	}
	b, err := EncodeWorkerMetadata(ProtocolTypeConsumer, m)
	if err != nil {
		t.Fatal(err)
	}
	frame, err := DecodeConsumerSubscription(b)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"by-key-repartition", "clicks", "orders"}; !slices.Equal(frame.Topics, want) || frame.TrailingBytes != 0 {
		t.Errorf("topics %q with %d trailing bytes, want %q with none", frame.Topics, frame.TrailingBytes, want)
	}
	if bare, err := m.Encode(); err != nil || !bytes.Equal(frame.UserData, bare) {
		t.Errorf("user data is not the bare metadata (%v)", err)
	}
}

func TestWorkerAssignmentUnderConsumerNamesPartitions(t *testing.T) {
	a := &StreamAssignment{Instances: 1, Workers: 1, Leader: testInstance, Mode: StreamUpgrading}
	b, err := EncodeWorkerAssignment(ProtocolTypeConsumer, a, []model.TopicPartition{{Topic: "orders", Partition: 1}, {Topic: "orders", Partition: 0}})
	if err != nil {
		t.Fatal(err)
	}
	frame, err := DecodeConsumerAssignment(b)
	if err != nil {
		t.Fatal(err)
	}
	if want := []TopicPartitions{{Topic: "orders", Partitions: []int32{0, 1}}}; !reflect.DeepEqual(frame.Assigned, want) {
		t.Errorf("assigned %v, want %v", frame.Assigned, want)
	}
}

func TestOtherProtocolTypesAreRefused(t *testing.T) {
	if _, err := ParseWorkerMetadata("connect", []byte{1}); err == nil || !strings.Contains(err.Error(), `"connect"`) {
		t.Errorf("parsing metadata of type connect: %v", err)
	}
	if _, err := EncodeWorkerAssignment("", &StreamAssignment{}, nil); err == nil {
		t.Error("an assignment for no protocol type was written")
	}
}

// The order of what the caller gives does not matter.
func TestStreamEncoderSorts(t *testing.T) {
	m := largeMetadata(40)
	m.StreamLeaving = StreamLeaving{Leaving: true, Marks: []string{"a", "b"}}
	m.Topology = []StreamSubtopology{{ID: 0, SourceTopics: []string{"a", "b"}}, {ID: 7}}
	want, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(m.Tasks)
	slices.Reverse(m.Marks)
	slices.Reverse(m.Topology)
	slices.Reverse(m.Topology[1].SourceTopics)
	got, err := m.Encode()
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("reversed lists: %x, %v, want %x", got, err, want)
	}
	if m.Marks[0] != "b" || m.Topology[0].ID != 7 || m.Topology[1].SourceTopics[0] != "b" {
		t.Error("the encoder changed the value it was given")
	}
}

// All 96 pairs of a role and a set of tags: both sides accept the nine sound
// ones and nothing else.
func TestStreamTagSets(t *testing.T) {
	sound := soundTags()
	for _, role := range []model.Role{model.Active, model.Standby, model.Learner} {
		for tags := StreamTags(0); tags <= allStreamTags; tags++ {
			want := slices.Contains(sound[role], tags)
			if p := tagProblem(role, tags); (p == "") != want {
				t.Errorf("%s %v: %q, want sound: %v", role, tags.List(), p, want)
			}
			m := largeMetadata(0)
			m.Tasks = []StreamTask{{ID: model.ClassicTask("", 0, 0), Role: role, Tags: tags}}
			if _, err := m.Encode(); (err == nil) != want {
				t.Errorf("encoding %s %v: %v, want sound: %v", role, tags.List(), err, want)
			}
		}
	}
	good := largeMetadata(0)
	good.Tasks = []StreamTask{{ID: model.ClassicTask("", 0, 0), Role: model.Active}}
	b, err := good.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for flags := range 64 {
		b[len(b)-1] = byte(flags) // of the only task, which has no lag
		role, tags := model.Standby, StreamTags(flags)&allStreamTags
		switch {
		case flags&taskActive != 0:
			role = model.Active
		case tags.Has(TagLearner):
			role = model.Learner
		}
		m, err := DecodeStreamMetadata(b)
		if slices.Contains(sound[role], tags) {
			if err != nil || m.Tasks[0].Role != role || m.Tasks[0].Tags != tags {
				t.Errorf("flags %06b: %v", flags, err)
			}
			continue
		}
		var e *DecodeError
		if !errors.As(err, &e) || e.Field != "tasks.flags" || e.Offset != len(b)-1 || !strings.Contains(e.Problem, "malformed tags") {
			t.Errorf("flags %06b: error %v, want malformed tags at offset %d", flags, err, len(b)-1)
		}
	}
}

func TestStreamTagsOf(t *testing.T) {
	for tags := StreamTags(0); tags <= allStreamTags; tags++ {
		if got, err := StreamTagsOf(tags.List()...); err != nil || got != tags {
			t.Errorf("tags %v came back as %v, %v", tags.List(), got.List(), err)
		}
	}
	if _, err := StreamTagsOf("isBusy"); err == nil {
		t.Error("an unknown tag was accepted")
	}
}

func TestStreamEncoderRefuses(t *testing.T) {
	for name, change := range map[string]func(*StreamMetadata){
		"identity.instance":               func(m *StreamMetadata) { m.Instance = "7B9F2C10-4D53-4F0E-9A41-0C5D1BE0A001" },
		"identity.workers":                func(m *StreamMetadata) { m.Workers = 0 },
		"identity.host":                   func(m *StreamMetadata) { m.Host = "\xff" },
		"round.generation":                func(m *StreamMetadata) { m.Generation = -1 },
		"leaving.flags":                   func(m *StreamMetadata) { m.Expired = true },
		"leaving.remaining_ms":            func(m *StreamMetadata) { m.Leaving, m.RemainingMs = true, SomeInt(-1) },
		"leaving.marks":                   func(m *StreamMetadata) { m.Leaving, m.Marks = true, []string{"a", "a"} },
		"mode.mode":                       func(m *StreamMetadata) { m.Mode = "eager" },
		"settings.balancing_factor":       func(m *StreamMetadata) { m.Settings.BalancingFactor = 999 },
		"settings.max_learners":           func(m *StreamMetadata) { m.Settings.MaxLearners = SomeInt(0) },
		"settings.rejoin_policy":          func(m *StreamMetadata) { m.Settings.RejoinPolicy = "" },
		"topology.id":                     func(m *StreamMetadata) { m.Topology = []StreamSubtopology{{}, {}} },
		"topology.source_topics":          func(m *StreamMetadata) { m.Topology = []StreamSubtopology{{SourceTopics: []string{""}}} },
		"tasks.lag":                       func(m *StreamMetadata) { m.Tasks[0].Lag = SomeInt(-5) },
		`task "0_0" is there twice`:       func(m *StreamMetadata) { m.Tasks = append(m.Tasks, m.Tasks[0]) },
		"the subtopology is no number":    func(m *StreamMetadata) { m.Tasks[0].ID.Subtopology = "00" },
		"topology or a negative partitio": func(m *StreamMetadata) { m.Tasks[0].ID.Topology = "billing" },
	} {
		m := largeMetadata(4)
		change(m)
		if b, err := m.Encode(); err == nil || b != nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %x, %v", name, b, err)
		}
	}
}

func TestStreamAssignmentEncoderRefuses(t *testing.T) {
	for name, task := range map[string]AssignedTask{
		"release of a stateful task":           {Role: model.Active, Tags: TagStateful, Release: true},
		"release of a task that is not active": {Role: model.Standby, Release: true},
		"on a task that is no learner":         {Role: model.Active, Reason: ReasonBalance},
		`unknown reason ""`:                    {Role: model.Learner, Tags: TagStateful | TagLearner},
		"isReady without isLearner":            {Role: model.Standby, Tags: TagStateful | TagReady},
	} {
		task.ID = model.ClassicTask("", 0, 0)
		a := &StreamAssignment{Instances: 1, Workers: 1, Leader: testInstance, Mode: StreamUpgrading, Tasks: []AssignedTask{task}}
		if _, err := a.Encode(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIsStreamData(t *testing.T) {
	m, err := EncodeWorkerMetadata(ProtocolTypeStream, largeMetadata(1))
	if err != nil {
		t.Fatal(err)
	}
	framed, err := EncodeWorkerMetadata(ProtocolTypeConsumer, largeMetadata(1))
	if err != nil {
		t.Fatal(err)
	}
	if !IsStreamData(m) || IsStreamData(framed) || IsStreamData([]byte{0, 0, 0, 11, 0, 0, 0, 11}) || IsStreamData(nil) {
		t.Error("only the bare metadata are stream data")
	}
}
