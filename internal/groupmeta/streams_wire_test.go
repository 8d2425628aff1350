package groupmeta

import (
	"math"
	"reflect"
	"runtime"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// streamsAnswer is an answer with something in every field of its version.
func streamsAnswer(version int16) *kmsg.StreamsGroupDescribeResponse {
	resp := kmsg.NewPtrStreamsGroupDescribeResponse()
	resp.Version = version
	g := kmsg.NewStreamsGroupDescribeResponseGroup()
	g.Group, g.State, g.Epoch, g.AssignmentEpoch, g.AuthorizedOperations = "billing", "Reconciling", 7, 6, 1<<8
	topology := kmsg.NewStreamsGroupDescribeResponseGroupTopology()
	topology.Epoch = 3
	sub := kmsg.NewStreamsGroupDescribeResponseGroupTopologySubtopology()
	sub.SubtopologyID, sub.SourceTopics, sub.RepartitionSinkTopics = "0", []string{"invoices"}, []string{"billing-by-repartition"}
	changelog := kmsg.NewTopicInfo()
	changelog.Topic, changelog.NumPartitions = "billing-sums-changelog", 4
	repartition := kmsg.NewTopicInfo()
	repartition.Topic = "billing-in-repartition"
	sub.StateChangelogTopics, sub.RepartitionSourceTopics = []kmsg.TopicInfo{changelog}, []kmsg.TopicInfo{repartition}
	topology.Subtopologies = append(topology.Subtopologies, sub)
	g.Topology = &topology
	m := kmsg.NewStreamsGroupDescribeResponseGroupMember()
	m.MemberID, m.MemberEpoch, m.InstanceID, m.RackID = "m1", 6, kmsg.StringPtr("static-1"), kmsg.StringPtr("r1")
	m.ClientID, m.ClientHost, m.TopologyEpoch, m.ProcessID, m.IsClassic = "c-StreamThread-1", "/10.0.0.7", 3, "p1", true
	m.UserEndpoint = &kmsg.StreamsGroupDescribeResponseGroupMemberUserEndpoint{Host: "fe80::1", Port: 65535}
	m.ClientTags = []kmsg.StreamsGroupDescribeResponseGroupMemberClientTag{{Key: "zone", Value: "a"}}
	offset := kmsg.NewTaskOffset()
	offset.SubtopologyID, offset.Partition, offset.Offset = "0", 2, 41
	m.TaskOffsets = []kmsg.TaskOffset{offset}
	offset.Offset = 50
	m.TaskEndOffsets = []kmsg.TaskOffset{offset}
	tasks := kmsg.NewTaskIDs()
	tasks.SubtopologyID, tasks.Partitions = "0", []int32{2, 0}
	m.Assignment.ActiveTasks, m.TargetAssignment.WarmupTasks = []kmsg.TaskIDs{tasks}, []kmsg.TaskIDs{tasks}
	second := kmsg.NewStreamsGroupDescribeResponseGroupMember()
	second.MemberID = "a-member-that-sorts-before"
	g.Members = append(g.Members, m, second)
	if version >= 1 {
		g.AssignorName, g.TopologyDescriptionStatus = kmsg.StringPtr("sticky"), 3
		d := kmsg.NewStreamsGroupDescribeResponseGroupTopologyDescription()
		node := func(name string, kind int8) kmsg.TopologyDescriptionNode {
			n := kmsg.NewTopologyDescriptionNode()
			n.Name, n.NodeType = name, kind
			return n
		}
		source, process, sink := node("source", 1), node("process", 2), node("sink", 3)
		source.SourceTopics, source.Successors = []string{"invoices"}, []string{"process"}
		process.Stores, process.Successors = []string{"sums"}, []string{"sink"}
		sink.SinkTopic = kmsg.StringPtr("out")
		part := kmsg.NewTopologyDescriptionSubtopology()
		part.SubtopologyID, part.Nodes = "0", []kmsg.TopologyDescriptionNode{source, process, sink}
		d.Subtopologies = append(d.Subtopologies, part)
		global := kmsg.NewTopologyDescriptionGlobalStore()
		global.Source, global.Processor = node("global-source", 1), node("global-process", 2)
		d.GlobalStores = append(d.GlobalStores, global)
		g.TopologyDescription = &d
	}
	resp.Groups = append(resp.Groups, g)
	return resp
}

func text(s string) *string { return &s }

func TestStreamsGroupFromWire(t *testing.T) {
	ops := int32(1 << 8)
	tasks := []snapshot.StreamsTaskIDs{{Subtopology: "0", Partitions: []int32{2, 0}}}
	none := []snapshot.StreamsTaskIDs{}
	want := &snapshot.StreamsGroup{
		State: "Reconciling", Epoch: 7, AssignmentEpoch: 6, AuthorizedOperations: &ops,
		Topology: &snapshot.StreamsTopology{Epoch: 3, Subtopologies: []snapshot.StreamsSubtopology{{
			ID: "0", SourceTopics: []string{"invoices"}, RepartitionSinks: []string{"billing-by-repartition"},
			Changelogs:         []snapshot.StreamsTopic{{Name: "billing-sums-changelog", Partitions: 4}},
			RepartitionSources: []snapshot.StreamsTopic{{Name: "billing-in-repartition"}},
		}}},
		Members: []snapshot.StreamsMember{{
			ID: "m1", Epoch: 6, InstanceID: text("static-1"), RackID: text("r1"), ClientID: "c-StreamThread-1",
			ClientHost: "/10.0.0.7", TopologyEpoch: 3, ProcessID: "p1", Endpoint: text("[fe80::1]:65535"),
			ClientTags: map[string]string{"zone": "a"}, IsClassic: true,
			TaskOffsets: []snapshot.TaskOffset{{Subtopology: "0", Partition: 2, Offset: 41}},
			TaskEnds:    []snapshot.TaskOffset{{Subtopology: "0", Partition: 2, Offset: 50}},
			Assignment:  snapshot.StreamsTasks{Active: tasks, Standby: none, Warmup: none},
			Target:      snapshot.StreamsTasks{Active: none, Standby: none, Warmup: tasks},
		}, {
			ID: "a-member-that-sorts-before", ClientTags: map[string]string{}, TaskOffsets: []snapshot.TaskOffset{}, TaskEnds: []snapshot.TaskOffset{},
			Assignment: snapshot.StreamsTasks{Active: none, Standby: none, Warmup: none},
			Target:     snapshot.StreamsTasks{Active: none, Standby: none, Warmup: none},
		}},
	}
	for version := int16(0); version <= 1; version++ {
		if version == 1 {
			want.Version, want.AssignorName, want.DescriptionStatus = 1, text("sticky"), 3
			want.Description = &snapshot.TopologyDescription{
				Subtopologies: []snapshot.TopologyPart{{ID: "0", Nodes: []snapshot.TopologyNode{
					{Name: "source", Kind: "source", Topics: []string{"invoices"}, Stores: []string{}, Successors: []string{"process"}},
					{Name: "process", Kind: "processor", Topics: []string{}, Stores: []string{"sums"}, Successors: []string{"sink"}},
					{Name: "sink", Kind: "sink", Topics: []string{"out"}, Stores: []string{}, Successors: []string{}},
				}}},
				GlobalStores: []snapshot.TopologyPart{{ID: "0", Nodes: []snapshot.TopologyNode{
					{Name: "global-source", Kind: "source", Topics: []string{}, Stores: []string{}, Successors: []string{}},
					{Name: "global-process", Kind: "processor", Topics: []string{}, Stores: []string{}, Successors: []string{}},
				}}},
			}
		}
		sent := streamsAnswer(version)
		got := kmsg.NewPtrStreamsGroupDescribeResponse()
		got.Version = version
		if err := got.ReadFrom(sent.AppendTo(nil)); err != nil {
			t.Fatal(err)
		}
		if g := StreamsGroupFromWire(version, &got.Groups[0]); !reflect.DeepEqual(g, want) {
			t.Errorf("version %d:\ngot  %+v\nwant %+v", version, g, want)
		}
	}
}

// A topology that the broker has not initialised is not an empty one, and bits
// that were not asked for are absent.
func TestStreamsGroupNotInitialised(t *testing.T) {
	w := kmsg.NewStreamsGroupDescribeResponseGroup()
	w.Topology = &kmsg.StreamsGroupDescribeResponseGroupTopology{Epoch: 1}
	w.AuthorizedOperations = math.MinInt32
	g := StreamsGroupFromWire(0, &w)
	if g.Topology == nil || g.Topology.Subtopologies != nil || g.AuthorizedOperations != nil {
		t.Errorf("group: %+v", g)
	}
}

// FuzzStreamsGroupDescribe decodes any bytes as an answer of either version.
// kmsg makes room for an array by the count it reads; the bound shows that a
// count cannot make it take memory out of proportion to the bytes.
func FuzzStreamsGroupDescribe(f *testing.F) {
	for version := int16(0); version <= 1; version++ {
		f.Add(version, streamsAnswer(version).AppendTo(nil))
	}
	const (
		maxBytes = 64 << 10
		factor   = 600 // bytes taken for each byte read, for values and their copies
		floor    = 1 << 20
	)
	f.Fuzz(func(t *testing.T, version int16, b []byte) {
		if version < 0 || version > 1 || len(b) > maxBytes {
			t.Skip()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		resp := kmsg.NewPtrStreamsGroupDescribeResponse()
		resp.Version = version
		if err := resp.ReadFrom(b); err == nil {
			for i := range resp.Groups {
				g := StreamsGroupFromWire(version, &resp.Groups[i])
				if len(g.Members) != len(resp.Groups[i].Members) || (g.Topology == nil) != (resp.Groups[i].Topology == nil) {
					t.Errorf("lost something: %+v", g)
				}
			}
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > floor+uint64(len(b))*factor {
			t.Errorf("%d bytes took %d", len(b), took)
		}
	})
}
