package report

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/render"
)

// counts is an instance of a plan's balance.
func counts(name string, active, low, high int) plan.Counts {
	return plan.Counts{Name: name, Workers: 2, Active: active, Expected: 6, Low: low, High: high, Balanced: low <= active && active <= high}
}

// addOne is the plan of screens.md: one more instance, 2 learners a round.
func addOne() *plan.Plan {
	a, b := process(0), process(1)
	p := &plan.Plan{
		Kind: plan.Kind, SchemaVersion: plan.SchemaVersion, Group: "shop", ClusterID: ptr("prod-eu"), TakenAt: takenAt(),
		Assignor: "high-availability", BalancingFactor: 2, Changes: []string{"add 1 instance with 2 threads"},
		BasedOn: plan.BasedOn{State: model.StateStable, Fingerprint: "00ff00ff00ff00ff", TakenAt: takenAt(), Copies: plan.CopiesCaughtUp},
		Taken: []plan.Setting{
			{Key: "acceptable.recovery.lag", Value: "10000", Source: "default"}, {Key: "max.warmup.replicas", Value: "2", Source: "default"},
			{Key: "num.standby.replicas", Value: "0", Source: "estimate"}, {Key: "probing.rebalance.interval.ms", Value: "600000", Source: "default"},
		},
		Before: plan.Balance{Balanced: true, MaxOverExpected: 1, Instances: map[string]plan.Counts{a: counts("pod-a", 12, 6, 24)}},
		After:  plan.Balance{Balanced: true, MaxOverExpected: 1, Instances: map[string]plan.Counts{a: counts("pod-a", 6, 3, 12), b: counts("new-1", 6, 3, 12)}},
		Totals: plan.Totals{Moves: 6, Rounds: 4, Learners: 6, RemainingRecords: ptr[int64](299_990), RemainingBytes: ptr[int64](18_874_368), EarliestS: 1800},
		NewIDs: plan.NewIDs{Given: []string{}, Tried: 32, Varies: map[plan.Figure][2]float64{
			"moves": {6, 6}, "rounds": {4, 4}, "learners": {6, 6}, "earliest_s": {1800, 1800}, "remaining_records": {299_990, 299_990}, "max_over_expected": {1, 1},
		}},
		Converged: true,
		Findings:  []plan.Finding{{Code: plan.NoteAssumed, Text: "producers at rest"}, {Code: plan.NoteUnknown, Text: "an assignor plugged in cannot be seen"}},
	}
	active := 12
	for i := range 4 {
		r := plan.Round{Round: 2*i + 1, Trigger: "probing rebalance", AtS: float64(600 * i)}
		if i == 0 {
			r.Trigger = "2 members join"
		}
		follow := plan.Round{Round: 2*i + 2, Trigger: plan.TriggerHandOver, AtS: r.AtS + 3}
		for k := range 2 {
			if i > 0 {
				follow.Moves = append(follow.Moves, plan.Move{Task: fmt.Sprintf("0_%d", 2*i+k-2), From: a, To: b, How: plan.HowReadyLearner})
				active--
			}
			if i < 3 {
				r.Learners = append(r.Learners, plan.Copy{Task: fmt.Sprintf("0_%d", 2*i+k), Instance: b, RemainingRecords: ptr[int64](50_000), RemainingBytes: ptr[int64](3_145_728)})
			}
		}
		r.Active = map[string]int{a: active + len(follow.Moves), b: 12 - active - len(follow.Moves)}
		p.Rounds = append(p.Rounds, r)
		if i > 0 {
			follow.Active = map[string]int{a: active, b: 12 - active}
			p.Rounds = append(p.Rounds, follow)
		}
	}
	return p
}

