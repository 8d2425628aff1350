package groupmeta

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

// Task is a task id as Streams writes it: two numbers and, in formats 10 and
// later, the name of a topology. It is comparable.
type Task struct {
	Topology    string // "" where there is none
	Subtopology int32
	Partition   int32
}

// ID is the task in the words of the model.
func (t Task) ID() model.TaskID { return model.ClassicTask(t.Topology, t.Subtopology, t.Partition) }

// Compare orders by topology (none first), subtopology and partition.
func (t Task) Compare(o Task) int {
	return cmp.Or(compareJavaText(t.Topology, o.Topology), cmp.Compare(t.Subtopology, o.Subtopology), cmp.Compare(t.Partition, o.Partition))
}

// TaskPartitions is a task with source partitions that belong to it.
type TaskPartitions struct {
	Task
	Partitions []model.TopicPartition
}

// SortedTasks returns the distinct tasks of a list in the order of Compare.
func SortedTasks(tasks []Task) []Task {
	sorted := slices.Clone(tasks)
	slices.SortFunc(sorted, Task.Compare)
	return slices.Compact(sorted)
}

// taskNames are the field paths of the parts of a task in one list.
type taskNames struct{ list, subtopology, partition, topology string }

func taskFieldNames(list string) taskNames {
	switch list { // spelled out so that reading allocates no names
	case "activeTasks":
		return taskNames{list, "activeTasks.subtopology", "activeTasks.partition", "activeTasks.topologyName"}
	case "standbyTasks":
		return taskNames{list, "standbyTasks.subtopology", "standbyTasks.partition", "standbyTasks.topologyName"}
	}
	return taskNames{list, list + ".subtopology", list + ".partition", list + ".topologyName"}
}

// smallTask is the size of a task without topology name.
const smallTask = 8

// tasks reads n tasks without topology names; count has made sure of the
// bytes.
func (r *wireReader) tasks(n int) []Task {
	raw := r.take(n * smallTask)
	out := make([]Task, n)
	for i := range out {
		e := raw[i*smallTask : i*smallTask+smallTask]
		out[i].Subtopology = int32(binary.BigEndian.Uint32(e))
		out[i].Partition = int32(binary.BigEndian.Uint32(e[4:]))
	}
	return out
}

// namedTask reads a task of an assignment; in formats before 10 it has no
// topology name.
func (r *wireReader) namedTask(f *taskNames, named bool) Task {
	if named && r.left() >= 12 {
		e := r.buf[r.off : r.off+12]
		if binary.BigEndian.Uint32(e[8:]) == 0 {
			r.off += 12
			return Task{Subtopology: int32(binary.BigEndian.Uint32(e)), Partition: int32(binary.BigEndian.Uint32(e[4:]))}
		}
	}
	t := Task{Subtopology: r.int32(f.subtopology), Partition: r.int32(f.partition)}
	if named {
		t.Topology = r.chars(f.topology)
	}
	return t
}

// task writes a task of an assignment.
func (w *wireWriter) task(f *taskNames, t Task, named bool) {
	w.int32(t.Subtopology)
	w.int32(t.Partition)
	switch {
	case named:
		w.chars(f.topology, t.Topology)
	case t.Topology != "":
		w.fail(f.topology, "formats before 10 have no topology names, task %q has one", t.ID())
	}
}
