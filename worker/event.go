package worker

import "time"

// EventKind says what an event is about.
type EventKind string

// The kinds of events, and the fields that each fills besides Kind, At and
// Instance. Worker is there for all that concern one worker.
const (
	RoundDone        EventKind = "round-done"         // Worker, Generation, Leader, Round with the worker's own tasks
	RoundLed         EventKind = "round-led"          // Worker, Generation, Round with all instances: what the leader decided, before anybody has it
	OlderWon         EventKind = "older-won"          // Worker, Generation, Text with the protocol that the broker picked
	ActiveStarted    EventKind = "active-started"     // Worker, Task, Generation: the first record can come
	ActiveHalted     EventKind = "active-halted"      // Worker, Task, Generation: it processes and writes nothing any more; what is left is its last commit
	ActiveStopped    EventKind = "active-stopped"     // Worker, Task, Generation: no record is in process any more; Err unless it was asked for
	CopyOpened       EventKind = "copy-opened"        // Task: it begins to restore
	CopyClosed       EventKind = "copy-closed"        // Task: its state is gone
	CaughtUp         EventKind = "caught-up"          // Task, Records restored
	Restoring        EventKind = "restoring"          // Task, Lag, Records restored so far
	Committed        EventKind = "committed"          // Task, Records since the last commit
	LearnerReady     EventKind = "learner-ready"      // Worker, Task
	RoundAsked       EventKind = "round-asked"        // Worker, Text with the cause
	MembershipLost   EventKind = "membership-lost"    // Worker, Err: its actives are stopped
	JoinRefused      EventKind = "join-refused"       // Worker, Err
	MarkSeen         EventKind = "mark-seen"          // Mark, Remaining
	MarkChanged      EventKind = "mark-changed"       // Mark, Remaining: the same mark with another timeout
	MarkWithdrawn    EventKind = "mark-withdrawn"     // Mark
	ModeSeen         EventKind = "mode-seen"          // Mode, Epoch
	SwitchBegun      EventKind = "switch-begun"       // Mode, Epoch
	SwitchDone       EventKind = "switch-done"        // Mode, Epoch, Pause from the first task stopped until all run again
	SwitchRolledBack EventKind = "switch-rolled-back" // Mode that it went back to, Epoch
	Drained          EventKind = "drained"            // Mark: it owns nothing any more and leaves
	Expired          EventKind = "expired"            // Mark: its time is up, its tasks are closed, it leaves
	Left             EventKind = "left"               // it is out of the group
	Trouble          EventKind = "trouble"            // Err, perhaps Task: it is tried again
)

// Event is something that happened to an instance.
type Event struct {
	Kind       EventKind
	At         time.Time
	Instance   string // UUID
	Worker     int    // number of the worker, from 0
	Task       TaskID
	Generation int32
	Leader     bool
	Round      *Round
	Lag        int64         // records
	Records    int64         // records
	Mark       string        // id of a mark
	Remaining  time.Duration // until its deadline; NoTimeout: none
	Mode       Mode
	Epoch      int64
	Pause      time.Duration
	Text       string
	Err        error
}

// Round is what a round ended with.
type Round struct {
	Generation    int32
	Epoch         int64
	Mode          Mode
	Instances     []RoundInstance // by id; of RoundDone one's own alone
	AnotherRound  bool            // another round follows at once
	SwitchWaiting bool            // not all are back after a mode switch
	MarksVoid     bool            // no instance stays, so the marks do not count
}

// RoundInstance is what one instance has after the round.
type RoundInstance struct {
	ID      string // UUID
	Host    string
	Leaving bool
	Expired bool
	Workers int
	Tasks   []RoundTask // by task
}

// RoundTask is one task after the round.
type RoundTask struct {
	ID      TaskID
	Worker  string   // member id
	Role    string   // active, standby, learner
	Tags    []string // of the protocol, in the order of its table
	Release bool     // its owner gives it up
	Reason  string   // learners: evacuation, balance
}
