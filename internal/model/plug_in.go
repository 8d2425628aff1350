package model

import "time"

// PlugIn is what is known of our assignor inside the instances of a classic
// group (docs/protocol/plug-in.md). Lists of instances are ids, sorted.
type PlugIn struct {
	Has   []string // that are known to have it
	Lacks []string // that are not known to

	// The newest round that a leader told of. Leader is "" where none did.
	Leader  string // its instance
	Version string // of the plug-in there
	At      *time.Time
	Offset  int64  // of that word in the control topic
	Fresh   bool   // that round is the one of the assignments, task by task
	Stale   string // why it is not; "" where Fresh, or where nobody told of a round

	Learners []PlugInLearner // of that round, by task and By
	Leaving  []string        // instances under a mark in that round
}

// PlugInLearner is a learner of a round, and whose task it learns.
type PlugInLearner struct {
	Task      TaskID
	By, Owner string // instances, by id
}

// AsOfLastRound reports whether the positions shown are those of the group's
// last round, and may have moved on since: members of a classic group report
// only when they join.
func (g *Group) AsOfLastRound() bool {
	return g.Positions.Basis == PositionsLastRound || g.Positions.Basis == PositionsStatus && g.Kind == Classic
}
