package report

import "time"

// Rounds is what a `rebalance` did besides the head of its document.
type Rounds struct {
	Until *string     `json:"until"` // "converged", or null for a single one
	Asked []AskedOnce `json:"asked"` // in order; empty in a dry run
}

// AskedOnce is one rebalance that was asked for.
type AskedOnce struct {
	At       time.Time `json:"at"`
	Visitor  string    `json:"visitor"`  // member id, gone again
	TookMs   *int64    `json:"took_ms"`  // from the join to Stable without it; null when it was not Stable again
	Caught   bool      `json:"caught"`   // the round had it as a member, so another one followed
	Moved    int       `json:"moved"`    // active tasks whose instance is another one afterwards
	Learners int       `json:"learners"` // afterwards, inferred
	Balanced *bool     `json:"balanced"` // afterwards; null when it cannot be told
}

// RemovedReport is what a `remove-member` did, or would do.
type RemovedReport struct {
	Members []RemovedMember `json:"members"` // by client id, then id
}

// RemovedMember is one member that was thrown out, or would be.
type RemovedMember struct {
	Member     string   `json:"member"`
	ClientID   string   `json:"client_id"`
	InstanceID *string  `json:"instance_id"` // static id
	Instance   string   `json:"instance"`
	Host       *string  `json:"host"`
	Tasks      []string `json:"tasks"`   // active ones, sorted
	Removed    bool     `json:"removed"` // false in a dry run, and where it failed
	Error      *string  `json:"error"`   // Kafka's name
}
