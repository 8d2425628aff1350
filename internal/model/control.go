package model

import "time"

// Mark is a leaving mark: of the control topic, or, where that was not read, of
// the members' own word.
type Mark struct {
	Instance    string // instance UUID
	ID          string
	Name        string     // what the tool called the instance; "" when it does not say
	Who         string     // "" when not known
	Why         string     // "" when none was given
	At          *time.Time // by the clock of who set it; nil when not known
	TimeoutMs   *int64     // that the mark gives the instance; nil: the instance's own setting holds
	Deadline    *time.Time // by the clock of who set it, for people only
	Stale       bool       // the instance is gone
	Honoured    bool       // the instance says that it honours the mark
	Expired     bool       // the instance says that its time is up
	RemainingMs *int64     // how much longer the instance waits, by its own word; nil: no deadline, or not known
}

// Control is what the control topic of a group says besides marks.
type Control struct {
	Topic  string
	End    int64            // every record below it has been read
	Mode   *ModeRecord      // nil: no mode was ever written
	Status []InstanceStatus // by instance; of instances that are gone too

	Standbys *RaisedStandbys // nil: num.standby.replicas is not raised for a drain
}

// RaisedStandbys says that num.standby.replicas of a streams group was raised so
// that instances can stop, and is to be put back.
type RaisedStandbys struct {
	Before    string // "" when not known
	BeforeOwn bool   // that was the group's own setting, not the brokers' default
	Set       string
	Instances []string // UUIDs that it was raised for
	Gone      bool     // none of them is in the group any more
	At        time.Time
	Who       string
	Why       string // "" when none was given
}

// ModeRecord is the rebalancing mode that was last written.
type ModeRecord struct {
	Mode      string // "upgrading" or "incremental"
	Epoch     int64
	AllowedMs int64 // how long the switch may take
	At        time.Time
	Who       string
	Why       string // "" when none was given
	Offset    int64
}

// InstanceStatus is what an instance wrote about itself last.
type InstanceStatus struct {
	Instance      string // UUID
	Gone          bool   // it is not in the group
	Source        string // "worker" or "plug-in"
	Software      string
	Version       string
	At            time.Time // by its own clock
	Generation    *int32    // nil: none yet, or not known
	Mode          string    // "" where the group has no mode
	Epoch         int64     // of the mode record that it follows
	ControlOffset *int64    // every record of the control topic below it has been read; nil: none yet
	ControlError  string    // why it cannot read or write the topic; "" when it can
	Marks         []string  // ids of the marks that it honours, sorted
	Leads         bool      // it wrote what it knows of the whole round
	ClientID      string    // that its client ids begin with; "" where it does not say
	Host          string    // as it calls it; "" where it does not say
	Tasks         int       // that it has, in any role
	Leaving       bool      // it says that it is under a mark
	Offset        int64     // of the record
	Left          string    // how it went, by its last word: "drained", "expired", "stopped", or "" when it gave none
}
