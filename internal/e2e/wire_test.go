//go:build realkafka

package e2e

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// describeClassic is a bare DescribeGroups of one group.
func (c *cluster) describeClassic(t testing.TB, group string) kmsg.DescribeGroupsResponseGroup {
	t.Helper()
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{group}
	resp, err := req.RequestWith(t.Context(), c.client)
	if err != nil {
		t.Fatalf("describe %s: %v", group, err)
	}
	return resp.Groups[0]
}

// describeStreams is a bare StreamsGroupDescribe of one group.
func (c *cluster) describeStreams(t testing.TB, group string) kmsg.StreamsGroupDescribeResponseGroup {
	t.Helper()
	req := kmsg.NewPtrStreamsGroupDescribeRequest()
	req.Groups = []string{group}
	resp, err := req.RequestWith(t.Context(), c.client)
	if err != nil {
		t.Fatalf("describe %s: %v", group, err)
	}
	return resp.Groups[0]
}

// waitMembers waits until the group is Stable with n members.
func (c *cluster) waitMembers(t testing.TB, group string, streams bool, n int) {
	t.Helper()
	eventually(t, 60*time.Second, "group "+group+" is Stable", func() bool {
		if streams {
			g := c.describeStreams(t, group)
			return g.State == "Stable" && len(g.Members) == n
		}
		g := c.describeClassic(t, group)
		return g.State == "Stable" && len(g.Members) == n
	})
}

// waitCommitted waits until the group has committed the end of every partition
// of the topics, so that lag stands still at 0.
func (c *cluster) waitCommitted(t testing.TB, group string, topics ...string) {
	t.Helper()
	eventually(t, 120*time.Second, group+" has caught up on its input", func() bool {
		ends, err := c.admin.ListEndOffsets(t.Context(), topics...)
		if err != nil {
			t.Logf("list ends: %v", err)
			return false
		}
		commits, err := c.admin.FetchOffsets(t.Context(), group)
		if err != nil {
			t.Logf("fetch offsets: %v", err)
			return false
		}
		for topic, parts := range ends {
			for p, end := range parts {
				got, ok := commits.Lookup(topic, p)
				if end.Offset > 0 && (!ok || got.At < end.Offset) {
					return false
				}
			}
		}
		return true
	})
}

// coordinator gives the node id of the broker that leads the group.
func (c *cluster) coordinator(t testing.TB, group string) int32 {
	t.Helper()
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKeys = []string{group}
	resp, err := req.RequestWith(t.Context(), c.client)
	if err != nil {
		t.Fatalf("find coordinator of %s: %v", group, err)
	}
	if err := kerr.ErrorForCode(resp.Coordinators[0].ErrorCode); err != nil {
		t.Fatalf("find coordinator of %s: %v", group, err)
	}
	return resp.Coordinators[0].NodeID
}
