package kclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// An admin client can make a classic group rebalance without removing anyone: it
// joins, and leaves again as soon as the group lists it, so that the others
// complete the round alone (broker-facts.md, section 6). The order of the steps
// is what leaves no visitor behind:
//
//	look    the group is Stable, of Streams members, and not empty
//	id      a JoinGroup without an id is answered with one, and changes nothing yet
//	join    a JoinGroup with it starts the round
//	listed  the group lists the visitor
//	leave   until the answer is that it is gone
//	settle  Stable without it

// VisitStep is one step of a visit.
type VisitStep string

// The steps, in order.
const (
	VisitLook   VisitStep = "look"
	VisitID     VisitStep = "id"
	VisitJoin   VisitStep = "join"
	VisitListed VisitStep = "listed"
	VisitLeave  VisitStep = "leave"
	VisitSettle VisitStep = "settle"
)

const (
	joinGroupWithID = 4                // the first JoinGroup version that tells an id before it lets anybody in
	visitLeaveLimit = 15 * time.Second // how long a visitor tries to leave
	visitFirstPoll  = time.Millisecond
	visitLastPoll   = 20 * time.Millisecond
	settlePoll      = 50 * time.Millisecond
	streamsProtocol = "stream"
	consumerType    = "consumer"
)

// VisitError says why a group was not asked for a rebalance, or why it is not
// known whether the visitor has left.
type VisitError struct {
	Group string
	Why   string
	Hint  string
	Err   error // nil when the group itself is the reason
	Busy  bool  // it rebalances at the moment
}

func (e *VisitError) Error() string {
	text := fmt.Sprintf("group %q: %s", e.Group, e.Why)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives the error of the request.
func (e *VisitError) Unwrap() error { return e.Err }

// Visit is a rebalance that was asked for.
type Visit struct {
	Visitor string // member id; "" when there never was one
	Session time.Duration
	Joined  time.Time              // zero: the group never heard of the visitor
	Took    time.Duration          // from the join until Stable without it
	Caught  bool                   // a round had the visitor as a member, and another followed
	Gone    bool                   // the visitor is not in the group, for certain
	Before  []string               // member ids, sorted
	Missing []string               // of these, who is not there afterwards; sorted
	After   *snapshot.ClassicGroup // Stable, or Empty when nobody is left
}

// Visit asks a classic Streams group for a rebalance. Whatever happens after the
// visitor has its id, a context that ends included, it leaves before Visit
// returns; the value says what is known then, also beside an error. step, where
// it is set, is told of each step before it begins.
func (c *Client) Visit(ctx context.Context, group string, step func(VisitStep)) (*Visit, error) {
	if step == nil {
		step = func(VisitStep) {}
	}
	v := &visiting{c: c, group: group, step: step, visit: &Visit{}}
	step(VisitLook)
	before, err := v.look(ctx)
	if err != nil {
		return v.visit, err
	}
	if v.metadata, err = visitorMetadata(before.Members); err != nil {
		return v.visit, &VisitError{Group: group, Why: "no visitor can be made", Hint: "a visitor copies what a live member says of itself", Err: err}
	}
	v.visit.Before = memberIDs(before)
	err = v.stay(ctx)
	if err != nil {
		return v.visit, err
	}
	step(VisitSettle)
	err = v.settle(ctx)
	return v.visit, err
}

// visiting is a visit that goes on.
type visiting struct {
	c        *Client
	group    string
	metadata []byte
	step     func(VisitStep)
	visit    *Visit
}

// look makes sure that the group can be visited: a JoinGroup would create a
// group that is not there, and a visitor of a broker that tells no ids could not
// leave.
func (v *visiting) look(ctx context.Context) (*snapshot.ClassicGroup, error) {
	s, err := v.c.Snapshot(ctx, Query{Groups: []string{v.group}, Describe: true, APIVersions: true})
	if err != nil {
		return nil, err
	}
	g := s.Group(v.group)
	if g == nil || g.Classic == nil || g.Classic.ErrorCode != 0 {
		for _, e := range s.Errors {
			if e.Object == "group "+v.group {
				return nil, &VisitError{Group: v.group, Why: "cannot be described", Hint: e.Hint, Err: errors.New(e.Text)}
			}
		}
		return nil, &VisitError{Group: v.group, Why: "is no classic group, or not there"}
	}
	d := g.Classic
	switch {
	case d.State != model.StateStable:
		return nil, &VisitError{Group: v.group, Why: fmt.Sprintf("is %s, and only a Stable group is asked for a rebalance", d.State), Busy: len(d.Members) > 0}
	case d.ProtocolType != consumerType || d.Protocol != streamsProtocol:
		return nil, &VisitError{Group: v.group, Why: fmt.Sprintf("has the protocol %s/%s, not that of Kafka Streams", d.ProtocolType, d.Protocol)}
	case len(d.Members) == 0:
		return nil, &VisitError{Group: v.group, Why: "has no members"}
	}
	return d, v.newEnough(s, g)
}

func (v *visiting) newEnough(s *snapshot.Snapshot, g *snapshot.Group) error {
	for i := range s.APIVersions {
		a := &s.APIVersions[i]
		if g.Coordinator != nil && a.Broker != *g.Coordinator {
			continue
		}
		if maxOf(a, int16(kmsg.JoinGroup)) < joinGroupWithID {
			return &VisitError{
				Group: v.group, Why: fmt.Sprintf("broker %d is older than Kafka 2.2, whose visitors cannot leave again", a.Broker),
				Hint: "wait for the app's own probing rebalance, or restart one of its instances",
			}
		}
		return nil
	}
	return &VisitError{Group: v.group, Why: "its coordinator did not tell which requests it knows", Hint: "try again"}
}

// maxOf is the newest version of a request that a broker knows, -1 when it does
// not know it at all.
func maxOf(a *snapshot.APIVersions, key int16) int16 {
	for _, k := range a.Keys {
		if k.Key == key {
			return k.Max
		}
	}
	return -1
}

func memberIDs(g *snapshot.ClassicGroup) []string {
	out := make([]string, len(g.Members))
	for i := range g.Members {
		out[i] = g.Members[i].ID
	}
	slices.Sort(out)
	return out
}

// stay joins, waits until the group lists the visitor, and leaves. From the
// moment that there is an id the leaving has a context of its own.
func (v *visiting) stay(ctx context.Context) (err error) {
	v.step(VisitID)
	if err := v.askID(ctx); err != nil {
		return err
	}
	joinCtx, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	answered := make(chan error, 1)
	defer func() {
		v.step(VisitLeave)
		gone := v.leave(ctx)
		giveUp()
		select { // the answer that came with the leave, or before it
		case e := <-answered:
			v.visit.Caught = v.visit.Caught || e == nil
		case <-time.After(visitLastPoll):
		}
		err = errors.Join(err, gone)
	}()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	v.step(VisitJoin)
	v.visit.Joined = time.Now()
	go func() { answered <- v.join(joinCtx) }()
	return v.untilListed(ctx, answered)
}

// untilListed waits until the group lists the visitor, or its join is answered.
func (v *visiting) untilListed(ctx context.Context, answered chan error) error {
	for pause := visitFirstPoll; ; pause = min(2*pause, visitLastPoll) {
		d, err := v.c.describeClassic(ctx, v.group)
		if err == nil && slices.Contains(memberIDs(d), v.visit.Visitor) {
			v.step(VisitListed)
			return nil
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		case err := <-answered:
			t.Stop()
			if err == nil {
				v.visit.Caught = true
				v.step(VisitListed)
				return nil
			}
			answered <- err
			return v.joinError("the visitor was not let in", err)
		case <-t.C:
		}
	}
}

// settle waits until the group is Stable without the visitor, or nobody is left.
func (v *visiting) settle(ctx context.Context) error {
	for {
		d, err := v.c.describeClassic(ctx, v.group)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			ids := memberIDs(d)
			if slices.Contains(ids, v.visit.Visitor) {
				v.visit.Gone = false
			} else if d.State == model.StateStable || d.State == model.StateEmpty {
				v.visit.Took, v.visit.After = time.Since(v.visit.Joined), d
				v.visit.Missing = slices.DeleteFunc(slices.Clone(v.visit.Before), func(id string) bool { return slices.Contains(ids, id) })
				v.visit.Gone = true
				return nil
			}
		}
		if err != nil && !isMoving(err) {
			return &VisitError{Group: v.group, Why: "the visitor has left, what came after is not known", Err: err}
		}
		if clock.Sleep(ctx, settlePoll) != nil {
			return context.Cause(ctx)
		}
	}
}

