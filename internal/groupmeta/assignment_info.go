package groupmeta

import (
	"encoding/binary"
	"math"

	"github.com/streamctl/streamctl/internal/model"
)

// AssignmentInfo, by format:
//
//	1   version, activeTasks, standbyTasks
//	2   partitionsByHost
//	3   commonlySupportedVersion
//	4   errorCode
//	5   topicDictionary: the host maps name topics by index
//	6   standbyPartitionsByHost
//	7   nextRebalanceMs
//	8-9 nothing
//	10  named topologies: a topology name in every task id
//	11  nothing
//
// A newer format is not understood: only its two leading numbers are read.

// NoRebalance is the NextRebalanceMs of a member that has nothing planned.
const NoRebalance = math.MaxInt64

// HostPartitions are the source partitions of the tasks of one client that
// set application.server.
type HostPartitions struct {
	Host       string
	Port       int32
	Partitions []model.TopicPartition
}

// AssignmentInfo is what the leader gives a Streams member. Lists are in wire
// order, which means something for ActiveTasks only.
type AssignmentInfo struct {
	Version                  int32             // the format
	CommonlySupportedVersion int32             // 3+; -1 in formats 1 and 2
	ActiveTasks              []Task            // one entry for each source partition; see PairActive
	StandbyTasks             []TaskPartitions  // standbys and learners
	TopicDictionary          []DictionaryEntry // 5+; Encode adds the topics that are missing
	PartitionsByHost         []HostPartitions  // 2+: of active tasks, the same for every member
	StandbyPartitionsByHost  []HostPartitions  // 6+
	ErrorCode                ErrorCode         // 4+
	NextRebalanceMs          int64             // 7+: epoch milliseconds, 0 at once, NoRebalance; NoRebalance before 7
	TrailingBytes            int               // bytes after the last field
}

// NotUnderstood reports that the format is newer than this build knows: only
// the two version numbers are filled in.
func (a *AssignmentInfo) NotUnderstood() bool { return a.Version > NewestFormat }

// TrailingError reports bytes after the last field; nil when there are none.
// size is the length of the structure.
func (a *AssignmentInfo) TrailingError(size int) *DecodeError {
	return trailingError(KindAssignment, int(a.Version), size, a.TrailingBytes)
}

// activeTasksOffset is where the count of activeTasks stands.
func (a *AssignmentInfo) activeTasksOffset() int {
	if a.Version < 3 {
		return 4
	}
	return 8
}

// DecodeAssignmentInfo reads the user data of an assignment frame. On an error
// the value holds the fields before it. Trailing bytes are no error here, nor
// is a newer format: see TrailingError and NotUnderstood.
func DecodeAssignmentInfo(b []byte) (AssignmentInfo, error) {
	r := newWireReader(KindAssignment, b)
	a := AssignmentInfo{CommonlySupportedVersion: -1, NextRebalanceMs: NoRebalance}
	a.Version = r.format()
	if a.Version >= 3 {
		a.CommonlySupportedVersion = r.int32("commonlySupportedVersion")
	}
	if r.err != nil {
		return a, r.err
	}
	if a.NotUnderstood() {
		return a, nil
	}
	named := a.Version >= 10
	a.ActiveTasks = r.activeTasks(named)
	a.StandbyTasks = r.standbyTasks(named)
	var topics *topicDictionary // nil: topics are spelled out
	if a.Version >= 5 {
		a.TopicDictionary = r.topicDictionary()
		topics = newTopicDictionary(a.TopicDictionary)
	}
	if a.Version >= 2 {
		a.PartitionsByHost = r.hosts(hostFieldNames("partitionsByHost"), topics)
	}
	if a.Version >= 6 {
		a.StandbyPartitionsByHost = r.hosts(hostFieldNames("standbyPartitionsByHost"), topics)
	}
	if a.Version >= 4 {
		a.ErrorCode = ErrorCode(r.int32("errorCode"))
	}
	if a.Version >= 7 {
		a.NextRebalanceMs = r.int64("nextRebalanceMs")
	}
	var err error
	a.TrailingBytes, err = r.finish()
	return a, err
}

