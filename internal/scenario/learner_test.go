package scenario_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/scenario"
)

// learnerLines calls do with each line of a file of testdata/learner.
func learnerLines(t *testing.T, file string, do func(line int, data []byte)) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "learner", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		do(n, lines.Bytes())
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
}

// TestLearnerFixtures compares every recorded round, to the byte.
func TestLearnerFixtures(t *testing.T) {
	for file, want := range map[string]int{"learner.jsonl": 400, "learner-chains.jsonl": 674} {
		seen := 0
		learnerLines(t, file, func(line int, data []byte) {
			var recorded struct {
				Name   string
				Bounds map[string][2]int
				Result json.RawMessage
			}
			if err := json.Unmarshal(data, &recorded); err != nil {
				t.Fatal(err)
			}
			s, err := scenario.ParseLearner(line, data)
			if err != nil {
				t.Fatal(err)
			}
			r := assign.Learner(s.Input)
			if got := s.AppendResult(nil, &r); s.Name != recorded.Name || string(got) != string(recorded.Result) {
				t.Errorf("%s: %s\ngot  %s\nwant %s", file, recorded.Name, got, recorded.Result)
			}
			bounds := map[string][2]int{}
			for _, in := range r.Instances {
				if in.Stays {
					bounds[in.ID] = [2]int{in.Bounds.Low, in.Bounds.High}
				}
			}
			if !reflect.DeepEqual(bounds, recorded.Bounds) {
				t.Errorf("%s: %s: bounds %v, want %v", file, recorded.Name, bounds, recorded.Bounds)
			}
			seen++
		})
		if seen != want {
			t.Errorf("%s: %d lines, want %d", file, seen, want)
		}
	}
}

// goodLearner is a scenario that is as it should be.
const goodLearner = `{"name":"x","assignor":"learner",` +
	`"config":{"balancing_factor":1.2,"max_learners":null,"num_standby_replicas":1,"acceptable_recovery_lag":5},` +
	`"subtopologies":[{"id":0,"partitions":2,"stateful":true},{"id":1,"partitions":1,"stateful":false}],` +
	`"processes":[{"id":"a","workers":2,"generation":3,"leaving":true,"deadline_passed":true,"remaining_ms":7,"tasks":[` +
	`{"id":"0_0","role":"active","being_learned":true},{"id":"0_1","role":"learner","ready":true,"lag":4}]},` +
	`{"id":"b","workers":1,"tasks":[{"id":"0_0","role":"standby"}]}]}`

func TestLearnerInput(t *testing.T) {
	s, err := scenario.ParseLearner(1, []byte(goodLearner))
	if err != nil {
		t.Fatal(err)
	}
	in := s.Input
	if want := (assign.LearnerSettings{Factor: 1200, Standbys: 1, AcceptableLag: 5}); in.Settings != want {
		t.Errorf("settings %+v, want %+v", in.Settings, want)
	}
	a, b := in.Instances[0], in.Instances[1]
	if !a.Leaving || !a.Expired || a.RemainingMs != 7 || len(a.Workers) != 2 || a.Workers[0].Generation != 3 || !a.Workers[0].Tasks[1].Ready {
		t.Errorf("first instance %+v", a)
	}
	if b.RemainingMs != assign.LearnerNoDeadline || b.Workers[0].Tasks[0].Lag != assign.LearnerLagUnknown {
		t.Errorf("second instance %+v", b)
	}
	for text, want := range map[string]int64{"1": 1000, "1.0": 1000, "3.999": 3999, "1.5000": 1500, "2e0": 2000, "1.25e1": 12500} {
		s, err := scenario.ParseLearner(1, []byte(strings.Replace(goodLearner, "1.2,", text+",", 1)))
		if err != nil || s.Input.Settings.Factor != want {
			t.Errorf("factor %s: %v thousandths, %v", text, s.Input.Settings.Factor, err)
		}
	}
}

