package groupmeta_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// withControl puts records into the group's control topic.
func withControl(s *snapshot.Snapshot, records ...control.Record) *snapshot.Snapshot {
	g := &s.Groups[0]
	g.Control = []snapshot.ControlRecord{}
	for i, r := range records {
		g.Control = append(g.Control, snapshot.ControlRecord{Key: r.Key, Value: r.Value, Offset: int64(i)})
	}
	end := int64(len(records))
	g.ControlEnd = &end
	return s
}

func markRecord(n, id, reason string) control.Record {
	timeout := 90 * time.Second
	return must(control.Leaving{Mark: id, Timeout: &timeout, At: start(), Who: "alice@ops-1", Reason: reason}.Record(workerID(n)))
}

// status is what worker n says in round 5, unless changed.
func status(n string, change func(*control.Status)) control.Record {
	generation := int32(5)
	s := control.Status{Source: control.SourceWorker, Software: "streamctl", At: start().Add(-time.Second), Generation: &generation, Mode: control.Incremental, Workers: 1}
	if change != nil {
		change(&s)
	}
	return must(s.Record(workerID(n)))
}

// said is one task in a status; numbers below 0 are not told.
func said(id string, role model.Role, lag, position, end int64) control.Task {
	t := control.Task{ID: ids(id)[0], Role: role, Tags: []model.Tag{model.IsStateful}}
	if role == model.Learner {
		t.Tags = append(t.Tags, model.IsLearner)
	}
	for to, n := range map[**int64]int64{&t.Lag: lag, &t.Position: position, &t.End: end} {
		if n >= 0 {
			*to = &n
		}
	}
	return t
}

// A mark counts as honoured only when its instance says so; a mark of an
// instance that is gone is stale and does nothing.
func TestMarks(t *testing.T) {
	remaining := int64(42_000)
	honours := func(s *control.Status) { s.Leaving, s.Marks, s.RemainingMs = true, []string{"mark-7"}, &remaining }
	for _, c := range []struct {
		name     string
		records  []control.Record
		leaving  bool // the members say so
		honoured bool
		finding  string
	}{
		{
			"status names it", []control.Record{markRecord("3", "mark-7", "node drain"), status("3", honours)}, true, true,
			"click-3 is leaving and runs 2 tasks (marked by alice@ops-1: node drain; waits 42s more)",
		},
		{
			"status names it, the members join later", []control.Record{markRecord("3", "mark-7", ""), status("3", honours)}, false, true,
			"click-3 is leaving and runs 2 tasks (marked by alice@ops-1; waits 42s more)",
		},
		{
			"status names another", []control.Record{markRecord("3", "mark-8", ""), status("3", honours)}, false, false,
			"click-3 is marked leaving and does not say that it honours the mark (marked by alice@ops-1)",
		},
		{
			"nothing said yet", []control.Record{markRecord("3", "mark-7", "")}, false, false,
			"click-3 is marked leaving and does not say that it honours the mark (marked by alice@ops-1)",
		},
		{
			"no status, but the members name it", []control.Record{markRecord("3", "mark-7", "")}, true, true,
			"click-3 is leaving and runs 2 tasks (marked by alice@ops-1)",
		},
	} {
		g := build(t, withControl(clicks{protocolType: "stream", leaving: c.leaving}.snapshot(), c.records...), groupmeta.BuildOptions{})
		if len(g.Marks) != 1 || g.Marks[0].Instance != workerID("3") || g.Marks[0].Honoured != c.honoured || g.Marks[0].Stale || *g.Marks[0].TimeoutMs != 90_000 {
			t.Errorf("%s: marks %+v", c.name, g.Marks)
		}
		if in := instance(t, g, "click-3"); (in.Leaving != nil) != c.honoured {
			t.Errorf("%s: leaving %+v", c.name, in.Leaving)
		}
		wantText(t, c.name, finding(g, model.FindingLeaving), c.finding)
		if slices.ContainsFunc(g.Findings, func(f model.Finding) bool { return f.Code == model.FindingStaleMark }) {
			t.Errorf("%s: stale", c.name)
		}
	}
}

