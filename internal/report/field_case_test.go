package report

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
)

// wants fails for each text that is missing.
func wants(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, w := range texts {
		if !strings.Contains(out, w) {
			t.Errorf("no %q in\n%s", w, out)
		}
	}
}

// refuses fails for each text that is there.
func refuses(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, w := range texts {
		if strings.Contains(out, w) {
			t.Errorf("%q in\n%s", w, out)
		}
	}
}

// row finds the line of a table that starts with these cells.
func row(t *testing.T, out string, cells ...string) []string {
	t.Helper()
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) >= len(cells) && strings.Join(f[:len(cells)], " ") == strings.Join(cells, " ") {
			return f
		}
	}
	t.Fatalf("no row %v in\n%s", cells, out)
	return nil
}

func document(t *testing.T, r render.Report) map[string]any {
	t.Helper()
	m, ok := decode(t, write(t, render.Options{Format: render.JSON}, r)).(map[string]any)
	if !ok {
		t.Fatal("no object")
	}
	return m
}

// A member that was given a task but has not opened it reports no offset sum.
func TestFieldCase2OffsetSumNotReported(t *testing.T) {
	g := shop()
	task := &g.Instances[0].Members[0].Tasks[0]
	task.Restore = model.Restore{State: model.RestoreUnknown, Basis: "none", End: ptr[int64](49_936)}
	d, ok := NewTaskDescription(g, task.ID, DescribeOptions{})
	if !ok {
		t.Fatal("no such task")
	}
	out := text(t, d)
	wants(t, out, "OFFSET-SUM")
	if got := strings.Join(row(t, out, "pod-a/T1", "active"), " "); !strings.HasPrefix(got, "pod-a/T1 active not reported 49,936") {
		t.Errorf("row %q", got)
	}
	if r := document(t, d)["restore"].(map[string]any); r["position"] != nil || r["remaining_records"] != nil {
		t.Errorf("restore %v, want null", r)
	}
}

func TestFieldCase4NextRebalance(t *testing.T) {
	g := shop()
	wants(t, text(t, describe(g)), "Next rebalance  in 4m12s, at 01:18:19 UTC by the leader's clock, by pod-a/T1")
	if n := document(t, describe(g))["next_rebalance"].(map[string]any); n["raw_ms"] != json.Number("1796001499000") || n["in_ms"] != json.Number("252000") {
		t.Errorf("next_rebalance %v", n)
	}
	member := g.NextRebalance.ByMember
	g.NextRebalance = &model.NextRebalance{ByMember: member}
	wants(t, text(t, describe(g)), "Next rebalance  at once, by pod-a/T1")
	if n := document(t, describe(g))["next_rebalance"].(map[string]any); n["at"] != nil || n["raw_ms"] != json.Number("0") {
		t.Errorf("at once is %v", n)
	}
	g.NextRebalance = &model.NextRebalance{RawMs: math.MaxInt64, At: takenAt()}
	wants(t, text(t, describe(g)), "Next rebalance  none planned")
	if n := document(t, describe(g))["next_rebalance"]; n != nil {
		t.Errorf("none planned is %v", n)
	}
	g.NextRebalance = &model.NextRebalance{RawMs: 1, At: ptr(takenAt().Add(-3 * time.Minute)), InMs: -180_000, ByMember: member}
	wants(t, text(t, describe(g)), "overdue by 3m, was due at 01:11:07 UTC")
}

func TestFieldCase7LeftoverThread(t *testing.T) {
	g := newGroup("app", model.Classic, model.StateStable)
	addInstance(g, "p", 3)
	g.Instances[0].Members[0].Leftover = true
	out := text(t, NewGroupDescription(g, DescribeOptions{Threads: true}))
	if got := strings.Join(row(t, out, "p", "T1"), " "); !strings.HasSuffix(got, "possible leftover") {
		t.Errorf("row %q", got)
	}
	if strings.Index(out, "T1") > strings.Index(out, "T2") || strings.Index(out, "T2") > strings.Index(out, "T3") {
		t.Errorf("threads are out of order:\n%s", out)
	}
}

// Progress of a restore is told as far as it is known.
func TestFieldCase8RestoreLines(t *testing.T) {
	id := model.TaskID{Subtopology: "0", Partition: 1}
	s := progress.Status{
		Blockers: []progress.Blocker{{Object: "task 0_1", Task: id, Why: "restores"}},
		Restore: []progress.TaskRestore{
			{Task: id, Name: "pod-b/T1", Role: model.Active, Restored: ptr[int64](400_000), Total: ptr[int64](1_000_000), Rate: ptr(6666.7), Left: ptr(90 * time.Second)},
			{Task: id, Name: "pod-c/T1", Role: model.Learner, Restored: ptr[int64](0), Total: ptr[int64](1_000_000)},
			{Task: id, Name: "pod-d/T1", Role: model.Active, Why: "a classic group reports none"},
		},
	}
	out := strings.Join(WaitLines(progress.Restored, s), "\n")
	wants(t, out, "task 0_1: restores", "0_1 on pod-b/T1  400,000/1,000,000  6,666/s  left 1m30s",
		"0_1 on pod-c/T1 (learner)  0/1,000,000  -  left -", "-/-  rate -  left - (a classic group reports none)")
}

