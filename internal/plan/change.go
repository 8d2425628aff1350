package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// Change is one thing that is done to a group. Changes of one list happen
// together, in one round, unless a Wait stands between them.
type Change interface {
	// Describe is the change in words, for example "add 1 instance".
	Describe() string
}

// Add lets new instances join.
type Add struct {
	Count    int
	Threads  int            // of each; 0: as most of the others have
	IDs      []string       // their process ids, as far as known
	Members  []string       // their member ids in order of instance and thread, as far as known
	State    []model.TaskID // copies on their disks, caught up
	AllState bool           // all stateful tasks
	Rack     string         // client.rack of their consumers; "": none, or not known
	Names    []string       // what to call them; those without are new-1, new-2, …
}

// How an instance goes.
const (
	HowStop  = "stop"  // closed: a classic one does not leave the group
	HowKill  = "kill"  // gone without a word
	HowLeave = "leave" // leaves the group, or is thrown out
)

// Remove takes an instance out.
type Remove struct {
	Instance string
	How      string // "" is HowStop
}

// Leaving marks an instance as leaving (worker groups).
type Leaving struct{ Instance string }

// Bounce stops an instance and starts it again with its disk.
type Bounce struct {
	Instance string
	Threads  int  // after the restart; 0: as before
	Static   bool // its members have a group.instance.id, although that was not seen
}

// Threads changes the number of threads of a running instance.
type Threads struct {
	Instance string
	Count    int
}

// Partitions changes the number of partitions of an input topic.
type Partitions struct {
	Topic string
	Count int
}

// Wait stands for rounds that pass before the changes after it.
type Wait struct{ Rounds int }

// Describe says how many instances join.
func (a Add) Describe() string {
	s := "add " + count(a.Count, "instance")
	if a.Threads > 0 {
		if s += " with " + count(a.Threads, "thread"); a.Count > 1 {
			s += " each"
		}
	}
	if len(a.Names) > 0 {
		s += " (" + strings.Join(a.Names, ", ") + ")"
	}
	switch {
	case a.AllState:
		s += ", all state on disk"
	case len(a.State) > 0:
		s += ", state of " + count(len(a.State), "task") + " on disk"
	}
	return s
}

// Describe names the instance.
func (r Remove) Describe() string {
	switch r.How {
	case HowKill:
		return "kill " + r.Instance
	case HowLeave:
		return "remove " + r.Instance + ", which leaves the group"
	}
	return "remove " + r.Instance
}

// Describe names the instance.
func (l Leaving) Describe() string { return "mark " + l.Instance + " as leaving" }

// Describe names the instance.
func (b Bounce) Describe() string {
	if b.Threads > 0 {
		return fmt.Sprintf("restart %s with %s", b.Instance, count(b.Threads, "thread"))
	}
	return "restart " + b.Instance
}

// Describe names the instance and the number.
func (t Threads) Describe() string {
	return fmt.Sprintf("%s on %s", count(t.Count, "thread"), t.Instance)
}

// Describe names the topic and the number.
func (p Partitions) Describe() string {
	return fmt.Sprintf("%s of topic %s", count(p.Count, "partition"), p.Topic)
}

// Describe says how many rounds pass.
func (w Wait) Describe() string { return "wait " + count(w.Rounds, "round") }

// ChangeError says what is wrong with a change.
type ChangeError struct{ Change, Why string }

func (e *ChangeError) Error() string { return fmt.Sprintf("change %q: %s", e.Change, e.Why) }

// steps splits changes at the waits; wait[i] is the rounds after step i, 0 for
// the last.
func steps(changes []Change) (list [][]Change, wait []int) {
	list, wait = [][]Change{nil}, []int{0}
	for _, c := range changes {
		if w, ok := c.(Wait); ok {
			wait[len(wait)-1] = max(w.Rounds, 1)
			list, wait = append(list, nil), append(wait, 0)
			continue
		}
		list[len(list)-1] = append(list[len(list)-1], c)
	}
	return list, wait
}

// find gives the number of the instance that a name means: in its group as
// every command does, else by id or name.
func (in *Input) find(name string) (int, error) {
	id := name
	if in.group != nil {
		i, err := model.ResolveInstance(in.group, name)
		if err != nil {
			return 0, err
		}
		id = i.ID
	}
	k := slices.IndexFunc(in.Instances, func(i Instance) bool { return i.ID == id })
	if k < 0 {
		k = slices.IndexFunc(in.Instances, func(i Instance) bool { return i.Name == name })
	}
	if k < 0 {
		var names []string
		for _, i := range in.Instances {
			names = append(names, i.Name)
		}
		return 0, &ChangeError{name, "no instance of that name; there are " + strings.Join(names, ", ")}
	}
	return k, nil
}
