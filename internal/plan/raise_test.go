package plan

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// drawnStreams is a streams group at rest: what its members have is what the
// broker gave them, from nothing, with so many standbys.
func drawnStreams(t *rapid.T, version string) *Input {
	tasks := rapid.IntRange(1, 14).Draw(t, "tasks")
	subs := []assign.Subtopology{{ID: "0", Partitions: tasks, Stateful: true}}
	if n := rapid.IntRange(0, 4).Draw(t, "stateless"); n > 0 {
		subs = append(subs, assign.Subtopology{ID: "1", Partitions: n})
	}
	for i := range subs {
		for range subs[i].Partitions {
			subs[i].EndOffsets = append(subs[i].EndOffsets, 50_000)
		}
	}
	top, err := assign.NewTopology(subs)
	if err != nil {
		t.Fatal(err)
	}
	standbys := rapid.IntRange(0, 2).Draw(t, "standbys")
	in := &Input{
		Group: "app", Kind: model.Streams, State: model.StateStable, Assignor: assign.NameStreamsSticky, KafkaVersion: version, Topology: top,
		Logs: make([]Log, top.Len()), Settings: []Setting{{KeyStandbys, strconv.Itoa(standbys), "group config"}}, Settled: true,
	}
	for i := range in.Logs {
		in.Logs[i] = Log{End: 50_000, Known: top.Stateful(assign.Task(i))}
	}
	place := 0
	for k := range rapid.IntRange(2, 5).Draw(t, "instances") {
		i := Instance{ID: testID(k + 1), Name: "P" + strconv.Itoa(k+1), RemainingMs: -1}
		for j := range rapid.IntRange(1, 2).Draw(t, "threads") {
			i.Members = append(i.Members, Member{ID: "m" + strconv.Itoa(k) + "-" + strconv.Itoa(j), Name: i.Name, Place: place})
			place++
		}
		in.Instances = append(in.Instances, i)
	}
	s := mustSim(t, in, standbys)
	for range rapid.IntRange(1, 3).Draw(t, "epochs") {
		if err := s.retarget(); err != nil {
			t.Fatal(err)
		}
		s.settle()
	}
	for i := range in.Instances {
		for j := range in.Instances[i].Members {
			m := &in.Instances[i].Members[j]
			for _, x := range s.members {
				if x.id == m.ID {
					m.Active, m.Standby, m.TargetActive, m.TargetStandby = x.active, x.standby, x.active, x.standby
				}
			}
		}
	}
	return in
}

type fataler interface{ Fatal(...any) }

func mustSim(t fataler, in *Input, standbys int) *streamsSim {
	o := &Options{Set: map[string]string{KeyStandbys: strconv.Itoa(standbys)}}
	set, err := resolve(in, assign.NameStreamsSticky, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newStreamsSim(in, o, set, newRecorder(in, 0, Rate{}), firstSeed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stopCold counts the tasks that restore cold when an instance stops at once, by
// nothing but the assignor: the setting is changed, all take what they get, the
// instance is left out, and the next target is held against what each had.
func stopCold(t fataler, in *Input, id string, before, standbys int) int {
	s := mustSim(t, in, standbys)
	copies := s.copies()
	cold := 0
	owner := s.placesOfActives()
	next := func() {
		if err := s.retarget(); err != nil {
			t.Fatal(err)
		}
		for task, p := range s.placesOfActives() {
			if s.top.Stateful(task) && owner[task] != p && !copies[copyKey{task, p}] {
				cold++
			}
		}
		s.settle()
		for k := range s.copies() {
			copies[k] = true
		}
		owner = s.placesOfActives()
	}
	if standbys != before {
		next()
	}
	for _, m := range s.members {
		if s.current {
			m.offsets = withCopies(s.top, m.offsets, m.standby, s.ends, 0)
		}
	}
	s.members = slices.DeleteFunc(s.members, func(m *streamsMember) bool { return m.proc.id == id })
	next()
	return cold
}

// The number that is found is enough, and with none below it every way to stop
// would do. With one standby less than instances each instance has each task, so
// a number is always found.
func TestNeedStandbysIsSmallest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.SampledFrom([]string{"4.3", "4.4"}).Draw(t, "version")
		in := drawnStreams(t, version)
		leaves := rapid.IntRange(0, len(in.Instances)-1).Draw(t, "leaves")
		id := in.Instances[leaves].ID
		r, err := NeedStandbys(in, []string{id}, Options{}, -1)
		if err != nil {
			t.Fatal(err)
		}
		if r.Need >= 0 {
			if n := stopCold(t, in, id, r.Before, r.Need); n > 0 {
				t.Fatalf("with %d, %d tasks are cold", r.Need, n)
			}
			if len(Missing(r.Then)) > 0 {
				t.Fatalf("%d is said to be enough, and these are cold: %+v", r.Need, Missing(r.Then))
			}
		}
		most := r.Need - 1
		if r.Need < 0 {
			most = r.Most
		}
		for n := r.Before; n <= most; n++ {
			d, err := newDrainPlan(in, []string{id}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			list, err := d.with(n)
			if err != nil {
				t.Fatal(err)
			}
			// What is passed over must have a way to be cold.
			if len(Missing(list)) == 0 {
				t.Fatalf("%d is passed over for %d, and nothing is cold with it", n, r.Need)
			}
			// Before 4.4, with one thread, there is one way only.
			if version == "4.3" && len(in.Instances[leaves].Members) == 1 && stopCold(t, in, id, r.Before, n) == 0 {
				t.Fatalf("%d is passed over for %d, and no task is cold with it", n, r.Need)
			}
		}
		if r.Need < 0 && !slices.ContainsFunc(r.Then, func(d Departure) bool { return d.Raising }) {
			t.Fatalf("no number up to %d is enough, though each instance then has each task: %+v", r.Most, Missing(r.Then))
		}
	})
}

// Every order in which the threads of leaving instances may go is thought of:
// whatever happens, no task gets to an instance without a copy.
func TestNeedStandbysHoldsInEveryOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawnStreams(t, "4.3")
		if len(in.Instances) < 3 {
			t.Skip("nobody would stay")
		}
		leaving := []string{in.Instances[0].ID, in.Instances[1].ID}
		r, err := NeedStandbys(in, leaving, Options{}, -1)
		if err != nil {
			t.Fatal(err)
		}
		if r.Need < 0 {
			return
		}
		s := mustSim(t, in, r.Need)
		if r.Need != r.Before {
			if err := s.retarget(); err != nil {
				t.Fatal(err)
			}
			s.settle()
		}
		copies, owner := s.copies(), s.placesOfActives()
		first, second := leaving[0], leaving[1]
		if rapid.Bool().Draw(t, "other first") {
			first, second = second, first
		}
		for _, id := range []string{first, second} {
			s.members = slices.DeleteFunc(s.members, func(m *streamsMember) bool { return m.proc.id == id })
			if err := s.retarget(); err != nil {
				t.Fatal(err)
			}
			for task, p := range s.placesOfActives() {
				if s.top.Stateful(task) && owner[task] != p && p.id != second && !copies[copyKey{task, p}] {
					t.Fatalf("%s goes cold to %s with %d", s.top.ID(task), p.id, r.Need)
				}
			}
			s.settle()
			for k := range s.copies() { // what was placed meanwhile counts only where it became active
				if s.placesOfActives()[k.task] == k.proc {
					copies[k] = true
				}
			}
			owner = s.placesOfActives()
		}
	})
}

