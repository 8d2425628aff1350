package groupmeta

import (
	"math"
	"net"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// StreamsGroupFromWire takes over one group of a StreamsGroupDescribe answer
// of the given version. Members keep the order of the answer. What the version
// does not have stays absent.
func StreamsGroupFromWire(version int16, w *kmsg.StreamsGroupDescribeResponseGroup) *snapshot.StreamsGroup {
	g := &snapshot.StreamsGroup{
		Version: version, ErrorCode: w.ErrorCode, ErrorMessage: w.ErrorMessage, State: w.State,
		Epoch: w.Epoch, AssignmentEpoch: w.AssignmentEpoch, Members: make([]snapshot.StreamsMember, len(w.Members)),
	}
	if ops := w.AuthorizedOperations; ops != math.MinInt32 {
		g.AuthorizedOperations = &ops
	}
	if w.Topology != nil {
		g.Topology = streamsTopology(w.Topology)
	}
	for i := range w.Members {
		g.Members[i] = streamsMember(&w.Members[i])
	}
	if version >= 1 {
		g.AssignorName, g.DescriptionStatus = w.AssignorName, w.TopologyDescriptionStatus
		if w.TopologyDescription != nil {
			g.Description = topologyDescription(w.TopologyDescription)
		}
	}
	return g
}

func streamsTopology(w *kmsg.StreamsGroupDescribeResponseGroupTopology) *snapshot.StreamsTopology {
	t := &snapshot.StreamsTopology{Epoch: w.Epoch}
	if w.Subtopologies == nil {
		return t
	}
	t.Subtopologies = make([]snapshot.StreamsSubtopology, len(w.Subtopologies))
	for i := range w.Subtopologies {
		s := &w.Subtopologies[i]
		t.Subtopologies[i] = snapshot.StreamsSubtopology{
			ID: s.SubtopologyID, SourceTopics: list(s.SourceTopics), RepartitionSinks: list(s.RepartitionSinkTopics),
			Changelogs: streamsTopics(s.StateChangelogTopics), RepartitionSources: streamsTopics(s.RepartitionSourceTopics),
		}
	}
	return t
}

func streamsTopics(w []kmsg.TopicInfo) []snapshot.StreamsTopic {
	out := make([]snapshot.StreamsTopic, len(w))
	for i := range w {
		out[i] = snapshot.StreamsTopic{Name: w[i].Topic, Partitions: w[i].NumPartitions}
	}
	return out
}

func streamsMember(w *kmsg.StreamsGroupDescribeResponseGroupMember) snapshot.StreamsMember {
	m := snapshot.StreamsMember{
		ID: w.MemberID, Epoch: w.MemberEpoch, InstanceID: w.InstanceID, RackID: w.RackID, ClientID: w.ClientID,
		ClientHost: w.ClientHost, TopologyEpoch: w.TopologyEpoch, ProcessID: w.ProcessID,
		ClientTags: map[string]string{}, TaskOffsets: taskOffsets(w.TaskOffsets), TaskEnds: taskOffsets(w.TaskEndOffsets),
		Assignment: streamsTasks(&w.Assignment), Target: streamsTasks(&w.TargetAssignment), IsClassic: w.IsClassic,
	}
	if e := w.UserEndpoint; e != nil {
		at := net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port)))
		m.Endpoint = &at
	}
	for _, t := range w.ClientTags {
		m.ClientTags[t.Key] = t.Value
	}
	return m
}

func taskOffsets(w []kmsg.TaskOffset) []snapshot.TaskOffset {
	out := make([]snapshot.TaskOffset, len(w))
	for i, o := range w {
		out[i] = snapshot.TaskOffset{Subtopology: o.SubtopologyID, Partition: o.Partition, Offset: o.Offset}
	}
	return out
}

func streamsTasks(w *kmsg.StreamsAssignment) snapshot.StreamsTasks {
	return snapshot.StreamsTasks{Active: streamsTaskIDs(w.ActiveTasks), Standby: streamsTaskIDs(w.StandbyTasks), Warmup: streamsTaskIDs(w.WarmupTasks)}
}

func streamsTaskIDs(w []kmsg.TaskIDs) []snapshot.StreamsTaskIDs {
	out := make([]snapshot.StreamsTaskIDs, len(w))
	for i := range w {
		out[i] = snapshot.StreamsTaskIDs{Subtopology: w[i].SubtopologyID, Partitions: list(w[i].Partitions)}
	}
	return out
}

// Kinds of node in a topology description on the wire.
const (
	wireNodeSource    = 1
	wireNodeProcessor = 2
	wireNodeSink      = 3
)

func topologyDescription(w *kmsg.StreamsGroupDescribeResponseGroupTopologyDescription) *snapshot.TopologyDescription {
	d := &snapshot.TopologyDescription{
		Subtopologies: make([]snapshot.TopologyPart, len(w.Subtopologies)),
		GlobalStores:  make([]snapshot.TopologyPart, len(w.GlobalStores)),
	}
	for i := range w.Subtopologies {
		s := &w.Subtopologies[i]
		p := snapshot.TopologyPart{ID: s.SubtopologyID, Nodes: make([]snapshot.TopologyNode, len(s.Nodes))}
		for j := range s.Nodes {
			p.Nodes[j] = topologyNode(&s.Nodes[j])
		}
		d.Subtopologies[i] = p
	}
	for i := range w.GlobalStores {
		g := &w.GlobalStores[i]
		d.GlobalStores[i] = snapshot.TopologyPart{
			ID: strconv.Itoa(i), Nodes: []snapshot.TopologyNode{topologyNode(&g.Source), topologyNode(&g.Processor)},
		}
	}
	return d
}

func topologyNode(w *kmsg.TopologyDescriptionNode) snapshot.TopologyNode {
	n := snapshot.TopologyNode{Name: w.Name, Topics: list(w.SourceTopics), Stores: list(w.Stores), Successors: list(w.Successors)}
	switch w.NodeType {
	case wireNodeSource:
		n.Kind = "source"
	case wireNodeSink:
		n.Kind = "sink"
	default:
		n.Kind = "processor"
	}
	if w.SinkTopic != nil {
		n.Topics = append(n.Topics, *w.SinkTopic)
	}
	return n
}

// list makes an absent list an empty one.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
