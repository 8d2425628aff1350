package assign

import (
	"fmt"
	"math"
)

// Group is all that an assignor decides by. Which assignor reads which field
// is said where not all do.
type Group struct {
	Topology  *Topology
	Settings  Settings
	Processes []Process
	// Members in the order in which the group's leader or the broker lists
	// them; of high-availability only two threads of one process that
	// contradict each other make it matter.
	Members []Member
	Leader  int // high-availability: process that gets the time of the probing rebalance; -1 when none does
	// TopicRacks has by topic and partition the racks of the replicas, for
	// high-availability with a rack strategy; a topic that is not there has
	// replicas without racks.
	TopicRacks map[string][][]string
}

// Settings are the configuration of the group or of its clients.
type Settings struct {
	Standbys int // num.standby.replicas

	// What follows is read by high-availability only.
	MaxWarmups         int   // max.warmup.replicas
	AcceptableLag      int64 // records; acceptable.recovery.lag
	RackStrategy       RackStrategy
	RackTrafficCost    int      // rack.aware.assignment.traffic_cost
	RackNonOverlapCost int      // rack.aware.assignment.non_overlap_cost
	StandbyTags        []string // rack.aware.assignment.tags: keys
}

// DefaultSettings are those of a Kafka Streams app that sets none.
func DefaultSettings() Settings {
	return Settings{MaxWarmups: 2, AcceptableLag: 10000, RackStrategy: RackNone, RackTrafficCost: 10, RackNonOverlapCost: 1}
}

// RackStrategy is the value of rack.aware.assignment.strategy.
type RackStrategy string

// The strategies.
const (
	RackNone               RackStrategy = "none"
	RackMinTraffic         RackStrategy = "min_traffic"
	RackBalanceSubtopology RackStrategy = "balance_subtopology"
)

// What a classic member reports instead of an offset sum.
const (
	SumRunning int64 = -2 // active, past its restore
	SumUnknown int64 = -3
)

// unlimitedLag is an acceptable lag with which every copy is caught up.
const unlimitedLag = math.MaxInt64

// Process is one process of the group: a client of Kafka Streams.
type Process struct {
	ID   string            // a UUID for high-availability, any text for streams-sticky
	Tags map[string]string // client tags
}

// Member is one thread of a process.
type Member struct {
	ID      string
	Process int    // index in Group.Processes
	Rack    string // high-availability: client.rack of the consumer, "" for none

	Owned   []Task   // high-availability: tasks whose source partitions it owned, in any order
	Offsets []Offset // what it says of its copies, one entry a task: offset sums, or the offsets of a KIP-1071 member

	// streams-sticky: its tasks before, in any order.
	Active, Standby, Warmup []Task
}

// Offset is the position of one copy: the sum over its changelog partitions.
type Offset struct {
	Task Task
	Sum  int64 // records; classic: also SumRunning, SumUnknown
}

// check refuses numbers that point nowhere.
func (g *Group) check() error {
	if len(g.Processes) == 0 || len(g.Members) == 0 {
		return fmt.Errorf("the group has no members")
	}
	n := Task(g.Topology.Len())
	known := func(tasks []Task) bool {
		for _, t := range tasks {
			if t < 0 || t >= n {
				return false
			}
		}
		return true
	}
	for _, m := range g.Members {
		if m.Process < 0 || m.Process >= len(g.Processes) {
			return fmt.Errorf("member %q is of process %d, there are %d", m.ID, m.Process, len(g.Processes))
		}
		if !known(m.Owned) || !known(m.Active) || !known(m.Standby) || !known(m.Warmup) {
			return fmt.Errorf("member %q has a task that is not in the topology", m.ID)
		}
		for _, o := range m.Offsets {
			if o.Task < 0 || o.Task >= n {
				return fmt.Errorf("member %q reports a task that is not in the topology", m.ID)
			}
		}
	}
	return nil
}
