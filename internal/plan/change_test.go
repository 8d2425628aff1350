package plan

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

func TestParseAdd(t *testing.T) {
	id := "23871ee6-f703-4fc9-8576-be61e8994eba"
	for text, want := range map[string]Add{
		"1":                                   {Count: 1},
		"0":                                   {},
		"2x4":                                 {Count: 2, Threads: 4},
		"1,id=" + strings.ToUpper(id):         {Count: 1, IDs: []string{id}},
		"3,rack=eu-1":                         {Count: 3, Rack: "eu-1"},
		"1,state=all":                         {Count: 1, AllState: true},
		"1,id=" + id + ",state=0_1,shop__1_2": {Count: 1, IDs: []string{id}, State: []model.TaskID{{Subtopology: "0", Partition: 1}, {Topology: "shop", Subtopology: "1", Partition: 2}}},
		"1x2,state=0_1,member=a,member=b":     {Count: 1, Threads: 2, State: []model.TaskID{{Subtopology: "0", Partition: 1}}, Members: []string{"a", "b"}},
	} {
		got, err := ParseAdd(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
		if again, err := ParseAdd(got.flag()); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%q: as a flag %q: %+v, %v", text, got.flag(), again, err)
		}
	}
	for text, why := range map[string]string{
		"":            "number of instances",
		"-1":          "number of instances",
		"x":           "number of instances",
		"1x0":         "number of threads",
		"1xx":         "number of threads",
		"1,id=zz":     "no UUID",
		"1,foo":       "neither",
		"1,state=":    "task id",
		"1,state=0_x": "partition",
		"100000000":   "number of instances",
		"1,id=" + id + ",id=" + strings.Replace(id, "2", "3", 1): "more ids",
		"2,id=" + id + ",id=" + id:                               "twice",
	} {
		_, err := ParseAdd(text)
		if e, ok := errors.AsType[*ChangeError](err); !ok || !strings.Contains(e.Why, why) {
			t.Errorf("%q: got %v, want %q", text, err, why)
		}
	}
}

func TestParseChange(t *testing.T) {
	for _, c := range []struct {
		flag, value string
		want        Change
	}{
		{"remove", "pod-a", Remove{Instance: "pod-a"}},
		{"remove", "pod-a,how=leave", Remove{"pod-a", HowLeave}},
		{"leaving", "pod-a", Leaving{"pod-a"}},
		{"bounce", "pod-a", Bounce{Instance: "pod-a"}},
		{"bounce", "pod-a,threads=3,static", Bounce{"pod-a", 3, true}},
		{"threads", "pod=a=3", Threads{"pod=a", 3}},
		{"partitions", "orders=12", Partitions{"orders", 12}},
		{"wait", "2", Wait{2}},
	} {
		got, err := ParseChange(c.flag, c.value)
		if err != nil || got != c.want {
			t.Errorf("%s %s: got %+v, %v", c.flag, c.value, got, err)
		}
		if r := requested(got); r.Flag != c.flag || r.Value != c.value {
			t.Errorf("%s %s comes back as %+v", c.flag, c.value, r)
		}
	}
	for _, c := range [][2]string{
		{"remove", ""}, {"remove", "a,how=gently"}, {"leaving", ""}, {"bounce", ""}, {"bounce", "a,threads=x"}, {"threads", "a"}, {"threads", "a=0"},
		{"partitions", "orders"}, {"partitions", "=3"}, {"wait", "0"}, {"shrink", "1"},
	} {
		if _, err := ParseChange(c[0], c[1]); err == nil {
			t.Errorf("%s %q: no error", c[0], c[1])
		}
	}
}

