package model

// OffsetSum is what a member reported of its state of one task: the sum of the
// positions in the task's changelogs, or a negative number with a meaning of
// its own (wire-formats.md, section 4). For a worker it is the lag.
type OffsetSum struct {
	Task TaskID
	Sum  int64
}

// TaskLog is what the cluster knows about the changelogs of one task together.
type TaskLog struct {
	Task  TaskID
	End   *int64 // sum of the ends; nil when unknown
	Start *int64 // sum of the starts; nil when unknown
	Bytes *int64 // size of the logs; nil when unknown
	Note  string // for example "changelog missing"; "" when fine
}

// ChangelogTopic is a changelog of a classic group, mapped to a sub-topology or
// not.
type ChangelogTopic struct {
	Topic string
	Ends  []*int64 // by partition; nil when unknown
	Bytes []*int64 // by partition; nil when unknown
}

// Facts are what a prediction needs beyond what is shown.
type Facts struct {
	Logs []TaskLog // of every task that has state, sorted by task

	// Changelogs are all changelogs of a classic group, by topic: where it stays
	// open which sub-topology they belong to, a prediction has to assume it.
	Changelogs []ChangelogTopic

	// TopicRacks has by topic and partition the racks of the replicas, of the
	// topics of the topology.
	TopicRacks map[string][][]string

	KafkaVersion string // of the broker as far as it can be told: "4.1", "4.2", "4.4"; "" when not
	Settings     []Setting
}

// Setting is a setting of the group that is not shown elsewhere.
type Setting struct{ Key, Value, Source string }
