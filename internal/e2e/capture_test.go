//go:build realkafka && capture

package e2e

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Where captures go; a run of the tests of this tag writes testdata/snapshot
// again:
//
//	go test -tags realkafka,capture -run Capture ./internal/e2e -args -out ../../testdata/snapshot
var outDir = flag.String("out", "", "write captures to this `folder`") //nolint:gochecknoglobals // a flag of the test binary

// rawCapture is the answers of a cluster about one group, as bytes.
type rawCapture struct {
	What    string      `json:"what"`
	Kafka   string      `json:"kafka"` // of the broker
	Group   string      `json:"group"`
	TakenAt time.Time   `json:"taken_at"`
	Answers []rawAnswer `json:"answers"`
}

// rawAnswer is one request and its response: the bodies in the given version,
// without their headers.
type rawAnswer struct {
	API      string `json:"api"`
	Key      int16  `json:"api_key"`
	Version  int16  `json:"version"`
	Broker   int32  `json:"broker"`
	Request  []byte `json:"request_base64"`
	Response []byte `json:"response_base64"`
}

// ask sends a request to a broker and keeps both sides.
func (r *rawCapture) ask(t testing.TB, c *cluster, broker int32, req kmsg.Request) kmsg.Response {
	t.Helper()
	resp, err := c.client.Broker(int(broker)).RetriableRequest(t.Context(), req)
	if err != nil {
		t.Fatalf("%s: %v", kmsg.NameForKey(req.Key()), err)
	}
	resp.SetVersion(req.GetVersion())
	r.Answers = append(r.Answers, rawAnswer{
		API: kmsg.NameForKey(req.Key()), Key: req.Key(), Version: req.GetVersion(), Broker: broker,
		Request: req.AppendTo(nil), Response: resp.AppendTo(nil),
	})
	return resp
}

// describe asks for the group itself, from its coordinator.
func (r *rawCapture) describe(t testing.TB, c *cluster, streams bool) (state string) {
	t.Helper()
	coord := c.coordinator(t, r.Group)
	r.TakenAt = time.Now().UTC().Truncate(time.Millisecond)
	if streams {
		req := kmsg.NewPtrStreamsGroupDescribeRequest()
		req.Groups, req.IncludeAuthorizedOperations = []string{r.Group}, true
		return r.ask(t, c, coord, req).(*kmsg.StreamsGroupDescribeResponse).Groups[0].State
	}
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups, req.IncludeAuthorizedOperations = []string{r.Group}, true
	return r.ask(t, c, coord, req).(*kmsg.DescribeGroupsResponse).Groups[0].State
}

// rest asks for everything around the group: versions, lists, commits, log
// ends and starts, sizes, configs.
func (r *rawCapture) rest(t testing.TB, c *cluster) {
	t.Helper()
	coord := c.coordinator(t, r.Group)
	av := kmsg.NewPtrApiVersionsRequest()
	av.ClientSoftwareName, av.ClientSoftwareVersion = "rig", "1"
	r.ask(t, c, coord, av)
	r.ask(t, c, coord, kmsg.NewPtrListGroupsRequest())

	meta := kmsg.NewPtrMetadataRequest()
	meta.Topics = nil
	all := r.ask(t, c, coord, meta).(*kmsg.MetadataResponse)
	commits := kmsg.NewPtrOffsetFetchRequest()
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group, g.Topics = r.Group, nil
	commits.Groups = append(commits.Groups, g)
	got := r.ask(t, c, coord, commits).(*kmsg.OffsetFetchResponse)

	wanted := map[string]bool{}
	for _, topic := range got.Groups[0].Topics {
		wanted[topicName(all, topic.Topic, topic.TopicID)] = true
	}
	for _, topic := range all.Topics {
		if strings.HasPrefix(*topic.Topic, r.Group+"-") {
			wanted[*topic.Topic] = true
		}
	}
	for _, ts := range []int64{-1, -2} {
		r.ask(t, c, coord, listOffsets(all, wanted, ts))
	}
	logs := kmsg.NewPtrDescribeLogDirsRequest()
	for _, topic := range slices.Sorted(maps.Keys(wanted)) {
		lt := kmsg.NewDescribeLogDirsRequestTopic()
		lt.Topic = topic
		for _, m := range all.Topics {
			if *m.Topic == topic {
				for p := range m.Partitions {
					lt.Partitions = append(lt.Partitions, int32(p))
				}
			}
		}
		logs.Topics = append(logs.Topics, lt)
	}
	r.ask(t, c, coord, logs)

	cfg := kmsg.NewPtrDescribeConfigsRequest()
	res := kmsg.NewDescribeConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeGroupConfig, r.Group
	cfg.Resources = append(cfg.Resources, res)
	r.ask(t, c, coord, cfg)
}

// topicName gives the name of a topic that an answer has by id (OffsetFetch
// from version 10).
func topicName(all *kmsg.MetadataResponse, name string, id [16]byte) string {
	for _, topic := range all.Topics {
		if name == "" && topic.TopicID == id {
			return *topic.Topic
		}
	}
	return name
}

// listOffsets asks for one kind of offset of all partitions of some topics.
func listOffsets(all *kmsg.MetadataResponse, wanted map[string]bool, timestamp int64) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	for _, topic := range all.Topics {
		if !wanted[*topic.Topic] {
			continue
		}
		lt := kmsg.NewListOffsetsRequestTopic()
		lt.Topic = *topic.Topic
		for _, p := range topic.Partitions {
			lp := kmsg.NewListOffsetsRequestTopicPartition()
			lp.Partition, lp.Timestamp, lp.CurrentLeaderEpoch = p.Partition, timestamp, -1
			lt.Partitions = append(lt.Partitions, lp)
		}
		req.Topics = append(req.Topics, lt)
	}
	return req
}

// capture takes everything at once and writes raw-NAME.json.
func (c *cluster) capture(t testing.TB, name, what, group string, streams bool) {
	t.Helper()
	r := &rawCapture{What: what, Kafka: c.spec.version, Group: group}
	r.describe(t, c, streams)
	r.rest(t, c)
	r.write(t, name)
}

// captureState polls until the group is in the state (and ok, if given, holds
// for the answer), then takes the rest. False when it was not seen in time.
func (c *cluster) captureState(t testing.TB, name, what, group string, streams bool, state string, ok func(kmsg.Response) bool) bool {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		r := &rawCapture{What: what, Kafka: c.spec.version, Group: group}
		if r.describe(t, c, streams) != state {
			continue
		}
		resp := kmsg.ResponseForKey(r.Answers[0].Key)
		resp.SetVersion(r.Answers[0].Version)
		if err := resp.ReadFrom(r.Answers[0].Response); err != nil {
			t.Fatal(err)
		}
		if ok != nil && !ok(resp) {
			continue
		}
		r.rest(t, c)
		r.write(t, name)
		return true
	}
	t.Errorf("%s: state %s was not seen", name, state)
	return false
}

func (r *rawCapture) write(t testing.TB, name string) {
	t.Helper()
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if *outDir == "" {
		t.Fatal("no -out folder")
	}
	if err := os.WriteFile(filepath.Join(*outDir, "raw-"+name+".json"), append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %s", name, r.What)
}