func TestParseRateAndCondition(t *testing.T) {
	for text, want := range map[string]Rate{
		"5000": {Records: 5000}, "5000/s": {Records: 5000}, "10MB/s": {Bytes: 10e6}, "1.5MiB": {Bytes: 1.5 * (1 << 20)}, "12 KB/s": {Bytes: 12e3}, "1TB/s": {Bytes: 1e12}, "2TiB": {Bytes: 2 * (1 << 40)},
	} {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("rate %q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "fast", "10 lightyears", "1e400"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("rate %q: %+v", text, got)
		}
	}
	for text, want := range map[string]Condition{
		"downtime": {What: "downtime"}, "moves>10": {What: "moves", Limit: 10}, "restore>10GB": {What: "restore", Limit: 10e9, Bytes: true}, "restore>5000": {What: "restore", Limit: 5000},
	} {
		if got, err := ParseCondition(text); err != nil || got != want {
			t.Errorf("condition %q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "moves", "moves>x", "downtime>3", "restore", "restore>10XB", "idles"} {
		if _, err := ParseCondition(text); err == nil {
			t.Errorf("condition %q: no error", text)
		}
	}
}

func TestSettings(t *testing.T) {
	g := newMade(t, model.Classic, 2, true, 100).instance(1, 1, 0, 1)
	for _, set := range []map[string]string{
		{"num.standby.replica": "1"}, {KeyWarmups: "0"}, {KeyWarmups: "two"}, {KeyProbing: "1000"}, {KeyRackStrategy: "best"}, {KeyRejoin: "never"}, {KeyFactor: "0.5"},
	} {
		_, err := Make(g.in, Options{Set: set})
		if _, ok := errors.AsType[*SettingError](err); !ok {
			t.Errorf("%v: got %v", set, err)
		}
	}
	if _, err := Make(g.in, Options{Assignor: "best"}); err == nil {
		t.Error("no error for an unknown assignor")
	}
	p := g.plan(Options{Factor: 1.5})
	if p.Assignor != NameLearner || p.finding(NoteOtherRules) == "" || p.BalancingFactor != 1.5 {
		t.Errorf("with a balancing factor: %s, %q", p.Assignor, p.finding(NoteOtherRules))
	}
}

func TestChangesThatDoNotFit(t *testing.T) {
	for _, kind := range []model.Kind{model.Classic, model.Streams, model.Worker} {
		g := newMade(t, kind, 4, true, 100).instance(1, 1, 0, 1).instance(2, 1, 2, 3)
		list := []Change{
			Remove{Instance: "P9"}, Bounce{Instance: "P9"}, Threads{"P9", 2}, Partitions{"nosuch", 8}, Partitions{"orders", 2},
			Add{Count: 1, IDs: []string{testID(1)}}, Add{Count: 1, State: []model.TaskID{{Subtopology: "7", Partition: 1}}},
		}
		if kind == model.Classic {
			list = append(list, Leaving{"P1"})
		}
		for _, c := range list {
			if _, err := Make(g.in, Options{Changes: []Change{c}}); err == nil {
				t.Errorf("%s: %s: no error", kind, c.Describe())
			}
		}
		if _, err := Make(g.in, Options{Changes: []Change{Remove{Instance: "P1"}, Remove{Instance: "P1"}}}); err == nil {
			t.Errorf("%s: removed twice", kind)
		}
	}
}

// More partitions bring more tasks, which have no state yet.
func TestMorePartitions(t *testing.T) {
	for _, kind := range []model.Kind{model.Classic, model.Streams, model.Worker} {
		g := newMade(t, kind, 4, true, 50_000).instance(1, 1, 0, 1).instance(2, 1, 2, 3)
		p := g.plan(Options{Changes: []Change{Partitions{"orders", 8}}, KafkaVersion: "4.3"})
		active := 0
		for _, c := range p.After.Instances {
			active += c.Active
		}
		if active != 8 {
			t.Errorf("%s: %d active tasks afterwards", kind, active)
		}
		if g.in.Topology.Len() != 4 {
			t.Errorf("%s: the input was changed", kind)
		}
	}
}

func TestSweep(t *testing.T) {
	g := newMade(t, model.Worker, 12, true, 1000).instance(1, 1, every(0, 1, 9)...).instance(2, 1, 9, 10, 11)
	s, err := ParseSweep("balancing-factor=1,1.5,2")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := MakeSweep(g.in, Options{}, s)
	if err != nil {
		t.Fatal(err)
	}
	var moves []int
	for _, r := range rows.Items {
		moves = append(moves, r.Totals.Moves)
	}
	if !reflect.DeepEqual(moves, []int{3, 1, 0}) || rows.Items[1].Set["balancing-factor"] != "1.5" {
		t.Errorf("moves %v", moves)
	}
	s, err = ParseSweep("add=0..3")
	if err != nil || len(s.Values) != 4 {
		t.Fatalf("%+v, %v", s, err)
	}
	if rows, err = MakeSweep(g.in, Options{}, s); err != nil || len(rows.Items) != 4 || len(rows.Items[3].After.Instances) != 5 {
		t.Errorf("%+v, %v", rows, err)
	}
	for _, text := range []string{"", "add", "add=", "add=3..1", "add=0..100000", "nosuch=1", "balancing-factor"} {
		if _, err := ParseSweep(text); err == nil {
			t.Errorf("sweep %q: no error", text)
		}
	}
}

// Whatever is asked, a plan ends with every task run by one instance, and with
// numbers that fit its rounds.
func TestEveryTaskHasAnOwnerInTheEnd(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		kind := rapid.SampledFrom([]model.Kind{model.Classic, model.Streams, model.Worker}).Draw(r, "kind")
		tasks := rapid.IntRange(1, 12).Draw(r, "tasks")
		insts := rapid.IntRange(1, 4).Draw(r, "instances")
		g := newMade(t, kind, tasks, rapid.Bool().Draw(r, "stateful"), rapid.Int64Range(0, 60_000).Draw(r, "end"))
		owner := make([]int, tasks)
		for i := range owner {
			owner[i] = rapid.IntRange(0, insts-1).Draw(r, "owner")
		}
		for i := range insts {
			g.instance(i+1, rapid.IntRange(1, 2).Draw(r, "threads"), ownedBy(owner, i)...)
		}
		changes := []Change{Add{Count: rapid.IntRange(0, 2).Draw(r, "add")}}
		if insts > 1 && rapid.Bool().Draw(r, "remove") {
			changes = append(changes, Remove{Instance: "P1"})
		} else if rapid.Bool().Draw(r, "bounce") {
			changes = append(changes, Bounce{Instance: "P1"})
		}
		p, err := Make(g.in, Options{Changes: changes, KafkaVersion: "4.3", Draws: 2, Set: map[string]string{KeyStandbys: rapid.SampledFrom([]string{"0", "1"}).Draw(r, "standbys")}})
		if err != nil {
			r.Fatal(err)
		}
		active, moves, rounds := 0, 0, 0
		for _, c := range p.After.Instances {
			active += c.Active
		}
		for _, x := range p.Rounds {
			moves += len(x.Moves)
			if x.Trigger != TriggerHandOver {
				rounds++
			}
		}
		if active != tasks || p.Converged && (moves != p.Totals.Moves || rounds != p.Totals.Rounds) {
			r.Fatalf("%d of %d tasks run; %d moves in %d rounds, totals %+v", active, tasks, moves, rounds, p.Totals)
		}
	})
}

func ownedBy(owner []int, i int) []assign.Task {
	var out []assign.Task
	for t, o := range owner {
		if o == i {
			out = append(out, assign.Task(t))
		}
	}
	return out
}
