package model

import "time"

// Kind is the kind of a group (commands.md, Three kinds of group).
type Kind string

// The three kinds of stream groups, then what else a cluster may list.
const (
	Classic  Kind = "classic"
	Streams  Kind = "streams"
	Worker   Kind = "worker"
	Consumer Kind = "consumer"
	Connect  Kind = "connect"
	Share    Kind = "share"
	Other    Kind = "other"
	Unknown  Kind = "unknown" // a consumer group that may or may not be a Streams app
)

// IsStream reports whether groups of this kind run stream tasks.
func (k Kind) IsStream() bool { return k == Classic || k == Streams || k == Worker }

// KindBasis says how the kind was recognised.
type KindBasis string

// The bases; BasisType, BasisProtocol and BasisMetadata read it off, the others
// infer it (shown with ~).
const (
	BasisType       KindBasis = "type"
	BasisProtocol   KindBasis = "protocol"
	BasisMetadata   KindBasis = "metadata"
	BasisAssignment KindBasis = "assignment"
	BasisClientIDs  KindBasis = "client-ids"
	BasisTopics     KindBasis = "topics"
	BasisNone       KindBasis = "none"
)

// Inferred reports whether the kind was worked out rather than read.
func (b KindBasis) Inferred() bool {
	return b == BasisAssignment || b == BasisClientIDs || b == BasisTopics
}

// Group states, as brokers name them. A broker may send others.
const (
	StateStable              = "Stable"
	StatePreparingRebalance  = "PreparingRebalance"
	StateCompletingRebalance = "CompletingRebalance"
	StateEmpty               = "Empty"
	StateDead                = "Dead"
	StateAssigning           = "Assigning"
	StateReconciling         = "Reconciling"
	StateNotReady            = "NotReady"
)

// Group is one group as streamctl understands it. It is built from one
// snapshot (groupmeta.Build) and is never changed afterwards. Every slice is
// sorted: instances by name then id, members by thread number, client id and
// id, tasks by Compare, partitions by topic and number, findings worst first.
type Group struct {
	ID           string
	Kind         Kind
	KindBasis    KindBasis
	State        string
	ProtocolType string
	Protocol     string

	Mode            string // worker groups: "upgrading" or "incremental"; else ""
	Assignor        string // as the broker or metadata name it; "" when unknown
	Epoch           *int32 // streams groups
	AssignmentEpoch *int32 // streams groups

	Coordinator *Broker
	ClusterID   string     // "" when not known
	TakenAt     *time.Time // when the answers were read; nil in a scenario

	AssignmentBasis AssignmentBasis
	Positions       Positions
	Timing          Timing
	NextRebalance   *NextRebalance // nil when none is planned or it cannot be known
	Topology        Topology
	Metadata        MetadataSummary
	Balance         *Balance // nil when there are no tasks or no instances
	Totals          Totals

	Instances  []Instance
	Unassigned []TaskID // tasks of the topology that nobody has and no hand-over explains
	Moving     []TaskID // tasks between two owners: in a target or hand-over, run by nobody now
	Offsets    []PartitionOffset
	Marks      []Mark   // by instance; stale ones too
	Control    *Control // what the control topic says besides marks; nil when there is none, or it was not read
	PlugIn     *PlugIn  // classic groups: of our assignor; nil where no instance is known to have it

	Findings []Finding
	Errors   []ReadError // what could not be read; not empty means exit code 1
	Unread   bool        // no describe was answered: members, tasks and findings are not known
	Notes    []string    // one-line remarks for stderr that are no errors

	Facts Facts // what only a prediction needs
}

// Broker is a node of the cluster.
type Broker struct {
	ID   int32
	Host string
	Port int32
}

// AssignmentBasis says which round the tasks belong to.
type AssignmentBasis string

// Current: the present round; previous: a rebalance runs and the tasks are those of
// the round before (4.x brokers); none: nothing is given.
const (
	AssignmentCurrent  AssignmentBasis = "current"
	AssignmentPrevious AssignmentBasis = "previous"
	AssignmentNone     AssignmentBasis = "none"
)

