package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/seat"
)

// chair is the place of one worker in the group. The seat on it changes with
// the protocol type.
type chair struct {
	i   *Instance
	n   int
	ses *session

	// Under Instance.mu:
	seat   *seat.Seat
	moves  int // member.moves when the seat was taken
	taken  int // number of the seat: what an older one says does not count
	moving bool
}

// sitter is the handler of one seat.
type sitter struct {
	*chair
	number int
	moves  int
	as     Mode
	last   []byte // metadata for a join after the mode has changed
	told   string // text of the last refusal reported
	toldAt time.Time
}

func protocolType(m Mode) string {
	if m == Upgrading {
		return seat.TypeConsumer
	}
	return seat.TypeStream
}

// move brings the chair's seat to the mode that the worker wants to join in, in
// the background; Instance.mu is held. It leaves one type only when nothing of
// the worker is open.
func (c *chair) move() {
	if c.moving {
		return
	}
	c.moving = true
	c.i.work.Go(c.moveTo)
}

func (c *chair) moveTo() {
	i := c.i
	i.mu.Lock()
	defer i.mu.Unlock()
	defer func() { c.moving = false; i.cond.Broadcast() }()
	for !i.dead && !i.departing {
		i.waitStopped(func(_ model.TaskID, s *slot) bool { return s.owner == c.n })
		as, moves := i.st.members[c.n].as, i.st.members[c.n].moves
		if c.seat != nil && c.moves == moves {
			return
		}
		old := c.seat
		c.seat = nil
		c.taken++
		c.ses.set(func(s *session) { s.in, s.last, s.owned = false, false, nil })
		hurried := i.st.sw != nil
		number := c.taken
		i.mu.Unlock()
		if old != nil {
			ctx, cancel := context.WithTimeout(i.ctx, leaveWait)
			if err := old.Leave(ctx); err != nil {
				i.events.emit(Event{Kind: Trouble, Worker: c.n, Err: err})
			}
			cancel()
		}
		s, err := i.sit(&sitter{chair: c, number: number, moves: moves, as: as})
		i.mu.Lock()
		if err != nil {
			i.events.emit(Event{Kind: Trouble, Worker: c.n, Err: err})
			i.mu.Unlock()
			_ = clock.Sleep(i.ctx, seatRetry) // an instance that ends is dead first
			i.mu.Lock()
			continue
		}
		s.Hurry(hurried)
		c.seat, c.moves = s, moves
		c.ses.set(func(x *session) { x.seat = s })
	}
}

const (
	leaveWait = 10 * time.Second // for the goodbye of a seat
	seatRetry = 5 * time.Second  // before a seat is opened again that could not be
)

// sit opens a seat.
func (i *Instance) sit(h *sitter) (*seat.Seat, error) {
	o := seat.Options{
		Group: i.c.Group, Opts: i.opts, Network: i.net, ClientID: fmt.Sprintf("%s-%s", i.c.ClientID, workerLabel(h.n)),
		SessionTimeout: i.c.SessionTimeout, RebalanceTimeout: i.c.RebalanceTimeout, Heartbeat: i.c.Heartbeat,
		MetadataMaxAge: i.c.MetadataMaxAge, Type: protocolType(h.as), Handler: h, TopicID: i.topics.id,
	}
	for _, t := range i.st.topology {
		o.Sources = append(o.Sources, t.inputs()...)
	}
	o.Sources = unique(o.Sources)
	if o.Type == seat.TypeStream && i.topics.allThere() && i.link.isThere() {
		o.Anchor = i.link.topic.Name()
	}
	if i.c.InstanceID != "" {
		o.InstanceID = fmt.Sprintf("%s-%d", i.c.InstanceID, h.n)
	}
	if h.as == Upgrading {
		o.Older = append([]kgo.GroupBalancer(nil), i.c.Older...)
	}
	return seat.Open(o)
}

// gone says that another seat has taken the chair; Instance.mu is held.
func (h *sitter) gone() bool { return h.i.dead || h.number != h.taken }

