package assign

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/streamctl/streamctl/internal/javaorder"
	"github.com/streamctl/streamctl/internal/model"
)

// Task is the number of a task in its Topology, from 0.
type Task int32

// MaxTasks bounds a topology.
const MaxTasks = 2_000_000

// Subtopology is a part of a topology: one task for each partition.
type Subtopology struct {
	Topology   string // name of a named topology of a classic group, else ""
	ID         string
	Partitions int  // number of tasks
	Stateful   bool // it has a changelog

	// What follows is read by high-availability only.
	Sources    []string // source topics
	Changelogs []string // changelog topics
	EndOffsets []int64  // by partition: sum over the task's changelogs, 0 beyond the end of the list
}

// Topology is the tasks of a group, numbered in ascending order: by topology
// name, subtopology and partition as numbers (model.TaskID.Compare).
type Topology struct {
	subs  []Subtopology
	first []Task // of each subtopology, and the number of all tasks at the end
}

// NewTopology numbers the tasks of subtopologies given in any order.
func NewTopology(subs []Subtopology) (*Topology, error) {
	t := &Topology{subs: slices.Clone(subs), first: make([]Task, len(subs)+1)}
	slices.SortFunc(t.subs, compareSubtopologies)
	total := 0
	for i, s := range t.subs {
		switch {
		case s.Partitions < 0:
			return nil, fmt.Errorf("subtopology %q has %d partitions", s.ID, s.Partitions)
		case i > 0 && compareSubtopologies(t.subs[i-1], s) == 0:
			return nil, fmt.Errorf("subtopology %q is there twice", s.ID)
		case s.Partitions > MaxTasks-total:
			return nil, fmt.Errorf("more than %d tasks", MaxTasks)
		}
		total += s.Partitions
		t.first[i+1] = Task(total)
	}
	return t, nil
}

func compareSubtopologies(a, b Subtopology) int {
	return cmp.Or(javaorder.CompareStrings(a.Topology, b.Topology), model.CompareSubtopologies(a.ID, b.ID))
}

// Len is the number of tasks.
func (t *Topology) Len() int { return int(t.first[len(t.subs)]) }

// Subtopologies are the parts in the order of their tasks; read only.
func (t *Topology) Subtopologies() []Subtopology { return t.subs }

// Tasks are the first task of a part and the one after its last.
func (t *Topology) Tasks(sub int) (first, end Task) { return t.first[sub], t.first[sub+1] }

// Find returns the number of a task.
func (t *Topology) Find(id model.TaskID) (Task, bool) {
	i, ok := t.FindSubtopology(id.Topology, id.Subtopology)
	if !ok || id.Partition < 0 || int(id.Partition) >= t.subs[i].Partitions {
		return 0, false
	}
	return t.first[i] + Task(id.Partition), true
}

// FindSubtopology returns the index of a part.
func (t *Topology) FindSubtopology(topology, id string) (int, bool) {
	return slices.BinarySearchFunc(t.subs, Subtopology{Topology: topology, ID: id}, compareSubtopologies)
}

// ID returns the id of a task.
func (t *Topology) ID(task Task) model.TaskID {
	i := t.subtopology(task)
	s := t.subs[i]
	return model.TaskID{Topology: s.Topology, Subtopology: s.ID, Partition: int32(task - t.first[i])}
}

// Stateful says whether a task has a changelog.
func (t *Topology) Stateful(task Task) bool { return t.subs[t.subtopology(task)].Stateful }

// hash is TaskId.hashCode of a classic task.
func (t *Topology) hash(task Task) uint32 {
	i := t.subtopology(task)
	number, _ := strconv.ParseInt(t.subs[i].ID, 10, 32)
	h := uint32(29791) + 961*uint32(number) + 31*uint32(task-t.first[i])
	if name := t.subs[i].Topology; name != "" {
		h += javaorder.HashString(name)
	}
	return h
}

// subtopology returns the index of the part a task belongs to.
func (t *Topology) subtopology(task Task) int {
	i, _ := slices.BinarySearch(t.first, task+1)
	return i - 1
}
