package seat

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// balancer is the learner protocol as the client sees it: metadata and
// assignments are the handler's bytes, and no partition is ever assigned, so
// that the client neither fetches nor asks for a second round.
type balancer struct{ s *Seat }

// ProtocolName is the protocol's name in both modes.
func (*balancer) ProtocolName() string { return Protocol }

// IsCooperative is true so that the client revokes nothing by itself. It also
// buys a heartbeat half a second after each round.
func (*balancer) IsCooperative() bool { return true }

// JoinGroupMetadata is called at each join, twice at the first one.
func (b *balancer) JoinGroupMetadata([]string, map[string][]int32, int32) []byte {
	b.s.begun.Store(true)
	b.s.checkForgotten()
	b.s.payOwed()
	return b.s.o.Handler.Metadata()
}

// checkForgotten finds the member that the coordinator forgot: the client then
// joins anew without a word.
func (s *Seat) checkForgotten() {
	<-s.opened
	if id, _ := s.client.GroupMetadata(); id == "" {
		s.lost(ErrForgotten)
	}
}

// ParseSyncAssignment keeps the bytes and gives the client nothing.
func (b *balancer) ParseSyncAssignment(raw []byte) (map[string][]int32, error) {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	b.s.pending = Session{Protocol: Protocol, Assignment: bytes.Clone(raw)}
	return nil, nil
}

// MemberBalancer asks the client for the partition counts of the sources.
func (b *balancer) MemberBalancer(members []kmsg.JoinGroupResponseMember) (kgo.GroupMemberBalancer, map[string]struct{}, error) {
	topics := map[string]struct{}{}
	for _, t := range b.s.o.Sources {
		topics[t] = struct{}{}
	}
	return &round{s: b.s, members: members}, topics, nil
}

// round is one computation of the leader.
type round struct {
	s       *Seat
	members []kmsg.JoinGroupResponseMember
	info    kgo.BalanceInfo
}

// SetBalanceInfo takes generation and leader.
func (r *round) SetBalanceInfo(i kgo.BalanceInfo) { r.info = i }

// Balance is never called: BalanceOrError is there.
func (r *round) Balance(map[string]int32) kgo.IntoSyncAssignment { return nil }

// BalanceOrError lets the handler assign.
func (r *round) BalanceOrError(partitions map[string]int32) (kgo.IntoSyncAssignment, error) {
	in := Round{Generation: r.info.Generation, Leader: r.info.LeaderID, Partitions: partitions}
	for _, m := range r.members {
		in.Members = append(in.Members, Member{ID: m.MemberID, Metadata: m.ProtocolMetadata})
	}
	slices.SortFunc(in.Members, func(a, b Member) int { return strings.Compare(a.ID, b.ID) })
	given, err := r.s.o.Handler.Assign(in)
	if err != nil {
		return nil, fmt.Errorf("assign generation %d of group %q: %w", in.Generation, r.s.o.Group, err)
	}
	var p plan
	for _, m := range in.Members {
		p = append(p, kmsg.SyncGroupRequestGroupAssignment{MemberID: m.ID, MemberAssignment: given[m.ID]})
	}
	return p, nil
}

// plan is what the leader sends, by member id.
type plan []kmsg.SyncGroupRequestGroupAssignment

// IntoSyncAssignment gives the plan itself.
func (p plan) IntoSyncAssignment() []kmsg.SyncGroupRequestGroupAssignment { return p }

// older is an assignor of the job's plain consumers, offered beside the learner
// protocol. The client gets nothing from it either.
type older struct {
	kgo.GroupBalancer
	s *Seat
}

// IsCooperative is as the learner protocol's: the handler stops what it must.
func (*older) IsCooperative() bool { return true }

// JoinGroupMetadata claims nothing: everything was revoked before the join.
func (o *older) JoinGroupMetadata(topics []string, _ map[string][]int32, _ int32) []byte {
	return o.GroupBalancer.JoinGroupMetadata(topics, nil, -1)
}

// ParseSyncAssignment keeps the partitions.
func (o *older) ParseSyncAssignment(raw []byte) (map[string][]int32, error) {
	owned, err := o.GroupBalancer.ParseSyncAssignment(raw)
	if err != nil {
		return nil, err
	}
	if owned == nil {
		owned = map[string][]int32{}
	}
	for _, list := range owned {
		slices.Sort(list)
	}
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	o.s.pending = Session{Protocol: o.ProtocolName(), Owned: owned}
	return nil, nil
}
