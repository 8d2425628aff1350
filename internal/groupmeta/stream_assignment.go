package groupmeta

import "github.com/streamctl/streamctl/internal/model"

// StreamAssignment is what the leader tells one worker at the end of a round
// (docs/protocol/assignment.md).
type StreamAssignment struct {
	Minor         uint8 `json:"minor"`          // of the version read; the encoder writes its own
	TrailingBytes int   `json:"trailing_bytes"` // bytes of a newer minor version that were passed over

	Generation    int32  `json:"generation"`     // of this round; 0: the leader did not know it
	Instances     int32  `json:"instances"`      // instances in this round
	Workers       int32  `json:"workers"`        // workers in this round
	Leader        string `json:"leader"`         // instance UUID of the leader
	AnotherRound  bool   `json:"another_round"`  // another round follows at once (a release, a switch that waits)
	SwitchWaiting bool   `json:"switch_waiting"` // not all are back after a mode switch: tasks may be without owner for now
	MarksVoid     bool   `json:"marks_void"`     // no instance stays, so the marks do not count

	Mode  StreamMode `json:"mode"` // that the leader follows
	Epoch int64      `json:"epoch"`

	Tasks []AssignedTask `json:"tasks"` // by task id, each once
}

// AssignedTask is one task of a worker after the round.
type AssignedTask struct {
	ID      model.TaskID  `json:"id"`   // without a named topology; its subtopology is a number
	Role    model.Role    `json:"role"` // learner exactly when Tags has TagLearner
	Tags    StreamTags    `json:"tags"`
	Release bool          `json:"release"` // the owner gives it up and rejoins at once; active stateless tasks only
	Reason  LearnerReason `json:"reason"`  // why the learner was started; learners only
}

// LearnerReason says why a task is learned (stream-protocol.md, Learners), as of
// this round: a learner for balance whose owner is marked becomes an
// evacuation. So it follows from the members' metadata, whoever leads. It is
// empty for tasks that are no learners.
type LearnerReason string

// The reasons. ReasonUnknown is also what a reason of a newer minor version is
// read as.
const (
	ReasonUnknown    LearnerReason = "unknown"
	ReasonEvacuation LearnerReason = "evacuation" // its owner does not stay (rule 2)
	ReasonBalance    LearnerReason = "balance"    // its owner stays (rule 3)
)
