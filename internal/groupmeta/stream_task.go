package groupmeta

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/streamctl/streamctl/internal/model"
)

// The flags byte of a task: the tags in the low bits, then what follows. What
// bit 6 means differs between the two structures.
const (
	taskTags    = byte(allStreamTags)
	taskActive  = 1 << 5 // else a copy: a learner when tagged so, or a standby
	taskHasLag  = 1 << 6 // metadata: the lag follows
	taskRelease = 1 << 6 // assignment: to be released

	knownTaskFlags = taskTags | taskActive | taskHasLag
)

// firstTasks is for how many tasks room is made at once on the word of a count.
const firstTasks = 1 << 16

// taskNumbers is a task id as it goes over the wire.
type taskNumbers struct {
	subtopology, partition int32
	index                  int // in the caller's list
}

// readStreamTasks reads a list of tasks in the order of their ids; id gives the
// place of a task's id, read reads what follows the id: flags and more.
func readStreamTasks[T any](r *streamReader, id func(*T) *model.TaskID, read func(*T, byte, int)) []T {
	n := r.elements("tasks.count", 2) // flags and partition
	if n == 0 {
		return nil
	}
	tasks := make([]T, 0, min(n, firstTasks))
	var names subtopologyNames
	next := int64(0) // lowest subtopology that may come
	for len(tasks) < n && r.err == nil {
		at := r.off
		sub := next + int64(r.uint31("tasks.subtopology"))
		if sub > math.MaxInt32 {
			r.fail("tasks.subtopology", at, "%d is more than %d", sub, math.MaxInt32)
		}
		next = sub + 1
		at = r.off
		members := int(r.uint31From("tasks.partitions", 1))
		if members > n-len(tasks) {
			r.fail("tasks.partitions", at, "%d tasks where %d are left", members, n-len(tasks))
		}
		if r.err != nil {
			break
		}
		names.add(len(tasks), sub)
		tasks = readPartitions(r, tasks, members, id, read)
	}
	if r.err != nil {
		return nil
	}
	names.fill(len(tasks), func(i int, name string) { id(&tasks[i]).Subtopology = name })
	return tasks
}

// readPartitions reads the tasks of one subtopology.
func readPartitions[T any](r *streamReader, tasks []T, members int, id func(*T) *model.TaskID, read func(*T, byte, int)) []T {
	next := int64(0)
	for range members {
		at := r.off
		partition := next + int64(r.uint31("tasks.partition"))
		if partition > math.MaxInt32 {
			r.fail("tasks.partition", at, "%d is more than %d", partition, math.MaxInt32)
		}
		next = partition + 1
		at = r.off
		flags := r.flags("tasks.flags", knownTaskFlags)
		if r.err != nil {
			return tasks
		}
		var zero T
		tasks = append(tasks, zero)
		task := &tasks[len(tasks)-1]
		id(task).Partition = int32(partition)
		read(task, flags, at)
		if r.err != nil {
			return tasks
		}
	}
	return tasks
}

// roleAndTags reads the role and the tags out of the flags that stood at offset
// at, and reports malformed ones.
func (r *streamReader) roleAndTags(flags byte, at int) (model.Role, StreamTags) {
	tags, role := StreamTags(flags&taskTags), model.Standby
	switch {
	case flags&taskActive != 0:
		role = model.Active
	case tags.Has(TagLearner):
		role = model.Learner
	}
	if p := tagProblem(role, tags); p != "" {
		r.fail("tasks.flags", at, "malformed tags: %s", p)
	}
	return role, tags
}

// subtopologyNames makes the text of many subtopology numbers with few
// allocations.
type subtopologyNames struct {
	digits []byte
	runs   []subtopologyRun
}

// subtopologyRun is a run of tasks of one subtopology: its first task and the
// end of its digits.
type subtopologyRun struct{ first, end int }

func (s *subtopologyNames) add(first int, number int64) {
	s.digits = strconv.AppendInt(s.digits, number, 10)
	s.runs = append(s.runs, subtopologyRun{first: first, end: len(s.digits)})
}

// fill calls set for each of n tasks.
func (s *subtopologyNames) fill(n int, set func(i int, name string)) {
	all, from := string(s.digits), 0
	for i, run := range s.runs {
		last := n
		if i+1 < len(s.runs) {
			last = s.runs[i+1].first
		}
		for task := run.first; task < last; task++ {
			set(task, all[from:run.end])
		}
		from = run.end
	}
}

// tasks writes n tasks: id gives the id of one, body writes what follows its
// partition.
func (w *streamWriter) tasks(n int, id func(i int) model.TaskID, body func(i int)) {
	list := make([]taskNumbers, n)
	var last, name string
	var number int32
	for i := range list {
		t := id(i)
		if name = t.Subtopology; i == 0 || name != last {
			v, err := strconv.ParseInt(name, 10, 32)
			if err != nil || v < 0 || strconv.FormatInt(v, 10) != name {
				w.fail("tasks.subtopology", "task %q: the subtopology is no number", t)
			}
			last, number = name, int32(v)
		}
		if t.Topology != "" || t.Partition < 0 {
			w.fail("tasks", "task %q: the id has a topology or a negative partition", t)
		}
		list[i] = taskNumbers{subtopology: number, partition: t.Partition, index: i}
	}
	slices.SortFunc(list, func(a, b taskNumbers) int {
		return cmp.Or(cmp.Compare(a.subtopology, b.subtopology), cmp.Compare(a.partition, b.partition))
	})
	w.number("tasks.count", int64(n), 0)
	next := int64(0)
	for from := 0; from < n && w.err == nil; {
		to := from
		for to < n && list[to].subtopology == list[from].subtopology {
			to++
		}
		w.number("tasks.subtopology", int64(list[from].subtopology)-next, 0)
		next = int64(list[from].subtopology) + 1
		w.partitions(list[from:to], id, body)
		from = to
	}
}

// partitions writes the tasks of one subtopology.
func (w *streamWriter) partitions(list []taskNumbers, id func(i int) model.TaskID, body func(i int)) {
	w.number("tasks.partitions", int64(len(list)), 1)
	next := int64(0)
	for i, t := range list {
		if i > 0 && t.partition == list[i-1].partition {
			w.fail("tasks", "task %q is there twice", id(t.index))
			return
		}
		w.number("tasks.partition", int64(t.partition)-next, 0)
		next = int64(t.partition) + 1
		body(t.index)
	}
}

// taskFlags writes the flags byte of a task.
func (w *streamWriter) taskFlags(id model.TaskID, role model.Role, tags StreamTags, more byte) {
	if p := tagProblem(role, tags); p != "" {
		w.fail("tasks.flags", "task %q: malformed tags: %s", id, p)
	}
	b := byte(tags) | more
	if role == model.Active {
		b |= taskActive
	}
	w.buf = append(w.buf, b)
}
