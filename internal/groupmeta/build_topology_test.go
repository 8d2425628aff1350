package groupmeta_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

const described = `Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [orders, returns])
      --> KSTREAM-AGGREGATE-0000000002
    Processor: KSTREAM-AGGREGATE-0000000002 (stores: [bykey])
      --> KTABLE-TOSTREAM-0000000003, other
      <-- KSTREAM-SOURCE-0000000000
    Processor: other (stores: [])
      --> none
    Sink: byvalue-repartition-sink (topic: byvalue-repartition)
      <-- KTABLE-TOSTREAM-0000000003

  Sub-topology: 1
    Source: byvalue-repartition-source (topics: [byvalue-repartition])
      --> count
    Processor: count (stores: [byvalue, extra])
      --> none
    Sink: out (extractor class: com.example.Router@12)
      <-- count

  Sub-topology: 2
    Source: lines (topics: [my.special.topic])
      --> none

  Sub-topology: 3 for global store (will not generate tasks)
    Source: rates-source (topics: [rates])
      --> rates
    Processor: rates (stores: [rates-store])
      --> none
`

func TestParseTopologyText(t *testing.T) {
	for name, in := range map[string]string{
		"plain":  described,
		"CRLF":   strings.ReplaceAll(described, "\n", "\r\n"),
		"logged": "12:00:01 INFO  Topology is\n" + strings.ReplaceAll(described, "    ", "12:00:01 INFO  "),
	} {
		got, err := groupmeta.ParseTopologyText(strings.NewReader(in))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(got.Subtopologies) != 3 || got.Source != "file" {
			t.Fatalf("%s: %+v", name, got)
		}
		s := got.Subtopologies
		if !slices.Equal(s[0].SourceTopics, []string{"orders", "returns"}) || !slices.Equal(s[0].RepartitionSinkTopics, []string{"byvalue-repartition"}) ||
			!slices.Equal(s[1].RepartitionSourceTopics, []string{"byvalue-repartition"}) || len(s[1].SourceTopics) != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		if !*s[0].Stateful || !*s[1].Stateful || *s[2].Stateful {
			t.Errorf("%s: stateful %v %v %v", name, *s[0].Stateful, *s[1].Stateful, *s[2].Stateful)
		}
		tree := got.Tree
		if len(tree.Subtopologies) != 3 || len(tree.GlobalStores) != 1 || !slices.Equal(tree.GlobalStores[0].Nodes[1].Stores, []string{"rates-store"}) {
			t.Fatalf("%s: %+v", name, tree)
		}
		n := tree.Subtopologies[0].Nodes
		if n[0].Kind != "source" || n[1].Kind != "processor" || n[3].Kind != "sink" || !slices.Equal(n[1].Successors, []string{"KTABLE-TOSTREAM-0000000003", "other"}) {
			t.Errorf("%s: %+v", name, n)
		}
		if got := tree.Subtopologies[1].Nodes[1].Stores; !slices.Equal(got, []string{"byvalue", "extra"}) {
			t.Errorf("%s: stores %v", name, got)
		}
	}
}

func TestParseTopologyTextRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":                                    "not the text of Topology#describe()",
		"hello\nworld":                        "not the text of Topology#describe()",
		"Sub-topology: 0\nx\nSub-topology: 0": `line 3: sub-topology "0" is there twice`,
		"Source: a (topics: [b])":             "line 1: a source before the first sub-topology",
		"Sub-topology:":                       "line 1: a sub-topology without a number",
		"Sub-topology: 0\n" + longLine(2<<20, 'x'): "token too long",
	} {
		if _, err := groupmeta.ParseTopologyText(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %q", in, err, want)
		}
	}
}

func longLine(n int, c rune) string { return strings.Repeat(string(c), n) }

