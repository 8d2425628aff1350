package progress

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// Follow-up rebalances that chase each other are counted, with the members
// whose tasks changed.
func TestFieldCase01RebalancesAreCounted(t *testing.T) {
	a := func() *model.Group { return group("pod-a/T1: 0_0 0_1", "pod-b/T1: 1_0") }
	b := func() *model.Group { return group("pod-a/T1: 0_0", "pod-b/T1: 0_1 1_0") }
	var w Watcher
	var rounds []Event
	for i, g := range []*model.Group{a(), in(a(), model.StatePreparingRebalance), b(), in(b(), model.StatePreparingRebalance), a()} {
		for _, e := range w.Look(g, start.Add(time.Duration(i)*10*time.Second)) {
			if e.What == "rebalance" {
				rounds = append(rounds, e)
			}
		}
		if want := []int{0, 1, 1, 2, 2}[i]; w.Rebalances() != want {
			t.Errorf("after look %d: %d rebalances, want %d", i, w.Rebalances(), want)
		}
	}
	if len(rounds) != 2 || rounds[1].Round != 2 || *rounds[0].Took != 10*time.Second {
		t.Fatalf("rounds: %+v", rounds)
	}
	if got := rounds[0].Members; len(got) != 2 || got[0].String() != "pod-a/T1 -0_1" || got[1].String() != "pod-b/T1 +0_1" {
		t.Errorf("members of round 1: %v", got)
	}
	if !rounds[0].CauseInferred || rounds[0].Before == rounds[0].After {
		t.Errorf("round 1: %+v", rounds[0])
	}
}

func TestARoundThatIsOvertakenCounts(t *testing.T) {
	var w Watcher
	for i, state := range []string{"Stable", "PreparingRebalance", "CompletingRebalance", "PreparingRebalance", "CompletingRebalance", "Stable"} {
		w.Look(in(group("pod-a/T1: 0_0"), state), start.Add(time.Duration(i)*time.Second))
	}
	if w.Rebalances() != 2 {
		t.Errorf("%d rebalances, want 2", w.Rebalances())
	}
}

func TestARoundBetweenTwoLooksCounts(t *testing.T) {
	var w Watcher
	w.Look(group("pod-a/T1: 0_0 0_1"), start)
	e := w.Look(group("pod-a/T1: 0_0", "pod-b/T1: 0_1"), start.Add(time.Second))
	if len(e) != 1 || e[0].What != "rebalance" || e[0].Took != nil || e[0].Cause != "member pod-b/T1 joined" {
		t.Errorf("events: %+v", e)
	}
	if e = w.Look(group("pod-a/T1: 0_0", "pod-b/T1: 0_1"), start.Add(2*time.Second)); len(e) != 0 || w.Rebalances() != 1 {
		t.Errorf("nothing changed, yet %+v", e)
	}
}

func TestGroupsWithEpochsCountEpochs(t *testing.T) {
	at := func(epoch int32, state string) *model.Group {
		g := group("b1/T1: 0_0")
		g.Kind, g.Epoch, g.State = model.Streams, &epoch, state
		return g
	}
	var w Watcher
	w.Look(at(5, "Stable"), start)
	w.Look(at(6, "Reconciling"), start)
	w.Look(at(6, "Stable"), start)
	if w.Rebalances() != 1 {
		t.Errorf("%d after one epoch", w.Rebalances())
	}
	if e := w.Look(at(8, "Reconciling"), start); w.Rebalances() != 3 || e[1].Before != "epoch 6" || e[1].After != "epoch 8" {
		t.Errorf("%d after two more, %+v", w.Rebalances(), e)
	}
}