// Marks of all instances count for nothing: a finding says so, and is gone once
// one of them stays.
func TestMarksOfAllInstancesAreVoid(t *testing.T) {
	bare := build(t, withControl(clicks{protocolType: "stream"}.snapshot()), groupmeta.BuildOptions{})
	var records []control.Record
	for _, in := range bare.Instances {
		records = append(records, must(control.Leaving{Mark: "mark-7", At: start(), Who: "alice@ops-1"}.Record(in.ID)))
	}
	g := build(t, withControl(clicks{protocolType: "stream"}.snapshot(), records...), groupmeta.BuildOptions{})
	if text := finding(g, model.FindingStaleMark); g.OK() || !strings.HasPrefix(text, "the marks of all instances are void: nobody stays") {
		t.Errorf("all marked: %q, %+v", text, g.Findings)
	}
	g = build(t, withControl(clicks{protocolType: "stream"}.snapshot(), records[1:]...), groupmeta.BuildOptions{})
	if text := finding(g, model.FindingStaleMark); text != "" || len(g.Marks) != len(bare.Instances)-1 {
		t.Errorf("one stays: %q", text)
	}
}

// A withdrawn mark that an instance still follows is its own word only.
func TestMarkWithdrawn(t *testing.T) {
	g := build(t, withControl(clicks{protocolType: "stream", leaving: true}.snapshot()), groupmeta.BuildOptions{})
	if in := instance(t, g, "click-3"); len(g.Marks) != 0 || in.Leaving == nil || in.Leaving.ID != "mark-7" || in.Leaving.Who != "" {
		t.Errorf("marks %+v, leaving %+v", g.Marks, instance(t, g, "click-3").Leaving)
	}
}

func TestStaleMark(t *testing.T) {
	s := withControl(clicks{protocolType: "stream"}.snapshot(), markRecord("9", "mark-1", "node drain"), status("9", func(s *control.Status) {
		s.Leaving, s.Marks = true, []string{"mark-1"}
	}))
	g := build(t, s, groupmeta.BuildOptions{})
	if len(g.Marks) != 1 || !g.Marks[0].Stale || g.Marks[0].Honoured || len(g.Instances) != 3 {
		t.Fatalf("marks %+v", g.Marks)
	}
	wantText(t, "stale", finding(g, model.FindingStaleMark),
		"the leaving mark of "+workerID("9")+" is stale: the instance is gone (marked by alice@ops-1: node drain); unmark takes it away")
	if len(g.Control.Status) != 1 || !g.Control.Status[0].Gone {
		t.Errorf("status %+v", g.Control.Status)
	}
	// Where a member does not say which instance it is, none is known to be gone.
	s.Groups[0].Classic.Members[2].Metadata = []byte{9}
	if g := build(t, s, groupmeta.BuildOptions{}); g.Marks[0].Stale || finding(g, model.FindingStaleMark) != "" {
		t.Errorf("marks %+v", g.Marks)
	}
	s.Groups[0].Classic.Members, s.Groups[0].Classic.State = nil, model.StateEmpty
	if g := build(t, s, groupmeta.BuildOptions{}); !g.Marks[0].Stale {
		t.Errorf("in an empty group: %+v", g.Marks)
	}
}

func TestModeRecord(t *testing.T) {
	mode := must(control.Mode{Mode: control.Upgrading, Epoch: 3, Allowed: 30 * time.Second, At: start(), Who: "bob@ops-2", Reason: "roll-out"}.Record())
	broken := control.Record{Key: control.KeyLeaving(workerID("1")), Value: []byte("{}")}
	g := build(t, withControl(clicks{protocolType: "stream"}.snapshot(), broken, mode, status("1", func(s *control.Status) {
		at := int64(2)
		s.ControlOffset, s.Epoch, s.ControlError = &at, 3, "not allowed"
	})), groupmeta.BuildOptions{})
	c := g.Control
	if c == nil || c.Topic != "clicks-streamctl-control" || c.End != 3 || c.Mode == nil || c.Mode.Epoch != 3 || c.Mode.AllowedMs != 30_000 || c.Mode.Who != "bob@ops-2" || c.Mode.Offset != 1 {
		t.Fatalf("control %+v", c)
	}
	if len(c.Status) != 1 || *c.Status[0].ControlOffset != 2 || c.Status[0].Epoch != 3 || c.Status[0].Mode != "incremental" || c.Status[0].ControlError == "" {
		t.Errorf("status %+v", c.Status)
	}
	if g.Mode != "incremental" {
		t.Errorf("the record is trusted more than the group: mode %q", g.Mode)
	}
	if len(g.Notes) != 1 || !strings.Contains(g.Notes[0], `record "leaving/`+workerID("1")+`" at offset 0 does not decode`) {
		t.Errorf("notes %q", g.Notes)
	}
}