// removeOne takes pod-b out: its tasks have no copy. What becomes of them hangs
// on ids, and bytes are not known.
func removeOne() *plan.Plan {
	a, b := process(0), process(1)
	p := addOne()
	p.Changes = []string{"remove pod-b"}
	p.Before, p.After = p.After, plan.Balance{Balanced: false, MaxOverExpected: 2, Instances: map[string]plan.Counts{a: counts("pod-a", 12, 3, 10)}}
	p.Before.Instances[b] = counts("pod-b", 6, 3, 12)
	p.Rounds = []plan.Round{{
		Round: 1, Trigger: "session timeout of pod-b", AtS: 45, Active: map[string]int{a: 12},
		Moves: []plan.Move{{Task: "0_0", From: b, To: a, How: plan.HowCold}, {Task: "0_1", From: b, To: a, How: plan.HowCold}, {Task: "2_0", From: b, To: a, How: plan.HowStateless}},
		Down: []plan.Down{
			{Task: "0_0", Why: "nobody runs it for 45s until the session times out, then restores 50,000 records", Reason: "nobody runs it for 45s until the session times out, then ", RemainingRecords: ptr[int64](50_000), WaitS: 45},
			{Task: "0_1", Why: "nobody runs it for 45s until the session times out, then restores 49,999 records", Reason: "nobody runs it for 45s until the session times out, then ", RemainingRecords: ptr[int64](49_999), WaitS: 45},
			{Task: "2_0", Why: "nobody runs it for 45s until the session times out", Seconds: ptr(45.0), WaitS: 45},
		},
		Unowned: &plan.Unowned{Tasks: 3, LeastS: 0, MostS: 5},
	}}
	p.Totals = plan.Totals{Moves: 3, Rounds: 1, TasksDown: 3, RemainingRecords: ptr[int64](99_999), EarliestS: 45, DiscardedRecords: 800_000, IdleThreads: 4, LeaveWaitMs: ptr[int64](45_000), Assumed: true}
	p.NewIDs = plan.NewIDs{Given: []string{}, Tried: 32, Varies: map[plan.Figure][2]float64{"moves": {3, 5}, "remaining_records": {99_999, 150_000}, "tasks_down": {3, 3}, "earliest_s": {45, 45}}}
	p.Findings = []plan.Finding{
		{Code: plan.NoteDiscarded, Text: "800000 records (1_2 on pod-c, 80%)"}, {Code: plan.NoteIdle, Text: "4 (20 threads, 16 tasks)"},
		{Code: plan.NoteLeave, Text: "nothing moves until the session timeout runs out"},
		{Code: plan.NoteNoOffset, Text: "pod-a/T1 reported no offset sum for its active 0_2"}, {Code: plan.NoteNoOffset, Text: "pod-a/T1 reported no offset sum for its active 0_3"},
	}
	return p
}

// nothing is a plan in which nothing happens.
func nothing() *plan.Plan {
	p := addOne()
	p.Changes, p.Rounds, p.Findings = []string{}, []plan.Round{}, []plan.Finding{}
	p.After, p.Totals, p.NewIDs = p.Before, plan.Totals{RemainingRecords: ptr[int64](0), RemainingBytes: ptr[int64](0)}, plan.NewIDs{Given: []string{}}
	return p
}

// long is a plan of many instances and rounds, whose names are long and
// hostile.
func long() *plan.Plan {
	p := addOne()
	p.Group = strings.Repeat("g", 20)
	p.Rounds = nil
	p.Before.Instances, p.After.Instances = map[string]plan.Counts{}, map[string]plan.Counts{}
	for i := range 30 {
		id := process(i)
		p.Before.Instances[id] = counts(fmt.Sprintf("%s-%02d", strings.Repeat("n", 17), i), 1000+i, 500, 2000)
		p.After.Instances[id] = counts(fmt.Sprintf("%s-%02d", strings.Repeat("n", 17), i), 2100-i, 500, 2000)
	}
	hostileName := process(30)
	p.Before.Instances[hostileName] = counts("a\x1b[31m\nb", 7, 0, 9)
	for i := range 22 {
		active := map[string]int{}
		for k, c := range p.Before.Instances {
			active[k] = c.Active + i
		}
		p.Rounds = append(p.Rounds, plan.Round{
			Round: i + 1, Trigger: "session timeout of " + strings.Repeat("n", 17) + "-00, 4 members join", AtS: float64(i * 600), AtMostS: ptr(float64(i*600 + 60)), Active: active,
			Moves: []plan.Move{{Task: "1_1", From: "", To: process(1), How: plan.HowCold}, {Task: "1_2", From: hostileName, To: "gone-for-good", How: plan.HowStandby}},
			Down:  []plan.Down{{Task: fmt.Sprintf("1_%d", i), Why: fmt.Sprintf("reason %d", i)}},
		})
	}
	p.Totals.Extrapolated, p.Converged, p.Totals.RemainingRecords, p.Totals.RemainingBytes = 20, false, nil, nil
	return p
}

func planReport(p *plan.Plan, o PlanOptions) *Plan {
	o.Commands = func(c string) bool { return c == "rebalance" }
	return NewPlan(p, scaleOut("shop", "pod-a", "pod-b"), o)
}

