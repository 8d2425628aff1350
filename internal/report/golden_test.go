package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/render"
)

var update = flag.Bool("update", false, "rewrite the golden files") //nolint:gochecknoglobals // a test flag

// golden compares with testdata/NAME.golden, byte for byte.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (rewrite with -update):\n%s\nwant:\n%s", path, got, want)
	}
}

func write(t *testing.T, o render.Options, r render.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := render.Write(&b, o, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func text(t *testing.T, r render.Report) string {
	t.Helper()
	return string(write(t, render.Options{}, r))
}

func describe(g *model.Group) *GroupDescription {
	return NewGroupDescription(g, DescribeOptions{Commands: commands})
}

// everyGroup are the groups of the screens.
func everyGroup() []*model.Group {
	return []*model.Group{shop(), billing(), clicks(), rebalancing(), bare(), ledger()}
}

// reports is one report of every kind, by the name of its golden files.
func reports() map[string]render.Report {
	out := map[string]render.Report{}
	for _, g := range everyGroup() {
		name := g.ID
		if g.State == model.StatePreparingRebalance && g.ID == "shop" {
			name = "rebalancing"
		}
		out["group-"+name] = describe(g)
	}
	list := []*model.Group{shop(), billing(), clicks(), bare(), ledger()}
	s, b := shop(), billing()
	out["groups"] = NewGroupList(list, ListOptions{})
	out["groups-lag"] = NewGroupList(list, ListOptions{Lag: true})
	out["group-several"] = NewGroupDescriptionList([]*model.Group{shop(), healthy(), ledger()}, true, DescribeOptions{})
	out["group-threads"] = NewGroupDescription(shop(), DescribeOptions{Threads: true})
	out["group-by-topic"] = NewGroupDescription(shop(), DescribeOptions{By: ByTopic})
	out["group-by-instance"] = NewGroupDescription(shop(), DescribeOptions{By: ByInstance})
	out["group-by-subtopology"] = NewGroupDescription(shop(), DescribeOptions{By: BySubtopology})
	out["group-topology"] = NewGroupDescription(billing(), DescribeOptions{Topology: true})
	out["instances"] = NewInstanceList(list, ItemOptions{})
	out["members"] = NewMemberList(list[:1], ItemOptions{})
	out["tasks"] = NewTaskList(list[:2], ItemOptions{})
	out["instance"] = NewInstanceDescription(s, &s.Instances[1], DescribeOptions{})
	out["member"] = NewMemberDescription(s, &s.Instances[1], &s.Instances[1].Members[0], DescribeOptions{})
	task, _ := NewTaskDescription(s, s.Instances[1].Members[0].Tasks[1].ID, DescribeOptions{})
	out["task"] = task
	worker := clicks()
	worker.Instances[0].Members[0].Tasks[0].Restore.Position = ptr[int64](49_936)
	out["task-worker"], _ = NewTaskDescription(worker, worker.Instances[0].Members[0].Tasks[0].ID, DescribeOptions{})
	out["check-yes"] = NewCheck(s, &s.Instances[0], progress.StopCheck{Answer: progress.Yes, Active: []model.TaskID{{Subtopology: "0"}}})
	out["check-unknown"] = NewCheck(s, &s.Instances[1], progress.StopCheck{
		Answer: progress.Unknown, Active: []model.TaskID{{Subtopology: "0", Partition: 2}},
		Blockers: []progress.Blocker{{
			Object: "task 0_2", Task: model.TaskID{Subtopology: "0", Partition: 2}, Copy: process(0), RemainingRecords: ptr[int64](81_004),
			Why: "copy on pod-a as of the last round: up to 81004 records behind",
		}},
	})
	out["wait-met"] = NewWait(WaitResult{
		Group: clicks(), Goal: progress.Goal{For: progress.Drained}, Name: "pod-c", Status: progress.Status{Met: true}, Waited: 15 * time.Second,
	})
	expired := clicks()
	for _, h := range []string{"expired", "stopped"} {
		out["wait-"+h] = NewWait(WaitResult{
			Group: expired, Goal: progress.Goal{For: progress.Drained}, Name: "pod-z", Waited: 15 * time.Second,
			Status: progress.Status{Met: true, Left: h, Cold: []model.TaskID{expired.Instances[0].Members[0].Tasks[0].ID}},
		})
	}
	out["wait-unmet"] = NewWait(WaitResult{
		Group: b, Goal: progress.Goal{For: progress.CaughtUp}, Waited: 10 * time.Minute,
		Status: progress.Status{Blockers: []progress.Blocker{{Object: "partition orders-0", Why: "lag 12"}}},
	})
	out["event"] = NewEvent(s, progress.Event{
		At: *takenAt(), Group: "shop", What: "rebalance", Object: "group shop", Before: "aaaa", After: "bbbb", Round: 2, Took: ptr(3 * time.Second),
		Cause: "member pod-c/T1 joined", CauseInferred: true,
		Members: []progress.MemberChange{{Name: "pod-a/T1", Lost: []string{"0_4"}}, {Name: "pod-c/T1", Gained: []string{"0_4"}}},
	})
	out["event-state"] = NewEvent(s, progress.Event{
		At: *takenAt(), Group: "shop", What: "state", Object: "group shop", Before: "Stable", After: "PreparingRebalance",
	})
	out["diff"] = NewDiff(DiffResult{Before: takenAt(), After: takenAt(), Changes: []progress.Change{
		{Object: "group shop", What: "state", Before: "Stable", After: "Empty"}, {Object: "member pod-b/T1", What: "left", Before: "pod-b/T1"},
	}})
	for name, r := range toolReports() {
		out[name] = r
	}
	for name, r := range markReports() {
		out[name] = r
	}
	for name, r := range modeReports() {
		out[name] = r
	}
	for name, r := range planReports() {
		out[name] = r
	}
	return out
}

// toolReports are those that read no group.
func toolReports() map[string]render.Report {
	return map[string]render.Report{
		"can-i": NewCanI([]Permission{
			{Command: "describe group", Operation: "DESCRIBE", Resource: "group shop", API: ptr("DescribeGroups"), Purpose: "members", Required: true, Allowed: ptr(true)},
			{Command: "describe group", Operation: "DESCRIBE", Resource: "cluster", API: ptr("DescribeLogDirs"), Purpose: "sizes in bytes", Allowed: ptr(false), Ask: ptr("DESCRIBE on the cluster for User:op")},
			{Command: "describe group", Operation: "READ", Resource: "group shop", API: ptr("JoinGroup"), Purpose: "apps with the plug-in", Allowed: ptr(false), Needed: ptr(false)},
		}, CanIOptions{Command: "describe group", Group: "shop", Principal: "User:op"}),
		"can-i-all": NewCanI([]Permission{
			{Command: "describe", Operation: "DESCRIBE", Resource: "group shop", API: ptr("DescribeGroups"), Purpose: "members", Required: true, Allowed: ptr(true)},
			{Command: "plan", Operation: "DESCRIBE", Resource: "group shop", API: ptr("DescribeGroups"), Purpose: "members", Required: true, Allowed: ptr(true)},
			{Command: "rebalance", Operation: "READ", Resource: "group shop", API: ptr("JoinGroup"), Purpose: "a visitor", Required: true, Allowed: ptr(true)},
		}, CanIOptions{Group: "shop", Principal: "User:op"}),
		"config-test": NewConfigTest([]ConfigStep{
			{Step: "tcp", Object: "b1:9093", OK: ptr(true), TookMs: ptr[int64](2)},
			{Step: "tls", Object: "b1:9093", OK: ptr(false), TookMs: ptr[int64](1200), Error: ptr("unknown authority"), Hint: ptr("set ssl.truststore.location")},
			{Step: "login", Object: "b1:9093"},
		}, ItemOptions{}),
		"config-view": NewConfigView("prod-eu", "config.yaml", []ConfigKey{
			{Key: "bootstrap-server", Value: ptr("b1:9093"), Source: "flag", Where: ptr("--bootstrap-server")},
			{Key: "sasl.password", Set: ptr(true), Source: "file"}, {Key: "ssl.key.password", Set: ptr(false), Source: "default"},
		}),
		"contexts": NewContextList([]Context{{Name: "prod-eu", Current: true, Bootstrap: []string{"b1:9093", "b2:9093"}, ReadOnly: true}}),
		"lab": NewLabStatus(LabStatus{
			Bootstrap: "127.0.0.1:9092", Group: "clicks", Mode: ptr("incremental"), Tasks: 12, Idle: []string{"0_2", "0_4"}, LongestIdleMs: 6100,
			RestoreRate: ptr(2000), Records: LabRecords{Produced: 62_060, Counted: 61_722, Waiting: 338, Twice: ptr[int64](14), Lost: ptr[int64](0)},
			Instances: []LabInstance{
				{Name: "pod-a", ID: ptr("03778b59-f48c-4eb3-8082-7c01c279aa0a"), State: "running", Leader: true, Leaving: true, Active: 5},
				{Name: "pod-b", ID: ptr("ef43aa3a-e4d2-43b3-9bc2-ef79d882c653"), State: "running", Active: 5, Learner: 2, Restore: 8004},
				{Name: "pod-c", ID: ptr("9fc33692-b825-462c-9bc1-a1c6f10f2e81"), State: "killed"},
			},
		}, ""),
		"lab-done": NewLabStatus(LabStatus{}, "pod-d started"),
		"version": NewVersion(ClientVersion{Version: "0.1.0", Commit: ptr("aabbccddeeff"), Go: "go1.26", Platform: "linux/amd64"},
			[]BrokerVersion{{ID: 1, Address: "b1:9093", Version: ptr("4.3"), StreamsGroups: ptr(true)}}, ItemOptions{TakenAt: takenAt(), ClusterID: "c1"}),
	}
}

// healthy is a group without findings.
func healthy() *model.Group {
	g := newGroup("alpha", model.Classic, model.StateStable)
	addInstance(g, "pod-a", 1)
	give(g, "pod-a/T1", running("0_0", 3), running("0_1", 4))
	return g
}

func TestGolden(t *testing.T) {
	for name, r := range reports() {
		t.Run(name, func(t *testing.T) {
			golden(t, name+".table", write(t, render.Options{Width: 80}, r))
			golden(t, name+".wide", write(t, render.Options{Format: render.Wide}, r))
			golden(t, name+".json", write(t, render.Options{Format: render.JSON}, r))
			golden(t, name+".yaml", write(t, render.Options{Format: render.YAML}, r))
			if _, ok := r.(render.Lister); ok {
				golden(t, name+".tsv", write(t, render.Options{Format: render.TSV}, r))
			}
		})
	}
}

// A default screen fits 80 columns, on a terminal and in a pipe, for ids of up
// to 20 characters.
func TestDefaultFormsFit80Columns(t *testing.T) {
	check := func(name, out string) {
		for line := range strings.Lines(out) {
			if w := render.Width(strings.TrimRight(line, "\n")); w > 80 {
				t.Errorf("%s: %d columns: %s", name, w, line)
			}
		}
	}
	for name, r := range reports() {
		if strings.HasPrefix(name, "event") {
			continue // a log has one line an event, however long
		}
		check(name+" on a terminal", string(write(t, render.Options{Width: 80}, r)))
		if strings.HasPrefix(name, "group-") {
			check(name+" in a pipe", text(t, r))
		}
	}
	long := func(c string) string { return strings.Repeat(c, 20) }
	for _, g := range []*model.Group{scaleOut(long("g"), long("a"), long("b")), longNames(billing()), longNames(clicks()), hostile()} {
		for _, o := range []DescribeOptions{
			{Commands: commands}, {Commands: commands, Threads: true}, {By: ByTopic}, {By: ByInstance}, {By: BySubtopology}, {Topology: true},
		} {
			if g.ID == hostile().ID {
				check("hostile", string(write(t, render.Options{Width: 80}, NewGroupDescription(g, o))))
				continue
			}
			check(g.ID, text(t, NewGroupDescription(g, o)))
			check(g.ID, string(write(t, render.Options{Width: 80}, NewGroupDescription(g, o))))
		}
	}
}

// A narrow terminal drops columns and breaks text rather than wrapping lines.
func TestNarrowTerminals(t *testing.T) {
	for _, width := range []int{60, 45} {
		for name, r := range reports() {
			if strings.HasPrefix(name, "event") {
				continue
			}
			for line := range strings.Lines(string(write(t, render.Options{Width: width}, r))) {
				if w := render.Width(strings.TrimRight(line, "\n")); w > width {
					t.Errorf("%s at %d: %d columns: %s", name, width, w, line)
				}
			}
		}
	}
}

// longNames gives a group instances with names of 20 characters and large
// numbers.
func longNames(g *model.Group) *model.Group {
	for i := range g.Instances {
		in := &g.Instances[i]
		in.Name = strings.Repeat(string(rune('p'+i)), 20)
		in.Lag = ptr[int64](123_456_789)
		for j := range in.Members {
			in.Members[j].Name = in.Name + "/T" + string(rune('1'+j))
			in.Members[j].InstanceID = strings.Repeat("s", 20)
		}
	}
	g.Metadata.StaticMembers = memberCount(g)
	return g
}

// The same report gives the same bytes each time; the golden files are the
// compatibility test.
func TestFieldCase59OutputIsStable(t *testing.T) {
	for name, r := range reports() {
		for _, f := range []render.Format{render.Table, render.Wide, render.JSON, render.YAML} {
			a, b := write(t, render.Options{Format: f}, r), write(t, render.Options{Format: f}, reports()[name])
			if !bytes.Equal(a, b) {
				t.Errorf("%s as %s differs from one time to the next", name, f)
			}
		}
	}
}
