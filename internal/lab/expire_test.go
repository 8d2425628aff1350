package lab

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// doomed is how many members die. The embedded cluster forgets about half of
// them.
const doomed = 12

// Members whose connections are gone before their joins are answered do not stay.
func TestDeadMembersExpire(t *testing.T) {
	t.Parallel()
	l, err := Start(Options{MinSession: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	l.LetMembersExpire()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := l.Cluster().CreateTopic("in", 2, nil); err != nil {
		t.Fatal(err)
	}
	in := make(chan struct{}, 10)
	alive, err := kgo.NewClient(
		kgo.SeedBrokers(l.Cluster().ListenAddrs()...), kgo.ConsumerGroup("g"), kgo.ConsumeTopics("in"), kgo.DisableAutoCommit(),
		kgo.Balancers(kgo.RangeBalancer()), kgo.HeartbeatInterval(time.Second), kgo.SessionTimeout(5*time.Second), kgo.RebalanceTimeout(time.Minute),
		kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { in <- struct{}{} }),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(alive.Close)
	<-in
	var all []*dying
	for range doomed {
		all = append(all, newDying(ctx, t, l))
	}
	for _, d := range all {
		d.join(ctx)
	}
	await(ctx, t, l, "all members are in the group", func(d kadm.DescribedGroup) bool { return len(d.Members) == 1+doomed })
	for _, d := range all {
		d.die()
	}
	await(ctx, t, l, "a round has the dead members", func(d kadm.DescribedGroup) bool { return d.State == "Stable" && len(d.Members) == 1+doomed })
	await(ctx, t, l, "the dead members are gone", func(d kadm.DescribedGroup) bool { return d.State == "Stable" && len(d.Members) == 1 })
}

// await looks at the group until it is as wanted.
func await(ctx context.Context, t *testing.T, l *Lab, what string, is func(kadm.DescribedGroup) bool) {
	t.Helper()
	for {
		d, err := l.admin.DescribeGroups(ctx, "g")
		if err == nil && is(d["g"]) {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("not seen: %s; the group is %s with %d members", what, d["g"].State, len(d["g"].Members))
		}
	}
}

// dying is a member whose join is never answered.
type dying struct {
	c    *conn
	req  *kmsg.JoinGroupRequest
	over chan struct{}
}

// newDying gets a member id.
func newDying(ctx context.Context, t *testing.T, l *Lab) *dying {
	t.Helper()
	c, err := dial(ctx, l.coordinatorAddr("g"))
	if err != nil {
		t.Fatal(err)
	}
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Topics = []string{"in"}
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version = 5
	req.Group, req.ProtocolType = "g", "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 1000, 1000
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: kgo.RangeBalancer().ProtocolName(), Metadata: meta.AppendTo(nil)}}
	resp, err := c.request(ctx, "dead", req)
	if err != nil {
		t.Fatal(err)
	}
	first := resp.(*kmsg.JoinGroupResponse)
	if first.ErrorCode != kerr.MemberIDRequired.Code {
		t.Fatalf("the first join is answered with %v", kerr.ErrorForCode(first.ErrorCode))
	}
	req.MemberID = first.MemberID
	return &dying{c, req, make(chan struct{})}
}

// join sends the join.
func (d *dying) join(ctx context.Context) {
	go func() {
		defer close(d.over)
		_, _ = d.c.request(ctx, "dead", d.req)
	}()
}

// die cuts the connection.
func (d *dying) die() {
	d.c.close()
	<-d.over
}
