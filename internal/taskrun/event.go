package taskrun

import (
	"github.com/streamctl/streamctl/internal/model"
)

// Kind says what an event is about.
type Kind string

// The kinds of events.
const (
	Started   Kind = "started"   // the task is restored and its committed offsets are read: the first record can come
	Halted    Kind = "halted"    // of one that is to stop: no record is in process any more and all that it wrote is acknowledged; what is left is the commit, then Stopped
	Stopped   Kind = "stopped"   // no record of the task is in process any more; Err says why unless it was asked for
	Fenced    Kind = "fenced"    // a commit was refused since another generation owns the task; Stopped follows
	CaughtUp  Kind = "caught-up" // a copy has reached the end of its changelog
	Within    Kind = "within"    // the lag of a copy has come within Options.AcceptableLag
	Beyond    Kind = "beyond"    // the lag of a copy has gone beyond Options.AcceptableLag
	Progress  Kind = "progress"  // a copy is being restored; at most one a second for each task
	Cleared   Kind = "cleared"   // the store did not fit its changelog (Err says how): emptied and restored from the log's start
	Committed Kind = "committed" // input offsets are committed; Records counts the records since the last commit
	Trouble   Kind = "trouble"   // something failed and is tried again; Err says what
)

// Event is something that happened to a task. Fields that do not apply are
// zero.
type Event struct {
	Kind    Kind
	Task    model.TaskID
	Lag     int64 // records still to restore, with CaughtUp, Within, Beyond and Progress
	Records int64 // restored since the task was opened (CaughtUp, Progress, Started), processed (Committed)
	Err     error
}

// Position is how far a task is with its changelog.
type Position struct {
	Task     model.TaskID
	Active   bool  // it processes; Next is then the offset after its own acknowledged writes
	Next     int64 // every changelog record below it is in the store
	Durable  int64 // every changelog record below it is in the store after a crash; 0 when the state is in memory
	End      int64 // last stable offset at the last look, -1 unknown
	Restored int64 // records applied from the changelog since the task was opened by this host
}
