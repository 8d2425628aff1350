package groupmeta_test

import (
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

func text(s string) *string { return &s }

// Two of four members own tasks with state and send no offsets.
func TestFieldCase13_MembersThatReportNoOffsets(t *testing.T) {
	g := build(t, billing(
		streamsThread{process: "a", active: "0_0 0_1 0_2", offsets: map[string]int64{"0_0": 400_000}},
		streamsThread{process: "b", active: "0_3 0_4 0_5", offsets: map[string]int64{"0_3": 1_000_000}},
		streamsThread{process: "c", active: "1_0 1_1 1_2"},
		streamsThread{process: "d", active: "1_3 1_4 1_5"},
	).snapshot(6), groupmeta.BuildOptions{})
	for name, want := range map[string]bool{"a": true, "b": true, "c": false, "d": false} {
		if r := instance(t, g, name).Members[0].ReportsOffsets; r == nil || *r != want {
			t.Errorf("%s: reports %v, want %v", name, r, want)
		}
	}
	r := holding(t, g, "a", "0_0").Restore
	if r.State != model.Restoring || r.Basis != "broker task offset" || num(r.Position) != "400000" || num(r.RemainingRecords) != "600000" {
		t.Errorf("0_0: %+v", r)
	}
	if r := holding(t, g, "c", "1_0").Restore; r.Position != nil || r.RemainingRecords != nil || r.State != model.RestoreUnknown {
		t.Errorf("1_0: %+v", r)
	}
	wantText(t, "restoring", finding(g, model.FindingRestoring), "a restores 1 task before it can run: 0_0, ≤600,000 records to go")
}

// After a coordinator change the lists are empty: unknown, not 0 and not "no".
func TestFieldCase14_OffsetsVanish(t *testing.T) {
	a := billing(streamsThread{process: "a", active: all0 + " " + all1})
	g := build(t, a.snapshot(6), groupmeta.BuildOptions{})
	in := instance(t, g, "a")
	if in.Members[0].ReportsOffsets != nil || g.Positions.Basis != "none" {
		t.Errorf("reports %v, positions %+v", *in.Members[0].ReportsOffsets, g.Positions)
	}
	for _, task := range in.Members[0].Tasks {
		if task.Restore.Position != nil || task.Restore.RemainingRecords != nil || task.Restore.Reported {
			t.Errorf("%s: %+v", task.ID, task.Restore)
		}
	}
}

// Work piles up on few instances although the counts are even: the tasks and
// their sub-topologies are there to be counted.
func TestFieldCase15_TasksBySubtopology(t *testing.T) {
	a := &app{group: "shop", subs: []appSub{
		{id: 0, partitions: 6, sources: []string{"in-0"}}, {id: 1, partitions: 6, sources: []string{"in-1"}}, {id: 2, partitions: 6, sources: []string{"in-2"}},
	}, members: []appMember{
		{process: "A", active: all1}, {process: "B", active: all0}, {process: "C", active: strings.ReplaceAll(all0, "0_", "2_")},
	}}
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	for name, sub := range map[string]string{"A": "1", "B": "0", "C": "2"} {
		in := instance(t, g, name)
		if in.Active != 6 || in.Expected != 6 || !in.Balanced {
			t.Errorf("%s: %d active, expected %g", name, in.Active, in.Expected)
		}
		for _, task := range in.Members[0].Tasks {
			if task.ID.Subtopology != sub {
				t.Errorf("%s has %s", name, task.ID)
			}
		}
	}
	if len(g.Topology.Subtopologies) != 3 || g.Topology.Subtopologies[1].Partitions != 6 {
		t.Errorf("topology %+v", g.Topology.Subtopologies)
	}
}

func TestFieldCase17_StatefulWhereChangelogsAre(t *testing.T) {
	a := billing(streamsThread{process: "a", active: "0_0 0_1 0_2 0_3"}, streamsThread{process: "b", active: "1_0 1_1 1_2 1_3"})
	a.subs[0].Changelogs = nil
	g := build(t, a.snapshot(4), groupmeta.BuildOptions{})
	if s := holding(t, g, "a", "0_0").Stateful; s == nil || *s {
		t.Errorf("0_0: %v", s)
	}
	if s := holding(t, g, "b", "1_3").Stateful; s == nil || !*s {
		t.Errorf("1_3: %v", s)
	}
}

func TestFieldCase18_StandbyThatTheBrokerLeftOut(t *testing.T) {
	a := billing(
		streamsThread{process: "a", active: "1_0 1_2 1_4", standby: "1_1 1_5"},
		streamsThread{process: "b", active: "1_1 1_3 1_5", standby: "1_0 1_2 1_4"},
	)
	a.subs = a.subs[1:]
	a.configs = map[string]string{"streams.num.standby.replicas": "1", "streams.session.timeout.ms": "45000", "streams.heartbeat.interval.ms": "5000"}
	g := build(t, a.snapshot(6), groupmeta.BuildOptions{})
	wantText(t, "finding", finding(g, model.FindingMissingStandby), "5 of 6 standbys are there (missing: 1_3)")
	if g.Timing.StandbysSource != "group config" || num(g.Timing.SessionMs) != "45000" || num(g.Timing.HeartbeatMs) != "5000" || g.Timing.Source != "group config" {
		t.Errorf("timing %+v", g.Timing)
	}
}

// The first member holds all twelve tasks, three are meant for each of four.
func TestFieldCase19_Converging(t *testing.T) {
	a := billing(
		streamsThread{process: "P1", active: all0 + " " + all1, target: text("0_0 0_1 0_2"), epoch: 5},
		streamsThread{process: "P2", target: text("0_3 0_4 0_5")},
		streamsThread{process: "P3", target: text("1_0 1_1 1_2")},
		streamsThread{process: "P4", target: text("1_3 1_4 1_5")},
	)
	a.state = model.StateReconciling
	g := build(t, a.snapshot(6), groupmeta.BuildOptions{})
	wantText(t, "finding", finding(g, model.FindingConverging), "P1 still holds 9 tasks meant for others: 0_3 0_4 0_5 1_0 1_1 1_2 1_3 1_4 and 1 more")
	if codes(g) != model.FindingConverging {
		t.Errorf("findings %v", g.Findings)
	}
	p1, p2 := instance(t, g, "P1"), instance(t, g, "P2")
	if p1.Active != 12 || *p1.TargetActive != 3 || p2.Active != 0 || *p2.TargetActive != 3 {
		t.Errorf("P1 %d of %d, P2 %d of %d", p1.Active, *p1.TargetActive, p2.Active, *p2.TargetActive)
	}
	if task := holding(t, g, "P1", "0_3"); task.LeavesTo != "mB" || task.TargetOnly {
		t.Errorf("0_3 on P1: %+v", task)
	}
	if task := holding(t, g, "P2", "0_3"); !task.TargetOnly || task.Role != model.Active {
		t.Errorf("0_3 on P2: %+v", task)
	}
	if len(g.Moving)+len(g.Unassigned) != 0 {
		t.Errorf("moving %v, unassigned %v", g.Moving, g.Unassigned)
	}
	// Once the old owner has let go, the tasks are between two owners.
	a.members[0].active, a.members[0].epoch = "0_0 0_1 0_2", 6
	g = build(t, a.snapshot(6), groupmeta.BuildOptions{})
	if len(g.Moving) != 9 || g.Totals.Moving != 9 || g.Totals.Unassigned != 0 || !strings.HasPrefix(finding(g, model.FindingMoving), "9 tasks are between two owners") {
		t.Errorf("moving %v, findings %v", g.Moving, g.Findings)
	}
}

func TestFieldCase55_NotReadyAndWhy(t *testing.T) {
	a := billing(streamsThread{process: "a"})
	a.state = model.StateNotReady
	a.subs = []snapshot.StreamsSubtopology{{
		ID: "0", SourceTopics: []string{"users", "orders"},
		RepartitionSources: []snapshot.StreamsTopic{{Name: "app-count-repartition", Partitions: 6}},
	}}
	reasons := func(code int16) string {
		s := a.snapshot(4)
		for i := range s.Topics {
			if s.Topics[i].Name == "orders" {
				s.Topics = append(s.Topics[:i], s.Topics[i+1:]...)
				break
			}
		}
		if code != 0 {
			s.Missing = []snapshot.MissingTopic{{Name: "orders", ErrorCode: code}}
		}
		g := build(t, s, groupmeta.BuildOptions{})
		if codes(g) != model.FindingNotReady || g.Findings[0].Severity != model.Bad {
			t.Errorf("findings %v", g.Findings)
		}
		return finding(g, model.FindingNotReady)
	}
	const partitions = "; app-count-repartition has 4 partitions, wanted 6"
	wantText(t, "not given", reasons(0), "source topic orders is missing or not visible"+partitions)
	wantText(t, "refused", reasons(29), "source topic orders is missing or not visible"+partitions)
	wantText(t, "does not exist", reasons(3), "source topic orders is missing"+partitions)
}

func TestFieldCase26_StaticMembersOfAStreamsGroup(t *testing.T) {
	g := build(t, billing(
		streamsThread{process: "a", active: all0, instance: "i-1"}, streamsThread{process: "b", active: all1},
	).snapshot(6), groupmeta.BuildOptions{})
	if g.Metadata.StaticMembers != 1 || instance(t, g, "i-1").Name != "a" {
		t.Errorf("%d static members", g.Metadata.StaticMembers)
	}
}

func TestFieldCase77_TopologyDescription(t *testing.T) {
	s := billing(streamsThread{process: "a", active: "0_0"}).snapshot(1)
	d := s.Groups[0].Streams
	for status, want := range map[int8]string{0: "NOT_REQUESTED", 1: "NOT_STORED", 2: "ERROR", 7: "unknown (7)"} {
		d.DescriptionStatus = status
		if topo := build(t, s, groupmeta.BuildOptions{}).Topology; topo.TreeStatus != want || topo.Tree != nil || topo.Source != "broker" {
			t.Errorf("status %d: got %+v", status, topo)
		}
	}
	d.DescriptionStatus = 3
	d.Description = &snapshot.TopologyDescription{Subtopologies: []snapshot.TopologyPart{{ID: "0", Nodes: []snapshot.TopologyNode{
		{Name: "KSTREAM-SOURCE-0000000000", Kind: "source", Topics: []string{"my.special.topic"}, Successors: []string{"count"}},
		{Name: "count", Kind: "processor", Stores: []string{"bykey"}},
	}}}}
	tree := build(t, s, groupmeta.BuildOptions{}).Topology.Tree
	if tree == nil || len(tree.Subtopologies) != 1 || tree.Subtopologies[0].Nodes[0].Topics[0] != "my.special.topic" || tree.Subtopologies[0].Nodes[1].Stores[0] != "bykey" {
		t.Errorf("got %+v", tree)
	}
	d.Version = 0
	if status := build(t, s, groupmeta.BuildOptions{}).Topology.TreeStatus; status != "" {
		t.Errorf("a broker that knows no descriptions: status %q", status)
	}
}

// A partition number that no topic has is shown where it is held, and makes no
// tasks of all the numbers below it; the largest of 32 bits does not wrap.
func TestPartitionThatNoTopicHas(t *testing.T) {
	for _, task := range []string{"0_2147483647", "0_20000000", "0_1000000"} {
		g := build(t, billing(streamsThread{process: "a", active: "0_0 0_1 " + task}).snapshot(6), groupmeta.BuildOptions{})
		for _, s := range g.Topology.Subtopologies {
			if s.Partitions > 6 {
				t.Errorf("%s: sub-topology %s has %d tasks", task, s.ID, s.Partitions)
			}
		}
		if holding(t, g, "a", task).Role != model.Active {
			t.Errorf("%s is not shown", task)
		}
		if !strings.Contains(strings.Join(g.Topology.Uncertain, "\n"), "task "+task+" is not counted") {
			t.Errorf("%s: not told: %q", task, g.Topology.Uncertain)
		}
	}
}