// A topic full of foreign records must not bury what else there is to say, and
// those among them that somebody may count on are all told.
func TestForeignRecordsAreCounted(t *testing.T) {
	var records []control.Record
	for i := range 500 {
		key := control.KeyStatus(fmt.Sprintf("%08x-0000-4000-8000-000000000000", i))
		records = append(records, control.Record{Key: key, Value: []byte("\xff")})
	}
	own := control.KeyLeaving(workerID("1"))
	records = append(records, control.Record{Key: own, Value: []byte("{}")}, control.Record{Key: control.KeyMode, Value: []byte("{}")})
	g := build(t, withControl(clicks{protocolType: "stream"}.snapshot(), records...), groupmeta.BuildOptions{})
	text := strings.Join(g.Notes, "\n")
	if len(g.Notes) > 15 || !strings.Contains(text, "490 records more") || !strings.Contains(text, own) || !strings.Contains(text, `record "mode"`) {
		t.Errorf("%d notes:\n%s", len(g.Notes), text)
	}
}

// Positions come from the status records of the present round, as far as these
// do not contradict the group.
func TestPositionsFromStatus(t *testing.T) {
	tasks := func(list ...control.Task) func(*control.Status) {
		return func(s *control.Status) { s.Tasks = list }
	}
	learns := said("0_0", model.Learner, 600, 400, 1000)
	older := int32(4)
	for _, c := range []struct {
		name   string
		change func(*control.Status)
		left   string // 0_0 on click-2
		state  model.RestoreState
		basis  string
	}{
		{"position", tasks(learns), "600", model.Restoring, "status"},
		{"lag and end", tasks(said("0_0", model.Learner, 500, -1, 900)), "600", model.Restoring, "status"}, // the log has grown since
		{"lag only", tasks(said("0_0", model.Learner, 30, -1, -1)), "30", model.Restoring, "status"},
		{"caught up", tasks(said("0_0", model.Learner, 0, 1000, 1000)), "0", model.CaughtUp, "status"},
		{"lag unknown", tasks(said("0_0", model.Learner, -1, 10, -1)), "40", model.Restoring, "last round"},
		{"another role", tasks(said("0_0", model.Standby, 600, 400, 1000)), "40", model.Restoring, "last round"},
		{"not there", tasks(said("0_2", model.Learner, 600, 400, 1000)), "40", model.Restoring, "last round"},
		{"an earlier round", func(s *control.Status) { s.Tasks, s.Generation = []control.Task{learns}, &older }, "40", model.Restoring, "last round"},
		{"no round yet", func(s *control.Status) { s.Tasks, s.Generation = []control.Task{learns}, nil }, "40", model.Restoring, "last round"},
		{"a plug-in", func(s *control.Status) { s.Tasks, s.Source = []control.Task{learns}, control.SourcePlugIn }, "40", model.Restoring, "last round"},
	} {
		g := build(t, withControl(clicks{protocolType: "stream"}.snapshot(), status("2", c.change)), groupmeta.BuildOptions{})
		task := holding(t, g, "click-2", "0_0")
		if num(task.Restore.RemainingRecords) != c.left || task.Restore.State != c.state || g.Positions.Basis != c.basis {
			t.Errorf("%s: %s left, %s, positions %+v", c.name, num(task.Restore.RemainingRecords), task.Restore.State, g.Positions)
		}
		if asOf := g.Positions.AsOf; c.basis == "status" && (asOf == nil || !asOf.Equal(start().Add(-time.Second)) || g.Positions.Estimated) {
			t.Errorf("%s: positions %+v", c.name, g.Positions)
		}
	}
}