func FuzzParseTopologyText(f *testing.F) {
	f.Add(described)
	f.Add("Topology: billing:\n Sub-topology: 0\n Source: a (topics: [b])")
	f.Fuzz(func(t *testing.T, in string) {
		got, err := groupmeta.ParseTopologyText(strings.NewReader(in))
		if (got == nil) == (err == nil) {
			t.Errorf("got %v and %v", got, err)
		}
	})
}

func TestTopologyFile(t *testing.T) {
	file, err := groupmeta.ParseTopologyText(strings.NewReader(described))
	if err != nil {
		t.Fatal(err)
	}
	a := twelve(appMember{process: "a", active: all0, sums: running(all0)}, appMember{process: "b", active: all1})
	a.subs[0].sources = []string{"orders", "returns"}
	a.subs[1].changelogs = append(a.subs[1].changelogs, "shop-extra-changelog")
	a.subs = append(a.subs, appSub{id: 2, partitions: 3, sources: []string{"my.special.topic"}})
	a.members = append(a.members, appMember{process: "c", active: "2_0 2_1 2_2"})
	g := build(t, a.snapshot(), groupmeta.BuildOptions{Topology: file})
	topo := g.Topology
	if topo.Source != "file" || len(topo.Uncertain) != 0 || topo.Tree == nil || len(topo.Subtopologies) != 3 {
		t.Fatalf("got %+v", topo)
	}
	s := topo.Subtopologies[1]
	if !slices.Equal(s.ChangelogTopics, []string{"shop-byvalue-changelog", "shop-extra-changelog"}) || s.Inferred || !*s.Stateful || !slices.Equal(s.RepartitionSourceTopics, []string{"shop-byvalue-repartition"}) {
		t.Errorf("sub-topology 1: %+v", s)
	}
	if s := topo.Subtopologies[0]; !slices.Equal(s.RepartitionSinkTopics, []string{"shop-byvalue-repartition"}) || !slices.Equal(s.SourceTopics, []string{"orders", "returns"}) {
		t.Errorf("sub-topology 0: %+v", s)
	}
	if s := topo.Subtopologies[2]; *s.Stateful || s.Inferred {
		t.Errorf("sub-topology 2: %+v", s)
	}
	if end := holding(t, g, "b", "1_0").Restore.End; num(end) != "4086" {
		t.Errorf("end of both changelogs of 1_0: %s", num(end))
	}
	// A file of another application is not believed in silence.
	a.subs[0].sources = []string{"payments"}
	g = build(t, a.snapshot(), groupmeta.BuildOptions{Topology: file})
	if !slices.ContainsFunc(g.Topology.Uncertain, func(u string) bool { return strings.Contains(u, "reads topic payments") }) {
		t.Errorf("uncertain %q", g.Topology.Uncertain)
	}
}

// Two sub-topologies of as many tasks, and two changelogs whose names say
// nothing: sums that equal the ends tell them apart.
func TestChangelogsByOffsetSums(t *testing.T) {
	a := &app{group: "shop", subs: []appSub{
		{id: 0, partitions: 2, sources: []string{"orders"}, changelogs: []string{"shop-x-changelog"}, ends: []int64{500, 700}},
		{id: 1, partitions: 2, sources: []string{"users"}, changelogs: []string{"shop-y-changelog"}, ends: []int64{900, 300}},
	}}
	of := func(sums map[string]int64) model.Topology {
		a.members = []appMember{{process: "a", active: "0_0 0_1 1_0 1_1", sums: sums}}
		return build(t, a.snapshot(), groupmeta.BuildOptions{}).Topology
	}
	mapped := func(topo model.Topology) string {
		var out []string
		for _, s := range topo.Subtopologies {
			out = append(out, s.ID+":"+strings.Join(s.ChangelogTopics, ","))
		}
		return strings.Join(out, " ")
	}
	const right = "0:shop-x-changelog 1:shop-y-changelog"
	topo := of(map[string]int64{"0_0": 500, "0_1": 700, "1_0": 900, "1_1": 300})
	wantText(t, "caught up", mapped(topo), right)
	if !topo.Subtopologies[0].Inferred || len(topo.Uncertain) != 0 {
		t.Errorf("caught up: %+v", topo)
	}
	wantText(t, "one less, a transaction marker", mapped(of(map[string]int64{"0_0": 499, "0_1": 699, "1_0": -2, "1_1": -2})), right)
	wantText(t, "more than the other log holds", mapped(of(map[string]int64{"0_1": 600, "1_0": -2})), right)
	topo = of(running("0_0 0_1 1_0 1_1"))
	wantText(t, "nothing to compare", mapped(topo), "0: 1:")
	if len(topo.Uncertain) != 2 || !strings.Contains(topo.Uncertain[0], "changelog shop-x-changelog may belong to sub-topology 0 or 1") {
		t.Errorf("nothing to compare: uncertain %q", topo.Uncertain)
	}
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	if r := holding(t, g, "a", "0_0").Restore; r.End != nil || r.RemainingRecords != nil || r.State != model.Running {
		t.Errorf("end of an uncertain changelog: %+v", r)
	}
}

