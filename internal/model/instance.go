package model

// Instance is one process of a group: a KafkaStreams object with its threads,
// or a host of workers.
type Instance struct {
	ID       string // process UUID; when unknown, "client:" + the client id without its thread part
	Name     string // shortest name that is unique and that people know (screens.md)
	Host     string // a worker's own name of it, else as the broker gives it, for example "/10.0.0.7"; of its first member
	Endpoint string // application.server; "" when none
	Rack     string // "" when none
	Tags     map[string]string

	Members  []Member
	Expected float64 // expected active tasks e, exact share of its workers; 0 when it does not count
	Low      int     // bounds on active tasks, see Bounds
	High     int

	Active       int
	TargetActive *int // streams groups only
	Standby      int
	Learner      int
	Balanced     bool
	Leaving      *Mark
	Lag          *int64 // input lag of its active tasks; nil when unknown
}

// MetadataStatus says what became of a member's metadata.
type MetadataStatus string

// The values of MetadataStatus.
const (
	MetadataOK        MetadataStatus = "ok"
	MetadataEmpty     MetadataStatus = "empty" // zero bytes: nothing known at the moment
	MetadataNewer     MetadataStatus = "newer" // from a version that this build does not know
	MetadataMalformed MetadataStatus = "malformed"
)

// Member is one member of the group: a stream thread or a worker.
type Member struct {
	ID          string
	Name        string // INSTANCE/T1, short form for tables
	ClientID    string
	InstanceID  string // group.instance.id; "" when dynamic
	Host        string // by which people know it: a worker's own name of it, else Address
	Address     string // as the broker sees it, for example "/10.0.0.7"
	Thread      int    // number in …-StreamThread-N; 0 when not in the client id
	Epoch       *int32
	TargetEpoch *int32
	IsClassic   bool // streams groups: a classic member not yet upgraded

	Metadata       MemberMetadata
	Assignment     MemberAssignment
	Tasks          []Task
	ReportsOffsets *bool // streams groups on 4.4+: whether it sends task offsets; nil when unknown

	Reported []OffsetSum // what it said of its state, sorted by task; nil when it said nothing that was understood
	Rack     string      // of this member; "" when none
	Place    int         `json:"-"` // in the broker's answer, from 0: it decides ties of a streams group's assignor, nothing that is shown

	VersionProbing bool // empty assignment while the group's versions differ
	Leftover       bool // possible leftover of a replaced thread (field case 7)
}

// MemberMetadata is what a member told the leader, as far as it was readable.
type MemberMetadata struct {
	Status           MetadataStatus
	UsedVersion      int32  // 0 when unknown
	SupportedVersion int32  // latest supported; 0 when unknown
	ErrorCode        int32  // section 8 of wire-formats.md
	Error            string // decode error or "no Streams metadata"; "" when fine
	ErrorField       string
	ErrorOffset      int
	TrailingBytes    int
	Topics           []string         // subscribed topics of the frame
	Owned            []TopicPartition // owned partitions of the frame
	UserData         []byte           // raw bytes, kept only when they were not understood
}

// MemberAssignment is what the leader told a member, as far as it was readable.
type MemberAssignment struct {
	Status          MetadataStatus
	UsedVersion     int32
	Error           string
	ErrorCode       int32
	TrailingBytes   int
	NextRebalanceMs *int64 // raw; nil when the format has none
}

// Task is one task on one member.
type Task struct {
	ID         TaskID
	Role       Role
	Tags       []Tag
	Inferred   bool   // the role or a tag was worked out, not read
	Uncertain  bool   // a standby that may be a learner (shown as "standby?")
	TargetOnly bool   // streams groups: in the target, not yet held
	LeavesTo   string // streams groups: member id that the target gives it to; "" when it stays
	Release    bool   // worker groups: to be given up
	Reason     string // why a learner was started: "evacuation", "balance", "unknown"; "" where nobody told, and for others
	Parked     bool   // standby only for the round in which it is handed over (wire-formats.md, section 10)
	Partitions []TopicPartition
	Stateful   *bool // nil when it cannot be told
	Restore    Restore
	Lag        *Lag // input lag; nil for copies and where there is no offset
}

// RestoreState says how far the state of a task is.
type RestoreState string

// The values of RestoreState.
const (
	Running        RestoreState = "running"
	CaughtUp       RestoreState = "caught-up"
	Restoring      RestoreState = "restoring"
	RestoreUnknown RestoreState = "unknown"
)

// Restore is the state of a task's local copy.
type Restore struct {
	State            RestoreState
	Basis            string // one of the Restore… words
	Reported         bool   // the member reported an offset for the task
	Position         *int64 // sum of positions in its changelogs; nil when unknown
	End              *int64 // sum of the changelog ends; nil when unknown
	RemainingRecords *int64 // distance of offsets: an upper bound
	RemainingBytes   *int64 // log size in that proportion: an upper bound
	LogBytes         *int64 // size of the task's changelog partitions
	Note             string // for example "changelog missing"
}

// Lag is the input lag of a task or partition.
type Lag struct {
	Records   *int64 // nil when it cannot be told
	Committed *int64 // nil when nothing is committed
	End       *int64
	BeyondEnd int64 // how far a commit lies beyond the end; 0 normally
}

// PartitionOffset is the commit and the log of one input partition.
type PartitionOffset struct {
	TopicPartition
	Committed *int64
	LogStart  *int64
	LogEnd    *int64
	Lag       *int64
	BeyondEnd int64
	FromStart bool   // nothing committed: the lag is counted from the log start
	Member    string // member id that runs it; "" when nobody
	Problem   string // "topic deleted", "not visible", an error name; "" when fine
}

// PartitionLag is the one function that every lag goes through (field case
// 40): commits are read before ends. Nothing committed counts from the log
// start; a commit beyond the end is lag 0 with the distance in beyond.
func PartitionLag(committed, start, end *int64) (lag *int64, beyond int64) {
	if end == nil {
		return nil, 0
	}
	from := committed
	if from == nil {
		from = start
	}
	if from == nil {
		return nil, 0
	}
	d := *end - *from
	if d < 0 {
		if committed != nil {
			beyond = -d
		}
		d = 0
	}
	return &d, beyond
}