// An active task that still restores is shown so; a ready learner too.
func TestStatusOfActiveAndReady(t *testing.T) {
	ready := said("0_0", model.Learner, 3, 997, 1000)
	ready.Tags = append(ready.Tags, model.IsReady)
	g := build(t, withControl(clicks{protocolType: "stream"}.snapshot(),
		status("1", func(s *control.Status) {
			s.Tasks = []control.Task{said("0_0", model.Active, 0, 1000, 1000), said("0_1", model.Active, 1500, 500, 2000)}
		}),
		status("2", func(s *control.Status) { s.Tasks = []control.Task{ready} })), groupmeta.BuildOptions{})
	if r := holding(t, g, "click-1", "0_0").Restore; r.State != model.Running || num(r.RemainingRecords) != "0" {
		t.Errorf("0_0: %+v", r)
	}
	if r := holding(t, g, "click-1", "0_1").Restore; r.State != model.Restoring || num(r.RemainingRecords) != "1500" || num(r.Position) != "500" {
		t.Errorf("0_1: %+v", r)
	}
	if task := holding(t, g, "click-2", "0_0"); !slices.Contains(task.Tags, model.IsReady) {
		t.Errorf("tags %v", task.Tags)
	}
	if !slices.ContainsFunc(g.Notes, func(n string) bool { return strings.HasPrefix(n, "1 worker wrote no status") }) {
		t.Errorf("notes %q", g.Notes)
	}
}

// Field case 8: a worker group that restores tells how far it is, at which
// rate, and when it will be there.
func TestFieldCase8RestoreOfWorkers(t *testing.T) {
	samples := progress.NewSamples()
	var left []string
	for i, position := range []int64{0, 200_000, 400_000} {
		s := clicks{protocolType: "stream"}.snapshot()
		end := int64(1_000_000)
		for k := range s.Logs {
			if s.Logs[k].Topic == "clicks-count-changelog" {
				s.Logs[k].End = &end
			}
		}
		at := start().Add(time.Duration(i) * 30 * time.Second)
		s.TakenAt = &at
		g := build(t, withControl(s, status("1", func(s *control.Status) {
			s.At, s.Tasks = at, []control.Task{said("0_0", model.Active, end-position, position, end)}
		})), groupmeta.BuildOptions{})
		samples.Add(g, at)
		for _, r := range samples.Restoring(g) {
			if r.Task.String() != "0_0" || r.Role != model.Active {
				continue
			}
			text := fmt.Sprintf("%s/%s", num(r.Restored), num(r.Total))
			if r.Left != nil {
				text += " " + r.Left.String()
			}
			left = append(left, text)
		}
	}
	if want := []string{"0/1000000", "200000/1000000 2m0s", "400000/1000000 1m30s"}; !slices.Equal(left, want) {
		t.Errorf("got %q, want %q", left, want)
	}
}

// Whatever is in the control topic, the group's members and tasks stay what
// the group says, and nothing breaks.
func TestControlRecordsAreNotTrusted(t *testing.T) {
	plain := build(t, clicks{protocolType: "stream"}.snapshot(), groupmeta.BuildOptions{})
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"{}", "null", "[1]", `{"schema_version":1}`, "\xff", string(markRecord("1", "m", "").Value), string(status("2", nil).Value)}
	keys := []string{"mode", "standbys", "x", "leaving/" + workerID("1"), "leaving/" + workerID("7"), "status/" + workerID("2"), "status/" + workerID("7")}
	for range 200 {
		var records []control.Record
		for range rng.IntN(6) {
			records = append(records, control.Record{Key: keys[rng.IntN(len(keys))], Value: []byte(words[rng.IntN(len(words))])})
		}
		g := build(t, withControl(clicks{protocolType: "stream"}.snapshot(), records...), groupmeta.BuildOptions{})
		if len(g.Instances) != len(plain.Instances) || g.Totals.Active != plain.Totals.Active || g.Mode != plain.Mode || len(g.Errors) != 0 {
			t.Fatalf("records %+v: totals %+v, mode %q, errors %+v", records, g.Totals, g.Mode, g.Errors)
		}
	}
}

