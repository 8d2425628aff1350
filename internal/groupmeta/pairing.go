package groupmeta

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

// PairingError says that a member was given another number of partitions than
// of active task entries, so that they cannot be paired.
type PairingError struct {
	Partitions int // in the frame
	Entries    int // in activeTasks
}

func (e *PairingError) Error() string {
	return fmt.Sprintf("%d assigned partitions but %d entries of active tasks", e.Partitions, e.Entries)
}

// PairActive pairs the partitions of an assignment frame with the activeTasks
// of the user data inside it (wire-formats.md, section 6): after sorting, the
// i-th partition belongs to the i-th entry. The tasks come out sorted, each
// once, with its partitions sorted. When the numbers differ the error is a
// *PairingError and the distinct tasks come without partitions.
func PairActive(assigned []TopicPartitions, active []Task) ([]TaskPartitions, error) {
	partitions := SortedPartitions(assigned)
	if len(partitions) != len(active) {
		out := make([]TaskPartitions, 0, len(active))
		for _, t := range SortedTasks(active) {
			out = append(out, TaskPartitions{Task: t})
		}
		return out, &PairingError{Partitions: len(partitions), Entries: len(active)}
	}
	order := make([]int, len(active))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(active[i].Compare(active[j]), cmp.Compare(i, j))
	})
	all := make([]model.TopicPartition, len(order)) // the partitions of all tasks, task by task
	out := make([]TaskPartitions, 0, len(order))
	first := 0
	for k, i := range order {
		all[k] = partitions[i]
		if k+1 == len(order) || active[order[k+1]] != active[i] {
			out = append(out, TaskPartitions{Task: active[i], Partitions: all[first : k+1 : k+1]})
			first = k + 1
		}
	}
	return out, nil
}