func TestFieldCase13NoTaskOffsets(t *testing.T) {
	g := billing()
	for i := range g.Instances {
		for j := range g.Instances[i].Members {
			g.Instances[i].Members[j].ReportsOffsets = ptr(i == 1)
		}
	}
	out := text(t, describe(g))
	wants(t, out, "TASK-OFFSETS", "Task offsets  no from b1/T1 b1/T2 (2 of 4 members")
	threads := text(t, NewGroupDescription(g, DescribeOptions{Threads: true}))
	if got := strings.Join(row(t, threads, "b1", "T1"), " "); !strings.Contains(got, " no ") {
		t.Errorf("row %q", got)
	}
	if got := strings.Join(row(t, threads, "b2", "T1"), " "); !strings.Contains(got, " yes ") {
		t.Errorf("row %q", got)
	}
}

// Counts look even, but one sub-topology sits on one instance.
func TestFieldCase15BySubtopology(t *testing.T) {
	g := newGroup("app", model.Classic, model.StateStable)
	for i, name := range []string{"a", "b", "c"} {
		addInstance(g, name, 1)
		for p := range 6 {
			give1(g, i, running(string(rune('0'+[]int{1, 0, 2}[i]))+"_"+string(rune('0'+p)), 0))
		}
	}
	out := text(t, NewGroupDescription(g, DescribeOptions{By: BySubtopology}))
	for _, want := range [][]string{{"0", "6", "0", "6", "0", "3.00"}, {"1", "6", "6", "0", "0", "3.00"}, {"TOTAL", "18", "6", "6", "6", "1.00"}} {
		row(t, out, want...)
	}
}

func TestFieldCase16EveryThread(t *testing.T) {
	g := newGroup("app", model.Classic, model.StateStable)
	addInstance(g, "p", 3)
	give(g, "p/T1", running("0_0", 0), running("0_1", 0), copyOf("0_2", model.Standby, 0), copyOf("0_3", model.Standby, 0))
	give(g, "p/T2", running("0_2", 0), copyOf("0_0", model.Standby, 0))
	out := text(t, NewGroupDescription(g, DescribeOptions{Threads: true}))
	row(t, out, "p", "T1", "2", "2")
	row(t, out, "p", "T2", "1", "1")
	if got := row(t, out, "p", "T3", "0", "0"); got[len(got)-1] != "idle" {
		t.Errorf("row %v", got)
	}
}

func TestFieldCase17StatefulAndStateless(t *testing.T) {
	g := newGroup("app", model.Classic, model.StateStable)
	addInstance(g, "a", 1)
	addInstance(g, "b", 1)
	for _, id := range []string{"0_0", "0_1", "0_2", "0_3"} {
		task := running(id, 0)
		task.Stateful, task.Tags = ptr(false), nil
		give(g, "a/T1", task)
	}
	for _, id := range []string{"1_0", "1_1", "1_2", "1_3"} {
		give(g, "b/T1", running(id, 0))
	}
	out := text(t, describe(g))
	wants(t, out, "STATEFUL", "STATELESS")
	row(t, out, "a", "1", "4", "0", "0", "0", "4")
	row(t, out, "b", "1", "4", "0", "0", "4", "0")
	g.Instances[0].Members[0].Tasks[0].Stateful = nil
	row(t, text(t, describe(g)), "a", "1", "4", "0", "0", "?", "?")
}

func TestFieldCase18StandbysMissing(t *testing.T) {
	g := newGroup("app", model.Streams, model.StateStable)
	addInstance(g, "a", 1)
	addInstance(g, "b", 1)
	for i, id := range []string{"1_0", "1_1", "1_2", "1_3", "1_4", "1_5"} {
		give1(g, i%2, running(id, 0))
		if id != "1_3" {
			give1(g, (i+1)%2, copyOf(id, model.Standby, 0))
		}
	}
	g.Timing = model.Timing{Standbys: ptr(1), StandbysSource: "group config"}
	wants(t, text(t, describe(g)), "Standbys   5 of 6, 1 a task (missing: 1_3)")
}

func TestFieldCase26StaticMembers(t *testing.T) {
	g := newGroup("app", model.Classic, model.StateStable)
	for _, name := range []string{"a", "b"} {
		in := addInstance(g, name, 4)
		for i := range in.Members {
			in.Members[i].InstanceID = name + "-" + in.Members[i].Name
		}
	}
	g.Instances[0].Members[1].InstanceID, g.Instances[1].Members[3].InstanceID = "", ""
	g.Metadata.StaticMembers = 6
	wants(t, text(t, describe(g)), "Static     6 of 8 members; dynamic: a/T2 b/T4")
}

