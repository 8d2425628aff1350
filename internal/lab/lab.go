package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// Options says how the embedded cluster is to be.
type Options struct {
	Port    int         // of the first broker; 0: a free one
	Brokers int         // 0 means 1
	Now     time.Time   // planned rebalances of replayed groups are shifted to this moment
	Kfake   []kfake.Opt // more options, for tests
	Client  []kgo.Opt   // of the lab's own client, where those ask for a login

	MinSession time.Duration // the shortest session that a member may ask for; 0: what brokers have by default, 6 s
	Log        func(string)  // one line a step; nil: silent
}

// Lab is a running embedded cluster.
type Lab struct {
	cluster *kfake.Cluster
	client  *kgo.Client
	admin   *kadm.Client
	o       Options
	release []func()
}

// Start starts the embedded cluster, empty. Close stops it.
func Start(o Options) (*Lab, error) {
	o.Brokers = max(o.Brokers, 1)
	if o.Log == nil {
		o.Log = func(string) {}
	}
	opts := []kfake.Opt{
		kfake.NumBrokers(o.Brokers),
		kfake.ClusterID("streamctl-lab"),
		kfake.GroupMaxSessionTimeout(replaySession),
	}
	if o.MinSession > 0 {
		opts = append(opts, kfake.GroupMinSessionTimeout(o.MinSession))
	}
	if o.Port != 0 {
		ports := make([]int, o.Brokers)
		for i := range ports {
			ports[i] = o.Port + i
		}
		opts = append(opts, kfake.Ports(ports...))
	}
	c, err := kfake.NewCluster(append(opts, o.Kfake...)...)
	if err != nil {
		return nil, fmt.Errorf("start embedded broker: %w", err)
	}
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(c.ListenAddrs()...),
		kgo.ClientID("streamctl-lab"),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.DisableIdempotentWrite(),
		kgo.ProducerLinger(0),
		kgo.MaxBufferedRecords(1 << 20),
	}, o.Client...)...)
	if err != nil {
		c.Close()
		return nil, err
	}
	return &Lab{cluster: c, client: cl, admin: kadm.NewClient(cl), o: o}, nil
}

// Bootstrap is the address of the first broker, host:port.
func (l *Lab) Bootstrap() string { return l.cluster.ListenAddrs()[0] }

// Cluster is the embedded cluster itself, for tests that inject faults.
func (l *Lab) Cluster() *kfake.Cluster { return l.cluster }

// Close stops the cluster and everything that was started in it.
func (l *Lab) Close() {
	for _, f := range l.release {
		f()
	}
	l.client.Close()
	l.cluster.Close()
}

// Replay brings every classic group of a snapshot to life: topics with as many
// records as were in their logs, commits, members. Groups of other kinds
// cannot run on the embedded broker and are returned by name.
func (l *Lab) Replay(ctx context.Context, s *snapshot.Snapshot) (left []string, err error) {
	return l.replay(ctx, s, func(*snapshot.Group) bool { return false })
}

// Run is Replay, but with members that live where the lab can have them: those
// of classic Streams groups that are Stable take part in rounds to come, in which
// they say and are assigned what was recorded. Groups of many members are
// replayed: each of them would send heartbeats. So are all where there are many
// groups: each takes a moment to settle.
func (l *Lab) Run(ctx context.Context, s *snapshot.Snapshot) (left []string, err error) {
	return l.replay(ctx, s, living(s))
}

// living says which groups of a snapshot Run gives life.
func living(s *snapshot.Snapshot) func(*snapshot.Group) bool {
	n := 0
	for i := range s.Groups {
		if g := &s.Groups[i]; g.Classic != nil && g.Classic.ErrorCode == 0 && canLive(g) {
			n++
		}
	}
	if n > maxLivingGroups {
		return func(*snapshot.Group) bool { return false }
	}
	return canLive
}

// replay replays the groups of a snapshot, and gives some of them life.
func (l *Lab) replay(ctx context.Context, s *snapshot.Snapshot, lives func(*snapshot.Group) bool) (left []string, err error) {
	if err := l.seedTopics(ctx, s); err != nil {
		return nil, err
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		switch {
		case g.Classic == nil || g.Classic.ErrorCode != 0:
			left = append(left, g.ID)
			continue
		case lives(g):
			err = l.enliven(ctx, Alive{Group: g.ID, Rounds: []*snapshot.Snapshot{s}, Heartbeat: runHeartbeat})
		default:
			err = l.replayGroup(ctx, s, g)
		}
		if err != nil {
			return left, err
		}
		l.o.Log("group " + g.ID + " " + g.Classic.State)
	}
	return left, nil
}

// canLive reports whether the members of a group can live.
func canLive(g *snapshot.Group) bool {
	c := g.Classic
	return c.State == stateStable && c.ProtocolType == "consumer" && c.Protocol == streamsProtocol && len(c.Members) > 0 && len(c.Members) <= maxLiving
}

func (l *Lab) replayGroup(ctx context.Context, s *snapshot.Snapshot, g *snapshot.Group) error {
	if err := l.commit(ctx, g); err != nil {
		return err
	}
	if err := l.control(ctx, g); err != nil {
		return err
	}
	r := &round{addr: l.coordinatorAddr(g.ID), group: g.ID, protocolType: g.Classic.ProtocolType, protocol: g.Classic.Protocol}
	if r.protocolType == "" {
		return nil // a group that only has commits
	}
	if r.protocol == "" {
		r.protocol = streamsProtocol
	}
	for _, m := range g.Classic.Members {
		r.members = append(r.members, member{m.ClientID, m.InstanceID, m.Metadata, l.present(s, m.Assignment, 0)})
	}
	empty := len(r.members) == 0
	if empty {
		r.members = []member{{clientID: g.ID}}
	}
	ids, err := r.join(ctx)
	if err != nil {
		return err
	}
	switch {
	case empty:
		return r.leave(ctx, ids)
	case g.Classic.State == statePreparing:
		free, err := r.hold(ctx, r.members[0])
		if err != nil {
			return err
		}
		l.release = append(l.release, free)
	}
	return nil
}

const (
	maxLiving       = 50                     // members of a group
	maxLivingGroups = 20                     // of a snapshot
	runHeartbeat    = 500 * time.Millisecond // how long one may not notice a round

	streamsProtocol = "stream"
	stateStable     = "Stable"
	statePreparing  = "PreparingRebalance"
)

func (l *Lab) coordinatorAddr(group string) string {
	addrs := l.cluster.ListenAddrs()
	if n := int(l.cluster.CoordinatorFor(group)); n < len(addrs) && n >= 0 {
		return addrs[n]
	}
	return addrs[0]
}

func (l *Lab) commit(ctx context.Context, g *snapshot.Group) error {
	var o kadm.Offsets
	for _, c := range g.Commits {
		if c.ErrorCode == 0 && c.Offset >= 0 {
			o.AddOffset(c.Topic, c.Partition, c.Offset, -1)
		}
	}
	if len(o) == 0 {
		return nil
	}
	resp, err := l.admin.CommitOffsets(ctx, g.ID, o)
	if err = errors.Join(err, resp.Error()); err != nil {
		return fmt.Errorf("commit offsets of %q: %w", g.ID, err)
	}
	return nil
}
