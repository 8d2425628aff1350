package report

import (
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
)

// One line a round with the members whose tasks changed and the cause.
func TestFieldCase5CauseOfARound(t *testing.T) {
	g := shop()
	e := progress.Event{
		At: *takenAt(), Group: "shop", What: "rebalance", Object: "group shop", Round: 2, Took: ptr(3 * time.Second),
		Cause: "member pod-c/T1 joined", CauseInferred: true, Members: []progress.MemberChange{{Name: "pod-c/T1", Gained: []string{"0_4"}}},
	}
	if out := text(t, NewEvent(g, e)); out != "01:14:07  rebalance 2 in 3s  pod-c/T1 +0_4  cause~: member pod-c/T1 joined\n" {
		t.Errorf("event %q", out)
	}
	e.Members, e.Took, e.Cause = nil, nil, "assignment only"
	if out := text(t, NewEvent(g, e)); out != "01:14:07  rebalance 2  no task moved  cause~: assignment only\n" {
		t.Errorf("event %q", out)
	}
	if doc := document(t, NewEvent(g, e)); doc["cause"] != "assignment only" || doc["cause_inferred"] != true || doc["before"] != nil {
		t.Errorf("document %v", doc)
	}
}

// A task that restores is named as such, with what says so.
func TestFieldCase9TaskState(t *testing.T) {
	for state, basis := range map[model.RestoreState]string{
		model.Restoring: "broker task offset", model.CaughtUp: "offset sum", model.Running: "offset sum", model.RestoreUnknown: "none",
	} {
		g := billing()
		task := &g.Instances[0].Members[0].Tasks[0]
		task.Restore = model.Restore{State: state, Basis: basis}
		d, _ := NewTaskDescription(g, task.ID, DescribeOptions{})
		r := document(t, d)["restore"].(map[string]any)
		if r["state"] != string(state) || r["basis"] != basis {
			t.Errorf("restore %v, want %s by %s", r, state, basis)
		}
		wants(t, text(t, d), "State      "+string(state))
	}
	g := shop()
	old := &g.Instances[0].Members[0].Tasks[0].Restore
	far, near := int64(600_000), int64(73)
	old.State, old.RemainingRecords = model.Restoring, &far
	d, _ := NewTaskDescription(g, g.Instances[0].Members[0].Tasks[0].ID, DescribeOptions{})
	wants(t, text(t, d), "restoring, by offset sum as of the last round")
	old.RemainingRecords = &near // what Kafka takes for caught up, and why the member got the task
	wants(t, text(t, d), "ready~, by offset sum as of the last round")
	if r := document(t, d)["restore"].(map[string]any); r["state"] != "restoring" {
		t.Errorf("restore %v", r)
	}
}

// Offsets that vanish are not known; they are not 0.
func TestFieldCase14NoTaskOffsets(t *testing.T) {
	g := billing() // a broker that reports none
	d := NewTaskList([]*model.Group{g}, ItemOptions{})
	for _, item := range document(t, d)["items"].([]any) {
		r := item.(map[string]any)["restore"].(map[string]any)
		if r["position"] != nil || r["remaining_records"] != nil || r["state"] != "unknown" {
			t.Errorf("restore %v", r)
		}
	}
	if got := row(t, text(t, d), "0_0", "active"); got[len(got)-1] != "-" {
		t.Errorf("row %v", got)
	}
}

func TestFieldCase19Converging(t *testing.T) {
	out := text(t, describe(billing()))
	wants(t, out, "1 finding\n  converging  b1 still holds 2 tasks meant for b2: 0_4 1_1")
	row(t, out, "0_4", "b1/T1", "b2/T2", "to", "be", "given", "up", "by", "b1", "12")
	row(t, out, "b1", "2", "8", "6")
}