func (r *wireReader) activeTasks(named bool) []Task {
	if !named {
		return r.tasks(r.count("activeTasks", smallTask))
	}
	f := taskFieldNames("activeTasks")
	out := make([]Task, r.count("activeTasks", 12))
	for i := range out {
		if out[i] = r.namedTask(&f, true); r.err != nil {
			return out[:i]
		}
	}
	return out
}

// standbyTasks reads tasks with their partitions, which share one slice.
func (r *wireReader) standbyTasks(named bool) []TaskPartitions {
	f := taskFieldNames("standbyTasks")
	smallest := smallTask + 4
	if named {
		smallest += 4
	}
	n := r.count("standbyTasks", smallest)
	out := make([]TaskPartitions, 0, n)
	all := make([]model.TopicPartition, 0, r.countNested(n, nestedArray{fixed: smallTask, chars: named, inner: 4, texts: true, unsigned: true}))
	for i := 0; i < n && r.err == nil; i++ {
		t := TaskPartitions{Task: r.namedTask(&f, named)}
		first := len(all)
		for m := r.count("standbyTasks.partitions", 6); m > 0 && r.err == nil; m-- {
			all = append(all, model.TopicPartition{Topic: r.topicUTF("standbyTasks.topic"), Partition: r.int32("standbyTasks.partition")})
		}
		t.Partitions = all[first:len(all):len(all)]
		out = append(out, t)
	}
	return out
}

func (r *wireReader) topicDictionary() []DictionaryEntry {
	n := r.count("topicDictionary", 6)
	out := make([]DictionaryEntry, 0, n)
	for i := 0; i < n && r.err == nil; i++ {
		out = append(out, DictionaryEntry{Index: r.int32("topicDictionary.index"), Topic: r.topicUTF("topicDictionary.topic")})
	}
	return out
}

// hostNames are the field paths of the parts of one host map.
type hostNames struct{ list, host, port, partitions, topic, index, partition string }

func hostFieldNames(list string) hostNames {
	if list == "partitionsByHost" { // spelled out so that reading allocates no names
		return hostNames{
			list, "partitionsByHost.host", "partitionsByHost.port", "partitionsByHost.partitions",
			"partitionsByHost.topic", "partitionsByHost.index", "partitionsByHost.partition",
		}
	}
	return hostNames{
		list, "standbyPartitionsByHost.host", "standbyPartitionsByHost.port", "standbyPartitionsByHost.partitions",
		"standbyPartitionsByHost.topic", "standbyPartitionsByHost.index", "standbyPartitionsByHost.partition",
	}
}

// hosts reads one host map, whose partitions share one slice. Without a
// dictionary topics are spelled out.
func (r *wireReader) hosts(f hostNames, topics *topicDictionary) []HostPartitions {
	n := r.count(f.list, 10)
	smallest := 8
	if topics == nil {
		smallest = 6
	}
	shape := nestedArray{text: true, fixed: 4, inner: 8, unsigned: true}
	if topics == nil {
		shape.inner, shape.texts = 4, true
	}
	out := make([]HostPartitions, 0, n)
	all := make([]model.TopicPartition, 0, r.countNested(n, shape))
	for i := 0; i < n && r.err == nil; i++ {
		h := HostPartitions{Host: r.utf(f.host), Port: r.int32(f.port)}
		first := len(all)
		m := r.count(f.partitions, smallest)
		if topics != nil {
			all = r.indexed(all, m, f.index, topics)
		}
		for ; topics == nil && m > 0 && r.err == nil; m-- {
			all = append(all, model.TopicPartition{Topic: r.topicUTF(f.topic), Partition: r.int32(f.partition)})
		}
		h.Partitions = all[first:len(all):len(all)]
		out = append(out, h)
	}
	return out
}

// indexed reads m partitions whose topics are named by index; count has made
// sure of the bytes.
func (r *wireReader) indexed(all []model.TopicPartition, m int, field string, topics *topicDictionary) []model.TopicPartition {
	for range m {
		at := r.off
		e := r.take(8)
		index := int32(binary.BigEndian.Uint32(e))
		topic, ok := topics.topic(index)
		if !ok {
			r.fail(field, at, "topic %d is not in the dictionary", index)
			return all
		}
		all = append(all, model.TopicPartition{Topic: topic, Partition: int32(binary.BigEndian.Uint32(e[4:]))})
	}
	return all
}
