package model_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
)

func resolveGroup() *model.Group {
	yes := true
	return &model.Group{
		ID: "shop",
		Topology: model.Topology{Subtopologies: []model.Subtopology{
			{ID: "0", Partitions: 2, Stateful: &yes}, {ID: "1", Partitions: 2, Stateful: &yes},
		}},
		Instances: []model.Instance{
			{
				ID: "7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001", Name: "pod-a", Host: "/10.0.0.7",
				Members: []model.Member{
					{ID: "pod-a-StreamThread-1-consumer-d4db", Name: "pod-a/T1", ClientID: "pod-a-StreamThread-1-consumer", Host: "/10.0.0.7", Thread: 1, InstanceID: "static-a-1"},
					{ID: "pod-a-StreamThread-2-consumer-1a61", Name: "pod-a/T2", ClientID: "pod-a-StreamThread-2-consumer", Host: "/10.0.0.7", Thread: 2},
				},
			},
			{
				ID: "7b9f2c99-0a1b-4c2d-8e3f-4a5b6c7d8e9f", Name: "pod-b", Host: "/10.0.0.9",
				Members: []model.Member{{ID: "pod-b-StreamThread-1-consumer-ae79", Name: "pod-b/T1", ClientID: "pod-b-StreamThread-1-consumer", Host: "/10.0.0.9", Thread: 1}},
			},
		},
		Unassigned: []model.TaskID{{Subtopology: "7", Partition: 3}},
	}
}

func TestResolveInstanceInEveryWay(t *testing.T) {
	g := resolveGroup()
	for name, want := range map[string]string{
		"pod-a":                                "pod-a", // short name, client id
		"7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001": "pod-a",
		"7B9F2C10":                             "pod-a",
		"7b9f2c9":                              "pod-b",
		"pod-a-StreamThread-2-consumer-1a61":   "pod-a", // member id
		"pod-b-StreamThread-1-consumer-ae":     "pod-b", // prefix of it
		"pod-a-StreamThread-2-consumer":        "pod-a", // client id
		"pod-a-StreamThread-2":                 "pod-a",
		"static-a-1":                           "pod-a",
		"/10.0.0.9":                            "pod-b",
		"10.0.0.7":                             "pod-a",
		"pod-b/T1":                             "pod-b",
	} {
		in, err := model.ResolveInstance(g, name)
		if err != nil || in.Name != want {
			t.Errorf("%q: got %v, %v, want %s", name, in, err, want)
		}
	}
}

func TestResolveInstanceListsWhatANameCouldMean(t *testing.T) {
	_, err := model.ResolveInstance(resolveGroup(), "7b9f2c")
	amb, ok := errors.AsType[*model.AmbiguousError](err)
	if !ok || len(amb.Candidates) != 2 || amb.Candidates[0].Name != "pod-a" || amb.Candidates[1].Host != "/10.0.0.9" {
		t.Fatalf("got %v", err)
	}
	for _, name := range []string{"pod-a", "pod-b", "7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("the message does not name %s: %v", name, err)
		}
	}
}

// One instance's client id is another's host: both are meant. A whole identity
// stays what it is.
func TestResolveInstanceAcrossWays(t *testing.T) {
	g := resolveGroup()
	g.Instances[1].Members[0].Host = "/pod-a"
	_, err := model.ResolveInstance(g, "pod-a")
	amb, ok := errors.AsType[*model.AmbiguousError](err)
	if !ok || len(amb.Candidates) != 2 || amb.Candidates[0].By != "name" || amb.Candidates[1].By != "host" {
		t.Errorf("got %v", err)
	}
	g.Instances[1].Members[0].InstanceID = g.Instances[0].ID
	if in, err := model.ResolveInstance(g, g.Instances[0].ID); err != nil || in.Name != "pod-a" {
		t.Errorf("got %v, %v", in, err)
	}
}

// A worker gives its host a name of its own, beside the address that the broker sees.
func TestResolveByTheHostThatAnInstanceNames(t *testing.T) {
	g := resolveGroup()
	g.Instances[1].Host = "node-9.example"
	for _, name := range []string{"node-9.example", "10.0.0.9"} {
		if in, err := model.ResolveInstance(g, name); err != nil || in.Name != "pod-b" {
			t.Errorf("%s: got %v, %v", name, in, err)
		}
		if _, m, err := model.ResolveMember(g, name); err != nil || m.Name != "pod-b/T1" {
			t.Errorf("%s: got %v, %v", name, m, err)
		}
	}
}

func TestResolveInstanceNeedsFourCharactersOfAPrefix(t *testing.T) {
	for _, name := range []string{"7b9", "pod", "", "nosuch"} {
		_, err := model.ResolveInstance(resolveGroup(), name)
		nf, ok := errors.AsType[*model.NotFoundError](err)
		if !ok || !slices.Equal(nf.Near, []string{"pod-a", "pod-b"}) {
			t.Errorf("%q: got %v", name, err)
		}
	}
}

func TestResolveMember(t *testing.T) {
	g := resolveGroup()
	for name, want := range map[string]string{
		"pod-a/T2":                           "pod-a/T2",
		"pod-a-StreamThread-2-consumer-1a61": "pod-a/T2",
		"pod-a-StreamThread-1":               "pod-a/T1",
		"static-a-1":                         "pod-a/T1",
		"pod-b":                              "pod-b/T1", // the only one of its instance
		"10.0.0.9":                           "pod-b/T1",
	} {
		in, m, err := model.ResolveMember(g, name)
		if err != nil || m.Name != want || !strings.HasPrefix(want, in.Name) {
			t.Errorf("%q: got %v, %v, want %s", name, m, err, want)
		}
	}
	_, _, err := model.ResolveMember(g, "pod-a")
	if _, ok := errors.AsType[*model.AmbiguousError](err); !ok {
		t.Errorf("pod-a has two members, got %v", err)
	}
	_, _, err = model.ResolveMember(g, "pod-c")
	if _, ok := errors.AsType[*model.NotFoundError](err); !ok {
		t.Errorf("got %v", err)
	}
}

func TestResolveTask(t *testing.T) {
	g := resolveGroup()
	for _, name := range []string{"0_1", "1_0", "7_3"} {
		if id, err := model.ResolveTask(g, name); err != nil || id.String() != name {
			t.Errorf("%s: got %v, %v", name, id, err)
		}
	}
	for _, name := range []string{"0_2", "2_0"} {
		_, err := model.ResolveTask(g, name)
		if nf, ok := errors.AsType[*model.NotFoundError](err); !ok || nf.What != "task" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := model.ResolveTask(g, "pod-a"); err == nil {
		t.Error("no error for a name that is no task id")
	}
}

func TestSplitThread(t *testing.T) {
	for clientID, want := range map[string]struct {
		base   string
		thread int
	}{
		"shop-a-StreamThread-12-consumer":      {"shop-a", 12},
		"shop-StreamThread-3":                  {"shop", 3},
		"a-StreamThread-1-StreamThread-2-x":    {"a-StreamThread-1", 2},
		"a-StreamThread-":                      {"a-StreamThread-", 0},
		"plain":                                {"plain", 0},
		"a-StreamThread-99999999999999999999x": {"a", 999999999},
	} {
		if base, n := model.SplitThread(clientID); base != want.base || n != want.thread {
			t.Errorf("%q: got %q %d", clientID, base, n)
		}
	}
}
