package groupmeta

import (
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

// Encode writes the format a.Version, 1 to NewestFormat. Fields that the
// format does not have are left out.
func (a *AssignmentInfo) Encode() ([]byte, error) {
	w := &wireWriter{structure: KindAssignment, buf: make([]byte, 0, 64+12*len(a.ActiveTasks)+40*len(a.StandbyTasks))}
	w.format(a.Version)
	if a.Version >= 3 {
		w.int32(a.CommonlySupportedVersion)
	}
	named := a.Version >= 10
	active, standby := taskFieldNames("activeTasks"), taskFieldNames("standbyTasks")
	w.count("activeTasks", len(a.ActiveTasks))
	for _, t := range a.ActiveTasks {
		w.task(&active, t, named)
	}
	w.count("standbyTasks", len(a.StandbyTasks))
	for _, t := range a.StandbyTasks {
		w.task(&standby, t.Task, named)
		w.count("standbyTasks.partitions", len(t.Partitions))
		for _, p := range t.Partitions {
			w.utf("standbyTasks.topic", p.Topic)
			w.int32(p.Partition)
		}
	}
	var index map[string]int32 // nil: topics are spelled out
	if a.Version >= 5 {
		index = w.topicDictionary(a.dictionary())
	}
	if a.Version >= 2 {
		w.hosts(hostFieldNames("partitionsByHost"), a.PartitionsByHost, index)
	}
	if a.Version >= 6 {
		w.hosts(hostFieldNames("standbyPartitionsByHost"), a.StandbyPartitionsByHost, index)
	}
	if a.Version >= 4 {
		w.int32(int32(a.ErrorCode))
	}
	if a.Version >= 7 {
		w.int64(a.NextRebalanceMs)
	}
	return w.finish()
}

// dictionary returns the entries of a.TopicDictionary and after them one for
// every other topic of the host maps that are written, in the order in which
// they are met.
func (a *AssignmentInfo) dictionary() []DictionaryEntry {
	entries := slices.Clone(a.TopicDictionary)
	known := make(map[string]bool)
	next := int32(0)
	for _, e := range entries {
		known[e.Topic] = true
		if e.Index >= next {
			next = e.Index + 1
		}
	}
	add := func(hosts []HostPartitions) {
		for _, h := range hosts {
			for _, p := range h.Partitions {
				if !known[p.Topic] {
					known[p.Topic] = true
					entries = append(entries, DictionaryEntry{Index: next, Topic: p.Topic})
					next++
				}
			}
		}
	}
	add(a.PartitionsByHost)
	if a.Version >= 6 {
		add(a.StandbyPartitionsByHost)
	}
	return entries
}

// topicDictionary writes the entries and returns the index of each topic.
func (w *wireWriter) topicDictionary(entries []DictionaryEntry) map[string]int32 {
	index := make(map[string]int32, len(entries))
	seen := make(map[int32]bool, len(entries))
	w.count("topicDictionary", len(entries))
	for _, e := range entries {
		if seen[e.Index] {
			w.fail("topicDictionary.index", "index %d is there twice", e.Index)
		}
		seen[e.Index] = true
		index[e.Topic] = e.Index
		w.int32(e.Index)
		w.utf("topicDictionary.topic", e.Topic)
	}
	return index
}

// hosts writes one host map; with index nil topics are spelled out.
func (w *wireWriter) hosts(f hostNames, hosts []HostPartitions, index map[string]int32) {
	w.count(f.list, len(hosts))
	for _, h := range hosts {
		w.utf(f.host, h.Host)
		w.int32(h.Port)
		w.count(f.partitions, len(h.Partitions))
		for _, p := range h.Partitions {
			w.hostPartition(f, p, index)
		}
	}
}

func (w *wireWriter) hostPartition(f hostNames, p model.TopicPartition, index map[string]int32) {
	if index == nil {
		w.utf(f.topic, p.Topic)
	} else {
		w.int32(index[p.Topic])
	}
	w.int32(p.Partition)
}
