package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// Alive is a recorded classic group whose members live: they send heartbeats,
// join again in every round, and come back when they were thrown out. What they
// say and are assigned is recorded, or made up; who is not in the recording, as
// a visitor, gets nothing.
type Alive struct {
	Group string

	// Rounds are the group as of one round after the other; the last one stays.
	// All have the members of the first, by client id.
	Rounds []*snapshot.Snapshot

	Dead      []string      // client ids without their thread part: silent after the first round, without leaving
	Heartbeat time.Duration // 0: 100 ms
	Rejoin    time.Duration // pause before a member that was thrown out comes back
}

const (
	aliveHeartbeat = 100 * time.Millisecond
	aliveSession   = 30 * time.Second
	formTime       = 300 * time.Millisecond
)

// Live brings the group to Stable in its first round and keeps it alive until
// the lab is closed.
func (l *Lab) Live(ctx context.Context, a Alive) error {
	if len(a.Rounds) == 0 || a.Rounds[0].Group(a.Group) == nil || a.Rounds[0].Group(a.Group).Classic == nil {
		return fmt.Errorf("no recording of classic group %q", a.Group)
	}
	if err := l.seedTopics(ctx, a.Rounds[0]); err != nil {
		return err
	}
	return l.enliven(ctx, a)
}

// enliven is Live where the topics are there.
func (l *Lab) enliven(ctx context.Context, a Alive) error {
	if a.Heartbeat == 0 {
		a.Heartbeat = aliveHeartbeat
	}
	if err := l.commit(ctx, a.Rounds[0].Group(a.Group)); err != nil {
		return err
	}
	if err := l.control(ctx, a.Rounds[0].Group(a.Group)); err != nil {
		return err
	}
	members := a.Rounds[0].Group(a.Group).Classic.Members
	g := &aliveGroup{l: l, a: a, want: len(members), ids: map[string]string{}, formed: make(chan struct{})}
	life, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	l.release = append(l.release, func() { stop(); running.Wait() })
	failed := make(chan error, len(members))
	for i := range members {
		running.Go(func() {
			if err := g.run(life, &members[i]); err != nil && life.Err() == nil {
				failed <- err
			}
		})
	}
	select {
	case <-g.formed:
	case err := <-failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
	// A member that was late may have started one more round: the first in the
	// life of the group is the one after that.
	err := clock.Sleep(ctx, min(2*a.Heartbeat, formTime))
	g.next()
	if len(a.Dead) > 0 { // they notice at their next heartbeat
		err = errors.Join(err, clock.Sleep(ctx, 2*a.Heartbeat))
	}
	return err
}

// aliveGroup is the members of one group that live.
type aliveGroup struct {
	l      *Lab
	a      Alive
	want   int
	formed chan struct{} // closed once the first round is done

	mu    sync.Mutex
	ids   map[string]string // member id -> client id
	round int               // of Rounds: the one that is, or is next once the group lives
	begun bool              // it was complete
	lives bool              // and has settled
	since time.Time         // when
}

// recording is the group as of the round that is being made.
func (g *aliveGroup) recording() (*snapshot.Snapshot, *snapshot.ClassicGroup) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.a.Rounds[min(g.round, len(g.a.Rounds)-1)]
	return s, s.Group(g.a.Group).Classic
}

// clientOf is the client id of a member of a round; "" for who is none of ours.
// A static member may be told its id after the leader has heard of it.
func (g *aliveGroup) clientOf(jm kmsg.JoinGroupResponseMember) string {
	if jm.InstanceID != nil {
		for _, m := range g.a.Rounds[0].Group(g.a.Group).Classic.Members {
			if m.InstanceID != nil && *m.InstanceID == *jm.InstanceID {
				return m.ClientID
			}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ids[jm.MemberID]
}

func (g *aliveGroup) know(id, client string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ids[id] = client
}

// done says that a round has ended; after the first the group is complete.
func (g *aliveGroup) done() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lives {
		g.round++
	}
	if !g.begun {
		g.begun = true
		close(g.formed)
	}
}

// visited reports whether a stranger is among the members of a round. Another
// round follows it as soon as he has left, so the two are counted as one.
func (g *aliveGroup) visited(list []kmsg.JoinGroupResponseMember) bool {
	return slices.ContainsFunc(list, func(jm kmsg.JoinGroupResponseMember) bool { return g.clientOf(jm) == "" })
}

// next says that the group has settled in its first round.
func (g *aliveGroup) next() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lives, g.round, g.since = true, 1, time.Now()
}

// age is how long the group has lived, in whole minutes: what a round plans lies
// ahead of it, not in the past, and a lab that has just begun shows the times
// that were recorded.
func (g *aliveGroup) age() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.lives {
		return 0
	}
	return time.Since(g.since).Truncate(time.Minute)
}

// errDead ends a member that is to be silent.
var errDead = errors.New("silent from now on")

// isDead reports whether a member is to be silent: once the group has settled.
func (g *aliveGroup) isDead(m *snapshot.ClassicMember) bool {
	base, _ := model.SplitThread(m.ClientID)
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lives && slices.Contains(g.a.Dead, base)
}

func (g *aliveGroup) complete() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.begun
}

