package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// offset is the commit and log of one partition, as the model reckons it.
func offset(topic string, partition int32, committed, start, end *int64, member string) model.PartitionOffset {
	o := model.PartitionOffset{
		TopicPartition: model.TopicPartition{Topic: topic, Partition: partition}, Committed: committed, LogStart: start, LogEnd: end,
		FromStart: committed == nil, Member: member,
	}
	o.Lag, o.BeyondEnd = model.PartitionLag(committed, start, end)
	return o
}

func TestFieldCase45NothingCommitted(t *testing.T) {
	g := ledger()
	g.Offsets = []model.PartitionOffset{
		offset("in", 0, nil, ptr[int64](0), ptr[int64](2470), ""), offset("in", 1, nil, ptr[int64](2000), ptr[int64](2470), ""),
	}
	out := text(t, describe(g))
	row(t, out, "in", "0", "-", "2,470", "2,470", "-")
	row(t, out, "in", "1", "-", "2,470", "470", "-")
	wants(t, out, "nothing is committed, the lag is counted from the start of the log")
	o := document(t, describe(g))["offsets"].([]any)[1].(map[string]any)
	if o["committed"] != nil || o["lag"] != json.Number("470") {
		t.Errorf("offset %v", o)
	}
}

func TestFieldCase46CommittedBeyondEnd(t *testing.T) {
	g := ledger()
	g.Offsets = []model.PartitionOffset{offset("in", 0, ptr[int64](144_424), ptr[int64](0), ptr[int64](136_204), "")}
	out := text(t, describe(g))
	row(t, out, "in", "0", "144,424", "136,204", "0*")
	wants(t, out, "* committed beyond end by 8,220")
	o := document(t, describe(g))["offsets"].([]any)[0].(map[string]any)
	if o["lag"] != json.Number("0") || o["beyond_end"] != json.Number("8220") {
		t.Errorf("offset %v", o)
	}
}

func TestFieldCase49OffsetsWithoutMembers(t *testing.T) {
	out := text(t, describe(ledger()))
	row(t, out, "entries", "0", "2,470", "2,480", "10", "-")
	g := shop() // Stable, with a topic that nobody reads
	g.Offsets = append(g.Offsets, offset("topic-2", 0, ptr[int64](5), ptr[int64](0), ptr[int64](9), ""))
	out = text(t, describe(g))
	row(t, out, "topic-2", "0", "5", "9", "4", "-")
	refuses(t, out, "\norders ")
}

// Whatever the state, stdout is a document or nothing.
func TestFieldCase50StdoutParses(t *testing.T) {
	for _, state := range []string{"", "Stable", "Empty", "Dead", "NotReady", "Assigning", "Reconciling", "PreparingRebalance", "CompletingRebalance"} {
		g := newGroup("app", model.Streams, state)
		g.Notes = []string{"app has no members"}
		if doc := document(t, describe(g)); doc["state"] != state {
			t.Errorf("state %q is %v", state, doc["state"])
		}
	}
}

func TestFieldCase52TopicDeleted(t *testing.T) {
	g := ledger()
	gone := offset("gone", 0, ptr[int64](7), nil, nil, "")
	gone.Problem = "topic deleted"
	g.Offsets = append([]model.PartitionOffset{gone}, g.Offsets...)
	out := text(t, describe(g))
	row(t, out, "gone", "0", "7", "-", "-", "-", "topic", "deleted")
	row(t, out, "entries", "0", "2,470", "2,480", "10")
	s := shop()
	task := &s.Instances[0].Members[0].Tasks[1]
	task.Restore = model.Restore{State: model.RestoreUnknown, Basis: "none", Note: "changelog missing"}
	wants(t, text(t, describe(s)), "changelog missing")
	d, _ := NewTaskDescription(s, task.ID, DescribeOptions{})
	wants(t, text(t, d), "unknown (changelog missing)")
}

func TestFieldCase53TotalsByTopic(t *testing.T) {
	g := newGroup("app", model.Classic, model.StateStable)
	for i := range 3 {
		addInstance(g, fmt.Sprintf("i%d", i), 1)
	}
	for n, topic := range []string{"a", "b"} {
		for p := range int32(3) {
			g.Offsets = append(g.Offsets, offset(topic, p, ptr(int64(10*p)), ptr[int64](0), ptr(int64(100*(n+1))), g.Instances[p].Members[0].ID))
		}
	}
	out := text(t, NewGroupDescription(g, DescribeOptions{By: ByTopic}))
	row(t, out, "a", "3", "3", "3", "270")
	row(t, out, "b", "3", "3", "3", "570")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if got := strings.Join(strings.Fields(lines[len(lines)-1])[:5], " "); got != "TOTAL 6 6 3 840" {
		t.Errorf("last line %q", got)
	}
	for _, by := range []By{ByInstance, BySubtopology} {
		s := text(t, NewGroupDescription(shop(), DescribeOptions{By: by}))
		lines := strings.Split(strings.TrimSpace(s), "\n")
		if !strings.HasPrefix(lines[len(lines)-1], "TOTAL ") {
			t.Errorf("--by %s ends with %q", by, lines[len(lines)-1])
		}
	}
}

// Rows that could not be read make a sum a lower bound, never a number.
func TestFieldCase70PartialSums(t *testing.T) {
	g := shop()
	g.Totals.LagPartial = true
	l := NewGroupList([]*model.Group{g}, ListOptions{Lag: true})
	wants(t, text(t, l), "≥220")
	if l.Groups[0].Lag != nil {
		t.Error("a partial sum stands in the document")
	}
	g.Offsets[0].Lag, g.Offsets[0].LogEnd, g.Offsets[0].Problem = nil, nil, "LEADER_NOT_AVAILABLE"
	wants(t, text(t, NewGroupDescription(g, DescribeOptions{By: ByTopic})), "≥100", "LEADER_NOT_AVAILABLE")
}

