package assign

import "github.com/streamctl/streamctl/internal/model"

// LearnerInput is what the leader of a stream group knows when it computes a
// round: the settings, the tasks of the group and what its members say
// (stream-protocol.md, What happens in a round). No order matters.
type LearnerInput struct {
	Settings  LearnerSettings
	Topology  *Topology // all tasks of the group
	Instances []LearnerInstance
}

// LearnerSettings are the settings that the leader goes by.
type LearnerSettings struct {
	Factor        int64 // balancing factor r in thousandths; below 1000 counts as 1000
	MaxLearners   int   // learners that may run in the group; 0 or less: unlimited
	Standbys      int   // wanted per stateful task, learners not counted
	AcceptableLag int64 // records; a copy within it counts as caught up
}

// DefaultLearnerSettings are the defaults of stream-protocol.md.
func DefaultLearnerSettings() LearnerSettings {
	return LearnerSettings{Factor: model.FactorThousandths(model.DefaultFactor), AcceptableLag: 10000}
}

// LearnerNoDeadline is the RemainingMs of an instance that waits for as long as
// it takes.
const LearnerNoDeadline int64 = -1

// LearnerInstance is one instance in the round. A leader may give each member
// as an instance of its own: those with one id are one. It leaves or is expired
// only when all of them say so, because until then some task that they should
// have revoked may still be open; the shortest time counts. An instance without
// workers is not in the round.
type LearnerInstance struct {
	ID          string
	Leaving     bool  // under a mark
	Expired     bool  // past its deadline by its own clock, all tasks closed; counts only with Leaving
	RemainingMs int64 // how much longer it waits; LearnerNoDeadline or less: no deadline. Counts only with Leaving
	Workers     []LearnerWorker
}

// LearnerWorker is one member of the group.
type LearnerWorker struct {
	ID         string // member id
	Generation int64  // of its last assignment, hence of its claims; 0: none yet
	Carried    bool   // its claims come from the group before a mode switch
	Epoch      int64  // mode epoch of Generation; decides between carried claims only

	// LastInstances is the number of instances of its last round, while a mode
	// switch is under way that of the last one before it. SwitchOpen says that
	// such a switch is under way and, by this worker's clock, not out of time.
	LastInstances int
	SwitchOpen    bool

	Tasks []LearnerTask // each at most once; those that the topology does not have are passed over
}

// LearnerLagUnknown is the lag of a copy that nobody knows: more than any
// number. So is every other negative lag.
const LearnerLagUnknown int64 = -1

// LearnerTask is what a worker says of one task: that it owns it (a claim) or
// has a copy of it. A released task is in no list any more; a leaving worker
// lists its stateless tasks as active though it has revoked them.
type LearnerTask struct {
	Task         Task
	Role         model.Role
	BeingLearned bool  // claims of stateful tasks: tagged so, hence revoked
	Ready        bool  // learners: tagged so
	Lag          int64 // records still to restore: of copies, and of claims that lose to a newer one
}

// LearnerResult is what a round decides. Instances are sorted by id, tasks in
// the order of the topology.
type LearnerResult struct {
	Instances []LearnerShare

	// Waiting are tasks that an instance which does not stay owns, and that
	// max.learners leaves without learner in this round.
	Waiting []Task
	// Unassigned are tasks without owner: all when every instance is expired,
	// some while a mode switch waits for instances to come back.
	Unassigned []Task

	MissingStandbys int  // wanted copies that found no instance; a warning
	MarksVoid       bool // no instance stays, so all that are not expired count as staying
	SwitchWaiting   bool // not all instances are back after a mode switch
	AnotherRound    bool // another round must follow at once: a release, or a switch that waits
}

// LearnerShare is what one instance has after the round.
type LearnerShare struct {
	ID     string
	Stays  bool        // neither leaving nor expired, or the marks are void
	Bounds model.Range // on its active tasks; zero when it does not stay

	Active  []Task // that it owns, those to be released as well
	Learner []Task // that it learns; each is tagged beingLearned at its owner
	Standby []Task
	Release []Task // the part of Active, always stateless, that it gives up before it joins again

	Workers []LearnerWorkerShare // by member id
}

// LearnerWorkerShare is what one worker has after the round.
type LearnerWorkerShare struct {
	ID    string
	Tasks []LearnerAssigned // by task
}

// LearnerAssigned is one task of a worker after the round.
type LearnerAssigned struct {
	Task         Task
	Role         model.Role
	BeingLearned bool // active tasks: some other instance learns it
	Release      bool // active tasks: to be given up
	Evacuation   bool // learners: the owner does not stay; else it is learned for balance
}

// Learner computes one round of the stream protocol. It depends on the input
// as a set only. It takes n log n time for n = tasks, copies and instances.
func Learner(in LearnerInput) LearnerResult {
	r := newLearnerRound(&in)
	r.settleOwners()
	r.settleLearners()
	r.placeLeft()
	if !r.switchWaits {
		r.evacuate()
		if len(r.waiting) == 0 {
			r.balance()
		}
	}
	r.placeStandbys()
	return r.result()
}
