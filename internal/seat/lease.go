package seat

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The requests by whose answers a member knows that the coordinator still
// counts it in.
const (
	keyJoin      = 11
	keyHeartbeat = 12
	keySync      = 14
)

// OnBrokerE2E notes when the coordinator answered. A session begins anew when
// the broker has the heartbeat, hence no earlier than it was sent; joins and
// syncs are held by the broker, and count when they are answered.
func (s *Seat) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e kgo.BrokerE2E) {
	if e.WriteErr != nil || e.ReadErr != nil {
		return
	}
	at := time.Now()
	switch key {
	case keyHeartbeat:
		at = at.Add(-e.DurationE2E())
	case keyJoin, keySync:
	default:
		return
	}
	s.hear(at)
}

func (s *Seat) hear(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.After(s.heard) {
		s.heard = at
	}
}

// lease is how long a silent coordinator still counts a member in for sure. A
// sixth of the session timeout is left to stop in.
func (s *Seat) lease() time.Duration { return s.o.SessionTimeout - s.o.SessionTimeout/6 }

// keepTime is the session's own timer: when the coordinator was silent for
// nearly a session timeout, the tasks are about to be another's. While a join is
// held, it asks whether the coordinator is still there. When the coordinator is
// heard again and has not thrown the member out, no round comes by itself: the
// seat asks for one, or its tasks would run nowhere while it keeps its place.
func (s *Seat) keepTime() {
	step := s.o.SessionTimeout / 100
	tick := time.NewTicker(step)
	defer tick.Stop()
	asked, called := time.Now(), time.Time{}
	for {
		select {
		case <-s.closed:
			return
		case <-tick.C:
		}
		s.mu.Lock()
		in, joining, silent := s.in && !s.going, s.joining, time.Since(s.heard)
		back := s.mute && !s.going && !joining && silent < s.lease()
		s.mute = s.mute || in && silent > s.lease()
		s.mu.Unlock()
		if back && time.Since(called) > s.o.SessionTimeout/4 {
			called = time.Now()
			s.client.ForceRebalance()
		}
		if !in {
			continue
		}
		if silent > s.lease() {
			s.lost(ErrSilent)
			continue
		}
		if joining && silent > s.o.SessionTimeout/4 && time.Since(asked) > s.o.SessionTimeout/8 {
			asked = time.Now()
			s.ask(min(s.o.SessionTimeout/4, s.lease()-silent))
		}
	}
}

// ask sends a heartbeat of the last generation beside a held join. Its answer
// counts when the coordinator still knows that generation.
func (s *Seat) ask(wait time.Duration) {
	s.mu.Lock()
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.Generation, req.MemberID = s.o.Group, s.session.Generation, s.session.MemberID
	s.mu.Unlock()
	if s.o.InstanceID != "" {
		req.InstanceID = kmsg.StringPtr(s.o.InstanceID)
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	// Whether it was answered at all is seen by OnBrokerE2E; here only the one
	// answer matters by which the membership is over.
	resp, err := req.RequestWith(ctx, s.client)
	if err == nil && resp.ErrorCode == kerr.UnknownMemberID.Code {
		s.lost(ErrForgotten)
	}
}