func TestChangelogsByPartitions(t *testing.T) {
	a := &app{group: "shop", subs: []appSub{
		{id: 0, partitions: 2, sources: []string{"orders"}, changelogs: []string{"shop-x-changelog", "shop-z-changelog"}},
		{id: 1, partitions: 3, sources: []string{"users"}, changelogs: []string{"shop-y-changelog"}},
		{id: 2, partitions: 2, sources: []string{"lines"}},
	}, members: []appMember{{process: "a", active: "0_0 0_1 1_0 1_1 1_2 2_0 2_1", sums: running("0_0 0_1 1_0 1_1 1_2")}}}
	s := a.snapshot()
	addTopic(s, "shop-odd-changelog", 7, nil)
	addTopic(s, "shopping-x-changelog", 2, nil) // of group shopping
	g := build(t, s, groupmeta.BuildOptions{})
	topo := g.Topology.Subtopologies
	if !slices.Equal(topo[0].ChangelogTopics, []string{"shop-x-changelog", "shop-z-changelog"}) || !slices.Equal(topo[1].ChangelogTopics, []string{"shop-y-changelog"}) {
		t.Errorf("got %+v", topo)
	}
	if topo[2].Stateful == nil || *topo[2].Stateful || !topo[2].Inferred || len(topo[2].ChangelogTopics) != 0 {
		t.Errorf("sub-topology 2: %+v", topo[2])
	}
	if len(g.Topology.Uncertain) != 1 || !strings.Contains(g.Topology.Uncertain[0], "shop-odd-changelog has 7 partitions") {
		t.Errorf("uncertain %q", g.Topology.Uncertain)
	}
}

// An optimised topology has no changelog of its own: that is said.
func TestSourceTopicAsChangelog(t *testing.T) {
	a := &app{group: "shop", subs: []appSub{{id: 0, partitions: 2, sources: []string{"users"}}},
		members: []appMember{{process: "a", active: "0_0 0_1", sums: running("0_0 0_1")}}}
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	if len(g.Topology.Uncertain) != 1 || !strings.Contains(g.Topology.Uncertain[0], "topology.optimization") || !*g.Topology.Subtopologies[0].Stateful {
		t.Errorf("got %+v", g.Topology)
	}
	if r := holding(t, g, "a", "0_0").Restore; r.End != nil || r.Note == "" {
		t.Errorf("restore %+v", r)
	}
}