// planReports are the reports of plan, by the name of their golden files.
func planReports() map[string]render.Report {
	sweep := &plan.Sweep{Group: "shop", Assignor: "high-availability", Taken: []plan.Setting{{Key: "max.warmup.replicas", Value: "2", Source: "default"}}, Findings: []plan.Finding{{Code: plan.NoteAssumed, Text: "producers at rest"}}, Items: []plan.SweepRow{
		{Set: map[string]string{"add": "0"}, Totals: nothing().Totals, Before: addOne().Before, After: addOne().Before},
		{Set: map[string]string{"add": "1"}, Totals: addOne().Totals, Varies: addOne().NewIDs.Varies, Before: addOne().Before, After: addOne().After},
		{Set: map[string]string{"add": "2"}, Totals: removeOne().Totals, Varies: removeOne().NewIDs.Varies, Before: addOne().Before, After: removeOne().After},
	}}
	saved, now := planReport(addOne(), PlanOptions{}), planReport(removeOne(), PlanOptions{})
	now.TakenAt = ptr(takenAt().Add(90 * 60e9))
	now.Members = append([]string{"another-member"}, now.Members...)
	return map[string]render.Report{
		"plan-add":         planReport(addOne(), PlanOptions{}),
		"plan-remove":      planReport(removeOne(), PlanOptions{Moves: true, NoBytes: "DescribeLogDirs refused"}),
		"plan-summary":     planReport(addOne(), PlanOptions{Summary: true, Rated: true}),
		"plan-nothing":     planReport(nothing(), PlanOptions{}),
		"plan-long":        planReport(long(), PlanOptions{Moves: true}),
		"plan-several":     NewPlanList([]*Plan{planReport(addOne(), PlanOptions{}), planReport(nothing(), PlanOptions{})}, []Error{{Object: "plan", Text: `group "x" not found`}}),
		"plan-sweep":       NewPlanSweep(sweep, scaleOut("shop", "pod-a", "pod-b")),
		"plan-check-same":  NewPlanCheck(saved, planReport(addOne(), PlanOptions{})),
		"plan-check-moved": NewPlanCheck(saved, now),
	}
}