// stale says that the seat is gone, or about to be since the mode has changed:
// what the group decides that is left does not count. Instance.mu is held.
func (h *sitter) stale() bool { return h.gone() || h.i.st.members[h.n].moves != h.moves }

// BeforeJoin stops what must be revoked, and returns when it is committed. That
// includes what the last round gave to another worker of the instance, which may
// never have heard of it: then nobody claims it in the next. Meanwhile it looks
// at the topics, so that the metadata are of today.
func (h *sitter) BeforeJoin() {
	i := h.i
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		ctx, cancel := context.WithTimeout(i.ctx, time.Second)
		defer cancel()
		if err := i.topics.refresh(ctx, i.c.MetadataMaxAge); err != nil && i.ctx.Err() == nil {
			i.events.emit(Event{Kind: Trouble, Worker: h.n, Err: err})
		}
	}()
	h.closeBefore()
	<-looked
}

// closeBefore is BeforeJoin's part with the tasks.
func (h *sitter) closeBefore() {
	i := h.i
	i.mu.Lock()
	defer i.mu.Unlock()
	if h.stale() {
		return
	}
	h.ses.set(func(s *session) { s.closing = true })
	closed := map[model.TaskID]bool{}
	for _, id := range i.st.beforeJoin(h.n) {
		closed[id] = true
	}
	i.reconcile()
	i.waitStopped(func(id model.TaskID, s *slot) bool {
		return s.owner == h.n && (closed[id] || !i.st.members[h.n].has(id))
	})
	h.ses.set(func(s *session) { s.closing = false })
}

// Metadata is what the worker joins with. A seat that is about to be left says
// what it got last, or said last: it must be valid bytes, since under type
// consumer the broker reads them.
func (h *sitter) Metadata() []byte {
	i := h.i
	counts := i.topics.counts()
	i.mu.Lock()
	defer i.mu.Unlock()
	stale := h.stale()
	if stale && h.last != nil {
		return h.last
	}
	md := i.st.bare(h.n, counts)
	if !stale {
		md = i.st.metadata(h.n, time.Now(), counts, i.tasks.Lag)
	}
	raw, err := groupmeta.EncodeWorkerMetadata(protocolType(h.as), md)
	if err != nil {
		i.events.emit(Event{Kind: Trouble, Worker: h.n, Err: fmt.Errorf("metadata of the worker: %w", err)})
		return h.last
	}
	h.last = raw
	return raw
}

// Assign is the leader's duty.
func (h *sitter) Assign(r seat.Round) (map[string][]byte, error) {
	i := h.i
	ctx, cancel := context.WithTimeout(i.ctx, 5*time.Second)
	err := i.topics.ensure(ctx, r.Partitions)
	cancel()
	if err != nil {
		i.events.emit(Event{Kind: Trouble, Worker: h.n, Err: err})
	}
	i.notice(protocolType(h.as), r)
	i.mu.Lock()
	defer i.mu.Unlock()
	l, err := i.st.decide(protocolType(h.as), r, h.stale() || i.st.unaware(h.n), time.Now())
	if err != nil {
		return nil, err
	}
	if h.stale() {
		return l.encode(protocolType(h.as), r.Generation)
	}
	i.led, i.ledGen = l, r.Generation
	i.events.emit(Event{Kind: RoundLed, Worker: h.n, Generation: r.Generation, Leader: true, Round: l.round(r.Generation)})
	return l.encode(protocolType(h.as), r.Generation)
}

