package report

// ModeChange is what a `mode set` did, or would do.
type ModeChange struct {
	From         *string     `json:"from"`
	To           string      `json:"to"`               // upgrading, incremental or streams
	Epoch        *int64      `json:"epoch"`            // of the record; null: none was written
	AllowedMs    *int64      `json:"allowed_ms"`       // how long the switch may take
	DelayMs      *int64      `json:"initial_delay_ms"` // group.initial.rebalance.delay.ms of the coordinator; null: not known
	PauseMs      *int64      `json:"pause_ms"`         // from the last look at the old round to the first at the new one; null: not seen
	RolledBack   bool        `json:"rolled_back"`
	NotFollowed  []string    `json:"not_followed"` // who stood in the way: names of instances, or members; sorted
	AlreadyThere bool        `json:"already"`      // nothing was written: it runs in that mode, or the switch was on
	Checks       []ModeCheck `json:"checks"`       // the preflight, in order
	Migration    *Migration  `json:"migration"`    // of `mode set GROUP streams`, else null
}

// ModeCheck is one thing that a preflight looks at.
type ModeCheck struct {
	Check string `json:"check"`
	OK    *bool  `json:"ok"` // null: it cannot be told
	Text  string `json:"text"`
}

// Migration is what a classic group keeps and loses when it becomes a streams
// group.
type Migration struct {
	Members []string `json:"members"` // that must go first, by name
	Kept    []string `json:"kept"`
	Lost    []string `json:"lost"`
}
