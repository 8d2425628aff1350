package groupmeta

import (
	"cmp"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
)

// place is a task on a member: indexes into members and its Tasks.
type place struct{ member, task int }

// taskPlaces is who has a task.
type taskPlaces struct {
	actives []place
	copies  []place // standbys and learners
	targets []place // in a target assignment, not held yet
}

// placeTasks sorts members and their tasks and notes who has which task.
func (b *groupBuilder) placeTasks() {
	slices.SortFunc(b.members, func(a, c builtMember) int {
		return cmp.Or(strings.Compare(a.ClientID, c.ClientID), strings.Compare(a.ID, c.ID))
	})
	b.tasks = make(map[model.TaskID]*taskPlaces, b.activeTasks())
	for i := range b.members {
		m := &b.members[i]
		if m.instance == "" {
			m.instance = clientInstance(m.ClientID)
		}
		slices.SortStableFunc(m.Tasks, func(a, c model.Task) int {
			return cmp.Or(a.ID.Compare(c.ID), compareBool(a.TargetOnly, c.TargetOnly), cmp.Compare(roleOrder(a.Role), roleOrder(c.Role)))
		})
		for j := range m.Tasks {
			b.place(i, j)
		}
	}
	b.splitByHost()
	b.instanceOf = make(map[string]string, len(b.members))
	for i := range b.members {
		b.instanceOf[b.members[i].ID] = b.members[i].instance
	}
	b.taskIDs = make([]model.TaskID, 0, len(b.tasks))
	for id := range b.tasks {
		b.taskIDs = append(b.taskIDs, id)
	}
	slices.SortFunc(b.taskIDs, model.TaskID.Compare)
}

// activeTasks counts the tasks that members run, which is about how many there
// are.
func (b *groupBuilder) activeTasks() int {
	n := 0
	for i := range b.members {
		for _, t := range b.members[i].Tasks {
			if t.Role == model.Active {
				n++
			}
		}
	}
	return n
}

func (b *groupBuilder) place(i, j int) {
	t := &b.members[i].Tasks[j]
	p := b.tasks[t.ID]
	if p == nil {
		p = &taskPlaces{}
		b.tasks[t.ID] = p
	}
	at := place{i, j}
	switch {
	case t.TargetOnly:
		p.targets = append(p.targets, at)
	case t.Role == model.Active:
		p.actives = append(p.actives, at)
	default:
		p.copies = append(p.copies, at)
	}
}

func roleOrder(r model.Role) int {
	switch r {
	case model.Active:
		return 0
	case model.Standby:
		return 1
	}
	return 2
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// at gives the task of a place.
func (b *groupBuilder) at(p place) *model.Task { return &b.members[p.member].Tasks[p.task] }

// clientPrefix begins the ids of instances whose process id is not known.
const clientPrefix = "client:"

func clientInstance(clientID string) string { return clientPrefix + model.ClientBase(clientID) }

// splitByHost tells apart processes that share a client id and whose own ids
// are not known: by their hosts, where the same thread is there twice.
func (b *groupBuilder) splitByHost() {
	type thread struct {
		instance string
		number   int
		label    string // of a worker
	}
	twice := make(map[string]bool)
	seen := make(map[thread]bool)
	for i := range b.members {
		m := &b.members[i]
		if !strings.HasPrefix(m.instance, clientPrefix) {
			continue
		}
		t := thread{m.instance, m.Thread, m.Name}
		twice[m.instance] = twice[m.instance] || seen[t]
		seen[t] = true
	}
	for i := range b.members {
		m := &b.members[i]
		if twice[m.instance] && m.Host != "" {
			m.instance += " on " + hostOf(m.Host)
		}
	}
}

// hostOf is a host as brokers give it without its slash, and without the port
// that some give.
func hostOf(host string) string {
	host = strings.TrimPrefix(host, "/")
	if strings.Count(host, ":") == 1 {
		host, _, _ = strings.Cut(host, ":")
	}
	return host
}

// unowned finds the tasks that nobody runs: between two owners when a target
// or a hand-over explains it, else nobody's. Where some member's tasks are not
// known, or belong to an earlier round, nothing can be said.
func (b *groupBuilder) unowned() {
	if b.unknown || b.g.AssignmentBasis != model.AssignmentCurrent {
		return
	}
	handOver := b.handingOver || b.g.State == model.StateAssigning || slices.ContainsFunc(b.members, func(m builtMember) bool { return m.next != nil && *m.next == 0 })
	for _, id := range b.topologyTasks() {
		p := b.tasks[id]
		if p != nil && len(p.actives) > 0 {
			continue
		}
		if handOver || p != nil && slices.ContainsFunc(p.targets, func(at place) bool { return b.at(at).Role == model.Active }) {
			b.g.Moving = append(b.g.Moving, id)
		} else {
			b.g.Unassigned = append(b.g.Unassigned, id)
		}
	}
}

// topologyTasks are all tasks of the group as far as known, sorted, once the
// topology is complete: those of sub-topologies whose partitions the cluster
// told, and those that members name.
func (b *groupBuilder) topologyTasks() []model.TaskID {
	if b.allTasks != nil {
		return b.allTasks
	}
	out := make([]model.TaskID, 0, len(b.taskIDs))
	all := 0
	for _, s := range b.subs {
		all += int(s.counted)
	}
	for key, s := range b.subs {
		counted := s.counted
		if all > maxCounted {
			counted = 0
		}
		for p := range counted {
			out = append(out, key.task(p))
		}
		for p := range s.seen {
			if p >= counted {
				out = append(out, key.task(p))
			}
		}
	}
	slices.SortFunc(out, model.TaskID.Compare)
	b.allTasks = out
	return out
}

// maxCounted bounds the tasks that are counted on anyone's word about
// partitions: Kafka allows fewer in a whole cluster. Beyond it only tasks that
// members name are counted.
const maxCounted = 1 << 18
