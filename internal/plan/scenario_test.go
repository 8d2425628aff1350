package plan

import (
	"bufio"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/scenario"
)

// A plan from a scenario begins with the round that the assignor makes of it:
// process by process (which thread of a process has state that none of them
// runs, a scenario does not tell).
func TestPlansOfScenariosBeginWithTheirRound(t *testing.T) {
	f, err := os.Open("../../testdata/assign/high-availability.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	checked := 0
	s := bufio.NewScanner(f)
	s.Buffer(nil, 4<<20)
	for n := 1; s.Scan() && checked < 100; n++ {
		k, err := scenario.ParseKafka(n, s.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if k.Group.Settings.RackStrategy != assign.RackNone || contradicts(k.Group) || strings.Contains(s.Text(), ":-3") {
			continue
		}
		checked++
		want, err := assign.HighAvailability{}.Assign(k.Group)
		if err != nil {
			t.Fatal(err)
		}
		in := fromAssign(k.Name, k.Assignor, k.KafkaVersion, k.Group)
		o := &Options{}
		set, err := resolve(in, in.Assignor, o)
		if err != nil {
			t.Fatalf("%s: %v", k.Name, err)
		}
		c := newClassicSim(in, o, set, newRecorder(in, set.AcceptableLag, Rate{}), 1)
		if err := c.change(nil, true); err != nil {
			t.Fatal(err)
		}
		if _, err := c.round(); err != nil {
			t.Fatal(err)
		}
		for i := range want.Processes {
			got, want := c.last.Processes[i], want.Processes[i]
			if !slices.Equal(got.Active, want.Active) || !slices.Equal(got.Standby, want.Standby) || !slices.Equal(got.Warmup, want.Warmup) || !reflect.DeepEqual(got.TargetActive, want.TargetActive) {
				t.Errorf("%s: process %d has %v, want %v", k.Name, i, got, want)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d scenarios", checked)
	}
}

// contradicts reports whether two threads of a process say different things of
// one task, or one has no thread.
func contradicts(g *assign.Group) bool {
	type key struct {
		process int
		task    assign.Task
	}
	said := map[key]int64{}
	for _, m := range g.Members {
		for _, o := range m.Offsets {
			if old, ok := said[key{m.Process, o.Task}]; ok && old != o.Sum {
				return true
			}
			said[key{m.Process, o.Task}] = o.Sum
		}
	}
	return false
}
