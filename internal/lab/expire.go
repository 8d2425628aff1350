package lab

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// expireEvery is how often silent members are looked for.
const expireEvery = 250 * time.Millisecond

// memberKey is a member of a group.
type memberKey struct{ group, member string }

// silence is when a member was heard last, and how long it may be silent.
type silence struct {
	heard time.Time
	limit time.Duration
}

// expiry throws out members that the embedded cluster forgets to throw out.
type expiry struct {
	l       *Lab
	mu      sync.Mutex
	members map[memberKey]silence
}

// LetMembersExpire makes the embedded cluster throw out every member that has
// said nothing for longer than its session and rebalance timeouts together;
// brokers do so after the session timeout. By itself the cluster starts no
// session for a member whose connection is gone when its join is answered: when
// another one leads that round, the dead one stays for ever, with its tasks.
func (l *Lab) LetMembersExpire() {
	e := &expiry{l: l, members: map[memberKey]silence{}}
	c := l.cluster
	for _, key := range []kmsg.Key{kmsg.JoinGroup, kmsg.SyncGroup, kmsg.Heartbeat, kmsg.OffsetCommit, kmsg.LeaveGroup} {
		c.ControlKey(int16(key), func(r kmsg.Request) (kmsg.Response, error, bool) {
			c.KeepControl()
			e.hear(r, time.Now())
			return nil, nil, false
		})
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { e.run(ctx) })
	l.release = append(l.release, func() { stop(); running.Wait() })
}

// hear notes that a member speaks. What does not name one says nothing.
func (e *expiry) hear(r kmsg.Request, at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch r := r.(type) {
	case *kmsg.JoinGroupRequest:
		if r.MemberID != "" {
			limit := time.Duration(r.SessionTimeoutMillis)*time.Millisecond + time.Duration(r.RebalanceTimeoutMillis)*time.Millisecond
			e.members[memberKey{r.Group, r.MemberID}] = silence{at, limit}
		}
	case *kmsg.SyncGroupRequest:
		e.again(memberKey{r.Group, r.MemberID}, at)
	case *kmsg.HeartbeatRequest:
		e.again(memberKey{r.Group, r.MemberID}, at)
	case *kmsg.OffsetCommitRequest:
		e.again(memberKey{r.Group, r.MemberID}, at)
	case *kmsg.LeaveGroupRequest:
		delete(e.members, memberKey{r.Group, r.MemberID})
		for _, m := range r.Members {
			delete(e.members, memberKey{r.Group, m.MemberID})
		}
	}
}

// again begins the silence of a known member anew.
func (e *expiry) again(k memberKey, at time.Time) {
	if s, ok := e.members[k]; ok {
		s.heard = at
		e.members[k] = s
	}
}

// silent lists the members that are silent for too long.
func (e *expiry) silent(at time.Time) []memberKey {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []memberKey
	for k, s := range e.members {
		if at.Sub(s.heard) > s.limit {
			list = append(list, k)
		}
	}
	return list
}

func (e *expiry) run(ctx context.Context) {
	tick := time.NewTicker(expireEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case at := <-tick.C:
			for _, k := range e.silent(at) {
				e.throwOut(ctx, k)
			}
		}
	}
}

// throwOut ends a membership. The cluster may have been told to refuse that:
// then the next look tries again.
func (e *expiry) throwOut(ctx context.Context, k memberKey) {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group = k.group
	m := kmsg.NewLeaveGroupRequestMember()
	m.MemberID = k.member
	req.Members = []kmsg.LeaveGroupRequestMember{m}
	resp, err := req.RequestWith(ctx, e.l.client)
	switch {
	case err != nil:
		return
	case resp.ErrorCode != 0 && resp.ErrorCode != kerr.UnknownMemberID.Code:
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.members, k)
}