// Positions says how old the restore positions are.
type Positions struct {
	Basis     string     // one of the Positions… words
	AsOf      *time.Time // nil when not known
	Estimated bool       // AsOf was worked out (from a planned probing rebalance)

	Oldest     *time.Time // worker groups: of the status that is the oldest, where that is later than it writes; else nil
	OldestName string     // the instance that wrote it
}

// Timing is what is known about timeouts and standbys.
type Timing struct {
	SessionMs      *int64 // nil when it cannot be seen (classic groups)
	HeartbeatMs    *int64
	Standbys       *int   // wanted standbys per stateful task; nil when unknown
	StandbysSource string // one of the Source… words; "" when unknown
	Source         string // where the timeouts come from: SourceGroupConfig or SourceBrokerDefault; "" when unknown
}

// NextRebalance is the earliest planned rebalance.
type NextRebalance struct {
	RawMs    int64      // the number on the wire: epoch ms by the leader's clock, 0 = at once
	At       *time.Time // nil when at once
	InMs     int64      // from TakenAt; negative when overdue; 0 when at once
	ByMember string     // member id that will ask
}

// Topology is what is known about the sub-topologies.
type Topology struct {
	Source        string // "broker", "assignment", "file", "inferred", "metadata", "status"; "" when nothing is known
	Epoch         *int32 // streams groups
	Subtopologies []Subtopology
	Tree          *TopologyTree // nil unless a full description is known
	TreeStatus    string        // "", "NOT_REQUESTED", "NOT_STORED", "ERROR", "AVAILABLE" (streams, API 89 v1)
	Uncertain     []string      // one line each: what stays uncertain, for example which changelog belongs where
}

// Subtopology is one connected part of a topology: partitions × tasks.
type Subtopology struct {
	ID                      string
	Topology                string // named topology; "" normally
	SourceTopics            []string
	RepartitionSinkTopics   []string
	RepartitionSourceTopics []string
	ChangelogTopics         []string
	Stores                  []string // names of its state stores; nil where nobody told
	Partitions              int32    // number of tasks; 0 when unknown
	Stateful                *bool    // nil when it cannot be told
	Inferred                bool     // changelogs or stateful were worked out, not read
}

// TopologyTree is a full topology description.
type TopologyTree struct {
	Subtopologies []TopologyTreePart
	GlobalStores  []TopologyTreePart
}

// TopologyTreePart is one sub-topology or global store of a description.
type TopologyTreePart struct {
	ID    string
	Nodes []TopologyNode
}

// TopologyNode is a source, processor or sink.
type TopologyNode struct {
	Name       string
	Kind       string // "source", "processor", "sink"
	Topics     []string
	Stores     []string
	Successors []string
}

// MetadataSummary counts the metadata formats of a classic group's members
// (KIP-268, field case 34).
type MetadataSummary struct {
	GroupVersion  int32         // smallest used version of members that have metadata; 0 when none
	Used          map[int32]int // used version -> members
	Supported     map[int32]int // latest supported version -> members; formats 1 and 2 count as themselves
	Mixed         bool          // formats differ, or a member supports more than the group uses and others do not
	StaticMembers int           // members with a group.instance.id
}

// Balance compares the active tasks of instances with what they should have
// (stream-protocol.md, Bounds).
type Balance struct {
	Factor          float64 // r
	Balanced        bool    // every instance that counts is within low…high
	MaxOverExpected float64 // largest active ÷ expected
}

// Totals are sums over the group. Lag and Remaining are nil when any part is
// unknown and nothing is known; LagPartial says that some parts are missing.
type Totals struct {
	Tasks            int // tasks of the topology as far as known
	Active           int
	Standby          int
	Learner          int
	Moving           int
	Unassigned       int
	Lag              *int64
	LagPartial       bool
	RemainingRecords *int64
	RemainingBytes   *int64
}

// Severity of a finding goes with its code (output.md).
type Severity string

