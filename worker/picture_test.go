package worker_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/worker"
)

// killed is a kind of event that the test itself notes.
const killed worker.EventKind = "killed"

// noTaskTwice replays what was reported, in the order in which it happened, and
// complains of every task that two instances processed at a time.
func (r *rig) noTaskTwice() {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.Clone(r.events)
	slices.SortStableFunc(list, func(a, b worker.Event) int { return a.At.Compare(b.At) })
	active := map[worker.TaskID]string{}
	for _, e := range list {
		switch at := active[e.Task]; e.Kind {
		case worker.ActiveStarted:
			if at != "" {
				r.t.Errorf("%s started on %s while it runs on %s, generation %d", e.Task, r.names[e.Instance], r.names[at], e.Generation)
			}
			active[e.Task] = e.Instance
		case worker.ActiveStopped:
			if at == e.Instance {
				delete(active, e.Task)
			}
		case killed:
			maps.DeleteFunc(active, func(_ worker.TaskID, at string) bool { return at == e.Instance })
		}
	}
}

// picture shows who has what: "a[0 1*] learns 2!": a star for being learned, a
// bang for ready; standbys follow "holds".
func (r *rig) picture() string {
	r.mu.Lock()
	live := maps.Clone(r.live)
	r.mu.Unlock()
	var out []string
	for _, name := range slices.Sorted(maps.Keys(live)) {
		out = append(out, r.line(name, live[name].Stats().Tasks))
	}
	return strings.Join(out, " ")
}

// label is the number of a task in the story.
func (r *rig) label(t worker.TaskID) int {
	if r.labels == nil {
		return int(t.Partition) + 1
	}
	return r.labels[t.Partition]
}

func (r *rig) line(name string, tasks []worker.TaskStats) string {
	slices.SortFunc(tasks, func(a, b worker.TaskStats) int { return cmp.Compare(r.label(a.ID), r.label(b.ID)) })
	var own, learns, holds []string
	for _, t := range tasks {
		s := "T" + strconv.Itoa(r.label(t.ID))
		switch t.Role {
		case "active":
			own = append(own, s)
		case "learner":
			learns = append(learns, s)
		default:
			holds = append(holds, s)
		}
	}
	s := name + "[" + strings.Join(own, ",") + "]"
	if len(learns) > 0 {
		s += " learns " + strings.Join(learns, ",")
	}
	if len(holds) > 0 {
		s += " holds " + strings.Join(holds, ",")
	}
	return s
}

// tail shows the last events.
func (r *rig) tail(n int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	list := slices.DeleteFunc(slices.Clone(r.events), func(e worker.Event) bool { return e.Kind == worker.Committed || e.Kind == worker.Restoring })
	for _, e := range list[max(0, len(list)-n):] {
		fmt.Fprintf(&b, "%s %s %s w%d %s gen %d %s %s %s %v %s\n", e.At.Format("05.000"), r.names[e.Instance], e.Kind, e.Worker, e.Task, e.Generation, e.Mark, e.Mode, e.Text, e.Err, r.told(e.Round))
	}
	return b.String()
}

// told shows a round.
func (r *rig) told(round *worker.Round) string {
	if round == nil {
		return ""
	}
	s := ""
	for _, in := range round.Instances {
		s += r.names[in.ID] + "["
		for _, t := range in.Tasks {
			s += fmt.Sprintf("T%d %s %v;", r.label(t.ID), t.Role, t.Tags)
		}
		s += "] "
	}
	return fmt.Sprintf("%swaiting=%v another=%v", s, round.SwitchWaiting, round.AnotherRound)
}
