package kclient

import (
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// Query says what a snapshot is to hold. The zero value asks for the brokers
// only. Groups are named, listed or both.
type Query struct {
	Groups  []string // named groups: their kind is found out by asking, without a list
	ListAll bool     // also every group that is visible, its row at least

	// Match keeps only some of the listed groups, by id; nil keeps all. Rows
	// of the others are dropped.
	Match func(id string) bool

	// Kinds says which listed groups are described. Empty: those that may run
	// stream tasks (type streams, and type classic with protocol type consumer,
	// stream or none). With model.Consumer also KIP-848 consumer groups, with
	// model.Connect, model.Other or model.Unknown every classic group.
	Kinds []model.Kind

	Describe bool // states, members, assignments; of streams groups the topology
	Commits  bool // committed offsets
	Logs     bool // starts and ends of the logs that the groups read, after their commits

	// InternalTopics also reads the changelog topics: those of a topology, and
	// for other groups every topic named GROUP-…-changelog or -repartition,
	// which takes the metadata of all topics.
	InternalTopics bool
	Topics         []string // more topics to read, for example out of a topology file

	// Control reads the control topic of each stream group that has one. Where
	// a group's own protocol does not use one, it is looked for only among the
	// topics that are asked for anyway.
	Control bool

	// OffsetsFor, where it is set, is asked after the describe for which groups
	// Commits and Logs hold; it sees the group without them.
	OffsetsFor func(*snapshot.Group) bool

	StableEnds    bool // last stable offsets besides the ends
	LogSizes      bool // bytes of the replicas of changelogs; a refusal is Options["log_dirs"]
	Configs       bool // group configs of streams groups; a refusal is Options["group_configs"]
	AuthorizedOps bool // authorized operations in the describes
	Topology      bool // text form of a streams group's topology, where the broker has it
	APIVersions   bool // of every broker; else of the one that answered first

	// SettleFor asks again while a classic group is in PreparingRebalance or
	// CompletingRebalance, at most this long. 0 takes what comes.
	SettleFor time.Duration
}

// DescribeQuery asks for everything about named groups, as describe and
// snapshot need it.
func DescribeQuery(groups ...string) Query {
	return Query{
		Groups: groups, Describe: true, Commits: true, Logs: true, InternalTopics: true, LogSizes: true,
		Configs: true, Control: true, SettleFor: 2 * time.Second,
	}
}

// ListQuery asks for what a list of groups needs: no offsets, no topics.
func ListQuery() Query { return Query{ListAll: true, Describe: true} }

// Keys of a snapshot's options: what was read besides the groups.
const (
	OptionLogDirs      = "log_dirs"      // any value; "refused by 1 of 3 brokers" too
	OptionGroupConfigs = "group_configs" // any value
	OptionStreams      = "streams"       // OptionUnsupported: no broker knows API 89, or the feature is off
)

// Values of a snapshot's options.
const (
	OptionRead        = "read"
	OptionRefused     = "refused"
	OptionUnsupported = "unsupported"
	OptionFailed      = "failed"
)

// wantsOffsets reports whether commits and logs of g are to be read.
func (q *Query) wantsOffsets(g *snapshot.Group) bool {
	return (q.Commits || q.Logs) && (q.OffsetsFor == nil || q.OffsetsFor(g))
}