// Twenty sub-topologies of as many tasks: too many ways to try, but caught-up
// copies tell.
func TestChangelogsOfManySubtopologies(t *testing.T) {
	a := &app{group: "shop"}
	sums := make(map[string]int64)
	tasks := ""
	for i := range int32(20) {
		ends := []int64{int64(1000 + 7*i), int64(5000 - 11*i)}
		a.subs = append(a.subs, appSub{id: i, partitions: 2, sources: []string{fmt.Sprintf("in-%02d", i)}, changelogs: []string{fmt.Sprintf("shop-store-%c-changelog", 'z'-i)}, ends: ends})
		for p, end := range ends {
			id := fmt.Sprintf("%d_%d", i, p)
			tasks += " " + id
			sums[id] = end
		}
	}
	a.members = []appMember{{process: "a", active: tasks, sums: sums}}
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	for i, s := range g.Topology.Subtopologies {
		if want := fmt.Sprintf("shop-store-%c-changelog", 'z'-i); len(s.ChangelogTopics) != 1 || s.ChangelogTopics[0] != want {
			t.Errorf("sub-topology %s: %v, want %s", s.ID, s.ChangelogTopics, want)
		}
	}
	// Nothing to go by: all of it is uncertain, at once.
	a.members[0].sums = running(tasks)
	g = build(t, a.snapshot(), groupmeta.BuildOptions{})
	if len(g.Topology.Uncertain) != 20 {
		t.Errorf("%d lines of what is uncertain", len(g.Topology.Uncertain))
	}
}

// Smaller ends would fit both; one record less than the end is a caught-up copy
// of an exactly-once app.
func TestChangelogsOfExactlyOnce(t *testing.T) {
	a := &app{group: "shop", subs: []appSub{
		{id: 0, partitions: 2, sources: []string{"orders"}, changelogs: []string{"shop-x-changelog"}, ends: []int64{500, 700}},
		{id: 1, partitions: 2, sources: []string{"users"}, changelogs: []string{"shop-y-changelog"}, ends: []int64{900, 900}},
	}, members: []appMember{{process: "a", active: "0_0 0_1 1_0 1_1", sums: map[string]int64{"0_0": 499, "0_1": 699, "1_0": -2}}}}
	topo := build(t, a.snapshot(), groupmeta.BuildOptions{}).Topology
	if len(topo.Uncertain) != 0 || !slices.Equal(topo.Subtopologies[0].ChangelogTopics, []string{"shop-x-changelog"}) {
		t.Errorf("got %+v", topo)
	}
}

// Topics of the group shop-eu are none of the group shop.
func TestTopicsOfAGroupWithALongerName(t *testing.T) {
	s := snapshot.New()
	s.Groups = []snapshot.Group{listedGroup("shop", "classic", "consumer", "", "Empty"), listedGroup("shop-eu", "classic", "consumer", "", "Empty")}
	s.Groups[0].Classic.Members, s.Groups[1].Classic.Members = nil, nil
	addTopic(s, "shop-eu-count-changelog", 3, nil)
	for id, want := range map[string]model.Kind{"shop": model.Unknown, "shop-eu": model.Classic} {
		if g, err := groupmeta.Build(s, id, groupmeta.BuildOptions{}); err != nil || g.Kind != want {
			t.Errorf("%s: %+v, %v", id, g, err)
		}
	}
}

// A description names internal topics without the application id, whatever
// they end in.
func TestInternalTopicsOfADescription(t *testing.T) {
	file, err := groupmeta.ParseTopologyText(strings.NewReader("Sub-topology: 0\n Source: a (topics: [KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000004-topic, users])\n"))
	if err != nil {
		t.Fatal(err)
	}
	a := &app{group: "shop", subs: []appSub{{id: 0, partitions: 1, sources: []string{"shop-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000004-topic", "users"}}},
		members: []appMember{{process: "a", active: "0_0"}}}
	topo := build(t, a.snapshot(), groupmeta.BuildOptions{Topology: file}).Topology
	s := topo.Subtopologies[0]
	if len(topo.Uncertain) != 0 || !slices.Equal(s.SourceTopics, []string{"users"}) || len(s.RepartitionSourceTopics) != 1 {
		t.Errorf("got %+v", topo)
	}
}
