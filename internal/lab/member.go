package lab

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"github.com/streamctl/streamctl/internal/clock"
)

// replaySession is how long a replayed member stays in its group without a
// heartbeat: longer than anybody keeps a lab open.
const replaySession = 24 * time.Hour

// member is one member to replay.
type member struct {
	clientID   string
	instanceID *string
	metadata   []byte
	assignment []byte
}

// round is a group to bring to state Stable with exactly the members given.
type round struct {
	addr         string
	group        string
	protocolType string
	protocol     string
	members      []member

	mu  sync.Mutex
	ids map[string]int // member id -> index in members
}

// join brings the group to Stable over the real group protocol, each member on
// a connection of its own, and returns the member ids by index.
func (r *round) join(ctx context.Context) ([]string, error) {
	r.ids = make(map[string]int, len(r.members))
	ids := make([]string, len(r.members))
	eg, ctx := errgroup.WithContext(ctx)
	for i := range r.members {
		eg.Go(func() error {
			c, err := dial(ctx, r.addr)
			if err != nil {
				return err
			}
			defer c.close()
			ids[i], err = r.joinOne(ctx, c, i)
			if err != nil {
				return fmt.Errorf("join %q as %q: %w", r.group, r.members[i].clientID, err)
			}
			return nil
		})
	}
	return ids, eg.Wait()
}

func (r *round) joinOne(ctx context.Context, c *conn, i int) (string, error) {
	m := &r.members[i]
	id := ""
	for {
		resp, err := r.sendJoin(ctx, c, m, id)
		if err != nil {
			return "", err
		}
		if resp.MemberID != "" {
			id = resp.MemberID
			r.know(id, i)
		}
		switch err := kerr.ErrorForCode(resp.ErrorCode); {
		case errors.Is(err, kerr.MemberIDRequired), errors.Is(err, kerr.RebalanceInProgress):
			continue
		case err != nil:
			return "", err
		}
		lead := resp.LeaderID == id
		if lead && len(resp.Members) < len(r.members) {
			// Not all are here: ask for another round. A leader's join starts one.
			if err := clock.Sleep(ctx, time.Millisecond); err != nil {
				return "", err
			}
			continue
		}
		done, err := r.sync(ctx, c, m, id, resp, lead)
		if err != nil || done {
			return id, err
		}
	}
}

func (r *round) know(id string, i int) {
	r.mu.Lock()
	r.ids[id] = i
	r.mu.Unlock()
}

func (r *round) sendJoin(ctx context.Context, c *conn, m *member, id string) (*kmsg.JoinGroupResponse, error) {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version = 7
	req.Group = r.group
	req.SessionTimeoutMillis = int32(replaySession.Milliseconds())
	req.RebalanceTimeoutMillis = int32(replaySession.Milliseconds())
	req.MemberID = id
	req.InstanceID = m.instanceID
	req.ProtocolType = r.protocolType
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: r.protocol, Metadata: m.metadata}}
	resp, err := c.request(ctx, m.clientID, req)
	if err != nil {
		return nil, err
	}
	return resp.(*kmsg.JoinGroupResponse), nil
}

// sync sends the recorded assignments as leader, or waits for its own. It
// returns false when another round began meanwhile.
func (r *round) sync(ctx context.Context, c *conn, m *member, id string, join *kmsg.JoinGroupResponse, lead bool) (bool, error) {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Version = 4
	req.Group = r.group
	req.Generation = join.Generation
	req.MemberID = id
	req.InstanceID = m.instanceID
	if lead {
		r.mu.Lock()
		for _, jm := range join.Members {
			if i, ok := r.ids[jm.MemberID]; ok {
				req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{
					MemberID: jm.MemberID, MemberAssignment: r.members[i].assignment,
				})
			}
		}
		r.mu.Unlock()
	}
	raw, err := c.request(ctx, m.clientID, req)
	if err != nil {
		return false, err
	}
	err = kerr.ErrorForCode(raw.(*kmsg.SyncGroupResponse).ErrorCode)
	if errors.Is(err, kerr.RebalanceInProgress) || errors.Is(err, kerr.IllegalGeneration) {
		return false, nil
	}
	return err == nil, err
}

// hold starts a join that no other member answers, so that the group stays in
// PreparingRebalance until the returned function is called.
func (r *round) hold(ctx context.Context, m member) (release func(), err error) {
	c, err := dial(ctx, r.addr)
	if err != nil {
		return nil, err
	}
	resp, err := r.sendJoin(ctx, c, &m, "")
	if err != nil {
		c.close()
		return nil, err
	}
	go func() { _, _ = r.sendJoin(ctx, c, &m, resp.MemberID) }() // answered only when the round ends
	return c.close, nil
}

// leave takes all members out again, which leaves the group Empty with its
// protocol type.
func (r *round) leave(ctx context.Context, ids []string) error {
	c, err := dial(ctx, r.addr)
	if err != nil {
		return err
	}
	defer c.close()
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Version = 3
	req.Group = r.group
	for i, id := range ids {
		req.Members = append(req.Members, kmsg.LeaveGroupRequestMember{MemberID: id, InstanceID: r.members[i].instanceID})
	}
	raw, err := c.request(ctx, "streamctl-lab", req)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(raw.(*kmsg.LeaveGroupResponse).ErrorCode)
}