func raiseGroup(t *testing.T, version string) *Input {
	g := newMade(t, model.Streams, 4, true, 50_000).instance(1, 1, 0, 1).instance(2, 1, 2, 3)
	g.in.KafkaVersion = version
	g.in.Settings = []Setting{{KeyStandbys, "0", "broker default"}}
	return g.in
}

func TestNeedStandbys(t *testing.T) {
	r, err := NeedStandbys(raiseGroup(t, "4.4"), []string{"P2"}, Options{}, -1)
	if err != nil || r.Need != 1 || r.Before != 0 || !r.Exact || !r.Stays || r.Copies == 0 || r.Records == nil || *r.Records != int64(r.Copies)*50_000 {
		t.Fatalf("%v: %+v", err, r)
	}
	if len(Missing(r.Now)) != 2 || len(Missing(r.Then)) != 0 || len(r.Then) != 2 || r.Then[0].To[0] != testID(1) {
		t.Errorf("now %+v, then %+v", r.Now, r.Then)
	}
	if r, err = NeedStandbys(raiseGroup(t, "4.4"), []string{"P2"}, Options{}, 0); err != nil || r.Need >= 0 || r.Most != 0 {
		t.Errorf("bounded by 0: %v %+v", err, r)
	}
	if r, err = NeedStandbys(raiseGroup(t, "4.4"), []string{"P1", "P2"}, Options{}, -1); err != nil || r.Stays || r.Need >= 0 {
		t.Errorf("nobody stays: %v %+v", err, r)
	}
	// Where the rules cannot be told, each instance must have each task.
	if r, err = NeedStandbys(raiseGroup(t, "4.1"), []string{"P2"}, Options{}, -1); err != nil || r.Exact || r.Need != 1 {
		t.Errorf("4.1: %v %+v", err, r)
	}
	if r, err = NeedStandbys(raiseGroup(t, ""), []string{"P2"}, Options{}, -1); err != nil || r.Need != 1 {
		t.Errorf("a version that is not known: %v %+v", err, r)
	}
	classic := newMade(t, model.Classic, 4, true, 100).instance(1, 1, 0, 1).instance(2, 1, 2, 3).in
	_, err = NeedStandbys(classic, []string{"P2"}, Options{}, -1)
	if _, ok := errors.AsType[*RefusedError](err); !ok {
		t.Errorf("classic: %v", err)
	}
	if _, err = NeedStandbys(raiseGroup(t, "4.4"), []string{"P9"}, Options{}, -1); err == nil {
		t.Error("no error for an instance that is not there")
	}
}

// plan --leaving shows the raise, the stop and the setting as it was.
func TestLeavingOfStreamsGroups(t *testing.T) {
	p, err := Make(raiseGroup(t, "4.4"), Options{Changes: []Change{Leaving{"P2"}}})
	if err != nil {
		t.Fatal(err)
	}
	var triggers []string
	for _, r := range p.Rounds {
		triggers = append(triggers, r.Trigger)
	}
	want := []string{"num.standby.replicas 0 -> 1", "P2 leaves", "num.standby.replicas 1 -> 0"}
	if !slices.Equal(triggers, want) || p.Totals.TasksDown != 0 || p.finding(NoteRaise) == "" {
		t.Errorf("rounds %q, want %q; %d down; %q", triggers, want, p.Totals.TasksDown, p.finding(NoteRaise))
	}
	if _, err := Make(raiseGroup(t, "4.4"), Options{Changes: []Change{Leaving{"P2"}, Remove{Instance: "P1"}}}); err == nil {
		t.Error("no error together with another change")
	}
}
