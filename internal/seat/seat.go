package seat

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Seat is one member of the group. Its methods may be called from any
// goroutine.
type Seat struct {
	o      Options
	client *kgo.Client
	end    context.CancelFunc // ends everything that the client does
	watch  sync.WaitGroup
	begun  atomic.Bool   // the client has begun to join
	opened chan struct{} // closed when client is set: the client starts before it is returned
	closed chan struct{}
	once   sync.Once

	commits *commits

	mu      sync.Mutex
	hurried bool      // Hurry
	going   bool      // it leaves or crashed: no round concerns the handler any more
	in      bool      // between Assigned and Lost
	joining bool      // between the end of a session and the next Assigned
	owed    bool      // a session broke off before the handler was told of the round
	heard   time.Time // when the coordinator last surely counted it in
	synced  time.Time // when a sync was answered last
	mute    bool      // lost by our own timer or heartbeat, of which the client does not know
	session Session   // of the last Assigned
	pending Session   // of the round that goes on: what the sync brought

	forgotten bool                // with mute: the coordinator does not know it any more
	ids       map[string][16]byte // of topics
	wrong     map[string]bool     // topics of which an id turned out to be wrong: Options.TopicID is not asked about them
}

// Open starts to join and returns at once.
func Open(o Options) (*Seat, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	s := &Seat{o: o, opened: make(chan struct{}), closed: make(chan struct{}), commits: newCommits(), ids: map[string][16]byte{}, wrong: map[string]bool{}}
	ctx, cancel := context.WithCancel(context.Background())
	s.end = cancel
	opts, err := o.Network.Over(o.Opts)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("client options: %w", err)
	}
	balancers := []kgo.GroupBalancer{&balancer{s: s}}
	for _, b := range o.Older {
		balancers = append(balancers, &older{GroupBalancer: b, s: s})
	}
	opts = append(opts,
		kgo.WithContext(ctx), kgo.WithHooks(s),
		kgo.ConsumerGroup(o.Group), kgo.ConsumeTopics(joinBy(&o)...),
		kgo.GroupProtocol(o.Type), kgo.Balancers(balancers...), kgo.DisableAutoCommit(),
		kgo.OnPartitionsRevoked(func(context.Context, *kgo.Client, map[string][]int32) { s.beforeJoin() }),
		kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { s.assigned() }),
		kgo.OnPartitionsLost(func(context.Context, *kgo.Client, map[string][]int32) {}),
		kgo.SessionTimeout(o.SessionTimeout), kgo.RebalanceTimeout(o.RebalanceTimeout), kgo.HeartbeatInterval(o.Heartbeat),
		kgo.MetadataMaxAge(o.MetadataMaxAge), kgo.MetadataMinAge(min(250*time.Millisecond, o.MetadataMaxAge)), kgo.RetryBackoffFn(s.backoff),
	)
	if o.ClientID != "" {
		opts = append(opts, kgo.ClientID(o.ClientID))
	}
	if o.InstanceID != "" {
		opts = append(opts, kgo.InstanceID(o.InstanceID))
	}
	if s.client, err = kgo.NewClient(opts...); err != nil {
		cancel()
		return nil, fmt.Errorf("join group %q: %w", o.Group, err)
	}
	close(s.opened)
	s.watch.Go(s.keepTime)
	if o.Anchor != "" {
		s.watch.Go(s.fallBack)
	}
	return s, nil
}

// hurry is the pause between two tries while a mode switch is on.
const hurry = 50 * time.Millisecond

// Hurry makes a refused seat try again every 50 ms, or with the usual growing
// pause. It is for the time of a mode switch.
func (s *Seat) Hurry(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hurried = on
}

func (s *Seat) backoff(fails int) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hurried {
		return hurry
	}
	return min(250*time.Millisecond<<min(max(fails-1, 0), 5), 5*time.Second)
}

// Rejoin asks for a round. A follower gets one only when its metadata differ
// from those that it joined with before.
func (s *Seat) Rejoin() { s.client.ForceRebalance() }

func (s *Seat) beforeJoin() {
	s.mu.Lock()
	s.joining = true
	tell := s.in && !s.going
	s.mu.Unlock()
	if tell {
		s.o.Handler.BeforeJoin()
	}
}

