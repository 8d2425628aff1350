package assign

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
)

func TestFind(t *testing.T) {
	old, newer := StreamsSticky{Variant: Sticky42}, StreamsSticky{Variant: Sticky44}
	for _, tt := range []struct {
		name, version string
		want          Assignor
		inexact       bool
	}{
		{"high-availability", "", HighAvailability{}, false},
		{"high-availability", "3.4.0", HighAvailability{}, false},
		{"high-availability", "3.3.2", HighAvailability{}, true},
		{"high-availability", "2.8.0", HighAvailability{}, true},
		{"streams-sticky", "", newer, false},
		{"streams-sticky", "4.4.0", newer, false},
		{"streams-sticky", "4.4.0-rc1", newer, false},
		{"streams-sticky", "4.10.0", newer, false},
		{"streams-sticky", "5.0", newer, false},
		{"streams-sticky", "4.3.1", old, false},
		{"streams-sticky", "4.2.0", old, false},
		{"streams-sticky", "4.1.2", old, true},
	} {
		got, err := Find(tt.name, tt.version)
		inexact, is := errors.AsType[*InexactError](err)
		if got != tt.want || is != tt.inexact || err != nil && !is {
			t.Errorf("%s of %q: %v, %v", tt.name, tt.version, got, err)
		}
		if is && (inexact.Version != tt.version || !strings.Contains(err.Error(), tt.version)) {
			t.Errorf("%s of %q: %v does not say of what version", tt.name, tt.version, err)
		}
	}
	for _, tt := range [][2]string{{"range", ""}, {"", "4.3.1"}, {"streams-sticky", "4"}, {"streams-sticky", "four.two"}, {"streams-sticky", "-4.2"}, {"streams-sticky", "4.x"}} {
		if a, err := Find(tt[0], tt[1]); err == nil || a != nil {
			t.Errorf("%q of %q: %v", tt[0], tt[1], a)
		}
	}
	for _, a := range All() {
		if got, err := Find(a.Name(), ""); err != nil || got.Name() != a.Name() {
			t.Errorf("%q is in the list but not found: %v", a.Name(), err)
		}
	}
}

func TestTopology(t *testing.T) {
	topology, err := NewTopology([]Subtopology{{ID: "10", Partitions: 2, Stateful: true}, {ID: "2", Partitions: 3}, {ID: "5"}, {Topology: "x", ID: "1", Partitions: 1}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for task := range Task(topology.Len()) {
		id := topology.ID(task)
		names = append(names, id.String())
		if back, ok := topology.Find(id); !ok || back != task {
			t.Errorf("%s is %d, want %d", id, back, task)
		}
		if topology.Stateful(task) != (id.Subtopology == "10") {
			t.Errorf("%s has state: %t", id, topology.Stateful(task))
		}
	}
	if want := []string{"2_0", "2_1", "2_2", "10_0", "10_1", "x__1_0"}; !reflect.DeepEqual(names, want) {
		t.Errorf("tasks %v, want %v", names, want)
	}
	for _, id := range []model.TaskID{{Subtopology: "2", Partition: 3}, {Subtopology: "2", Partition: -1}, {Subtopology: "5"}, {Subtopology: "3"}, {Topology: "x", Subtopology: "2"}} {
		if task, ok := topology.Find(id); ok {
			t.Errorf("%s is %d", id, task)
		}
	}
	for what, subs := range map[string][]Subtopology{
		"negative": {{ID: "0", Partitions: -1}},
		"twice":    {{ID: "0"}, {ID: "1"}, {ID: "0"}},
		"too many": {{ID: "0", Partitions: MaxTasks}, {ID: "1", Partitions: 1}},
	} {
		if _, err := NewTopology(subs); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

func TestAssignRefuses(t *testing.T) {
	good := func() *Group {
		return &Group{
			Topology: wideTopology(t, 3), Processes: []Process{{ID: "00000000-0000-0000-0000-000000000001"}, {ID: "00000000-0000-0000-0000-000000000002"}},
			Members: []Member{{ID: "a"}, {ID: "b", Process: 1}},
		}
	}
	for _, a := range All() {
		if _, err := a.Assign(good()); err != nil {
			t.Errorf("%s: %v", a.Name(), err)
		}
		for what, spoil := range map[string]func(*Group){
			"no members":            func(g *Group) { g.Members = nil },
			"no processes":          func(g *Group) { g.Processes = nil },
			"process 2":             func(g *Group) { g.Members[1].Process = 2 },
			"process -1":            func(g *Group) { g.Members[1].Process = -1 },
			"owned task 3":          func(g *Group) { g.Members[0].Owned = []Task{3} },
			"active task -1":        func(g *Group) { g.Members[0].Active = []Task{-1} },
			"standby task 9":        func(g *Group) { g.Members[0].Standby = []Task{9} },
			"warm-up task 9":        func(g *Group) { g.Members[0].Warmup = []Task{9} },
			"offset of task 3":      func(g *Group) { g.Members[0].Offsets = []Offset{{Task: 3}} },
			"offset of a task -100": func(g *Group) { g.Members[0].Offsets = []Offset{{Task: -100}} },
		} {
			g := good()
			spoil(g)
			if _, err := a.Assign(g); err == nil {
				t.Errorf("%s takes a group with %s", a.Name(), what)
			}
		}
	}
	g := good()
	g.Processes[1].ID = "two"
	if _, err := (HighAvailability{}).Assign(g); err == nil || !strings.Contains(err.Error(), `"two"`) {
		t.Errorf("no UUID: %v", err)
	}
	g = good()
	g.Processes[1].ID = g.Processes[0].ID
	if _, err := (HighAvailability{}).Assign(g); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a process twice: %v", err)
	}
}

func TestNextWords(t *testing.T) {
	for next, want := range map[Next]string{NextNone: "none", NextNow: "now", NextProbing: "probing"} {
		if got := next.String(); got != want {
			t.Errorf("%d prints as %q, want %q", next, got, want)
		}
	}
}