// What could not be read of a control topic concerns its own group only.
func TestErrorOfAnotherGroupsControlTopic(t *testing.T) {
	s := clicks{protocolType: "stream"}.snapshot()
	for _, topic := range []string{"clicks-streamctl-control", "clicks-eu-streamctl-control"} {
		s.Errors = append(s.Errors, snapshot.Error{Object: "topic " + topic, Code: "TOPIC_AUTHORIZATION_FAILED"})
	}
	g := build(t, s, groupmeta.BuildOptions{})
	if len(g.Errors) != 1 || g.Errors[0].Object != "topic clicks-streamctl-control" {
		t.Errorf("errors %+v", g.Errors)
	}
}

// Standbys that are raised for a drain are a finding until they are put back,
// and say who puts them back once the instance is gone.
func TestRaisedStandbys(t *testing.T) {
	look := func(process string) *model.Group {
		app := billing(streamsThread{process: "a", active: "0_0 1_0", client: "pod-a-StreamThread-1-consumer"}, streamsThread{process: process, active: "0_1 1_1", client: "pod-b-StreamThread-1-consumer"})
		s := app.snapshot(2)
		id := processOf(t, s, 1)
		if process != "b" {
			id = goneProcess
		}
		rec := must(control.Standbys{Before: "0", Set: "1", Instances: []string{id}, At: start(), Who: "alice@ops-1", Reason: "node drain"}.Record())
		mark := must(control.Leaving{Mark: "m-1", At: start(), Who: "alice@ops-1"}.Record(id))
		return build(t, withControl(s, rec, mark), groupmeta.BuildOptions{})
	}
	there := look("b")
	if r := there.Control.Standbys; r == nil || r.Gone || r.Before != "0" || r.Set != "1" || r.Who != "alice@ops-1" {
		t.Fatalf("%+v", there.Control)
	}
	text := findingText(there, model.FindingRaisedStandbys)
	if !strings.Contains(text, "raised from 0 to 1 for the drain of pod-b, by alice@ops-1 (node drain); unmark puts it back") {
		t.Errorf("while it is there: %q", text)
	}
	if text := findingText(there, model.FindingLeaving); !strings.Contains(text, "check stop tells when it may stop") {
		t.Errorf("its mark: %q", text)
	}
	gone := look("c")
	if text := findingText(gone, model.FindingRaisedStandbys); !gone.Control.Standbys.Gone || !strings.Contains(text, "gone by now") || gone.OK() {
		t.Errorf("when it is gone: %q", text)
	}
}

// goneProcess is an instance that no group here has.
const goneProcess = "7b9f2c10-4d53-4f0e-9a41-0c5d1be0a0ff"

func processOf(t *testing.T, s *snapshot.Snapshot, member int) string {
	t.Helper()
	return strings.ToLower(s.Groups[0].Streams.Members[member].ProcessID)
}

func findingText(g *model.Group, code string) string {
	for _, f := range g.Findings {
		if f.Code == code {
			return f.Text
		}
	}
	return ""
}

// An active of which its worker has not said yet how far it is may wait for its
// state: that is a finding, also in the list, which reads no log.
func TestActiveThatIsNotToldIsNotOK(t *testing.T) {
	took := clicks{protocolType: "stream"}.snapshot()
	c := clicks{protocolType: "stream"}
	took.Groups[0].Classic.Members[2] = c.worker("3", nil, []groupmeta.AssignedTask{{ID: ids("0_2")[0], Role: model.Active, Tags: groupmeta.TagStateful}})
	for _, o := range []groupmeta.BuildOptions{{}, {SkipOffsets: true}} {
		g := build(t, withControl(took), o)
		if f := finding(g, model.FindingRestoring); g.OK() || f != "click-3 has not said yet whether 1 task has to restore: 0_2" {
			t.Errorf("%+v: not told: %q", o, f)
		}
		g = build(t, withControl(took, status("3", func(s *control.Status) { s.Tasks = []control.Task{said("0_2", model.Active, 700, 2300, 3000)} })), o)
		if f := finding(g, model.FindingRestoring); f != "click-3 restores 1 task before it can run: 0_2, ≤700 records to go" {
			t.Errorf("%+v: restores: %q", o, f)
		}
		g = build(t, withControl(took, status("3", func(s *control.Status) { s.Tasks = []control.Task{said("0_2", model.Active, 0, 3000, 3000)} })), o)
		if f := finding(g, model.FindingRestoring); f != "" {
			t.Errorf("%+v: it runs: %q", o, f)
		}
	}
}
