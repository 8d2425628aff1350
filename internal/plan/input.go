package plan

import (
	"time"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// NameLearner is the assignor of our own protocol (stream-protocol.md).
const NameLearner = assign.NameLearner

// NameHighAvailability is the assignor of classic groups.
const NameHighAvailability = assign.NameHighAvailability

// Input is the group that a plan starts from, with tasks as numbers of its
// topology. FromGroup makes it from a live group or a snapshot.
type Input struct {
	Group       string
	Kind        model.Kind
	State       string
	ClusterID   string
	TakenAt     *time.Time
	Fingerprint string // members, assignments and epochs; see Fingerprint

	Assignor     string // that the group runs
	KafkaVersion string // of the broker, as far as known

	Topology   *assign.Topology
	Logs       []Log // by task; of stateless tasks zero
	Instances  []Instance
	TopicRacks map[string][][]string

	Settings []Setting  // known of the group itself
	Settled  bool       // nothing is planned and no hand-over runs
	NextMs   *int64     // planned rebalance, from TakenAt; nil: none
	AsOf     *time.Time // of the positions, as far as known
	Epoch    int32      // streams groups

	Findings []Finding // about what the group told

	group *model.Group // nil in a scenario
	plug  *plugIn      // classic groups whose leader has our assignor; nil elsewhere
	more  int          // tasks of the topology that come with the change (withPartitions)
}

// Log is the changelogs of one task together.
type Log struct {
	End        int64 // sum of the ends, records
	Known      bool
	Bytes      int64 // size of the logs
	BytesKnown bool
}

// bytes is the size of so many records of the log; false where it is not known.
func (l Log) bytes(records int64) (int64, bool) {
	if !l.BytesKnown {
		return 0, false
	}
	return model.Proportion(l.Bytes, records, l.End), true
}

// Instance is one process of the group.
type Instance struct {
	ID, Name    string
	Tags        map[string]string
	Leaving     bool
	RemainingMs int64 // how much longer it waits when leaving; negative: no deadline
	Members     []Member
}

// Member is one thread or worker. Lists of tasks are ascending.
type Member struct {
	ID, Name, ClientID string
	Thread             int
	Static             bool // it has a group.instance.id
	Rack               string
	Place              int // in the broker's answer

	Active, Standby, Learner []assign.Task
	Reported                 []assign.Offset // at its last join or heartbeat; of a worker lags
	ReportsOffsets           *bool           // streams groups: nil when it cannot be told
	Next                     assign.Next     // classic groups

	// Streams groups: what the target gives it.
	TargetActive, TargetStandby []assign.Task
}

// Setting is one setting that a plan goes by, and where it comes from:
// "default", "group config", "worker settings", "plug-in settings", "broker default", "estimate" or "user".
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// Finding is a remark about the plan: what was assumed, what cannot be known,
// what stands out.
type Finding struct {
	Code     string         `json:"code"`     // one of the Note… codes
	Severity model.Severity `json:"severity"` // goes with the code
	Object   string         `json:"object"`   // "group shop"
	Text     string         `json:"text"`
}

// severityOf is warn for what a person should look at, info for what the plan
// rests on.
func severityOf(code string) model.Severity {
	switch code {
	case NoteWorse, NoteDiscarded, NoteLeave, NoteStandbys, NoteUnstable, NoteUnfinished, NoteRestoring:
		return model.Warn
	}
	return model.Info
}

// Codes of findings.
const (
	NoteAssumed     = "assumed"       // the plan is right only if this holds
	NoteUnknown     = "unknown"       // cannot be known from outside
	NoteRange       = "range"         // a number that is honest only as a range
	NoteIdle        = "idle-threads"  // threads that can get no work
	NoteWorse       = "worse"         // less balanced than before
	NoteDiscarded   = "discarded"     // restored records that nobody uses
	NoteLeave       = "leave-wait"    // nothing happens before a session timeout
	NoteStatic      = "static"        // about members with a group.instance.id
	NoteStandbys    = "standbys"      // fewer copies than wanted
	NoteNoOffset    = "no-offset-sum" // a member reported none for a task it runs
	NoteUnstable    = "unstable"      // a new epoch would change the group although nobody changed
	NoteBound       = "bound"         // rounds beyond the bound were extrapolated
	NoteUnfinished  = "unfinished"    // something is left that no round ends
	NoteRestoring   = "restoring"     // tasks wait for their state before anything is changed
	NoteOtherRules  = "other-assignor"
	NoteOldPosition = "old-positions"
)
