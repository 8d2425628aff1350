package model

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// TaskID names one task: <subtopology>_<partition>, or
// <topology>__<subtopology>_<partition> where a classic group uses named
// topologies (wire-formats.md, section 7). It is comparable.
type TaskID struct {
	Topology    string // "" when the group has no named topologies
	Subtopology string // decimal in every known client; a KIP-1071 broker allows any text
	Partition   int32
}

// ClassicTask returns the id of a task whose subtopology is a number.
func ClassicTask(topology string, subtopology, partition int32) TaskID {
	return TaskID{Topology: topology, Subtopology: strconv.Itoa(int(subtopology)), Partition: partition}
}

// String gives the text form, for example "0_1" or "billing__0_1".
func (t TaskID) String() string {
	s := t.Subtopology + "_" + strconv.Itoa(int(t.Partition))
	if t.Topology != "" {
		return t.Topology + "__" + s
	}
	return s
}

// MarshalText writes the text form, so that a TaskID is a JSON string and can
// be a JSON object key.
func (t TaskID) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (t *TaskID) UnmarshalText(b []byte) error {
	id, err := ParseTaskID(string(b))
	if err != nil {
		return err
	}
	*t = id
	return nil
}

// ParseTaskID reads the text form. The last "_" ends the subtopology; the last
// "__" before it ends the topology name.
func ParseTaskID(s string) (TaskID, error) {
	i := strings.LastIndexByte(s, '_')
	if i <= 0 || i == len(s)-1 {
		return TaskID{}, fmt.Errorf("task id %q is not <subtopology>_<partition>", s)
	}
	p, err := strconv.ParseInt(s[i+1:], 10, 32)
	if err != nil || p < 0 {
		return TaskID{}, fmt.Errorf("task id %q: partition %q is not a number", s, s[i+1:])
	}
	t := TaskID{Subtopology: s[:i], Partition: int32(p)}
	if j := strings.LastIndex(t.Subtopology, "__"); j > 0 {
		t.Topology, t.Subtopology = t.Subtopology[:j], t.Subtopology[j+2:]
	}
	if t.Subtopology == "" {
		return TaskID{}, fmt.Errorf("task id %q has no subtopology", s)
	}
	return t, nil
}

// Compare orders tasks by topology (none first), then subtopology and
// partition as numbers; subtopologies that are no numbers come after those
// that are, in text order.
func (t TaskID) Compare(o TaskID) int {
	return cmp.Or(cmp.Compare(t.Topology, o.Topology), CompareSubtopologies(t.Subtopology, o.Subtopology), cmp.Compare(t.Partition, o.Partition))
}

// CompareSubtopologies orders subtopology ids as TaskID.Compare does.
func CompareSubtopologies(a, b string) int {
	if a == b {
		return 0
	}
	na, nb := isNumber(a), isNumber(b)
	switch {
	case na && nb:
		a0, b0 := strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(a0), len(b0)), strings.Compare(a0, b0), strings.Compare(a, b))
	case na:
		return -1
	case nb:
		return 1
	}
	return strings.Compare(a, b)
}

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// TopicPartition is one partition of a topic. It is comparable.
type TopicPartition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
}

// String gives topic-partition, for example "orders-0".
func (p TopicPartition) String() string { return p.Topic + "-" + strconv.Itoa(int(p.Partition)) }

// Compare orders by topic, then partition number.
func (p TopicPartition) Compare(o TopicPartition) int {
	return cmp.Or(strings.Compare(p.Topic, o.Topic), cmp.Compare(p.Partition, o.Partition))
}

// Role is what a member does with a task. Kafka's word for a learner is
// warm-up task.
type Role string

// The roles of a task on a member.
const (
	Active  Role = "active"
	Standby Role = "standby"
	Learner Role = "learner"
)

// Tag is a task tag of the draft (stream-protocol.md, Task tags).
type Tag string

// The tags, in the order of the draft's table.
const (
	IsStateful   Tag = "isStateful"
	IsLearner    Tag = "isLearner"
	BeingLearned Tag = "beingLearned"
	IsReady      Tag = "isReady"
	IsLeaving    Tag = "isLeaving"
)

// Word is how the tag prints in tables, for example "being-learned".
func (t Tag) Word() string {
	switch t {
	case IsStateful:
		return "stateful"
	case IsLearner:
		return "learner"
	case BeingLearned:
		return "being-learned"
	case IsReady:
		return "ready"
	case IsLeaving:
		return "leaving"
	}
	return string(t)
}
