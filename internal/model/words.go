package model

// Where restore positions come from (Positions.Basis).
const (
	PositionsLastRound = "last round" // of a classic group: members report when they join
	PositionsHeartbeat = "heartbeat"  // of a streams group whose members send task offsets
	PositionsStatus    = "status"     // of a worker group, from its control topic
	PositionsNone      = "none"
)

// What the restore state of a task rests on (Restore.Basis).
const (
	RestoreOffsetSum  = "offset sum"         // a classic member's subscription
	RestoreTaskOffset = "broker task offset" // a streams member's heartbeat
	RestoreStatus     = "status"             // a worker's own word
	RestoreNone       = "none"
)

// Where a setting of a group comes from (Timing, Setting).
const (
	SourceGroupConfig   = "group config"
	SourceWorkers       = "worker settings"  // as the workers say they are set
	SourcePlugIn        = "plug-in settings" // as our assignor says it is set
	SourceBrokerDefault = "broker default"
	SourceUser          = "user"
	SourceEstimate      = "estimate"
)
