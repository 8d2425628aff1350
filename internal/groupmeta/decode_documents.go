package groupmeta

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/streamctl/streamctl/internal/model"
)

// The documents of the decode command: the fields of "expected" in
// testdata/wire, in that order. Null is a field that the format does not have.
// What is a set on the wire is sorted and holds nothing twice.

type taskDocument struct {
	Topology    string `json:"topology,omitempty"`
	Subtopology int32  `json:"subtopology"`
	Partition   int32  `json:"partition"`
}

type sumDocument struct {
	taskDocument
	OffsetSum int64 `json:"offset_sum"`
}

type taskPartitionsDocument struct {
	taskDocument
	Partitions []partitionDocument `json:"partitions"`
}

// partitionDocument is [topic, number].
type partitionDocument model.TopicPartition

func (p partitionDocument) MarshalJSON() ([]byte, error) {
	topic, err := json.Marshal(p.Topic)
	if err != nil {
		return nil, err
	}
	b := append([]byte{'['}, topic...)
	b = append(b, ',')
	b = strconv.AppendInt(b, int64(p.Partition), 10)
	return append(b, ']'), nil
}

type subscriptionDocument struct {
	Version                int32             `json:"version"`
	LatestSupportedVersion int32             `json:"latest_supported_version"`
	ProcessID              string            `json:"process_id"`
	PrevActiveTasks        []taskDocument    `json:"prev_active_tasks"`
	StandbyTasks           []taskDocument    `json:"standby_tasks"`
	UserEndpoint           *string           `json:"user_endpoint"`
	TaskOffsetSums         []sumDocument     `json:"task_offset_sums"`
	UniqueField            *int8             `json:"unique_field"`
	ErrorCode              *int32            `json:"error_code"`
	ClientTags             map[string]string `json:"client_tags"`
}

type assignmentDocument struct {
	Version                  int32                    `json:"version"`
	CommonlySupportedVersion int32                    `json:"commonly_supported_version"`
	ActiveTasks              []taskDocument           `json:"active_tasks"`
	StandbyTasks             []taskPartitionsDocument `json:"standby_tasks"`
	PartitionsByHost         []hostDocument           `json:"partitions_by_host"`
	StandbyPartitionsByHost  []hostDocument           `json:"standby_partitions_by_host"`
	ErrorCode                *int32                   `json:"error_code"`
	NextRebalanceMs          *int64                   `json:"next_rebalance_ms"`
}

type hostDocument struct {
	Host       string              `json:"host"`
	Port       int32               `json:"port"`
	Partitions []partitionDocument `json:"partitions"`
}

type consumerSubscriptionDocument struct {
	Version         int16               `json:"version"`
	Topics          []string            `json:"topics"`
	OwnedPartitions []partitionDocument `json:"owned_partitions"`
	GenerationID    *int32              `json:"generation_id"`
	RackID          *string             `json:"rack_id"`
	UserDataLength  int                 `json:"user_data_length"`
	UserData        any                 `json:"user_data"`
}

type consumerAssignmentDocument struct {
	Version            int16                    `json:"version"`
	AssignedPartitions []partitionDocument      `json:"assigned_partitions"`
	UserDataLength     int                      `json:"user_data_length"`
	UserData           any                      `json:"user_data"`
	ActiveByTask       []taskPartitionsDocument `json:"active_by_task"`
}

// opaqueDocument is user data that is no Streams metadata.
type opaqueDocument struct {
	OpaqueHex string `json:"opaque_hex"`
}

func newOpaqueDocument(b []byte) opaqueDocument { return opaqueDocument{hex.EncodeToString(b)} }

// newerSubscription and newerAssignment are Streams metadata of a format that
// is newer than this build knows.
type newerSubscription struct {
	Version                int32 `json:"version"`
	LatestSupportedVersion int32 `json:"latest_supported_version"`
	NotUnderstood          bool  `json:"not_understood"`
}

type newerAssignment struct {
	Version                  int32 `json:"version"`
	CommonlySupportedVersion int32 `json:"commonly_supported_version"`
	NotUnderstood            bool  `json:"not_understood"`
}