// isMoving reports an error that the next try may not give: a coordinator that
// moves, a connection that broke.
func isMoving(err error) bool {
	ke, ok := errors.AsType[*kerr.Error](err)
	return !ok || ke.Retriable
}

// describeClassic describes one group, from whichever broker coordinates it.
func (c *Client) describeClassic(ctx context.Context, group string) (*snapshot.ClassicGroup, error) {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{group}
	resp, err := req.RequestWith(ctx, c.cl)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(resp.Groups, func(g kmsg.DescribeGroupsResponseGroup) bool { return g.Group == group })
	if i < 0 {
		return nil, errLeftOut
	}
	if err := codeError(resp.Groups[i].ErrorCode); err != nil {
		return nil, err
	}
	return classicFromWire(&resp.Groups[i]), nil
}

// joinError words the refusal of a JoinGroup.
func (v *visiting) joinError(why string, err error) error {
	hint := ""
	switch {
	case errors.Is(err, kerr.GroupAuthorizationFailed):
		hint = fmt.Sprintf("needs READ on group %q: joining and leaving need it", v.group)
	case errors.Is(err, kerr.GroupMaxSizeReached):
		why = "has as many members as the broker allows (group.max.size), so there is no room for a visitor"
		hint = "raise group.max.size on the brokers, or wait for the app's own probing rebalance"
	case errors.Is(err, kerr.InconsistentGroupProtocol):
		hint = "its members have changed their protocol since it was described: look again"
	}
	return &VisitError{Group: v.group, Why: why, Hint: hint, Err: err}
}
