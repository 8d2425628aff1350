package assign

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// A target that was computed before the members reported anything gives the
// same rounds.
func TestTargetLastsOverRounds(t *testing.T) {
	for seed := range uint64(300) {
		g := randomClassic(t, rand.New(rand.NewPCG(seed, 5)))
		bare := *g
		bare.Members = append([]Member{}, g.Members...)
		for i := range bare.Members {
			bare.Members[i].Owned, bare.Members[i].Offsets = nil, nil
		}
		target, err := HighAvailability{}.Target(&bare)
		if err != nil {
			t.Fatal(err)
		}
		got, err := HighAvailability{}.AssignTo(g, target)
		if err != nil {
			t.Fatal(err)
		}
		want, err := HighAvailability{}.Assign(g)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %+v, want %+v", seed, got, want)
		}
	}
}

func TestTargetOfAnotherGroup(t *testing.T) {
	g := wideGroup(t, HighAvailability{}, "scratch", 200, 4, 1)
	target, err := HighAvailability{}.Target(g)
	if err != nil {
		t.Fatal(err)
	}
	fewer := wideGroup(t, HighAvailability{}, "scratch", 200, 3, 1)
	if _, err := (HighAvailability{}).AssignTo(fewer, target); err == nil || !strings.Contains(err.Error(), "process 3") {
		t.Errorf("fewer processes: %v", err)
	}
	smaller := wideGroup(t, HighAvailability{}, "scratch", 100, 4, 1)
	if _, err := (HighAvailability{}).AssignTo(smaller, target); err == nil || !strings.Contains(err.Error(), "200 tasks") {
		t.Errorf("fewer tasks: %v", err)
	}
	subs := append([]Subtopology{}, g.Topology.Subtopologies()...)
	subs[1].Stateful = false
	stateless := *g
	if stateless.Topology, err = NewTopology(subs); err != nil {
		t.Fatal(err)
	}
	if _, err := (HighAvailability{}).AssignTo(&stateless, target); err == nil || !strings.Contains(err.Error(), "other tasks") {
		t.Errorf("tasks without state: %v", err)
	}
}
