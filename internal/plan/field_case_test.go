package plan

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// A member reports no offset sum for a task that it runs.
func TestFieldCase2_NoOffsetSum(t *testing.T) {
	yes := true
	group := &model.Group{
		ID: "app", Kind: model.Classic, State: model.StateStable, AssignmentBasis: model.AssignmentCurrent,
		Topology: model.Topology{Subtopologies: []model.Subtopology{{ID: "0", Partitions: 2, Stateful: &yes, SourceTopics: []string{"orders"}}}},
		Instances: []model.Instance{{ID: testID(1), Name: "pod-a", Members: []model.Member{{
			ID: "m1", Name: "pod-a/T1", ClientID: "pod-a-StreamThread-1-consumer", Metadata: model.MemberMetadata{Status: model.MetadataOK},
			Tasks: []model.Task{
				{ID: mustTask(t, "0_0"), Role: model.Active, Stateful: &yes, Restore: model.Restore{Reported: true}},
				{ID: mustTask(t, "0_1"), Role: model.Active, Stateful: &yes},
			},
			Reported: []model.OffsetSum{{Task: mustTask(t, "0_0"), Sum: -2}},
		}}}},
	}
	in, err := FromGroup(group)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Make(in, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.finding(NoteNoOffset); !strings.Contains(got, "pod-a/T1") || !strings.Contains(got, "0_1") || !strings.Contains(got, "unknown") {
		t.Errorf("finding %q", got)
	}
}

// Two more instances for 40 tasks: the pace is two moves a probing interval.
func TestFieldCase3_ScaleOutTakesHours(t *testing.T) {
	g := newMade(t, model.Classic, 40, true, 50_000).instance(1, 1, every(0, 2, 40)...).instance(2, 1, every(1, 2, 40)...)
	p := g.plan(Options{Changes: []Change{Add{Count: 2}}})
	least, most := p.Range("moves")
	if p.Totals.Rounds != 11 || least != 20 || most != 40 || p.Totals.EarliestS != 6000 || p.NewIDs.Tried != 32 {
		t.Errorf("rounds %d, moves %v to %v, earliest %vs, %d draws", p.Totals.Rounds, least, most, p.Totals.EarliestS, p.NewIDs.Tried)
	}
	if !p.WouldMove() {
		t.Error("nothing would move")
	}
	behind := []string{"7e000000-0000-4000-8000-000000000001", "7e000000-0000-4000-8000-000000000002"} // behind the old ones
	p = g.plan(Options{Changes: []Change{Add{Count: 2, IDs: behind}}})
	if p.Totals.Moves != 20 || p.Totals.Rounds != 11 || p.NewIDs.Tried != 0 {
		t.Errorf("with ids behind the old ones: %d moves in %d rounds, %d draws", p.Totals.Moves, p.Totals.Rounds, p.NewIDs.Tried)
	}
	sources := map[string]string{}
	for _, s := range p.Taken {
		sources[s.Key] = s.Value + " " + s.Source
	}
	if sources[KeyWarmups] != "2 default" || sources[KeyProbing] != "600000 default" {
		t.Errorf("taken %v", p.Taken)
	}
}

// A stopped instance of a classic group stays in it until its session ends.
func TestFieldCase6_SessionTimeoutOfAStoppedInstance(t *testing.T) {
	g := newMade(t, model.Classic, 6, false, 0).instance(1, 1, 0, 1).instance(2, 1, 2, 3).instance(3, 1, 4, 5)
	p := g.plan(Options{Changes: []Change{Remove{Instance: "P3"}}})
	if p.Totals.LeaveWaitMs == nil || *p.Totals.LeaveWaitMs != 45_000 || !p.Totals.Assumed || p.finding(NoteLeave) == "" {
		t.Errorf("leave wait %v assumed %v, finding %q", p.Totals.LeaveWaitMs, p.Totals.Assumed, p.finding(NoteLeave))
	}
	if p.Totals.TasksDown != 2 || *p.Rounds[0].Down[0].Seconds != 45 || p.Rounds[0].AtS != 45 {
		t.Errorf("down %+v at %v", p.Rounds[0].Down, p.Rounds[0].AtS)
	}
	p = g.plan(Options{Changes: []Change{Remove{Instance: "P3"}}, Set: map[string]string{KeySession: "10000"}})
	if *p.Totals.LeaveWaitMs != 10_000 || p.Totals.Assumed {
		t.Errorf("leave wait %v assumed %v", *p.Totals.LeaveWaitMs, p.Totals.Assumed)
	}
	p = g.plan(Options{Changes: []Change{Remove{"P3", HowLeave}}})
	if p.Totals.LeaveWaitMs != nil || p.Totals.TasksDown != 0 {
		t.Errorf("an explicit leave waits %v, down %+v", p.Totals.LeaveWaitMs, p.Rounds[0].Down)
	}
}

// A copy that is restored to 80 % is given up: its task is meant for another
// instance.
func TestFieldCase12_WarmUpWorkThrownAway(t *testing.T) {
	for _, planned := range []bool{true, false} {
		g := newMade(t, model.Classic, 4, true, 1_000_000).instance(1, 1, 0, 1, 2, 3).instance(2, 1).instance(3, 1).instance(4, 1)
		g.in.Instances[2].Members[0].Learner = []assign.Task{3} // the target has it on P4
		g.in.Instances[2].Members[0].Reported = []assign.Offset{{Task: 3, Sum: 800_000}}
		if ms := int64(60_000); planned {
			g.in.Settled, g.in.NextMs = false, &ms
			g.in.Instances[0].Members[0].Next = assign.NextProbing
		}
		p := g.plan(Options{})
		if p.Totals.DiscardedRecords != 800_000 || p.finding(NoteDiscarded) != "800000 records (0_3 on P3, 80%)" {
			t.Errorf("discarded %d: %q", p.Totals.DiscardedRecords, p.finding(NoteDiscarded))
		}
		if p.BasedOn.Copies != CopiesReported || !strings.Contains(p.finding(NoteOldPosition), "1 copy as last reported") {
			t.Errorf("copies %s: %q", p.BasedOn.Copies, p.finding(NoteOldPosition))
		}
	}
}

// Copies are where their members say, once one does: in all groups but classic
// ones, whose words are as old as the last round.
func TestCopiesGoByReports(t *testing.T) {
	for _, c := range []struct {
		kind     model.Kind
		reported bool
		want     string
	}{
		{model.Streams, true, CopiesReported}, {model.Streams, false, CopiesCaughtUp},
		{model.Worker, true, CopiesReported}, {model.Worker, false, CopiesCaughtUp},
		{model.Classic, false, CopiesCaughtUp},
	} {
		g := newMade(t, c.kind, 2, true, 1000).instance(1, 1, 0, 1).instance(2, 1)
		g.in.Instances[1].Members[0].Standby = []assign.Task{0}
		g.in.Instances[0].Members[0].Reported = nil
		if c.reported {
			g.in.Instances[1].Members[0].Reported = []assign.Offset{{Task: 0, Sum: 900}}
		}
		if p := g.plan(Options{}); p.BasedOn.Copies != c.want {
			t.Errorf("%s, reported %v: copies %s, want %s", c.kind, c.reported, p.BasedOn.Copies, c.want)
		}
	}
}

// Clients that report no task offsets get their tasks cold, and no time.
func TestFieldCase13_OldClientsCannotBeWarmedUp(t *testing.T) {
	g := newMade(t, model.Streams, 8, true, 1000).instance(1, 1, 0, 1, 2, 3).instance(2, 1, 4, 5, 6, 7)
	yes, no := true, false
	g.in.Instances[0].Members[0].ReportsOffsets, g.in.Instances[1].Members[0].ReportsOffsets = &yes, &no
	p := g.plan(Options{Changes: []Change{Remove{Instance: "P1"}}, KafkaVersion: "4.4.0", Rate: Rate{Records: 10}})
	for _, m := range p.Rounds[0].Moves {
		if m.How != HowCold {
			t.Errorf("move %+v", m)
		}
	}
	if len(p.Rounds[0].Moves) != 4 || p.Totals.EstimateS != nil {
		t.Errorf("%d moves, estimate %v", len(p.Rounds[0].Moves), p.Totals.EstimateS)
	}
	if !slices.ContainsFunc(p.Findings, func(f Finding) bool { return strings.Contains(f.Text, "1 member report no task offsets") }) {
		t.Errorf("findings %v", p.Findings)
	}
}

func TestFieldCase20_InstancesBeyondTheNumberOfTasks(t *testing.T) {
	g := newMade(t, model.Classic, 16, true, 100)
	for i := range 4 {
		g.instance(i+1, 4, every(i, 4, 16)...)
	}
	p := g.plan(Options{Changes: []Change{Add{Count: 1}}})
	if p.finding(NoteIdle) != "4 (20 threads, 16 tasks)" {
		t.Errorf("finding %q", p.finding(NoteIdle))
	}
	if met, why := mustCondition(t, "idle").Met(p); !met || why != "4 threads without work" {
		t.Errorf("idle: %v %q", met, why)
	}
	if met, _ := mustCondition(t, "idle").Met(g.plan(Options{})); met {
		t.Error("idle without a fifth instance")
	}
}

func mustCondition(t testing.TB, text string) Condition {
	t.Helper()
	c, err := ParseCondition(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// 600 and 300 MB, 10 MB/s, one learner at a time.
func TestFieldCase25_HowLongTheDrainTakes(t *testing.T) {
	g := newMade(t, model.Worker, 2, true, 600_000).instance(1, 1, 0, 1).instance(2, 1)
	g.in.Topology.Subtopologies()[0].EndOffsets[1] = 300_000
	g.in.Logs[0], g.in.Logs[1] = Log{600_000, true, 600e6, true}, Log{300_000, true, 300e6, true}
	o := Options{Changes: []Change{Leaving{"P1"}}, Set: map[string]string{KeyMaxLearners: "1"}}
	p := g.plan(o)
	if p.Totals.EstimateS != nil || *p.Totals.RemainingRecords != 900_000 || *p.Totals.RemainingBytes != 900e6 {
		t.Errorf("without a rate: %+v", p.Totals)
	}
	rate, err := ParseRate("10MB/s")
	if err != nil {
		t.Fatal(err)
	}
	o.Rate = rate
	p = g.plan(o)
	if p.Totals.EstimateS == nil || *p.Totals.EstimateS != 90 || p.Totals.TasksDown != 0 {
		t.Errorf("estimate %v, totals %+v", p.Totals.EstimateS, p.Totals)
	}
	if _, there := p.After.Instances[testID(1)]; there {
		t.Error("the drained instance is still there")
	}
}

func TestFieldCase26_StaticRestart(t *testing.T) {
	g := newMade(t, model.Classic, 8, true, 100)
	for i := range 4 {
		g.instance(i+1, 2, every(i, 4, 8)...)
	}
	for i := range g.in.Instances[0].Members {
		g.in.Instances[0].Members[i].Static = true
	}
	p := g.plan(Options{Changes: []Change{Bounce{Instance: "P1"}}})
	if p.Totals.Moves != 0 || len(p.Rounds) != 0 || !strings.HasPrefix(p.finding(NoteStatic), "0 moves if P1 returns") {
		t.Errorf("%d moves in %d rounds, finding %q", p.Totals.Moves, len(p.Rounds), p.finding(NoteStatic))
	}
	g.in.Instances[0].Members[1].Static = false
	p = g.plan(Options{Changes: []Change{Bounce{Instance: "P1"}}})
	if len(p.Rounds) == 0 || p.Rounds[0].AtS != 45 || !strings.Contains(p.finding(NoteStatic), "1 of 2 members") {
		t.Errorf("rounds %+v, finding %q", p.Rounds, p.finding(NoteStatic))
	}
}

func TestFieldCase34_MixedVersionsAreRefused(t *testing.T) {
	g := newMade(t, model.Classic, 2, true, 100).instance(1, 1, 0, 1)
	g.in.group = &model.Group{ID: "app", Kind: model.Classic, AssignmentBasis: model.AssignmentCurrent, Metadata: model.MetadataSummary{Mixed: true}}
	_, err := Make(g.in, Options{})
	r, ok := IsRefused(err)
	if !ok || !r.Forceable || !strings.Contains(err.Error(), "different metadata versions") {
		t.Fatalf("got %v", err)
	}
	if _, err := Make(g.in, Options{Force: true}); err != nil {
		t.Errorf("with force: %v", err)
	}
}

func TestFieldCase60_NoPlanOfAConsumerGroup(t *testing.T) {
	_, err := FromGroup(&model.Group{ID: "app", Kind: model.Consumer})
	if r, ok := IsRefused(err); !ok || r.Forceable || !strings.Contains(err.Error(), `group "app" is a consumer group`) {
		t.Errorf("got %v", err)
	}
}

// A saved plan is the same now, until a member joins.
func TestFieldCase65_SavedPlanAgainstTheGroupNow(t *testing.T) {
	g := newMade(t, model.Classic, 4, true, 100).instance(1, 1, 0, 1).instance(2, 1, 2, 3)
	o := Options{Changes: []Change{Add{Count: 1}}, Set: map[string]string{KeyWarmups: "3"}}
	b, err := json.Marshal(g.plan(o))
	if err != nil {
		t.Fatal(err)
	}
	var saved Plan
	if err := json.Unmarshal(b, &saved); err != nil {
		t.Fatal(err)
	}
	again, err := saved.Request.Options()
	if err != nil {
		t.Fatal(err)
	}
	if c := Compare(&saved, g.plan(again)); len(c) != 0 {
		t.Errorf("the same group: %v", c)
	}
	g.instance(3, 2)
	g.in.Fingerprint = "other"
	c := Compare(&saved, g.plan(again))
	if !slices.Contains(c, "instance P3 ("+testID(3)+") with 2 members is new") {
		t.Errorf("one instance more: %v", c)
	}
}

func TestFieldCase66_AnythingToDo(t *testing.T) {
	if p := newMade(t, model.Worker, 4, true, 100).instance(1, 1, 0, 1).instance(2, 1, 2, 3).plan(Options{}); p.WouldMove() || len(p.Rounds) != 0 {
		t.Errorf("balanced: %+v", p.Rounds)
	}
	for _, kind := range []model.Kind{model.Worker, model.Classic} {
		if p := newMade(t, kind, 6, true, 100).instance(1, 1, 0, 1, 2, 3, 4, 5).instance(2, 1).plan(Options{}); !p.WouldMove() {
			t.Errorf("%s, unbalanced: %+v", kind, p.Totals)
		}
	}
}

// Two tasks swap their instances: two moves although the counts are equal.
func TestFieldCase67_MovesAreCountedByTask(t *testing.T) {
	g := newMade(t, model.Classic, 2, false, 0).instance(1, 1, 1).instance(2, 1, 0)
	p := g.plan(Options{})
	if p.Totals.Moves != 2 || p.Before.MaxOverExpected != 1 || p.After.MaxOverExpected != 1 {
		t.Errorf("%+v before %v after %v", p.Totals, p.Before.MaxOverExpected, p.After.MaxOverExpected)
	}
	g = newMade(t, model.Streams, 5, true, 100).instance(1, 2, 0, 1, 2, 3).instance(2, 1, 4)
	p = g.plan(Options{Changes: []Change{Threads{"P1", 1}}, KafkaVersion: "4.3"})
	met, _ := mustCondition(t, "worse").Met(p)
	if got := p.After.MaxOverExpected > p.Before.MaxOverExpected; got != met || got != (p.finding(NoteWorse) != "") {
		t.Errorf("before %v after %v, worse %v, finding %q", p.Before.MaxOverExpected, p.After.MaxOverExpected, met, p.finding(NoteWorse))
	}
}

// Without the sizes of the logs there are records, and no bytes.
func TestFieldCase74_BytesUnknown(t *testing.T) {
	g := newMade(t, model.Worker, 4, true, 300_000).instance(1, 1, 0, 1, 2, 3)
	p := g.plan(Options{Changes: []Change{Add{Count: 1}}})
	if p.Totals.RemainingBytes != nil || p.Totals.RemainingRecords == nil || *p.Totals.RemainingRecords != 300_000 {
		t.Errorf("%+v", p.Totals)
	}
	if met, why := mustCondition(t, "restore>1GB").Met(p); !met || !strings.Contains(why, "cannot be told") {
		t.Errorf("restore>1GB: %v %q", met, why)
	}
	if met, _ := mustCondition(t, "restore>300000").Met(p); met {
		t.Error("restore>300000 of 300000")
	}
}
