package groupmeta

import "github.com/streamctl/streamctl/internal/model"

// StreamMetadata is what a worker tells the leader when it joins a round
// (docs/protocol/metadata.md). One member of the group is one worker. Tasks,
// topics, marks and subtopologies of decoded metadata are sorted; the encoder
// sorts what it is given.
type StreamMetadata struct {
	Minor         uint8 `json:"minor"`          // of the version read; the encoder writes its own
	TrailingBytes int   `json:"trailing_bytes"` // bytes of a newer minor version that were passed over

	StreamIdentity
	StreamRound
	StreamLeaving
	StreamModeState
	Settings StreamSettings      `json:"settings"`
	Topology []StreamSubtopology `json:"topology"` // by id
	Tasks    []StreamTask        `json:"tasks"`    // by task id, each once
}

// StreamIdentity says who the worker is.
type StreamIdentity struct {
	Instance string `json:"instance"`  // UUID of the process, lower case, 36 characters
	Workers  int32  `json:"workers"`   // workers that the instance runs, ≥ 1
	Worker   string `json:"worker"`    // label of this worker within its instance; may be empty
	Host     string `json:"host"`      // the process's own host name, for people; may be empty
	ClientID string `json:"client_id"` // the prefix of its Kafka client ids, for people; may be empty
}

// StreamRound is what the worker knows of the rounds before.
type StreamRound struct {
	Generation      int32 `json:"generation"`       // of its last assignment: the generation of its claims; 0: none yet
	GenerationEpoch int64 `json:"generation_epoch"` // mode epoch in which that generation was counted
	LastInstances   int32 `json:"last_instances"`   // instances of its last round; 0: none yet
	Carried         bool  `json:"carried"`          // its claims come from the group before a mode switch and rank below all others
	Request         int64 `json:"request"`          // raised each time the worker asks for a round, so that its metadata differ
}

// StreamLeaving is what a leaving worker says; the zero value stays.
type StreamLeaving struct {
	Leaving     bool        `json:"leaving"`
	Expired     bool        `json:"expired"`      // past its deadline by its own clock, all tasks closed; only with Leaving
	RemainingMs OptionalInt `json:"remaining_ms"` // how much longer it waits; absent: no deadline. Only with Leaving
	Marks       []string    `json:"marks"`        // ids of the marks it honours, in byte order. Only with Leaving
}

// StreamMode is the rebalancing mode (stream-protocol.md, Modes).
type StreamMode string

// The modes.
const (
	StreamUpgrading   StreamMode = "upgrading"
	StreamIncremental StreamMode = "incremental"
)

// StreamModeState is the mode that a worker follows.
type StreamModeState struct {
	Mode              StreamMode  `json:"mode"`
	Epoch             int64       `json:"epoch"`               // of the mode record that it follows; 0: none was ever written
	SwitchRemainingMs OptionalInt `json:"switch_remaining_ms"` // how much longer the switch to that mode may take; absent: none is under way
}

// RejoinPolicy says when a worker asks for a round for its learners.
type RejoinPolicy string

// The policies: when all its learners are ready, or whenever one is.
const (
	RejoinStable RejoinPolicy = "stable"
	RejoinEager  RejoinPolicy = "eager"
)

// StreamSettings is the configuration of the worker (stream-protocol.md,
// Configuration). All but the last two are read by the leader only.
type StreamSettings struct {
	BalancingFactor       int64        `json:"balancing_factor_thousandths"` // r in thousandths, ≥ 1000
	StandbyReplicas       int32        `json:"num_standby_replicas"`         // per stateful task, learners not counted
	AcceptableRecoveryLag int64        `json:"acceptable_recovery_lag"`      // records
	MaxLearners           OptionalInt  `json:"max_learners"`                 // in the group, ≥ 1; absent: unlimited
	RejoinPolicy          RejoinPolicy `json:"rejoin_policy"`
	ScaleDownTimeoutMs    OptionalInt  `json:"scale_down_timeout_ms"` // absent: infinity
}

// DefaultStreamSettings are the defaults of stream-protocol.md.
func DefaultStreamSettings() StreamSettings {
	return StreamSettings{BalancingFactor: 2000, AcceptableRecoveryLag: 10000, RejoinPolicy: RejoinStable}
}

// StreamSubtopology is one part of the worker's topology. Topics are in byte
// order, each once.
type StreamSubtopology struct {
	ID                      int32    `json:"id"`
	Stateful                bool     `json:"stateful"`
	Partitions              int32    `json:"partitions"` // tasks 0…Partitions−1 as this worker last saw it; 0: not known yet
	SourceTopics            []string `json:"source_topics"`
	RepartitionSourceTopics []string `json:"repartition_source_topics"`
	RepartitionSinkTopics   []string `json:"repartition_sink_topics"`
	ChangelogTopics         []string `json:"changelog_topics"`
}

// StreamTask is one task that a worker owns (a claim) or has a copy of.
type StreamTask struct {
	ID   model.TaskID `json:"id"`   // without a named topology; its subtopology is a number
	Role model.Role   `json:"role"` // learner exactly when Tags has TagLearner
	Tags StreamTags   `json:"tags"`
	Lag  OptionalInt  `json:"lag"` // records still to restore; absent: unknown, more than any number
}
