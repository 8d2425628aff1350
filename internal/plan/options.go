package plan

// Options are what a person asks for besides the group.
type Options struct {
	Changes      []Change
	Set          map[string]string // settings by key
	Factor       float64           // balancing factor r; 0: the group's own, else 2
	Assignor     string            // "": what the group runs
	KafkaVersion string            // of the broker; "": what the group tells
	Rate         Rate              // of restoring; zero: not known
	Measured     *Measured         // rate of two looks, taken where Rate is not known; nil: there was one look
	Follow       Follow            // how copies fare in follow-up rounds; "": judged
	Draws        int               // of ids; 0: DefaultDraws
	MaxRounds    int               // 0: DefaultMaxRounds
	Force        bool              // plan although the group's state speaks against it

	// Stopped is asked between rounds, from several goroutines: an error of its
	// ends the plan. nil: nothing does.
	Stopped func() error

	trace func(simulation, *Round) // called after each round; see Trace
}

// Defaults of Options.
const (
	DefaultDraws     = 32
	DefaultMaxRounds = 200
)

// Follow says what becomes of copies between the rounds of a hand-over of a
// classic group, one heartbeat interval apart (live-prediction.md, section 3).
type Follow string

// The regimes. Without a restore rate only the two ends are exact.
const (
	FollowFast Follow = "fast" // a copy is restored within a heartbeat interval
	FollowSlow Follow = "slow" // no copy progresses but over a probing interval
	FollowRate Follow = "rate" // as far as the restore rate brings it
)