// DecodedJSON is the document of the value for the decode command.
func (s *SubscriptionInfo) DecodedJSON() any {
	if s.NotUnderstood() {
		return newerSubscription{s.Version, s.LatestSupportedVersion, true}
	}
	d := subscriptionDocument{
		Version: s.Version, LatestSupportedVersion: s.LatestSupportedVersion, ProcessID: s.ProcessID.String(),
		PrevActiveTasks: taskDocuments(s.PrevActive()), StandbyTasks: taskDocuments(s.PrevStandby()),
		UserEndpoint: textOrNull(s.UserEndPoint),
		UniqueField:  since(s.Version, 8, s.UniqueField),
		ErrorCode:    since(s.Version, 9, int32(s.ErrorCode)),
	}
	if s.Version >= 7 {
		d.TaskOffsetSums = make([]sumDocument, 0, len(s.TaskOffsetSums))
		for _, t := range lastOfEach(s.TaskOffsetSums, func(a, b TaskOffsetSum) int { return a.Compare(b.Task) }) {
			d.TaskOffsetSums = append(d.TaskOffsetSums, sumDocument{taskDocument(t.Task), t.OffsetSum})
		}
	}
	if s.Version >= 11 {
		d.ClientTags = make(map[string]string, len(s.ClientTags))
		for _, t := range s.ClientTags {
			d.ClientTags[t.Key] = t.Value
		}
	}
	return d
}

// DecodedJSON is the document of the value for the decode command.
func (a *AssignmentInfo) DecodedJSON() any {
	if a.NotUnderstood() {
		return newerAssignment{a.Version, a.CommonlySupportedVersion, true}
	}
	d := assignmentDocument{
		Version: a.Version, CommonlySupportedVersion: a.CommonlySupportedVersion,
		ActiveTasks: taskDocuments(a.ActiveTasks),
		ErrorCode:   since(a.Version, 4, int32(a.ErrorCode)), NextRebalanceMs: since(a.Version, 7, a.NextRebalanceMs),
	}
	standby := lastOfEach(a.StandbyTasks, func(x, y TaskPartitions) int { return x.Compare(y.Task) })
	d.StandbyTasks = taskPartitionsDocuments(standby)
	if a.Version >= 2 {
		d.PartitionsByHost = hostDocuments(a.PartitionsByHost)
	}
	if a.Version >= 6 {
		d.StandbyPartitionsByHost = hostDocuments(a.StandbyPartitionsByHost)
	}
	return d
}

func taskDocuments(tasks []Task) []taskDocument {
	out := make([]taskDocument, 0, len(tasks))
	for _, t := range tasks {
		out = append(out, taskDocument(t))
	}
	return out
}

func taskPartitionsDocuments(tasks []TaskPartitions) []taskPartitionsDocument {
	out := make([]taskPartitionsDocument, 0, len(tasks))
	for _, t := range tasks {
		out = append(out, taskPartitionsDocument{taskDocument(t.Task), partitionSet(t.Partitions)})
	}
	return out
}

func hostDocuments(hosts []HostPartitions) []hostDocument {
	byName := func(a, b HostPartitions) int {
		return cmp.Or(compareJavaText(a.Host, b.Host), cmp.Compare(a.Port, b.Port))
	}
	out := make([]hostDocument, 0, len(hosts))
	for _, h := range lastOfEach(hosts, byName) {
		out = append(out, hostDocument{h.Host, h.Port, partitionSet(h.Partitions)})
	}
	return out
}

// partitionSet sorts partitions and keeps each once.
func partitionSet(partitions []model.TopicPartition) []partitionDocument {
	return partitionDocuments(slices.Compact(sortedTopicPartitions(partitions)))
}

func partitionDocuments(partitions []model.TopicPartition) []partitionDocument {
	out := make([]partitionDocument, 0, len(partitions))
	for _, p := range partitions {
		out = append(out, partitionDocument(p))
	}
	return out
}

// lastOfEach sorts a list that is a map on the wire: of entries with one key
// the last counts.
func lastOfEach[E any](list []E, compare func(a, b E) int) []E {
	sorted := slices.Clone(list)
	slices.Reverse(sorted)
	slices.SortStableFunc(sorted, compare)
	return slices.CompactFunc(sorted, func(a, b E) bool { return compare(a, b) == 0 })
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// since is null for versions before the one that brought the field.
func since[V int16 | int32, T any](version, from V, v T) *T {
	if version < from {
		return nil
	}
	return &v
}
