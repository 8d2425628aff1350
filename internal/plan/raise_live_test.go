package plan

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/assign"
)

// Where the tasks of an instance that stopped went on real brokers is where they
// were foretold to go, from the snapshot before the stop.
func TestRecordedDepartures(t *testing.T) {
	stops, tasks := 0, 0
	for _, l := range readLines[liveStreams](t, "../../testdata/live/streams-changes.jsonl") {
		if len(l.Change) != 1 || l.Change[0].Op != "remove" {
			continue
		}
		in := l.emptyInput(t)
		in.KafkaVersion = l.Version
		in.Settings = []Setting{{KeyStandbys, strconv.Itoa(l.Standbys), "group config"}}
		for _, m := range l.Snapshot.Members {
			in.place(m.Process, Member{ID: m.ID, Name: m.Client, Active: numbers(t, in.Topology, m.Active), Standby: numbers(t, in.Topology, m.Standby),
				TargetActive: numbers(t, in.Topology, m.TargetActive), TargetStandby: numbers(t, in.Topology, m.TargetStandby), Reported: offsetsOf(t, in.Topology, m.Offsets)})
		}
		for i := range in.Instances {
			in.Instances[i].Name, _, _ = strings.Cut(strings.TrimPrefix(in.Instances[i].Members[0].Name, l.Group+"-"), "-")
		}
		r, err := NeedStandbys(in, []string{l.Change[0].Instance}, Options{}, -1)
		if err != nil {
			t.Fatalf("%s: %v", l.Name, err)
		}
		owner := map[assign.Task]string{}
		for _, m := range l.Targets[len(l.Targets)-1].Members {
			for _, task := range numbers(t, in.Topology, m.Target.Active) {
				owner[task] = m.Process
			}
		}
		for _, d := range r.Now {
			task, _ := in.Topology.Find(d.Task)
			if d.To[0] != owner[task] {
				t.Errorf("%s: %s went to %s, foretold was %v", l.Name, d.Task, owner[task], d.To)
			}
			tasks++
		}
		for task, to := range owner { // and none else moved
			foretold := slices.ContainsFunc(r.Now, func(d Departure) bool { return d.Task == in.Topology.ID(task) })
			stayed := slices.ContainsFunc(in.Instances, func(i Instance) bool {
				return i.ID == to && slices.ContainsFunc(i.Members, func(m Member) bool { return slices.Contains(m.Active, task) })
			})
			if !foretold && !stayed {
				t.Errorf("%s: %s moved to %s, which was not foretold", l.Name, in.Topology.ID(task), to)
			}
		}
		stops++
	}
	if stops < 3 || tasks < 10 {
		t.Fatalf("only %d stops, %d tasks", stops, tasks)
	}
	t.Logf("%d stops, %d tasks, all where they were foretold", stops, tasks)
}