// run is the life of one member.
func (g *aliveGroup) run(ctx context.Context, m *snapshot.ClassicMember) error {
	c, err := dial(ctx, g.l.coordinatorAddr(g.a.Group))
	if err != nil {
		return err
	}
	defer c.close()
	id := ""
	for ctx.Err() == nil {
		var generation int32
		if id, generation, err = g.join(ctx, c, m, id); err != nil {
			return fmt.Errorf("member %q of %q: %w", m.ClientID, g.a.Group, err)
		}
		if err := g.beat(ctx, c, m, id, generation); errors.Is(err, errDead) {
			return nil
		} else if errors.Is(err, kerr.UnknownMemberID) || errors.Is(err, kerr.FencedInstanceID) {
			id = ""
			if err := clock.Sleep(ctx, g.a.Rejoin); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
	}
	return nil
}

// join takes part in rounds until one gives an assignment.
func (g *aliveGroup) join(ctx context.Context, c *conn, m *snapshot.ClassicMember, id string) (string, int32, error) {
	for {
		resp, err := g.sendJoin(ctx, c, m, id)
		if err != nil {
			return "", 0, err
		}
		if resp.MemberID != "" {
			id = resp.MemberID
			g.know(id, m.ClientID)
		}
		switch err := kerr.ErrorForCode(resp.ErrorCode); {
		case errors.Is(err, kerr.UnknownMemberID):
			id = ""
			continue
		case errors.Is(err, kerr.MemberIDRequired), errors.Is(err, kerr.RebalanceInProgress):
			continue
		case err != nil:
			return "", 0, err
		}
		lead := resp.LeaderID == id
		if lead && !g.complete() && len(resp.Members) < g.want {
			if err := clock.Sleep(ctx, time.Millisecond); err != nil { // a leader that joins again starts another round
				return "", 0, err
			}
			continue
		}
		switch err := g.sync(ctx, c, m, id, resp); {
		case errors.Is(err, kerr.RebalanceInProgress), errors.Is(err, kerr.IllegalGeneration):
			continue
		case errors.Is(err, kerr.UnknownMemberID):
			id = ""
			continue
		case err != nil:
			return "", 0, err
		}
		if lead && !g.visited(resp.Members) {
			g.done()
		}
		return id, resp.Generation, nil
	}
}

func (g *aliveGroup) sendJoin(ctx context.Context, c *conn, m *snapshot.ClassicMember, id string) (*kmsg.JoinGroupResponse, error) {
	_, rec := g.recording()
	metadata := m.Metadata
	if i := slices.IndexFunc(rec.Members, func(o snapshot.ClassicMember) bool { return o.ClientID == m.ClientID }); i >= 0 {
		metadata = rec.Members[i].Metadata
	}
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version = 7
	req.Group, req.MemberID, req.InstanceID = g.a.Group, id, m.InstanceID
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = int32(aliveSession.Milliseconds()), int32(aliveSession.Milliseconds())
	if base, _ := model.SplitThread(m.ClientID); slices.Contains(g.a.Dead, base) {
		req.SessionTimeoutMillis = int32(replaySession.Milliseconds())
	}
	req.ProtocolType = "consumer"
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: streamsProtocol, Metadata: metadata}}
	resp, err := c.request(ctx, m.ClientID, req)
	if err != nil {
		return nil, err
	}
	return resp.(*kmsg.JoinGroupResponse), nil
}

func (g *aliveGroup) sync(ctx context.Context, c *conn, m *snapshot.ClassicMember, id string, join *kmsg.JoinGroupResponse) error {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Version = 4
	req.Group, req.Generation, req.MemberID, req.InstanceID = g.a.Group, join.Generation, id, m.InstanceID
	if join.LeaderID == id {
		s, rec := g.recording()
		for _, jm := range join.Members {
			client := g.clientOf(jm)
			given := kmsg.SyncGroupRequestGroupAssignment{MemberID: jm.MemberID}
			if i := slices.IndexFunc(rec.Members, func(o snapshot.ClassicMember) bool { return o.ClientID == client }); i >= 0 {
				given.MemberAssignment = g.l.present(s, rec.Members[i].Assignment, g.age())
			}
			req.GroupAssignment = append(req.GroupAssignment, given)
		}
	}
	raw, err := c.request(ctx, m.ClientID, req)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(raw.(*kmsg.SyncGroupResponse).ErrorCode)
}

// beat sends heartbeats until a round begins (nil), or the member is out.
func (g *aliveGroup) beat(ctx context.Context, c *conn, m *snapshot.ClassicMember, id string, generation int32) error {
	for {
		if err := clock.Sleep(ctx, g.a.Heartbeat); err != nil {
			return err
		}
		if g.isDead(m) {
			return errDead
		}
		req := kmsg.NewPtrHeartbeatRequest()
		req.Version = 3
		req.Group, req.Generation, req.MemberID, req.InstanceID = g.a.Group, generation, id, m.InstanceID
		raw, err := c.request(ctx, m.ClientID, req)
		if err != nil {
			return err
		}
		switch err := kerr.ErrorForCode(raw.(*kmsg.HeartbeatResponse).ErrorCode); {
		case errors.Is(err, kerr.RebalanceInProgress), errors.Is(err, kerr.IllegalGeneration):
			return nil
		case err != nil:
			return err
		}
	}
}