// Assigned takes the outcome of a round.
func (h *sitter) Assigned(s seat.Session) {
	i := h.i
	counts := i.topics.counts()
	i.mu.Lock()
	defer i.mu.Unlock()
	if h.stale() {
		if !h.gone() {
			h.holdLast(s)
		}
		return
	}
	e := Event{Kind: RoundDone, Worker: h.n, Generation: s.Generation}
	if s.Protocol != seat.Protocol {
		i.st.assignedByOlder(h.n, s.Generation, s.MemberID, s.Owned)
		e.Kind, e.Text = OlderWon, s.Protocol
	} else {
		a, err := groupmeta.ParseWorkerAssignment(protocolType(h.as), s.Assignment)
		if err != nil {
			h.unusable(s, err)
			return
		}
		led := i.led != nil && i.ledGen == s.Generation && a.Leader == i.id
		i.st.assigned(h.n, s.Generation, s.MemberID, a, led, time.Now())
		e.Leader, e.Round = led, i.ownRound(h.n, s.Generation, a)
	}
	if raw, err := groupmeta.EncodeWorkerMetadata(protocolType(h.as), i.st.standing(h.n, counts, i.tasks.Lag)); err == nil {
		h.last = raw
	}
	i.events.generation(h.n, s.Generation)
	h.hold(s)
	i.events.emit(e)
	i.reconcile()
	i.wakeUp()
	i.link.say()
}

// hold notes the membership by which the worker's tasks commit from now on.
func (h *sitter) hold(s seat.Session) {
	owned := map[model.TaskID]bool{}
	for id, c := range h.i.st.members[h.n].tasks {
		owned[id] = c.role == model.Active
	}
	h.ses.set(func(x *session) {
		x.member, x.generation, x.in, x.closing, x.last, x.owned = s.MemberID, s.Generation, true, false, false, owned
	})
}

// holdLast notes a round of the group that is about to be left: tasks that are
// being stopped still commit by it, if they are still the worker's.
func (h *sitter) holdLast(s seat.Session) {
	owned := map[model.TaskID]bool{}
	if a, err := groupmeta.ParseWorkerAssignment(protocolType(h.as), s.Assignment); err == nil && s.Protocol == seat.Protocol {
		for _, t := range a.Tasks {
			owned[t.ID] = t.Role == model.Active
		}
	}
	h.ses.set(func(x *session) { x.member, x.generation, x.owned = s.MemberID, s.Generation, owned })
}

// unusable takes an assignment that is none: the leader does not know us, or is
// of another software. What we had may be another's by now.
func (h *sitter) unusable(s seat.Session, err error) {
	i := h.i
	if len(s.Assignment) == 0 {
		err = errors.New("the leader gave this worker nothing: it does not understand its metadata")
	}
	i.st.lost(h.n)
	m := i.st.members[h.n]
	m.in, m.id, m.pause = true, s.MemberID, longestPause
	m.wish(time.Now().Add(longestPause), "the leader did not understand the last round")
	h.hold(s)
	i.events.emit(Event{Kind: Trouble, Worker: h.n, Generation: s.Generation, Err: fmt.Errorf("assignment of generation %d: %w", s.Generation, err)})
	i.reconcile()
}

// Lost stops everything of the worker before it may join again.
func (h *sitter) Lost(err error) {
	i := h.i
	i.mu.Lock()
	defer i.mu.Unlock()
	if h.gone() {
		return
	}
	h.ses.set(func(s *session) { s.in, s.owned = false, nil })
	if h.stale() {
		return // everything is closed already, and carried over
	}
	i.st.lost(h.n)
	for _, s := range i.slots {
		if s.owner != h.n || s.is != slotActive {
			continue
		}
		s.quick = true
		if s.giveUp != nil { // it is being stopped already, at leisure
			time.AfterFunc(i.stopWait(true), s.giveUp)
		}
	}
	i.events.emit(Event{Kind: MembershipLost, Worker: h.n, Err: err})
	i.reconcile()
	i.waitStopped(func(_ model.TaskID, s *slot) bool { return s.owner == h.n })
}

// refusalEvery is how often the same refusal is reported.
const refusalEvery = 5 * time.Second

// Refused notes that a join failed.
func (h *sitter) Refused(err error) {
	i := h.i
	i.mu.Lock()
	defer i.mu.Unlock()
	if h.stale() {
		return
	}
	if errors.Is(err, kerr.InconsistentGroupProtocol) {
		i.st.refusedFor(h.n, time.Now())
	}
	if err.Error() != h.told || time.Since(h.toldAt) > refusalEvery {
		h.told, h.toldAt = err.Error(), time.Now()
		i.events.emit(Event{Kind: JoinRefused, Worker: h.n, Err: err})
	}
}
