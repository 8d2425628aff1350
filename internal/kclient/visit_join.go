package kclient

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/clock"
)

// Reasons that a broker from 3.2 on writes into its log.
const (
	joinReason  = "streamctl rebalance: asked for by an operator"
	leaveReason = "streamctl rebalance: the visitor leaves"
)

// visitSessions are the session timeouts to try, the shortest first: 6 s is the
// least that a broker allows unless it was told otherwise. A visitor that dies
// is gone after it.
func visitSessions() []time.Duration {
	return []time.Duration{6 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute}
}

// askID gets a member id. It is not ended by the context, so that an id is never
// given without being known: a round would wait for it for a session.
func (v *visiting) askID(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), v.c.conn.RequestTimeout)
	defer cancel()
	for _, session := range visitSessions() {
		v.visit.Session = session
		resp, err := v.request(session).RequestWith(own, v.c.cl)
		if err != nil {
			return v.joinError("no member id was given", err)
		}
		v.visit.Visitor = resp.MemberID
		switch err := codeError(resp.ErrorCode); {
		case errors.Is(err, kerr.InvalidSessionTimeout):
			continue
		case errors.Is(err, kerr.MemberIDRequired) && resp.MemberID != "", err == nil:
			return nil // without an error we are in already; leaving is next all the same
		case err != nil:
			return v.joinError("no member id was given", err)
		}
	}
	return &VisitError{Group: v.group, Why: "the broker takes none of the session timeouts from 6s to 30m", Err: kerr.InvalidSessionTimeout}
}

func (v *visiting) request(session time.Duration) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID = v.group, v.visit.Visitor
	req.SessionTimeoutMillis = int32(session.Milliseconds())
	req.RebalanceTimeoutMillis = int32(session.Milliseconds())
	req.ProtocolType = consumerType
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: streamsProtocol, Metadata: v.metadata}}
	reason := joinReason
	req.Reason = &reason
	return req
}

// join sends the JoinGroup that starts the round. It is answered when the round
// has begun with the visitor in it, or not at all.
func (v *visiting) join(ctx context.Context) error {
	resp, err := v.request(v.visit.Session).RequestWith(ctx, v.c.cl)
	if err != nil {
		return err
	}
	return codeError(resp.ErrorCode)
}

// leave takes the visitor out of the group, on another connection than the join,
// until the broker says that it is not there.
func (v *visiting) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), visitLeaveLimit)
	defer cancel()
	var last error
	for try := 1; ; try++ {
		last = v.c.leaveOnce(ctx, v.group, v.visit.Visitor)
		if last == nil || errors.Is(last, kerr.UnknownMemberID) {
			v.visit.Gone = true
			return nil
		}
		if !isMoving(last) || clock.Sleep(ctx, backoff(try)) != nil {
			break
		}
	}
	return &VisitError{
		Group: v.group, Why: fmt.Sprintf("the visitor %s may still be a member", v.visit.Visitor),
		Hint: fmt.Sprintf("the broker drops it within %s; tasks that it was given run nowhere until then", v.visit.Session), Err: last,
	}
}

// leaveOnce takes one dynamic member out of a group.
func (c *Client) leaveOnce(ctx context.Context, group, member string) error {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.MemberID = group, member // one member up to v2, a list from v3 on
	m := kmsg.NewLeaveGroupRequestMember()
	reason := leaveReason
	m.MemberID, m.Reason = member, &reason
	req.Members = append(req.Members, m)
	resp, err := req.RequestWith(ctx, c.cl)
	if err != nil {
		return err
	}
	if err := codeError(resp.ErrorCode); err != nil {
		return err
	}
	for i := range resp.Members {
		if err := codeError(resp.Members[i].ErrorCode); err != nil {
			return err
		}
	}
	return nil
}