// What is saved is read again as it was.
func TestSavedPlan(t *testing.T) {
	b := write(t, render.Options{Format: render.JSON}, planReport(addOne(), PlanOptions{}))
	p, err := ReadPlan(b)
	if err != nil {
		t.Fatal(err)
	}
	if got := write(t, render.Options{Format: render.JSON}, planReport(&p.Plan, PlanOptions{})); !bytes.Equal(got, b) {
		t.Errorf("read again:\n%s\nwas\n%s", got, b)
	}
	if c := NewPlanCheck(p, planReport(addOne(), PlanOptions{})); !c.Same || len(c.Differences) > 0 {
		t.Errorf("differs from itself: %v", c.Differences)
	}
	for text, want := range map[string]string{
		"":                                      "no document in JSON",
		`{"kind":"Snapshot"}`:                   `"Snapshot"`,
		`{"kind":"Plan","schema_version":99}`:   "newer than this build knows",
		`{"kind":"Plan","totals":"none"}`:       "no plan",
		`{"kind":"Plan","members":"none at a"}`: "no plan",
	} {
		if _, err := ReadPlan([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// The picture shows what an instance keeps, gains and gives up, and its bounds.
func TestBars(t *testing.T) {
	for _, c := range []struct {
		before, after, low, high, most int
		want                           string
	}{
		{12, 6, 3, 12, 12, "==[====------]"},
		{0, 6, 3, 12, 12, "++[++++......]"},
		{6, 6, 6, 6, 6, "=====[=]"},
		{5, 2, 3, 4, 6, "==[--]-."},
		{2, 7, 0, 4, 8, "[==++]+++."},
		{6, 0, 0, 0, 12, "------......"},
		{48, 24, 12, 48, 48, "=====[=======------------]"},
		{1000, 1, 500, 2000, 1000, "=----------[-------------"}, // the bound lies beyond the picture
		{0, 0, 0, 2, 2, "[..]"},
	} {
		got := bar(c.before, plan.Counts{Active: c.after, Low: c.low, High: c.high}, c.most)
		if got != c.want {
			t.Errorf("%d to %d of %d-%d: %q, want %q", c.before, c.after, c.low, c.high, got, c.want)
		}
	}
}

// A row stands for a rebalance and the hand-overs that follow it; what they
// move is counted with it.
func TestRoundsAreFolded(t *testing.T) {
	s := newPlanScreen(&render.Page{}, planReport(addOne(), PlanOptions{}))
	rows := s.rows()
	if len(rows) != 4 {
		t.Fatalf("%d rows, want 4", len(rows))
	}
	for i, want := range []planRow{{moves: 0, learners: 2, records: 100_000}, {moves: 2, learners: 2, records: 100_000}, {moves: 2, learners: 2, records: 100_000}, {moves: 2}} {
		if got := rows[i]; got.number != i+1 || got.moves != want.moves || got.learners != want.learners || got.records != want.records {
			t.Errorf("row %d: %+v, want %+v", i+1, got, want)
		}
	}
}

// Totals that hang on ids are shown with their least and most.
func TestRangesOfTotals(t *testing.T) {
	out := text(t, planReport(removeOne(), PlanOptions{}))
	for _, want := range []string{"3 (3 to 5 by the ids drawn) of", "(99,999 to 150,000 by the ids", "depend on the ids that new instances draw: moves, remaining"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if out := text(t, planReport(addOne(), PlanOptions{})); strings.Contains(out, " to 6 by") || !strings.Contains(out, "hold for all of 32 tried") {
		t.Errorf("a range of one number:\n%s", out)
	}
}

// planFields are the fields of a plan that its contract lists.
const planFields = `kind schema_version group cluster_id taken_at assignor balancing_factor changes changes[]
	based_on based_on.state based_on.fingerprint based_on.taken_at based_on.copies
	taken taken[] taken[].key taken[].value taken[].source before before.balanced before.max_over_expected before.instances
	after after.balanced after.max_over_expected after.instances
	rounds rounds[] rounds[].round rounds[].trigger rounds[].at_s
	rounds[].moves rounds[].moves[] rounds[].moves[].task rounds[].moves[].from rounds[].moves[].to rounds[].moves[].how
	totals totals.moves totals.rounds totals.learners totals.tasks_down totals.remaining_records totals.remaining_bytes
	totals.discarded_records totals.estimate_s totals.leave_wait_ms
	new_ids new_ids.given new_ids.tried new_ids.varies new_ids.varies.moves converged findings errors request members`

// The documents of plan have the fields of their contract.
func TestPlanDocumentsHaveTheContractsFields(t *testing.T) {
	learners := ` rounds[].learners rounds[].learners[] rounds[].learners[].task rounds[].learners[].instance
		rounds[].learners[].remaining_records rounds[].learners[].remaining_bytes`
	down := " rounds[].down rounds[].down[] rounds[].down[].task rounds[].down[].seconds rounds[].down[].why"
	for name, fields := range map[string]string{
		"plan-add": planFields + learners, "plan-remove": planFields + down,
		"plan-several":     "kind schema_version taken_at cluster_id errors errors[].object errors[].error items items[] " + under("items[].", planFields),
		"plan-sweep":       "kind schema_version taken_at cluster_id errors group items items[].set items[].set.add items[].totals.moves items[].after.balanced",
		"plan-check-moved": "kind schema_version taken_at cluster_id errors group same differences differences[]",
	} {
		got := map[string]bool{}
		paths(t, "", decode(t, write(t, render.Options{Format: render.JSON}, planReports()[name])), got)
		for f := range strings.FieldsSeq(fields) {
			if !got[f] {
				t.Errorf("%s has no %s", name, f)
			}
		}
	}
}

// A round tells only the numbers that changed; a row shows all.
func TestRowsCarryWhatDidNotChange(t *testing.T) {
	p := addOne()
	p.Rounds = []plan.Round{
		{Round: 1, Trigger: "1 instance joins", Active: map[string]int{"a": 2, "b": 1}},
		{Round: 2, Trigger: "learners ready", Active: map[string]int{"a": 1, "c": 1}},
		{Round: 3, Trigger: plan.TriggerHandOver, Active: map[string]int{"b": 0}},
		{Round: 4, Trigger: "learners ready"},
	}
	rows := newPlanScreen(&render.Page{}, planReport(p, PlanOptions{})).rows()
	for i, want := range []map[string]int{{"a": 2, "b": 1}, {"a": 1, "b": 0, "c": 1}, {"a": 1, "b": 0, "c": 1}} {
		if !maps.Equal(rows[i].active, want) {
			t.Errorf("row %d: %v, want %v", i+1, rows[i].active, want)
		}
	}
}

// A sweep keeps to the width of a screen where there is none, however long the
// setting is called.
func TestSweepsFit(t *testing.T) {
	for _, key := range []string{"add", "probing.rebalance.interval.ms", "rack.aware.assignment.non_overlap_cost"} {
		sweep := &plan.Sweep{Group: "shop"}
		for _, value := range []string{"1", "86400000"} {
			row := plan.SweepRow{Set: map[string]string{key: value}, Totals: addOne().Totals, Before: addOne().Before, After: addOne().After}
			row.Totals.RemainingRecords, row.Totals.EarliestS, row.Totals.Moves, row.Totals.IdleThreads = ptr[int64](123_456_789_012), 8_640_000, 12_000, 3
			sweep.Items = append(sweep.Items, row)
		}
		out := text(t, NewPlanSweep(sweep, scaleOut("shop", "pod-a", "pod-b")))
		for line := range strings.Lines(out) {
			if n := render.Width(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s: %d columns: %s", key, n, line)
			}
		}
		if !strings.Contains(out, key) || !strings.Contains(out, "86400000") {
			t.Errorf("%s and its values are not all there:\n%s", key, out)
		}
	}
}

// A person is told when the state that a plan starts from is old, with its day.
func TestPlanTellsItsAge(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		want  string
	}{
		{30 * time.Second, "from Stable, 01:14:07 UTC\n"},
		{4 * time.Hour, "from Stable, 01:14:07 UTC (4h old)\n"},
		{72 * time.Hour, "from Stable, 2026-11-30 01:14:07 UTC (3d old)\n"},
	} {
		now := takenAt().Add(c.after)
		if got := write(t, render.Options{Width: 80}, planReport(addOne(), PlanOptions{Now: &now})); !strings.Contains(string(got), c.want) {
			t.Errorf("%s later:\n%s", c.after, got[:200])
		}
	}
}

// The wait that a plan hints at does not run out before the plan is over.
func TestHintOfALongWait(t *testing.T) {
	for at, want := range map[float64]string{60: "wait shop --for converged returns", 1800: "wait shop --for converged --timeout 50m returns"} {
		p := addOne()
		for i := range p.Rounds {
			p.Rounds[i].Trigger = "somebody"
		}
		p.Totals.EarliestS, p.NewIDs.Varies[plan.FigureEarliest] = at, [2]float64{at, at}
		r := NewPlan(p, &model.Group{Kind: model.Classic}, PlanOptions{Commands: func(string) bool { return true }})
		hint := newPlanScreen(&render.Page{}, r).hint()
		if !strings.HasPrefix(hint, want) {
			t.Errorf("at %v s: %q", at, hint)
		}
	}
}

// A saved plan without what was asked for is none.
func TestReadPlanWithoutRequest(t *testing.T) {
	if _, err := ReadPlan([]byte(`{"kind":"Plan","schema_version":1,"group":"shop","request":null}`)); err == nil || !strings.Contains(err.Error(), "request") {
		t.Errorf("%v", err)
	}
}

// What copies are taken for is said as it is: of groups whose members report
// what they said, and nothing where there is no copy.
func TestPlanSaysWhatCopiesAreTakenFor(t *testing.T) {
	for _, c := range []struct{ assignor, copies, want string }{
		{"high-availability", plan.CopiesCaughtUp, "Copies  all that have been there since the last round are taken as caught up"},
		{"high-availability", plan.CopiesReported, "Copies  taken to be where they were reported, since the group is not settled"},
		{"streams-sticky", plan.CopiesCaughtUp, "Copies  all that have been there since the last round are taken as caught up"},
		{"streams-sticky", plan.CopiesReported, "Copies  taken as members reported them, and as caught up where none did"},
		{"learner", plan.CopiesReported, "Copies  taken as members reported them, and as caught up where none did"},
	} {
		for _, standbys := range []int{0, 2} {
			p := addOne()
			p.Assignor, p.BasedOn.Copies = c.assignor, c.copies
			pod := p.Before.Instances[process(0)]
			pod.Standby = standbys
			p.Before.Instances[process(0)] = pod
			var out bytes.Buffer
			if err := render.Write(&out, render.Options{}, NewPlan(p, &model.Group{Kind: model.Classic}, PlanOptions{})); err != nil {
				t.Fatal(err)
			}
			said, want := strings.Contains(out.String(), c.want+"\n"), standbys > 0 || c.assignor == "high-availability"
			if said != want {
				t.Errorf("%+v with %d standbys: said is %v\n%s", c, standbys, said, out.String())
			}
		}
	}
}
