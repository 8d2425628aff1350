// Package snapshot holds what a cluster answered about groups, undigested, as
// one value. groupmeta makes a model of it, the same way whether it was just
// read (kclient), comes from a file (Read) or from a test. It does no I/O but
// reading and writing the file form, and judges nothing.
package snapshot

import (
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// Kind and SchemaVersion of the file form (output.md).
const (
	Kind          = "Snapshot"
	SchemaVersion = 1
)

// Snapshot is the answers of one cluster about one or more groups. Byte slices
// are base64 in JSON. Absent is null or left out; lists are sorted by
// Normalize. Error codes are Kafka's numbers, 0 for none.
type Snapshot struct {
	Kind          string     `json:"kind"`
	SchemaVersion int        `json:"schema_version"`
	TakenAt       *time.Time `json:"taken_at"`
	ClusterID     *string    `json:"cluster_id"`

	Brokers     []Broker          `json:"brokers"`           // by id
	Controller  *int32            `json:"controller"`        // broker id
	APIVersions []APIVersions     `json:"api_versions"`      // by broker
	Groups      []Group           `json:"groups"`            // by id
	Topics      []Topic           `json:"topics"`            // by name
	Logs        []Log             `json:"logs"`              // by topic, partition
	LogSizes    []LogSize         `json:"log_sizes"`         // by topic, partition, broker
	Missing     []MissingTopic    `json:"missing_topics"`    // asked for by name, not given; by name
	Errors      []Error           `json:"errors"`            // what could not be read, by object
	Options     map[string]string `json:"options,omitempty"` // how it was read, for example "log_dirs": "refused"
}

// Broker is a node as Metadata lists it.
type Broker struct {
	ID   int32   `json:"id"`
	Host string  `json:"host"`
	Port int32   `json:"port"`
	Rack *string `json:"rack"`
}

// APIVersions is one broker's answer to ApiVersions.
type APIVersions struct {
	Broker   int32        `json:"broker"`
	Keys     []APIRange   `json:"keys"`               // by key
	Features []APIFeature `json:"features,omitempty"` // finalized, by name
}

// APIRange is the versions of one API.
type APIRange struct {
	Key int16 `json:"key"`
	Min int16 `json:"min"`
	Max int16 `json:"max"`
}

// APIFeature is one feature with its levels; Finalized is -1 when only
// supported.
type APIFeature struct {
	Name         string `json:"name"`
	SupportedMin int16  `json:"supported_min"`
	SupportedMax int16  `json:"supported_max"`
	Finalized    int16  `json:"finalized"`
}

// Group is everything that was answered about one group. The parts that were
// not asked, or do not exist for its kind, are nil.
type Group struct {
	ID          string          `json:"id"`
	Listed      *Listed         `json:"listed"`       // its row in ListGroups
	Coordinator *int32          `json:"coordinator"`  // broker id
	Classic     *ClassicGroup   `json:"classic"`      // DescribeGroups
	Streams     *StreamsGroup   `json:"streams"`      // StreamsGroupDescribe
	Consumer    *ConsumerGroup  `json:"consumer"`     // ConsumerGroupDescribe (KIP-848)
	Commits     []Commit        `json:"commits"`      // OffsetFetch; null when it was not asked or refused
	CommitsRead bool            `json:"commits_read"` // false: not asked, or refused (then an Error says so)
	Configs     []Config        `json:"configs"`      // DescribeConfigs of the group, by key; null when not asked or refused
	Control     []ControlRecord `json:"control"`      // last record of each key of its control topic, by offset; null when there is none, or it was not read
	ControlEnd  *int64          `json:"control_end"`  // every record below it is in Control, or was overwritten; null as Control
}

// Listed is the row of ListGroups.
type Listed struct {
	ProtocolType string `json:"protocol_type"`
	Type         string `json:"type"`  // "" from brokers before 3.8
	State        string `json:"state"` // "" from brokers before 2.6
}

// ClassicGroup is the answer of DescribeGroups.
type ClassicGroup struct {
	ErrorCode            int16           `json:"error_code"`
	ErrorMessage         *string         `json:"error_message"`
	State                string          `json:"state"`
	ProtocolType         string          `json:"protocol_type"`
	Protocol             string          `json:"protocol"`
	Members              []ClassicMember `json:"members"` // by id
	AuthorizedOperations *int32          `json:"authorized_operations"`
}

// ClassicMember is one member with its bytes as sent.
type ClassicMember struct {
	ID         string  `json:"id"`
	InstanceID *string `json:"instance_id"`
	ClientID   string  `json:"client_id"`
	Host       string  `json:"host"`
	Metadata   []byte  `json:"metadata"`   // base64; null and "" both mean nothing
	Assignment []byte  `json:"assignment"` // base64
}

// StreamsGroup is the answer of StreamsGroupDescribe (API 89).
type StreamsGroup struct {
	Version              int16                `json:"version"` // of the response: 0 up to 4.3, 1 from 4.4
	ErrorCode            int16                `json:"error_code"`
	ErrorMessage         *string              `json:"error_message"`
	State                string               `json:"state"`
	Epoch                int32                `json:"epoch"`
	AssignmentEpoch      int32                `json:"assignment_epoch"`
	Topology             *StreamsTopology     `json:"topology"`
	Members              []StreamsMember      `json:"members"` // in the order of the answer: it decides ties of the assignor
	AuthorizedOperations *int32               `json:"authorized_operations"`
	AssignorName         *string              `json:"assignor_name"`               // v1
	DescriptionStatus    int8                 `json:"topology_description_status"` // v1: 0 not requested, 1 not stored, 2 error, 3 available
	Description          *TopologyDescription `json:"topology_description"`        // v1
}

// StreamsTopology is the topology that the broker holds.
type StreamsTopology struct {
	Epoch         int32                `json:"epoch"`
	Subtopologies []StreamsSubtopology `json:"subtopologies"` // null: not initialised
}

// StreamsSubtopology is one of its sub-topologies.
type StreamsSubtopology struct {
	ID                 string         `json:"id"`
	SourceTopics       []string       `json:"source_topics"`
	RepartitionSinks   []string       `json:"repartition_sink_topics"`
	Changelogs         []StreamsTopic `json:"changelog_topics"`
	RepartitionSources []StreamsTopic `json:"repartition_source_topics"`
}

// StreamsTopic is an internal topic with the partitions the topology wants; 0
// when it is to be worked out.
type StreamsTopic struct {
	Name       string `json:"name"`
	Partitions int32  `json:"partitions"`
}

// TopologyDescription is the text form of a topology (API 89 v1).
type TopologyDescription struct {
	Subtopologies []TopologyPart `json:"subtopologies"`
	GlobalStores  []TopologyPart `json:"global_stores"`
}

// TopologyPart is one sub-topology or global store.
type TopologyPart struct {
	ID    string         `json:"id"`
	Nodes []TopologyNode `json:"nodes"`
}

// TopologyNode is one processor node.
type TopologyNode struct {
	Name       string   `json:"name"`
	Kind       string   `json:"kind"` // "source", "processor", "sink"
	Topics     []string `json:"topics"`
	Stores     []string `json:"stores"`
	Successors []string `json:"successors"`
}

// StreamsMember is one member of a streams group.
type StreamsMember struct {
	ID            string            `json:"id"`
	Epoch         int32             `json:"epoch"`
	InstanceID    *string           `json:"instance_id"`
	RackID        *string           `json:"rack_id"`
	ClientID      string            `json:"client_id"`
	ClientHost    string            `json:"client_host"`
	TopologyEpoch int32             `json:"topology_epoch"`
	ProcessID     string            `json:"process_id"`
	Endpoint      *string           `json:"user_endpoint"` // host:port
	ClientTags    map[string]string `json:"client_tags"`
	TaskOffsets   []TaskOffset      `json:"task_offsets"`
	TaskEnds      []TaskOffset      `json:"task_end_offsets"`
	Assignment    StreamsTasks      `json:"assignment"`
	Target        StreamsTasks      `json:"target_assignment"`
	IsClassic     bool              `json:"is_classic"`
}

// StreamsTasks is the tasks of one assignment.
type StreamsTasks struct {
	Active  []StreamsTaskIDs `json:"active"`
	Standby []StreamsTaskIDs `json:"standby"`
	Warmup  []StreamsTaskIDs `json:"warmup"`
}

// StreamsTaskIDs is some partitions of one sub-topology.
type StreamsTaskIDs struct {
	Subtopology string  `json:"subtopology"`
	Partitions  []int32 `json:"partitions"`
}

// TaskOffset is an offset sum that a member reported.
type TaskOffset struct {
	Subtopology string `json:"subtopology"`
	Partition   int32  `json:"partition"`
	Offset      int64  `json:"offset"`
}

// ConsumerGroup is the answer of ConsumerGroupDescribe, as much as is shown.
type ConsumerGroup struct {
	ErrorCode    int16            `json:"error_code"`
	ErrorMessage *string          `json:"error_message"`
	State        string           `json:"state"`
	Epoch        int32            `json:"epoch"`
	Assignor     string           `json:"assignor"`
	Members      []ConsumerMember `json:"members"` // by id
}

// ConsumerMember is one member of a KIP-848 consumer group.
type ConsumerMember struct {
	ID         string                 `json:"id"`
	InstanceID *string                `json:"instance_id"`
	ClientID   string                 `json:"client_id"`
	ClientHost string                 `json:"client_host"`
	Partitions []model.TopicPartition `json:"partitions"`
}

// Commit is one committed offset.
type Commit struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"` // -1: nothing committed
	ErrorCode int16  `json:"error_code"`
}