func TestFieldCase28InstanceID(t *testing.T) {
	g := newGroup("app", model.Streams, model.StateStable)
	addInstance(g, "a", 1)
	addInstance(g, "b", 1)
	refuses(t, text(t, describe(g)), "INSTANCE-ID")
	g.Instances[0].Members[0].InstanceID = "static-1"
	out := text(t, describe(g))
	wants(t, out, "INSTANCE-ID")
	row(t, out, "a", "static-1")
	row(t, out, "b", "-")
	wants(t, string(write(t, render.Options{Format: render.Wide}, describe(g))), "INSTANCE-ID")
	wants(t, string(write(t, render.Options{Format: render.JSON}, describe(g))), `"instance_id":"static-1"`, `"instance_id":null`)
}

func TestFieldCase34MixedVersions(t *testing.T) {
	g := shop()
	g.Metadata = model.MetadataSummary{GroupVersion: 10, Used: map[int32]int{10: 5}, Supported: map[int32]int{10: 3, 11: 2}, Mixed: true}
	g.Instances[1].Members[1].VersionProbing = true
	g.Instances[1].Members[1].Tasks = nil
	wants(t, text(t, describe(g)), "Metadata        v10 (3 members support up to 10, 2 up to 11)")
	out := text(t, NewGroupDescription(g, DescribeOptions{Threads: true}))
	if got := strings.Join(row(t, out, "pod-b", "T2"), " "); !strings.HasSuffix(got, "version probing") || strings.Contains(got, "idle") {
		t.Errorf("row %q", got)
	}
}

// An empty assignment while the group prepares is no error, and no zero.
func TestFieldCase38NoAssignmentYet(t *testing.T) {
	out := text(t, describe(bare()))
	wants(t, out, "PreparingRebalance", "rebalancing")
	row(t, out, "fraud", "6", "-", "-", "-")
	list := text(t, NewGroupList([]*model.Group{bare()}, ListOptions{}))
	row(t, list, "fraud", "classic~", "PreparingRebalance", "-", "6", "-", "rebalancing")
}

func TestFieldCase42OtherKinds(t *testing.T) {
	list := []*model.Group{
		newGroup("a-classic", model.Classic, model.StateStable), newGroup("b-connect", model.Connect, model.StateStable),
		newGroup("c-sr", model.Other, model.StateStable), newGroup("d-share", model.Share, model.StateStable), newGroup("e-unknown", model.Unknown, model.StateEmpty),
	}
	list[2].ProtocolType = "sr"
	out := text(t, NewGroupList(list, ListOptions{}))
	wants(t, out, "a-classic")
	refuses(t, out, "b-connect", "c-sr", "d-share", "e-unknown")
	l := NewGroupList(list, ListOptions{})
	if l.NotShown != (NotShown{Consumer: 3, Unknown: 1}) {
		t.Errorf("not shown %+v", l.NotShown)
	}
	wants(t, l.Summary(), "1 stream group; 3 others not shown (--all-kinds); 1 may or may not be a Streams app, not shown")
	all := text(t, NewGroupList(list, ListOptions{AllKinds: true}))
	row(t, all, "b-connect", "connect", "Stable", "-", "0", "-")
	row(t, all, "c-sr", "other", "(sr)")
	row(t, all, "d-share", "share")
	row(t, all, "e-unknown", "consumer?")
	wants(t, text(t, describe(list[1])), "b-connect  connect  Stable", "not a stream group")
}

func TestFieldCase43BytesThatWereNotUnderstood(t *testing.T) {
	g := shop()
	m := &g.Instances[0].Members[0]
	m.Metadata = model.MemberMetadata{
		Status: model.MetadataMalformed, UsedVersion: 8, SupportedVersion: 8, Error: "not enough bytes", ErrorField: "task_offset_sums", ErrorOffset: 19,
		UserData: []byte(strings.Repeat("\x00\x01\xfe\xff", 12)),
	}
	d := NewMemberDescription(g, &g.Instances[0], m, DescribeOptions{})
	out := strings.Join(strings.Fields(text(t, d)), " ")
	wants(t, out, "undecodable", "not enough bytes (field task_offset_sums, offset 19)", strings.TrimSpace(strings.Repeat("0001feff ", 5)))
	md := document(t, d)["metadata"].(map[string]any)
	e := md["error"].(map[string]any)
	if e["field"] != "task_offset_sums" || e["offset"] != json.Number("19") || !strings.HasPrefix(md["user_data_base64"].(string), "AAH+/wAB") {
		t.Errorf("metadata %v", md)
	}
	hex := strings.ReplaceAll(strings.ReplaceAll(text(t, d), "\n", " "), " ", "")
	if n := strings.Count(hex, "0001feff"); n != 8 {
		t.Errorf("%d of 32 bytes are shown", 4*n)
	}
}