func (s *Seat) assigned() {
	<-s.opened
	id, generation := s.client.GroupMetadata()
	s.mu.Lock()
	s.pending.MemberID, s.pending.Generation = id, generation
	s.session = s.pending
	s.in, s.joining, s.mute, s.forgotten, s.heard = true, false, false, false, s.synced
	session, going := s.session, s.going
	s.mu.Unlock()
	if !going {
		s.learnIDs()
		s.o.Handler.Assigned(session)
	}
}

// lost tells the handler once that the membership is gone.
func (s *Seat) lost(err error) {
	s.mu.Lock()
	tell := s.in && !s.going
	s.in = false
	if tell {
		s.mute, s.forgotten = errors.Is(err, ErrSilent) || errors.Is(err, ErrForgotten), errors.Is(err, ErrForgotten)
	}
	s.mu.Unlock()
	if tell {
		s.o.Handler.Lost(err)
	}
}

// OnGroupManageError is the client's word that a session or a join failed. What
// the coordinator did not say is no lost membership yet: the client joins again
// under its member id, and the session's own timer watches.
func (s *Seat) OnGroupManageError(err error) {
	transient := isTransient(err)
	s.mu.Lock()
	was, going := s.in, s.going
	s.joining = true
	s.owed = s.owed || was && transient
	s.mu.Unlock()
	switch {
	case going:
	case was && !transient:
		s.lost(err)
	case !was:
		s.o.Handler.Refused(err)
	}
}

// isTransient reports whether an error says nothing about the membership.
func isTransient(err error) bool {
	_, said := errors.AsType[*kerr.Error](err)
	return !said || kerr.IsRetriable(err)
}

// payOwed tells the handler of a round that began with a session broken off.
func (s *Seat) payOwed() {
	s.mu.Lock()
	owed := s.owed
	s.owed = false
	s.mu.Unlock()
	if owed {
		s.beforeJoin()
	}
}

// leaveWait is how long a leaving seat waits for its join in flight. Then it
// says so by another connection.
const leaveWait = 3 * time.Second

// Leave leaves the group for good, static members too, and closes the seat.
// The handler hears nothing any more. A round in flight is taken to its end
// first, for a moment.
func (s *Seat) Leave(ctx context.Context) error {
	s.mu.Lock()
	s.going = true
	s.mu.Unlock()
	var err error
	s.once.Do(func() {
		soft, cancel := context.WithTimeout(ctx, leaveWait)
		err = s.client.LeaveGroupContext(soft)
		cancel()
		if err != nil || s.o.InstanceID != "" {
			err = s.sayGoodbye(ctx)
		}
		s.close()
	})
	return err
}

// sayGoodbye sends a LeaveGroup of its own.
func (s *Seat) sayGoodbye(ctx context.Context) error {
	id, _ := s.client.GroupMetadata()
	if id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, leaveWait)
	defer cancel()
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.MemberID = s.o.Group, id
	m := kmsg.NewLeaveGroupRequestMember()
	m.MemberID = id
	if s.o.InstanceID != "" {
		m.InstanceID = kmsg.StringPtr(s.o.InstanceID)
	}
	req.Members = append(req.Members, m)
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil {
		return fmt.Errorf("leave group %q: %w", s.o.Group, err)
	}
	code := resp.ErrorCode
	if len(resp.Members) > 0 && code == 0 {
		code = resp.Members[0].ErrorCode
	}
	if err = kerr.ErrorForCode(code); err != nil && !errors.Is(err, kerr.UnknownMemberID) {
		return fmt.Errorf("leave group %q: %w", s.o.Group, err)
	}
	return nil
}

// Crash ends the seat as a crash would: the network is cut, nobody is told.
func (s *Seat) Crash() {
	s.mu.Lock()
	s.going = true
	s.mu.Unlock()
	s.o.Network.Cut()
	s.once.Do(s.close)
}

// background runs f in a goroutine that close waits for; once the seat is being
// closed it does not. commits.closed is what decides: it is set before close waits.
func (s *Seat) background(f func()) {
	s.commits.mu.Lock()
	defer s.commits.mu.Unlock()
	if !s.commits.closed {
		s.watch.Go(f)
	}
}

func (s *Seat) close() {
	close(s.closed)
	s.commits.close()
	s.end()
	s.client.Close()
	s.watch.Wait()
}
