package seat

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// OnBrokerE2E notes when a sync was answered, which ends a round. Whether that
// was the assignment only the next call of assigned tells.
func (s *Seat) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e kgo.BrokerE2E) {
	if key != int16(kmsg.SyncGroup) || e.WriteErr != nil || e.ReadErr != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.synced = time.Now()
}

// lease is how long a silent coordinator still counts a member in for sure. A
// sixth of the session timeout is left to stop in.
func (s *Seat) lease() time.Duration { return s.o.SessionTimeout - s.o.SessionTimeout/6 }

// keepTime is the session's own timer: when the coordinator has not counted the
// member in for nearly a session timeout, the tasks are about to be another's.
//
// An answer alone says nothing: a broker that is no coordinator any more, or one
// that knows the member no more, answers too. The client does not tell what its
// heartbeats were answered, and sends none while it waits in a round. So the
// seat sends one of its own now and then, and only a sync with an assignment
// and an answer that counts the member in begin the lease anew.
//
// When the coordinator counts a member in that has stopped by this timer, no
// round comes by itself: the seat asks for one, or its tasks would run nowhere
// while it keeps its place.
func (s *Seat) keepTime() {
	step := s.o.SessionTimeout / 100
	tick := time.NewTicker(step)
	defer tick.Stop()
	asked, called := time.Time{}, time.Time{}
	for {
		select {
		case <-s.closed:
			return
		case <-tick.C:
		}
		s.mu.Lock()
		in, out, silent := s.in && !s.going, s.mute && !s.going, time.Since(s.heard)
		back := out && !s.joining && (s.forgotten || silent < s.lease())
		s.mu.Unlock()
		if back && time.Since(called) > s.o.SessionTimeout/4 {
			called = time.Now()
			s.client.ForceRebalance()
		}
		if in && silent > s.lease() {
			s.lost(ErrSilent)
			continue
		}
		if !in && !out || silent < s.o.SessionTimeout/4 || time.Since(asked) < s.o.SessionTimeout/8 {
			continue
		}
		asked = time.Now()
		wait := s.o.SessionTimeout / 4
		if in {
			wait = min(wait, s.lease()-silent)
		}
		s.ask(wait)
	}
}

// ask sends a heartbeat, of the round that goes on where one does, and takes in
// what is said about the membership. An illegal generation says nothing: the
// answer to a join may be on its way.
func (s *Seat) ask(wait time.Duration) {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group = s.o.Group
	req.MemberID, req.Generation = s.client.GroupMetadata()
	if req.MemberID == "" {
		return
	}
	if s.o.InstanceID != "" {
		req.InstanceID = kmsg.StringPtr(s.o.InstanceID)
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	sent := time.Now()
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil {
		return
	}
	switch resp.ErrorCode {
	case 0, kerr.RebalanceInProgress.Code:
		s.mu.Lock()
		if sent.After(s.heard) {
			s.heard = sent
		}
		s.mu.Unlock()
	case kerr.UnknownMemberID.Code, kerr.FencedInstanceID.Code:
		if id, _ := s.client.GroupMetadata(); id == req.MemberID {
			s.lost(ErrForgotten)
		}
	}
}