// The answer comes first: OK, or the findings with the worst on top.
func TestFieldCase31Verdict(t *testing.T) {
	third := func(g *model.Group) string { return strings.Split(text(t, describe(g)), "\n")[2] }
	if got := third(healthy()); got != "OK" {
		t.Errorf("healthy: %q", got)
	}
	if got := third(ledger()); got != "OK" { // a finding that only informs
		t.Errorf("empty: %q", got)
	}
	if got := third(shop()); got != "2 findings" {
		t.Errorf("learning: %q", got)
	}
	g := healthy()
	find(g, model.FindingSilent, "partition orders-0", "no offset moved in 60s")
	out := text(t, describe(g))
	if got := third(g); got != "1 finding" || !strings.Contains(out, "  silent  partition orders-0: no offset moved in 60s") {
		t.Errorf("stalled:\n%s", out)
	}
	wants(t, text(t, describe(healthy())), "run undisturbed")
	for _, code := range []string{model.FindingSilent, model.FindingNoCommit} {
		g := healthy()
		find(g, code, "instance pod-a", "no offset of pod-a moved in 60s: orders-0")
		if out := text(t, describe(g)); strings.Contains(out, "undisturbed") || !strings.Contains(out, "stay where they are") {
			t.Errorf("%s:\n%s", code, out)
		}
	}
}

// A version from the future is shown as what it is.
func TestFieldCase35NewerMetadata(t *testing.T) {
	g := shop()
	m := &g.Instances[1].Members[1]
	m.Metadata = model.MemberMetadata{
		Status: model.MetadataNewer, UsedVersion: 99, SupportedVersion: 99, Error: "version 99 is newer than this build knows (11)", UserData: []byte{0, 0, 0, 99},
	}
	d := NewMemberDescription(g, &g.Instances[1], m, DescribeOptions{})
	wants(t, strings.Join(strings.Fields(text(t, d)), " "), "v99: not understood, supports up to v99; version 99 is newer than this build knows (11)", "00000063")
	threads := text(t, NewGroupDescription(g, DescribeOptions{Threads: true}))
	if got := strings.Join(row(t, threads, "pod-b", "T2"), " "); !strings.HasSuffix(got, "metadata v99: not understood") {
		t.Errorf("row %q", got)
	}
	row(t, threads, "pod-a", "T1", "5")
}

// A task that nobody has is in every list.
func TestTasksOfNobodyAreListed(t *testing.T) {
	g := healthy()
	id := model.TaskID{Subtopology: "0", Partition: 2}
	g.Unassigned, g.Totals.Unassigned, g.Totals.Tasks = []model.TaskID{id}, 1, 3
	out := text(t, describe(g))
	row(t, out, "0_2", "-", "-", "nobody's")
	wants(t, out, "2 more run undisturbed")
	items := document(t, NewTaskList([]*model.Group{g}, ItemOptions{}))["items"].([]any)
	if last := items[2].(map[string]any); last["id"] != "0_2" || last["role"] != nil || last["member"] != nil {
		t.Errorf("item %v", last)
	}
	d, ok := NewTaskDescription(g, id, DescribeOptions{})
	if doc := document(t, d); !ok || doc["role"] != nil || len(doc["copies"].([]any)) != 0 {
		t.Errorf("known %v, %v", ok, doc)
	}
	if _, ok := NewTaskDescription(g, model.TaskID{Subtopology: "9"}, DescribeOptions{}); ok {
		t.Error("a task that does not exist is known")
	}
}

// After a crash the tasks that were taken over wait for their state: none of
// them runs undisturbed before its worker says so.
func TestStateThatIsNotToldIsNotUndisturbed(t *testing.T) {
	g := clicks()
	task := &g.Instances[0].Members[0].Tasks[1] // 0_1
	task.Restore = model.Restore{State: model.RestoreUnknown, Basis: model.RestoreNone}
	row(t, text(t, describe(g)), "0_1", "pod-a/1", "-", "state", "not", "told")
	d, _ := NewTaskDescription(g, task.ID, DescribeOptions{})
	if out := text(t, d); strings.Contains(out, "\nOK\n") || !strings.Contains(out, "restoring  pod-a/1 has not said yet whether it has to restore") {
		t.Errorf("describe task:\n%s", out)
	}
	task.Restore.State = model.Restoring
	d, _ = NewTaskDescription(g, task.ID, DescribeOptions{})
	wants(t, text(t, d), "restoring  pod-a/1 restores it before it can run")
	task.Restore.State = model.Running
	d, _ = NewTaskDescription(g, task.ID, DescribeOptions{})
	wants(t, text(t, d), "\nOK\n")
}