// TestLearnerRefused breaks one thing after another of a good scenario.
func TestLearnerRefused(t *testing.T) {
	for _, c := range []struct{ old, new, field, text string }{
		{`"0_1"`, `"0_2"`, "processes[0].tasks[1].id", `task "0_2": the subtopology has 2 tasks`},
		{`"0_1"`, `"7_0"`, "processes[0].tasks[1].id", `task "7_0" is in no subtopology`},
		{`"0_1"`, `"nine"`, "processes[0].tasks[1].id", `"nine" is not a task`},
		{`"role":"learner"`, `"role":"warmup"`, "processes[0].tasks[1].role", `"warmup" is no role`},
		{`"0_1"`, `"0_0"`, "processes[0].tasks[1].id", `task "0_0" is there twice`},
		{`"id":"b"`, `"id":"a"`, "processes[1].id", `process "a" is there twice`},
		{`"id":"b"`, `"id":""`, "processes[1].id", `it is missing`},
		{`"workers":1`, `"workers":0`, "processes[1].workers", `0 is below 1`},
		{`"workers":1,`, ``, "processes[1].workers", `it is missing`},
		{`"workers":1`, `"workers":1000000`, "processes[1].workers", `more than 1000000 workers in all`},
		{`"workers":1`, `"workers":1.5`, "processes[1].workers", `a JSON number 1.5 where a whole number belongs`},
		{`"max_learners":null`, `"max_learners":0`, "config.max_learners", `0 is below 1`},
		{`1.2,`, `0.999,`, "config.balancing_factor", `0.999 is below 1`},
		{`1.2,`, `-1,`, "config.balancing_factor", `-1 is below 1`},
		{`1.2,`, `1.2345,`, "config.balancing_factor", `1.2345 has more than three decimals`},
		{`1.2,`, `1e999,`, "config.balancing_factor", `1e999 is more than 1000000`},
		{`"leaving":true,`, ``, "processes[0].deadline_passed", `it is true without leaving`},
		{`"remaining_ms":7`, `"remaining_ms":-7`, "processes[0].remaining_ms", `-7 is negative`},
		{`"generation":3`, `"generation":-3`, "processes[0].generation", `-3 is negative`},
		{`"lag":4`, `"lag":-1`, "processes[0].tasks[1].lag", `-1 is negative`},
		{`"num_standby_replicas":1`, `"num_standby_replicas":-1`, "config.num_standby_replicas", `-1 is negative`},
		{`"acceptable_recovery_lag":5`, `"acceptable_recovery_lag":-5`, "config.acceptable_recovery_lag", `-5 is negative`},
		{`"partitions":2`, `"partitions":-2`, "subtopologies[0].partitions", `-2 is negative`},
		{`"id":1,`, `"id":-1,`, "subtopologies[1].id", `-1 is negative`},
		{`"id":1,`, `"id":0,`, "subtopologies", `subtopology "0" is there twice`},
		{`{"id":"0_0","role":"standby"}`, `{"id":"1_0","role":"standby"}`, "processes[1].tasks[0].role", `task "1_0" is stateless: it has no standby`},
		{`"assignor":"learner"`, `"assignor":"range"`, "assignor", `"range" is not "learner"`},
		{`"assignor":"learner",`, ``, "assignor", `it is missing`},
		{goodLearner[strings.Index(goodLearner, `"processes"`):], `"processes":[]}`, "processes", `there is no instance`},
		{goodLearner, `[]`, "", ""},
		{goodLearner, `{"name":`, "", ""},
	} {
		if !strings.Contains(goodLearner, c.old) {
			t.Fatalf("%s is not in the scenario", c.old)
		}
		_, err := scenario.ParseLearner(12, []byte(strings.Replace(goodLearner, c.old, c.new, 1)))
		wrong, ok := errors.AsType[*scenario.Error](err)
		if !ok || wrong.Line != 12 || wrong.Field != c.field || c.text != "" && wrong.Text != c.text {
			t.Errorf("%s for %s: %v", c.new, c.old, err)
		}
	}
}

func TestAnswerLearner(t *testing.T) {
	good := `{"name":"x","assignor":"learner","config":{},"subtopologies":[{"id":3,"partitions":1,"stateful":true}],"processes":[{"id":"a","workers":1}]}`
	got, err := scenario.AnswerLearner(1, []byte(good))
	want := `{"name":"x","result":{"processes":{"a":{"active":["3_0"],"learner":[],"standby":[],"release":[]}}}}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	got, err = scenario.AnswerLearner(7, []byte(strings.Replace(good, `"workers":1`, `"workers":-1`, 1)))
	want = `{"name":"x","error":{"message":"line 7: field \"processes[0].workers\": -1 is below 1","line":7,"field":"processes[0].workers"}}`
	if err == nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

func FuzzParseLearner(f *testing.F) {
	f.Add([]byte(goodLearner))
	f.Add([]byte(`{"assignor":"learner","config":{"balancing_factor":1e400},"processes":[{}]}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		if len(data) > 1<<12 {
			return
		}
		if s, err := scenario.ParseLearner(1, data); err == nil && s.Input.Topology.Len() < 1000 {
			r := assign.Learner(s.Input)
			s.AppendResult(nil, &r)
		}
	})
}
