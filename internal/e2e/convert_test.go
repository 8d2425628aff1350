//go:build realkafka && capture

package e2e

import (
	"encoding/json"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// TestConvert makes NAME.json of every raw-NAME.json in the folder. It takes
// its own way from the bytes to the snapshot, so that what kclient reads can be
// compared with it.
func TestConvert(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(*outDir, "raw-*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures in %q: %v", *outDir, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var raw rawCapture
		if err := json.Unmarshal(b, &raw); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		s := convert(t, &raw)
		name := strings.TrimPrefix(filepath.Base(file), "raw-")
		out, err := os.Create(filepath.Join(*outDir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Write(out); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func convert(t *testing.T, raw *rawCapture) *snapshot.Snapshot {
	s := snapshot.New()
	s.TakenAt = &raw.TakenAt
	g := snapshot.Group{ID: raw.Group}
	var all *kmsg.MetadataResponse // comes before the commits
	for _, a := range raw.Answers {
		resp := kmsg.ResponseForKey(a.Key)
		resp.SetVersion(a.Version)
		if err := resp.ReadFrom(a.Response); err != nil {
			t.Fatalf("%s v%d: %v", a.API, a.Version, err)
		}
		switch r := resp.(type) {
		case *kmsg.DescribeGroupsResponse:
			g.Coordinator, g.Classic = &a.Broker, classicGroup(r.Groups[0])
		case *kmsg.StreamsGroupDescribeResponse:
			g.Coordinator, g.Streams = &a.Broker, streamsGroup(a.Version, r.Groups[0])
		case *kmsg.ApiVersionsResponse:
			s.APIVersions = append(s.APIVersions, apiVersions(a.Broker, r))
		case *kmsg.ListGroupsResponse:
			for _, l := range r.Groups {
				if l.Group == raw.Group {
					g.Listed = &snapshot.Listed{ProtocolType: l.ProtocolType, Type: l.GroupType, State: l.GroupState}
				}
			}
		case *kmsg.OffsetFetchResponse:
			g.CommitsRead, g.Commits = true, []snapshot.Commit{}
			for _, topic := range r.Groups[0].Topics {
				for _, p := range topic.Partitions {
					g.Commits = append(g.Commits, snapshot.Commit{Topic: topicName(all, topic.Topic, topic.TopicID), Partition: p.Partition, Offset: p.Offset, ErrorCode: p.ErrorCode})
				}
			}
		case *kmsg.MetadataResponse:
			all = r
		case *kmsg.ListOffsetsResponse:
			req := kmsg.NewPtrListOffsetsRequest()
			req.SetVersion(a.Version)
			if err := req.ReadFrom(a.Request); err != nil {
				t.Fatal(err)
			}
			if len(req.Topics) > 0 {
				logs(s, r, req.Topics[0].Partitions[0].Timestamp == -1)
			}
		case *kmsg.DescribeLogDirsResponse:
			for _, d := range r.Dirs {
				for _, topic := range d.Topics {
					for _, p := range topic.Partitions {
						s.LogSizes = append(s.LogSizes, snapshot.LogSize{Topic: topic.Topic, Partition: p.Partition, Broker: a.Broker, Bytes: p.Size})
					}
				}
			}
		case *kmsg.DescribeConfigsResponse:
			g.Configs = []snapshot.Config{}
			for _, c := range r.Resources[0].Configs {
				g.Configs = append(g.Configs, snapshot.Config{Key: c.Name, Value: c.Value, Source: c.Source.String()})
			}
		default:
			t.Fatalf("no way to convert %s", a.API)
		}
	}
	metadata(s, &g, all)
	s.Groups = []snapshot.Group{g}
	return s
}

func classicGroup(r kmsg.DescribeGroupsResponseGroup) *snapshot.ClassicGroup {
	g := &snapshot.ClassicGroup{
		ErrorCode: r.ErrorCode, ErrorMessage: r.ErrorMessage, State: r.State, ProtocolType: r.ProtocolType,
		Protocol: r.Protocol, AuthorizedOperations: operations(r.AuthorizedOperations), Members: []snapshot.ClassicMember{},
	}
	for _, m := range r.Members {
		g.Members = append(g.Members, snapshot.ClassicMember{
			ID: m.MemberID, InstanceID: m.InstanceID, ClientID: m.ClientID, Host: m.ClientHost,
			Metadata: m.ProtocolMetadata, Assignment: m.MemberAssignment,
		})
	}
	return g
}

func streamsGroup(version int16, r kmsg.StreamsGroupDescribeResponseGroup) *snapshot.StreamsGroup {
	g := &snapshot.StreamsGroup{
		Version: version, ErrorCode: r.ErrorCode, ErrorMessage: r.ErrorMessage, State: r.State, Epoch: r.Epoch,
		AssignmentEpoch: r.AssignmentEpoch, AuthorizedOperations: operations(r.AuthorizedOperations),
		AssignorName: r.AssignorName, DescriptionStatus: r.TopologyDescriptionStatus, Members: []snapshot.StreamsMember{},
	}
	if r.Topology != nil {
		g.Topology = &snapshot.StreamsTopology{Epoch: r.Topology.Epoch}
		for _, st := range r.Topology.Subtopologies {
			g.Topology.Subtopologies = append(g.Topology.Subtopologies, snapshot.StreamsSubtopology{
				ID: st.SubtopologyID, SourceTopics: st.SourceTopics, RepartitionSinks: st.RepartitionSinkTopics,
				Changelogs: streamsTopics(st.StateChangelogTopics), RepartitionSources: streamsTopics(st.RepartitionSourceTopics),
			})
		}
	}
	for _, m := range r.Members {
		sm := snapshot.StreamsMember{
			ID: m.MemberID, Epoch: m.MemberEpoch, InstanceID: m.InstanceID, RackID: m.RackID, ClientID: m.ClientID,
			ClientHost: m.ClientHost, TopologyEpoch: m.TopologyEpoch, ProcessID: m.ProcessID, ClientTags: map[string]string{},
			TaskOffsets: taskOffsets(m.TaskOffsets), TaskEnds: taskOffsets(m.TaskEndOffsets),
			Assignment: streamsTasks(m.Assignment), Target: streamsTasks(m.TargetAssignment), IsClassic: m.IsClassic,
		}
		if e := m.UserEndpoint; e != nil {
			text := net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port)))
			sm.Endpoint = &text
		}
		for _, tag := range m.ClientTags {
			sm.ClientTags[tag.Key] = tag.Value
		}
		g.Members = append(g.Members, sm)
	}
	return g
}

func streamsTopics(in []kmsg.TopicInfo) []snapshot.StreamsTopic {
	out := []snapshot.StreamsTopic{}
	for _, x := range in {
		out = append(out, snapshot.StreamsTopic{Name: x.Topic, Partitions: x.NumPartitions})
	}
	return out
}

func taskOffsets(in []kmsg.TaskOffset) []snapshot.TaskOffset {
	out := []snapshot.TaskOffset{}
	for _, x := range in {
		out = append(out, snapshot.TaskOffset{Subtopology: x.SubtopologyID, Partition: x.Partition, Offset: x.Offset})
	}
	return out
}

func streamsTasks(in kmsg.StreamsAssignment) snapshot.StreamsTasks {
	ids := func(in []kmsg.TaskIDs) []snapshot.StreamsTaskIDs {
		out := []snapshot.StreamsTaskIDs{}
		for _, x := range in {
			out = append(out, snapshot.StreamsTaskIDs{Subtopology: x.SubtopologyID, Partitions: x.Partitions})
		}
		return out
	}
	return snapshot.StreamsTasks{Active: ids(in.ActiveTasks), Standby: ids(in.StandbyTasks), Warmup: ids(in.WarmupTasks)}
}

func apiVersions(broker int32, r *kmsg.ApiVersionsResponse) snapshot.APIVersions {
	v := snapshot.APIVersions{Broker: broker}
	for _, k := range r.ApiKeys {
		v.Keys = append(v.Keys, snapshot.APIRange{Key: k.ApiKey, Min: k.MinVersion, Max: k.MaxVersion})
	}
	for _, f := range r.SupportedFeatures {
		x := snapshot.APIFeature{Name: f.Name, SupportedMin: f.MinVersion, SupportedMax: f.MaxVersion, Finalized: -1}
		for _, done := range r.FinalizedFeatures {
			if done.Name == f.Name {
				x.Finalized = done.MaxVersionLevel
			}
		}
		v.Features = append(v.Features, x)
	}
	return v
}

// metadata keeps the brokers, and of the topics those that the group commits
// to or that bear its name.
func metadata(s *snapshot.Snapshot, g *snapshot.Group, r *kmsg.MetadataResponse) {
	s.ClusterID, s.Controller = r.ClusterID, &r.ControllerID
	for _, b := range r.Brokers {
		s.Brokers = append(s.Brokers, snapshot.Broker{ID: b.NodeID, Host: b.Host, Port: b.Port, Rack: b.Rack})
	}
	wanted := map[string]bool{}
	for _, c := range g.Commits {
		wanted[c.Topic] = true
	}
	for _, topic := range r.Topics {
		if !wanted[*topic.Topic] && !strings.HasPrefix(*topic.Topic, g.ID+"-") {
			continue
		}
		x := snapshot.Topic{Name: *topic.Topic, ErrorCode: topic.ErrorCode}
		for _, p := range topic.Partitions {
			x.Partitions = append(x.Partitions, snapshot.TopicPartition{Partition: p.Partition, Leader: p.Leader, Replicas: p.Replicas})
		}
		s.Topics = append(s.Topics, x)
	}
}

// logs adds the ends or the starts to the logs.
func logs(s *snapshot.Snapshot, r *kmsg.ListOffsetsResponse, ends bool) {
	for _, topic := range r.Topics {
		for _, p := range topic.Partitions {
			var at *snapshot.Log
			for i := range s.Logs {
				if s.Logs[i].Topic == topic.Topic && s.Logs[i].Partition == p.Partition {
					at = &s.Logs[i]
				}
			}
			if at == nil {
				s.Logs = append(s.Logs, snapshot.Log{Topic: topic.Topic, Partition: p.Partition, ErrorCode: p.ErrorCode})
				at = &s.Logs[len(s.Logs)-1]
			}
			if ends {
				at.End = &p.Offset
			} else {
				at.Start = &p.Offset
			}
		}
	}
}

func operations(bits int32) *int32 {
	if bits == math.MinInt32 {
		return nil
	}
	return &bits
}
