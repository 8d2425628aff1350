package kclient

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/errs"
)

// leaveOfOthers is the first LeaveGroup version that takes out static members,
// and several at once (Kafka 2.4).
const leaveOfOthers = 3

// MemberToRemove names one member of a classic group.
type MemberToRemove struct {
	ID         string
	InstanceID string // group.instance.id; "" when dynamic
}

// RemovedMember is what became of one member.
type RemovedMember struct {
	MemberToRemove
	Gone bool   // it had left before
	Code string // Kafka's name of the error; "" when it was removed or had left
}

// RemoveMembers takes members out of a classic group, as they would themselves:
// the others get their tasks in the round that follows at once. A static member
// is taken out only while it is the one that was named: FENCED_INSTANCE_ID says
// that another has come in its place. The error means that nothing is known to
// have been done.
func (c *Client) RemoveMembers(ctx context.Context, group string, members []MemberToRemove, reason string) ([]RemovedMember, error) {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group = group
	for _, m := range members {
		w := kmsg.NewLeaveGroupRequestMember()
		w.MemberID, w.Reason = m.ID, &reason
		if m.InstanceID != "" {
			id := m.InstanceID
			w.InstanceID = &id
		}
		req.Members = append(req.Members, w)
	}
	resp, err := req.RequestWith(ctx, c.cl)
	if err != nil {
		return nil, c.removeError(ctx, group, err)
	}
	if resp.Version < leaveOfOthers {
		return nil, errs.WithHint(fmt.Errorf("remove members of group %q: the broker is older than Kafka 2.4, which cannot do that", group),
			"the broker drops a member that is gone when its session timeout is over")
	}
	if err := codeError(resp.ErrorCode); err != nil {
		return nil, c.removeError(ctx, group, err)
	}
	if len(resp.Members) != len(members) { // one answer a member, in their order
		return nil, fmt.Errorf("remove members of group %q: the broker answered for %d of %d", group, len(resp.Members), len(members))
	}
	out := make([]RemovedMember, len(members))
	for i, m := range members {
		out[i] = RemovedMember{MemberToRemove: m, Code: codeName(resp.Members[i].ErrorCode)}
		if resp.Members[i].ErrorCode == kerr.UnknownMemberID.Code {
			out[i].Gone, out[i].Code = true, ""
		}
	}
	return out, nil
}

func (c *Client) removeError(ctx context.Context, group string, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	hint := ""
	if errors.Is(err, kerr.GroupAuthorizationFailed) {
		hint = fmt.Sprintf("needs READ on group %q", group)
	}
	return errs.WithHint(fmt.Errorf("remove members of group %q: %w", group, err), hint)
}
