package plan

import (
	"time"

	"github.com/streamctl/streamctl/internal/assign"
)

// Kind and SchemaVersion of the document (output.md).
const (
	Kind          = "Plan"
	SchemaVersion = 1
)

// Plan is what a change, or none, will do. Its exported fields are the Plan
// document of output.md, but for what report adds. Lists are sorted: rounds by
// time, moves by task, learners and tasks that are down by task and instance;
// findings come in the order in which they were found: discarded records, what
// the simulation saw, what the group told, then what the plan rests on.
type Plan struct {
	Kind            string     `json:"kind"`
	SchemaVersion   int        `json:"schema_version"`
	Group           string     `json:"group"`
	ClusterID       *string    `json:"cluster_id"`
	TakenAt         *time.Time `json:"taken_at"`
	Assignor        string     `json:"assignor"`
	BalancingFactor float64    `json:"balancing_factor"`
	Changes         []string   `json:"changes"`
	BasedOn         BasedOn    `json:"based_on"`
	Taken           []Setting  `json:"taken"`
	Before          Balance    `json:"before"`
	After           Balance    `json:"after"`
	Rounds          []Round    `json:"rounds"`
	Totals          Totals     `json:"totals"`
	NewIDs          NewIDs     `json:"new_ids"`
	Converged       bool       `json:"converged"`
	Findings        []Finding  `json:"findings"`
	Request         Request    `json:"request"`
}

// BasedOn says what the plan was computed from.
type BasedOn struct {
	State       string     `json:"state"`
	Fingerprint string     `json:"fingerprint"`
	TakenAt     *time.Time `json:"taken_at"`
	Copies      string     `json:"copies"` // CopiesReported or CopiesCaughtUp
}

// What a plan took for copies that have been there since the last round.
const (
	CopiesReported = "as-reported"
	CopiesCaughtUp = "caught-up"
)

// Balance is how the tasks lie over the instances, by instance id.
type Balance struct {
	Balanced        bool              `json:"balanced"`
	MaxOverExpected float64           `json:"max_over_expected"` // 0 when nothing is expected of anyone
	Instances       map[string]Counts `json:"instances"`
}

// Counts are the tasks of one instance.
type Counts struct {
	Name     string  `json:"name"`
	Workers  int     `json:"workers"`
	Active   int     `json:"active"`
	Standby  int     `json:"standby"`
	Learner  int     `json:"learner"`
	Expected float64 `json:"expected"` // 0 when it does not count
	Low      int     `json:"low"`
	High     int     `json:"high"`
	Balanced bool    `json:"balanced"`
}

// TriggerProbing is the trigger of a round that the group planned by itself
// (probing.rebalance.interval.ms).
const TriggerProbing = "probing rebalance"

// TriggerFollowUp is the trigger of a round that our assignor in a classic group
// asks for while learners run.
const TriggerFollowUp = "follow-up"

// TriggerHandOver is the trigger of a round that only ends a hand-over. It is
// not counted in Totals.Rounds.
const TriggerHandOver = "hand-over"

// Round is one rebalance, or one epoch of a streams group.
type Round struct {
	Round    int            `json:"round"`
	Trigger  string         `json:"trigger"`
	AtS      float64        `json:"at_s"`      // after the change
	AtMostS  *float64       `json:"at_most_s"` // where only a range is honest
	Moves    []Move         `json:"moves"`
	Learners []Copy         `json:"learners"`
	Standbys []Copy         `json:"standbys"` // that begin in this round and have state to restore
	Down     []Down         `json:"down"`
	Unowned  *Unowned       `json:"unowned"` // time without owner of tasks handed over; null when none is
	Active   map[string]int `json:"active"`  // active tasks by instance id after the round: in the first of all, then of those with other numbers than before
}

// How a task gets to its new owner.
const (
	HowReadyLearner = "ready learner"
	HowStandby      = "standby takeover"
	HowLeftOver     = "left-over state" // no copy was assigned, but state of an earlier one is on the disk
	HowStateless    = "stateless"
	HowCold         = "cold"
)

// Move is one active task that changes its instance.
type Move struct {
	Task string `json:"task"`
	From string `json:"from"` // instance id; "" when nobody ran it
	To   string `json:"to"`   // instance id
	How  string `json:"how"`

	task assign.Task // by which they are sorted
}

// Copy is a copy that an instance begins.
type Copy struct {
	Task             string `json:"task"`
	Instance         string `json:"instance"`
	RemainingRecords *int64 `json:"remaining_records"` // an upper bound
	RemainingBytes   *int64 `json:"remaining_bytes"`   // an upper bound

	task assign.Task
}

// Down is a task that is not processed for longer than a hand-over takes.
type Down struct {
	Task             string   `json:"task"`
	Seconds          *float64 `json:"seconds"` // null when it cannot be told
	Why              string   `json:"why"`
	RemainingRecords *int64   `json:"remaining_records"` // that it restores first, an upper bound; null when it restores nothing, or nobody knows how much
	WaitS            float64  `json:"wait_s"`            // that part of the time for which nobody runs it

	Reason string `json:"-"` // Why without the number of records

	task assign.Task
}

// Unowned is the time for which tasks have no owner while they are handed over.
type Unowned struct {
	Tasks  int     `json:"tasks"`
	LeastS float64 `json:"least_s"`
	MostS  float64 `json:"most_s"`
}

// Totals are sums over the plan.
type Totals struct {
	Moves            int      `json:"moves"`
	Rounds           int      `json:"rounds"` // without those that only end a hand-over
	Learners         int      `json:"learners"`
	Standbys         int      `json:"standbys"` // new ones that have state to restore
	TasksDown        int      `json:"tasks_down"`
	RemainingRecords *int64   `json:"remaining_records"` // to restore in all; an upper bound
	RemainingBytes   *int64   `json:"remaining_bytes"`
	DiscardedRecords int64    `json:"discarded_records"`
	EarliestS        float64  `json:"earliest_s"` // when the last round is at the earliest, restore time aside
	EstimateS        *float64 `json:"estimate_s"` // only with a restore rate
	LeaveWaitMs      *int64   `json:"leave_wait_ms"`
	Assumed          bool     `json:"assumed"` // the session timeout behind leave_wait_ms was assumed
	IdleThreads      int      `json:"idle_threads"`
	Extrapolated     int      `json:"extrapolated_rounds"` // part of Rounds that was not run
}

// NewIDs says what hangs on ids that instances draw when they start.
type NewIDs struct {
	Given  []string              `json:"given"`
	Tried  int                   `json:"tried"`  // draws; 0 when no id is left to draw
	Varies map[Figure][2]float64 `json:"varies"` // least and most of every total over the draws
}
