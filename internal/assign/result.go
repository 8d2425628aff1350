package assign

// Result is what an assignor decided. Lists of tasks are sorted as the
// assignor orders tasks: as numbers, by streams-sticky subtopologies as text.
// They may share memory: read only.
type Result struct {
	Processes []ProcessResult // as in Group.Processes
	Members   []MemberResult  // as in Group.Members

	// What follows is set by high-availability only.
	Probing          bool // it wants a probing rebalance
	Stable           bool // no follow-up of any kind
	ActiveMovements  int  // actives that are not where they shall be in the end
	StandbyMovements int  // standbys likewise
}

// ProcessResult is what one process holds once hand-overs are done.
type ProcessResult struct {
	Active  []Task
	Standby []Task // warm-ups too

	// What follows is set by high-availability only.
	Warmup        []Task // the part of Standby that learns an active
	TargetActive  []Task // stateful ones when all copies are caught up
	TargetStandby []Task
}

// MemberResult is what one member is told now.
type MemberResult struct {
	Active  []Task // without those that another one must give up first
	Standby []Task
	Warmup  []Task
	Next    Next
}

// Next is when a member joins again by itself.
type Next uint8

// The times of the next rebalance.
const (
	NextNone    Next = iota // not at all
	NextNow                 // at once: a hand-over is pending
	NextProbing             // after the probing interval
)

// String gives the word of the scenario files.
func (n Next) String() string {
	switch n {
	case NextNow:
		return "now"
	case NextProbing:
		return "probing"
	}
	return "none"
}