// Severities, worst first.
const (
	Bad  Severity = "bad"
	Warn Severity = "warn"
	Info Severity = "info"
)

// Finding is one thing that stands out.
type Finding struct {
	Code     string // one of the Finding… codes
	Severity Severity
	Object   string // "instance pod-b", "task 0_1", "group shop", "member …"
	Text     string
}

// Finding codes, fixed like JSON fields (output.md).
const (
	FindingRebalancing            = "rebalancing"
	FindingLearning               = "learning"
	FindingRestoring              = "restoring"
	FindingMoving                 = "moving"
	FindingUnassigned             = "unassigned"
	FindingUnbalanced             = "unbalanced"
	FindingConverging             = "converging"
	FindingNotReady               = "not-ready"
	FindingMixedVersions          = "mixed-versions"
	FindingMixedPlugIn            = "mixed-plug-in"
	FindingVersionProbing         = "version-probing"
	FindingAssignmentError        = "assignment-error"
	FindingIncompleteSourceTopics = "incomplete-source-topics"
	FindingShutdownRequested      = "shutdown-requested"
	FindingMissingStandby         = "missing-standby"
	FindingIdleThreads            = "idle-threads"
	FindingPossibleLeftover       = "possible-leftover"
	FindingLeaving                = "leaving"
	FindingStaleMark              = "stale-mark"
	FindingRaisedStandbys         = "raised-standbys"
	FindingOverdue                = "overdue"
	FindingSilent                 = "silent"
	FindingNoCommit               = "no-commit"
	FindingBeyondEnd              = "beyond-end"
	FindingTopicMissing           = "topic-missing"
	FindingNotVisible             = "not-visible"
	FindingNotUnderstood          = "not-understood"
	FindingUndecodable            = "undecodable"
	FindingEmpty                  = "empty"
)

// FindingCodes lists every code, sorted.
func FindingCodes() []string {
	return []string{
		FindingAssignmentError, FindingBeyondEnd, FindingConverging, FindingEmpty, FindingIdleThreads,
		FindingIncompleteSourceTopics, FindingLearning, FindingLeaving, FindingMissingStandby, FindingMixedPlugIn, FindingMixedVersions,
		FindingMoving, FindingNoCommit, FindingNotReady, FindingNotUnderstood, FindingNotVisible, FindingOverdue,
		FindingPossibleLeftover, FindingRaisedStandbys, FindingRebalancing, FindingRestoring, FindingShutdownRequested, FindingSilent,
		FindingStaleMark, FindingTopicMissing, FindingUnassigned, FindingUnbalanced, FindingUndecodable, FindingVersionProbing,
	}
}

// SeverityOf gives the severity that goes with a finding code.
func SeverityOf(code string) Severity {
	switch code {
	case FindingUnassigned, FindingNotReady, FindingAssignmentError, FindingIncompleteSourceTopics,
		FindingShutdownRequested, FindingTopicMissing, FindingUndecodable:
		return Bad
	case FindingEmpty, FindingLeaving, FindingVersionProbing, FindingIdleThreads:
		return Info
	}
	return Warn
}

// StateUntold reports whether it is not known of an active task whether it runs
// or still restores, although its instance is to tell: workers do, in the
// control topic, once they have begun with what a round gave them.
func (g *Group) StateUntold(t *Task) bool {
	return g.Kind == Worker && g.Control != nil && t.Role == Active && !t.TargetOnly &&
		t.Restore.State == RestoreUnknown && (t.Stateful == nil || *t.Stateful)
}

// OK reports whether no finding is warn or bad.
func (g *Group) OK() bool {
	for _, f := range g.Findings {
		if f.Severity != Info {
			return false
		}
	}
	return true
}

// ReadError is something that could not be read.
type ReadError struct {
	Object string // "group shop", "broker 3", "topic orders"
	Code   string // Kafka's name, for example GROUP_AUTHORIZATION_FAILED; "" when there is none
	Text   string
	Hint   string // "" when there is none
}