// No request says why a group rebalances: it is worked out from two looks.
func TestFieldCase05CauseIsInferred(t *testing.T) {
	base := func() *model.Group {
		g := group("pod-a/T1: 0_0", "pod-b/T1: 0_1")
		for i := range 4 {
			g.Offsets = append(g.Offsets, model.PartitionOffset{TopicPartition: model.TopicPartition{Topic: "orders", Partition: int32(i)}})
		}
		return g
	}
	for _, c := range []struct {
		name string
		make func() (before, after *model.Group)
		want string
	}{
		{"join", func() (*model.Group, *model.Group) {
			g := base()
			g.Instances = append(g.Instances, group("pod-c/T1:").Instances...)
			return base(), g
		}, "member pod-c/T1 joined"},
		{"leave", func() (*model.Group, *model.Group) {
			g := base()
			g.Instances = g.Instances[:1]
			return base(), g
		}, "member pod-b/T1 left"},
		{"metadata", func() (*model.Group, *model.Group) {
			g := base()
			g.Instances[1].Members[0].Metadata.SupportedVersion = 12
			return base(), g
		}, "metadata of pod-b/T1 changed (supported version v11 -> v12)"},
		{"partitions", func() (*model.Group, *model.Group) {
			g := base()
			for i := range 2 {
				g.Offsets = append(g.Offsets, model.PartitionOffset{TopicPartition: model.TopicPartition{Topic: "orders", Partition: int32(4 + i)}})
			}
			return base(), g
		}, "partitions of orders 4 -> 6"},
		{"assignment", func() (*model.Group, *model.Group) { return base(), base() }, "assignment only"},
		{"probing", func() (*model.Group, *model.Group) {
			g := base()
			g.NextRebalance = &model.NextRebalance{RawMs: 1, At: ptr(start.Add(-time.Second))}
			return g, base()
		}, "planned probing rebalance"},
		{"static", func() (*model.Group, *model.Group) {
			b, a := base(), base()
			b.Instances[0].Members[0].InstanceID, a.Instances[0].Members[0].InstanceID = "s1", "s1"
			a.Instances[0].Members[0].ID = "id-new"
			return b, a
		}, "static member s1 came back"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, a := c.make()
			if got := Cause(b, a, start); got != c.want {
				t.Errorf("cause %q, want %q", got, c.want)
			}
		})
	}
}

// After a failover the members' offsets are empty until they heartbeat again:
// the last value stays, with its age.
func TestFieldCase14LastPositionsAreKept(t *testing.T) {
	at := func(position *int64, broker int32) *model.Group {
		g := restoring(0, true)
		g.Coordinator = &model.Broker{ID: broker}
		r := &task(g, "w1/T1", "0_0").Restore
		if r.Position = position; position == nil {
			*r = model.Restore{State: model.RestoreUnknown}
		}
		return g
	}
	var w Watcher
	w.Look(at(ptr(int64(400_000)), 1), start)
	e := w.Look(at(nil, 2), start.Add(20*time.Second))
	i := slices.IndexFunc(e, func(e Event) bool { return e.What == "positions" })
	if i < 0 || e[i].After != "" || !strings.Contains(e[i].Before, "(20s ago)") || !strings.Contains(e[i].Cause, "coordinator changed") {
		t.Fatalf("events: %+v", e)
	}
	if e = w.Look(at(nil, 2), start.Add(25*time.Second)); len(e) != 0 {
		t.Errorf("told twice: %+v", e)
	}
	e = w.Look(at(ptr(int64(450_000)), 2), start.Add(30*time.Second))
	if len(e) != 1 || e[0].What != "positions" || e[0].After == "" {
		t.Errorf("reported again: %+v", e)
	}
}

func TestDiff(t *testing.T) {
	b, a := group("pod-a/T1: 0_0 0_1", "pod-b/T1: 1_0"), group("pod-a/T1: 0_0", "pod-c/T1: 0_1 1_0l")
	a.State = model.StateReconciling
	a.Findings = []model.Finding{{Code: model.FindingLearning, Object: "instance pod-c", Text: "1 task is being learned"}}
	var got []string
	for _, c := range Diff(b, a) {
		got = append(got, strings.Join([]string{c.Object, c.What, c.Before, c.After}, "|"))
	}
	want := []string{
		"group shop|state|Stable|Reconciling",
		"instance pod-b|left|pod-b|",
		"instance pod-c|joined||pod-c",
		"member pod-b/T1|left|id-pod-b/T1|",
		"member pod-c/T1|joined||id-pod-c/T1",
		"task 0_1|active|pod-a/T1|pod-c/T1",
		"task 1_0|active|pod-b/T1|",
		"task 1_0|learner||pod-c/T1",
		"instance pod-c|finding||learning: 1 task is being learned",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if d := Diff(b, b); len(d) != 0 {
		t.Errorf("a group differs from itself: %v", d)
	}
}

func TestFingerprintOfAClassicGroupDoesNotHangOnInference(t *testing.T) {
	s, l := group("pod-a/T1: 0_0", "pod-b/T1: 0_0s"), group("pod-a/T1: 0_0", "pod-b/T1: 0_0l")
	if Fingerprint(s) != Fingerprint(l) {
		t.Error("a copy that is taken for a learner changes the fingerprint")
	}
	s.Kind, l.Kind = model.Streams, model.Streams
	if Fingerprint(s) == Fingerprint(l) {
		t.Error("where roles are read, a standby is no learner")
	}
}
