package seat

import (
	"cmp"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The protocol types of a worker group and the name of its protocol under
// either (docs/protocol/README.md).
const (
	TypeStream   = "stream"
	TypeConsumer = "consumer"
	Protocol     = "learner"
)

// Options says who joins what. Group, Sources, Type and Handler are needed.
type Options struct {
	Group   string
	Opts    []kgo.Opt // seeds, security, log
	Network *Network  // connections of the instance; nil: one of its own

	ClientID   string
	InstanceID string   // of a static member; "" for a dynamic one
	Sources    []string // topics whose partitions are watched; at least one must exist before the seat joins

	// Anchor is a topic that the client subscribes to instead of the sources, with
	// TypeStream only; "": it subscribes to the sources. A client keeps all partitions
	// of its topics in memory, and only the leader needs those of the sources, which
	// it then asks for. All sources must exist already: one that is created later
	// would not be seen.
	Anchor string

	// TopicID gives the id of a topic where it is known already, which saves a
	// request; nil: none is. An id that the coordinator refuses is looked up.
	TopicID func(topic string) (id [16]byte, known bool)

	SessionTimeout   time.Duration // 0: 45 s
	RebalanceTimeout time.Duration // 0: 60 s
	Heartbeat        time.Duration // 0: 3 s
	MetadataMaxAge   time.Duration // how long a new partition may go unnoticed; 0: 5 min

	Type  string              // TypeStream or TypeConsumer
	Older []kgo.GroupBalancer // offered after the learner protocol, under TypeConsumer only

	Handler Handler
}

// Handler is told what happens to the membership. Calls come from one goroutine
// at a time, but for Lost, which the session's own timer may cause at any
// moment. No call may wait for Leave.
type Handler interface {
	// BeforeJoin says that a round begins: whatever shall move must be stopped
	// and committed when it returns. Not called before the first join, nor after
	// Lost.
	BeforeJoin()
	// Metadata gives the bytes to join with, wrapped as the type demands.
	Metadata() []byte
	// Assign is the leader's duty: the bytes for each member, by member id.
	// Members that are not in the result get zero bytes.
	Assign(Round) (map[string][]byte, error)
	// Assigned ends a round.
	Assigned(Session)
	// Lost says that the membership is gone, or about to be since the
	// coordinator has not counted the member in for nearly a session timeout.
	// Called at most once between two Assigned.
	Lost(error)
	// Refused says that a join failed. The seat goes on trying.
	Refused(error)
}

// Round is what the leader assigns by.
type Round struct {
	Generation int32
	Leader     string           // member id, always one's own
	Members    []Member         // by member id
	Partitions map[string]int32 // of the topics of all members that the leader knows of
}

// Member is one member of a round.
type Member struct {
	ID       string
	Metadata []byte
}

// Session is what a round ended with.
type Session struct {
	Generation int32
	MemberID   string
	Protocol   string             // that won: Protocol or an older one's name
	Assignment []byte             // as the leader sent it
	Owned      map[string][]int32 // partitions by an older protocol's word, sorted; nil when the learner protocol won
}

// ErrSilent says that for nearly a session timeout the coordinator has neither
// assigned tasks to the member nor accepted a heartbeat of it: it is about to give
// the member's tasks away.
var ErrSilent = errors.New("the group coordinator has not confirmed this member for nearly the session timeout")

// ErrForgotten says that the coordinator does not know the member any more.
var ErrForgotten = errors.New("the group coordinator does not know this member any more")

// complete refuses what cannot work, and gives what is not set its default.
func (o *Options) complete() error {
	switch {
	case o.Group == "":
		return errors.New("a seat without a group")
	case len(o.Sources) == 0:
		return errors.New("a seat without source topics")
	case o.Handler == nil:
		return errors.New("a seat without a handler")
	case o.Type != TypeStream && o.Type != TypeConsumer:
		return errors.New("a seat's protocol type is stream or consumer")
	case o.Anchor != "" && o.Type != TypeStream:
		return errors.New("a seat has an anchor with type stream only")
	case len(o.Older) > 0 && o.Type != TypeConsumer:
		return errors.New("older protocols go with type consumer only")
	}
	o.SessionTimeout = cmp.Or(o.SessionTimeout, 45*time.Second)
	o.RebalanceTimeout = cmp.Or(o.RebalanceTimeout, time.Minute)
	o.Heartbeat = cmp.Or(o.Heartbeat, 3*time.Second)
	o.MetadataMaxAge = cmp.Or(o.MetadataMaxAge, 5*time.Minute)
	if o.Network == nil {
		o.Network = NewNetwork()
	}
	return nil
}