// Config is one setting of a group.
type Config struct {
	Key    string  `json:"key"`
	Value  *string `json:"value"`
	Source string  `json:"source"` // Kafka's name, for example "DYNAMIC_GROUP_CONFIG", "DEFAULT_CONFIG"
}

// ControlRecord is one record of the control topic.
type ControlRecord struct {
	Key    string `json:"key"`
	Value  []byte `json:"value"` // null: a tombstone
	Offset int64  `json:"offset"`

	// TooLarge is the size of a value that was too large to read; 0 normally.
	TooLarge int `json:"too_large,omitempty"`
}

// Topic is a topic as Metadata answers for it.
type Topic struct {
	Name       string           `json:"name"`
	ErrorCode  int16            `json:"error_code"`
	Partitions []TopicPartition `json:"partitions"` // by number
}

// TopicPartition is one partition with its replicas.
type TopicPartition struct {
	Partition int32   `json:"partition"`
	Leader    int32   `json:"leader"`
	Replicas  []int32 `json:"replicas"` // broker ids, racks are in Brokers
}

// MissingTopic is a topic that was asked for by name and not given.
type MissingTopic struct {
	Name      string `json:"name"`
	ErrorCode int16  `json:"error_code"` // UNKNOWN_TOPIC_OR_PARTITION or TOPIC_AUTHORIZATION_FAILED
}

// Log is the ends of one partition's log. Start and End are nil when they could
// not be read; ErrorCode says why.
type Log struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Start     *int64 `json:"start"`
	End       *int64 `json:"end"`
	StableEnd *int64 `json:"stable_end"` // last stable offset, where it was asked
	ErrorCode int16  `json:"error_code"`
}

// LogSize is the bytes of one replica.
type LogSize struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Broker    int32  `json:"broker"`
	Bytes     int64  `json:"bytes"`
}

// Error is something that could not be read. It is model.ReadError in its file
// form.
type Error struct {
	Object string `json:"object"`
	Code   string `json:"code"`
	Text   string `json:"error"`
	Hint   string `json:"hint"`
}