// Nothing a broker says reaches the terminal as more than text.
func TestFieldCase63NoEscapeBytes(t *testing.T) {
	h := hostile()
	task, _ := NewTaskDescription(h, h.Instances[0].Members[0].Tasks[0].ID, DescribeOptions{})
	all := []render.Report{
		describe(h), NewGroupDescription(h, DescribeOptions{Threads: true}), NewGroupDescription(h, DescribeOptions{By: ByTopic}),
		NewGroupDescription(h, DescribeOptions{By: BySubtopology}), NewGroupDescription(h, DescribeOptions{Topology: true}),
		NewGroupList([]*model.Group{h}, ListOptions{AllKinds: true}), NewInstanceList([]*model.Group{h}, ItemOptions{}),
		NewMemberList([]*model.Group{h}, ItemOptions{}), NewTaskList([]*model.Group{h}, ItemOptions{}), task,
		NewInstanceDescription(h, &h.Instances[0], DescribeOptions{}),
		NewMemberDescription(h, &h.Instances[0], &h.Instances[0].Members[0], DescribeOptions{}),
	}
	for _, r := range all {
		for _, f := range render.Formats() {
			out := string(write(t, render.Options{Format: f, Width: 80}, r))
			for _, c := range out {
				if c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c >= 0x80 && c < 0xa0 || c == '\u202e' || c == '\u200b' || c == '\ufffd' && f != render.JSON && f != render.YAML {
					t.Errorf("%T as %s holds %U", r, f, c)
					break
				}
			}
			if f != render.TSV && strings.Contains(out, "\t") {
				t.Errorf("%T as %s holds a tab", r, f)
			}
		}
	}
	wants(t, text(t, describe(h)), `evil\x1b[2J\u202egroup`, `po\u200bd\x07-a`)
	if n := strings.Count(text(t, describe(h)), strings.Repeat("y", 249)); n == 0 {
		t.Error("a pipe shortens a name")
	}
	refuses(t, string(write(t, render.Options{Width: 80}, describe(h))), strings.Repeat("y", 81))
	colour := string(write(t, render.Options{Width: 80, Color: true}, describe(shop())))
	wants(t, colour, "\x1b[")
	if stripped := strip(colour); stripped != string(write(t, render.Options{Width: 80}, describe(shop()))) {
		t.Errorf("colour changes more than colour:\n%s", stripped)
	}
}

// strip removes colour.
func strip(s string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		_, s, _ = strings.Cut(after, "m")
	}
}

// A pipe gets every column and every name whole; a terminal what fits.
func TestFieldCase64Columns(t *testing.T) {
	g := newGroup("app", model.Classic, model.StateStable)
	in := addInstance(g, "11111111", 1)
	in.Members[0].ClientID = "app-11111111-1111-1111-1111-111111111111-StreamThread-1-consumer"
	give(g, "11111111/T1", running("0_0", 3))
	for _, width := range []int{0, 80} {
		out := string(write(t, render.Options{Width: width}, describe(g)))
		wants(t, out, "INSTANCE", "THREADS", "ACTIVE", "STANDBY", "LEARNER", "EXPECTED", "OF EXPECTED", "LAG", "11111111")
	}
	tasks := NewTaskList([]*model.Group{g}, ItemOptions{})
	wants(t, text(t, tasks), "11111111/T1")
	narrow := string(write(t, render.Options{Width: 40}, NewGroupList([]*model.Group{shop(), billing()}, ListOptions{})))
	for line := range strings.Lines(narrow) {
		if render.Width(line) > 41 {
			t.Errorf("%d columns: %s", render.Width(line), line)
		}
	}
	wants(t, narrow, "GROUP", "KIND", "STATE")
	refuses(t, narrow, "INST")
	long := newGroup(strings.Repeat("n", 249), model.Classic, model.StateStable)
	wants(t, text(t, NewGroupList([]*model.Group{long}, ListOptions{})), strings.Repeat("n", 249), "INST", "MEMBERS", "TASKS", "NOTES")
	wide := string(write(t, render.Options{Format: render.Wide, Width: 80}, NewGroupList([]*model.Group{long}, ListOptions{})))
	wants(t, wide, strings.Repeat("n", 249), "COORDINATOR")
}

func TestFieldCase77Topology(t *testing.T) {
	g := billing()
	for status, want := range map[string]string{
		"NOT_REQUESTED": "NOT_REQUESTED (it was not asked for)", "NOT_STORED": "NOT_STORED (the broker holds none", "ERROR": "ERROR (the broker could not read it)",
	} {
		g.Topology.TreeStatus = status
		wants(t, text(t, NewGroupDescription(g, DescribeOptions{Topology: true})), "Sub-topology 0  6 tasks  stateful", "source     orders", want)
	}
	g.Topology.TreeStatus = "AVAILABLE"
	g.Topology.Tree = &model.TopologyTree{
		Subtopologies: []model.TopologyTreePart{{ID: "0", Nodes: []model.TopologyNode{
			{Name: "src", Kind: "source", Topics: []string{"my.special.topic"}, Successors: []string{"agg"}},
			{Name: "agg", Kind: "processor", Stores: []string{"seen"}},
		}}},
		GlobalStores: []model.TopologyTreePart{{ID: "1", Nodes: []model.TopologyNode{{Name: "g", Kind: "source", Topics: []string{"rates"}}}}},
	}
	out := text(t, NewGroupDescription(g, DescribeOptions{Topology: true}))
	wants(t, out, "Sub-topology 0\n", "src  source  my.special.topic\n", "-> agg\n", "agg  processor  stores seen\n", "Global store, sub-topology 1\n")
}
