package kclient

import (
	"context"
	"errors"
	"math"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

var errLeftOut = errors.New("the broker's answer leaves the group out")

func ids(groups []*group) []string {
	out := make([]string, len(groups))
	for i, g := range groups {
		out[i] = g.id
	}
	return out
}

func (r *run) askClassic(ctx context.Context, b batch) error {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = ids(b.groups)
	req.IncludeAuthorizedOperations = r.q.AuthorizedOps
	kresp, err := r.c.send(ctx, b.node, req)
	if err != nil {
		return err
	}
	resp := kresp.(*kmsg.DescribeGroupsResponse)
	r.each(b, len(resp.Groups), func(i int) string { return resp.Groups[i].Group }, func(g *group, i int) int16 {
		w := &resp.Groups[i]
		if !isCoordinatorError(w.ErrorCode) {
			g.g.Classic = classicFromWire(w)
		}
		return w.ErrorCode
	})
	return nil
}

func classicFromWire(w *kmsg.DescribeGroupsResponseGroup) *snapshot.ClassicGroup {
	c := &snapshot.ClassicGroup{
		ErrorCode: w.ErrorCode, ErrorMessage: w.ErrorMessage, State: w.State, ProtocolType: w.ProtocolType,
		Protocol: w.Protocol, Members: make([]snapshot.ClassicMember, len(w.Members)),
		AuthorizedOperations: operations(w.AuthorizedOperations),
	}
	for i := range w.Members {
		m := &w.Members[i]
		c.Members[i] = snapshot.ClassicMember{
			ID: m.MemberID, InstanceID: m.InstanceID, ClientID: m.ClientID, Host: m.ClientHost,
			Metadata: m.ProtocolMetadata, Assignment: m.MemberAssignment,
		}
	}
	return c
}

// operations is nil where the broker did not say.
func operations(bits int32) *int32 {
	if bits == math.MinInt32 {
		return nil
	}
	return &bits
}

func (r *run) askStreams(ctx context.Context, b batch) error {
	req := kmsg.NewPtrStreamsGroupDescribeRequest()
	req.Groups = ids(b.groups)
	req.IncludeAuthorizedOperations = r.q.AuthorizedOps
	req.IncludeTopologyDescription = r.q.Topology
	kresp, err := r.c.send(ctx, b.node, req)
	if err != nil {
		return err
	}
	resp := kresp.(*kmsg.StreamsGroupDescribeResponse)
	r.each(b, len(resp.Groups), func(i int) string { return resp.Groups[i].Group }, func(g *group, i int) int16 {
		w := &resp.Groups[i]
		if w.ErrorCode == kerr.UnsupportedVersion.Code { // the feature streams.version is off
			r.noteUnsupported(partStreams)
		} else if !isCoordinatorError(w.ErrorCode) {
			g.g.Streams = groupmeta.StreamsGroupFromWire(resp.Version, w)
		}
		return w.ErrorCode
	})
	return nil
}

func (r *run) askConsumer(ctx context.Context, b batch) error {
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Groups = ids(b.groups)
	kresp, err := r.c.send(ctx, b.node, req)
	if err != nil {
		return err
	}
	resp := kresp.(*kmsg.ConsumerGroupDescribeResponse)
	r.each(b, len(resp.Groups), func(i int) string { return resp.Groups[i].Group }, func(g *group, i int) int16 {
		w := &resp.Groups[i]
		if !isCoordinatorError(w.ErrorCode) {
			g.g.Consumer = consumerFromWire(w)
		}
		return w.ErrorCode
	})
	return nil
}

func consumerFromWire(w *kmsg.ConsumerGroupDescribeResponseGroup) *snapshot.ConsumerGroup {
	c := &snapshot.ConsumerGroup{
		ErrorCode: w.ErrorCode, ErrorMessage: w.ErrorMessage, State: w.State, Epoch: w.Epoch, Assignor: w.AssignorName,
		Members: make([]snapshot.ConsumerMember, len(w.Members)),
	}
	for i := range w.Members {
		m := &w.Members[i]
		out := snapshot.ConsumerMember{
			ID: m.MemberID, InstanceID: m.InstanceID, ClientID: m.ClientID, ClientHost: m.ClientHost,
			Partitions: []model.TopicPartition{},
		}
		for _, t := range m.Assignment.TopicPartitions {
			for _, p := range t.Partitions {
				out.Partitions = append(out.Partitions, model.TopicPartition{Topic: t.Topic, Partition: p})
			}
		}
		c.Members[i] = out
	}
	return c
}
