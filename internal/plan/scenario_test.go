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
		if contradicts(k.Group) || strings.Contains(s.Text(), ":-3") {
			continue
		}
		checked++
		want, err := assign.HighAvailability{}.Assign(k.Group)
		if err != nil {
			t.Fatal(err)
		}
		in := FromAssign(k.Name, k.Assignor, k.KafkaVersion, k.Group)
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

// Racks and client tags count in every round of a plan, not in the first alone:
// it ends where a group of members with those racks and tags comes to rest, and
// elsewhere without them.
func TestPlansKeepRacksAndTags(t *testing.T) {
	f, err := os.Open("../../testdata/assign/high-availability.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := scenario.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	racks, tags := 0, 0
	for i := range list {
		k := list[i].Kafka
		if contradicts(k.Group) || len(k.Group.Settings.StandbyTags) == 0 && k.Group.Settings.RackStrategy == assign.RackNone {
			continue
		}
		end, group := playedOut(t, FromAssign(k.Name, k.Assignor, k.KafkaVersion, k.Group))
		for i, p := range k.Group.Processes {
			if !reflect.DeepEqual(group.Processes[i].Tags, p.Tags) {
				t.Errorf("%s: process %d has tags %v, want %v", k.Name, i, group.Processes[i].Tags, p.Tags)
			}
		}
		res, err := assign.HighAvailability{}.Assign(group)
		if err != nil {
			t.Fatal(err)
		}
		for i := range end {
			if one := heldBy(&res.Processes[i]); !reflect.DeepEqual(end[i], one) {
				t.Errorf("%s: process %d ends with %v, one more round gives %v", k.Name, i, end[i], one)
			}
		}
		plain := *k.Group
		plain.Settings.StandbyTags, plain.Settings.RackStrategy = nil, assign.RackNone
		without, _ := playedOut(t, FromAssign(k.Name, k.Assignor, k.KafkaVersion, &plain))
		switch {
		case reflect.DeepEqual(end, without):
		case k.Group.Settings.RackStrategy != assign.RackNone:
			racks++
		default:
			tags++
		}
	}
	t.Logf("another end because of racks %d times, of tags %d times", racks, tags)
	if racks < 40 || tags < 10 {
		t.Errorf("racks made a difference %d times, tags %d times", racks, tags)
	}
}

// heldBy is the active and the standby tasks of a process.
func heldBy(p *assign.ProcessResult) [2][]assign.Task {
	return [2][]assign.Task{sorted(p.Active), sorted(p.Standby)}
}

// playedOut runs a scenario to its end, and gives the tasks of each process, and
// what the members would report then.
func playedOut(t *testing.T, in *Input) ([][2][]assign.Task, *assign.Group) {
	t.Helper()
	o := &Options{Follow: FollowFast}
	set, err := resolve(in, in.Assignor, o)
	if err != nil {
		t.Fatalf("%s: %v", in.Group, err)
	}
	c := newClassicSim(in, o, set, newRecorder(in, set.AcceptableLag, Rate{}), 1)
	if err := c.change(nil, true); err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		more, err := c.round()
		if err != nil || n > 300 {
			t.Fatalf("%s: %d rounds, %v", in.Group, n, err)
		}
		if !more {
			break
		}
	}
	c.join()
	var end [][2][]assign.Task
	for i := range c.last.Processes {
		end = append(end, heldBy(&c.last.Processes[i]))
	}
	return end, c.group()
}
