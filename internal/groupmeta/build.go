package groupmeta

import (
	"errors"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// BuildOptions is what a person told besides the broker's answers.
type BuildOptions struct {
	Standbys        *int               // --standbys N; nil: group config or estimate
	Topology        *model.Topology    // --topology FILE, parsed by ParseTopologyText; nil: infer
	BalancingFactor float64            // r of the balance shown; 0 means 2
	IgnoreMissing   bool               // --ignore-missing-topics: a deleted topic is no error
	Earlier         *snapshot.Snapshot // an earlier look at the same group (--sample); nil: one look
	SkipOffsets     bool               // build without lag, restore and offsets (get groups)
}

// ErrNotFound is returned when the snapshot says that the group does not exist
// (field case 57).
var ErrNotFound = errors.New("group not found")

// ErrNoAnswer is returned when the snapshot holds no answer about the group.
var ErrNoAnswer = errors.New("no answer about the group")

// Build makes the model of one group out of a snapshot. The error is
// ErrNotFound (wrapped) or says that the snapshot holds no answer about the
// group (ErrNoAnswer, wrapped); whatever else is wrong is in the group's
// Errors and Findings. It is pure: times are counted from the snapshot's
// TakenAt, and the order of the snapshot's lists means nothing.
func Build(s *snapshot.Snapshot, group string, o BuildOptions) (*model.Group, error) {
	return NewBuilder(s).Build(group, o)
}

// BuildAll makes the model of every group of the snapshot, by id. Groups that
// were not found are left out.
func BuildAll(s *snapshot.Snapshot, o BuildOptions) []*model.Group {
	b := NewBuilder(s)
	out := make([]*model.Group, 0, len(s.Groups))
	for i := range s.Groups {
		if g, err := buildGroup(b.x, &s.Groups[i], o); err == nil {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b *model.Group) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// Builder makes the models of several groups of one snapshot, which it looks
// through once. The snapshot must not change meanwhile.
type Builder struct{ x *snapshotIndex }

// NewBuilder looks through a snapshot.
func NewBuilder(s *snapshot.Snapshot) *Builder { return &Builder{newSnapshotIndex(s)} }

// Build makes the model of one group, as the function Build does.
func (b *Builder) Build(group string, o BuildOptions) (*model.Group, error) {
	in := b.x.groups[group]
	if in == nil {
		return nil, noAnswer(group)
	}
	return buildGroup(b.x, in, o)
}

func buildGroup(x *snapshotIndex, in *snapshot.Group, o BuildOptions) (*model.Group, error) {
	b := &groupBuilder{x: x, in: in, o: o, g: &model.Group{ID: in.ID}}
	b.errors = x.errorsAbout(in.ID)
	kind, basis, found := kindOf(x, in)
	switch {
	case !found:
		return nil, notFound(in.ID)
	case !answered(in) && len(b.errors) == 0:
		return nil, noAnswer(in.ID)
	}
	b.g.Kind, b.g.KindBasis = kind, basis
	b.head()
	b.g.Unread = !described(in)
	b.readControl()
	switch kind {
	case model.Classic:
		b.classic()
	case model.Streams:
		b.streams()
	case model.Worker:
		b.worker()
	default:
		b.plain()
	}
	b.finish()
	return b.g, nil
}

// groupBuilder is one group on its way from answers to model. Its steps follow
// one another; each leaves what the next ones need.
type groupBuilder struct {
	x  *snapshotIndex
	in *snapshot.Group
	o  BuildOptions
	g  *model.Group

	members []builtMember // sorted by client id and id from placeTasks on
	errors  []model.ReadError

	subs     map[subtopologyKey]*subtopologyParts
	tasks    map[model.TaskID]*taskPlaces
	taskIDs  []model.TaskID // of tasks, sorted
	allTasks []model.TaskID // topologyTasks, once made
	offsets  map[model.TopicPartition]int
	unknown  bool             // some member's tasks could not be read
	standbys *standbyEstimate // classic groups
	listed   int              // input partitions of tasks listed out of a topology
	factor   int64            // balancing factor that the group itself follows, in thousandths; 0: none is known

	names      map[string]string // of instances by id, once asked for
	instanceOf map[string]string // instance ids by member id

	targets         map[model.TaskID]string         // streams groups: member that the target gives an active to
	targetStandbys  map[model.TaskID]int            // streams groups: standbys in the target
	handingOver     bool                            // worker groups: another round follows, tasks may be between owners
	plugIn          *plugInRound                    // classic groups: the round by its leader's word; nil unless it is the present one
	control         *control.State                  // what the control topic adds up to; nil when it was not read
	status          map[string]*instanceStatus      // worker groups: status records of the present round, by instance
	partitionOwners map[model.TopicPartition]string // groups that are no stream groups: member ids
}

// builtMember is a member with what else its bytes told.
type builtMember struct {
	model.Member
	instance string // id of its instance
	process  bool   // instance is the id that the process itself gave
	endpoint string
	rack     string
	tags     map[string]string
	sums     map[model.TaskID]int64 // offset sums reported by it, SumRunning for running tasks
	ends     map[model.TaskID]int64 // ends of the same sums, streams groups
	owned    map[model.TopicPartition]bool
	next     *int64         // next rebalance, classic groups of format 7 and later
	base     string         // worker groups: the name that its process gives itself; "" when none
	ready    []model.TaskID // worker groups: learners that it called ready when it joined
	leaving  *model.Mark
	stays    bool
	newcomer bool // nothing assigned yet
}

// head fills in what stands over every group.
func (b *groupBuilder) head() {
	g, in := b.g, b.in
	g.ProtocolType, g.Protocol = protocolOf(in)
	g.State = stateOf(in, g.Kind)
	g.TakenAt = b.x.s.TakenAt
	if b.x.s.ClusterID != nil {
		g.ClusterID = *b.x.s.ClusterID
	}
	if in.Coordinator != nil {
		g.Coordinator = &model.Broker{ID: *in.Coordinator}
		if br := b.x.brokers[*in.Coordinator]; br != nil {
			g.Coordinator.Host, g.Coordinator.Port = br.Host, br.Port
		}
	}
	g.AssignmentBasis = model.AssignmentNone
	g.Positions.Basis = model.PositionsNone
	b.subs = make(map[subtopologyKey]*subtopologyParts)
	b.answerErrors()
}

// stateOf takes the state from the answer that fits the kind, else from
// ListGroups.
func stateOf(in *snapshot.Group, kind model.Kind) string {
	switch {
	case kind == model.Streams && in.Streams != nil && in.Streams.State != "":
		return in.Streams.State
	case kind == model.Consumer && in.Consumer != nil && in.Consumer.ErrorCode == codeNone && in.Consumer.State != "":
		return in.Consumer.State
	case in.Classic != nil && in.Classic.ErrorCode == codeNone && in.Classic.State != "":
		return in.Classic.State
	case in.Listed != nil:
		return in.Listed.State
	}
	return ""
}

// finish does what all kinds have in common, once members, tasks and topology
// are known.
func (b *groupBuilder) finish() {
	b.readOffsets()
	b.readRestore()
	b.instances()
	b.applyControl()
	b.sumUp()
	b.balance()
	b.findings()
	b.finishErrors()
}

func noAnswer(group string) error { return &noAnswerError{group} }

type noAnswerError struct{ group string }

func (e *noAnswerError) Error() string {
	return "the snapshot holds no answer about group \"" + e.group + "\""
}
func (e *noAnswerError) Unwrap() error { return ErrNoAnswer }
