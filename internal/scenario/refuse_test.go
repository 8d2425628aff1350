package scenario_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/scenario"
)

const classicLine = `{"name":"a","kafka_version":"4.3.1","assignor":"high-availability","config":{"num_standby_replicas":0},` +
	`"subtopologies":[{"id":0,"partitions":2,"stateful":true,"end_offsets":[5,6]}],` +
	`"processes":[{"id":"00000000-0000-0000-0000-000000000001","consumers":[{"id":"c1","owned":["0_0"],"offset_sums":{"0_0":-2}}]},` +
	`{"id":"80000000-0000-0000-0000-000000000001","consumers":[{"id":"c2"}]}],"leader":"80000000-0000-0000-0000-000000000001"}`

const streamsLine = `{"name":"b","assignor":"streams-sticky","subtopologies":[{"id":"0","partitions":2,"stateful":true}],` +
	`"members":[{"id":"m1","process_id":"p1","active":["0_0"],"standby":["0_1"],"warmup":[],"task_offsets":{"0_1":7}},{"id":"m2","process_id":"p2"}]}`

func TestRefused(t *testing.T) {
	tests := []struct{ line, from, to, field, text string }{
		{classicLine, `"0_0"]`, `"0_2"]`, "processes[0].consumers[0].owned[0]", `task "0_2": the subtopology has 2 tasks`},
		{classicLine, `"0_0"]`, `"1_0"]`, "processes[0].consumers[0].owned[0]", `task "1_0" is in no subtopology`},
		{classicLine, `"0_0"]`, `"0"]`, "processes[0].consumers[0].owned[0]", `"0" is not a task`},
		{classicLine, `"0_0"]`, `"0_-1"]`, "processes[0].consumers[0].owned[0]", `"0_-1" is not a task`},
		{classicLine, `"0_0"]`, `"0_+1"]`, "processes[0].consumers[0].owned[0]", `"0_+1" is not a task`},
		{classicLine, `"0_0":-2`, `"0_7":-2`, "processes[0].consumers[0].offset_sums.0_7", "the subtopology has 2 tasks"},
		{classicLine, `"0_0":-2`, `"0_0":-1`, "processes[0].consumers[0].offset_sums.0_0", "-1 is negative"},
		{classicLine, `"0_0":-2`, `"0_0":"x"`, "processes[0].consumers[0].offset_sums.0_0", "a JSON string where a whole number belongs"},
		{classicLine, `["0_0"]`, `["0_0",[1]]`, "processes[0].consumers[0].owned[1]", "a JSON array where text belongs"},
		{classicLine, `{"id":"c2"}`, `{"id":"c3"},{"id":{"a":[]}}`, "processes[1].consumers[1].id", "a JSON object where text belongs"},
		{classicLine, `"leader"`, `"topic_racks":{"in-0":[["a"],["b",3]]},"leader"`, "topic_racks.in-0[1][1]", "a JSON number where text belongs"},
		{streamsLine, `"members":[`, `"members":[true,`, "members[0]", "a JSON bool where an object belongs"},
		{classicLine, `"c2"`, `"c1"`, "processes[1].consumers[0].id", `consumer "c1" is there twice`},
		{classicLine, `{"id":"c2"}`, `{}`, "processes[1].consumers[0].id", "it is missing"},
		{classicLine, `{"id":"c2"}`, ``, "processes[1].consumers", "has no consumer"},
		{classicLine, `"id":"00000000`, `"id":"0000`, "processes[0].id", "is not a UUID"},
		{classicLine, `"id":"80000000-0000-0000-0000-000000000001"`, `"id":"00000000-0000-0000-0000-000000000001"`, "processes[1].id", "is there twice"},
		{classicLine, `"leader":"8`, `"leader":"9`, "leader", "is not in the scenario"},
		{classicLine, `"num_standby_replicas":0`, `"num_standby_replicas":-1`, "config.num_standby_replicas", "-1 is negative"},
		{classicLine, `"num_standby_replicas":0`, `"max_warmup_replicas":-2`, "config.max_warmup_replicas", "-2 is negative"},
		{classicLine, `"num_standby_replicas":0`, `"acceptable_recovery_lag":-3`, "config.acceptable_recovery_lag", "-3 is negative"},
		{classicLine, `"num_standby_replicas":0`, `"probing_rebalance_interval_ms":-1`, "config.probing_rebalance_interval_ms", "-1 is negative"},
		{classicLine, `"num_standby_replicas":0`, `"rack_aware_traffic_cost":-1`, "config.rack_aware_traffic_cost", "-1 is negative"},
		{classicLine, `"num_standby_replicas":0`, `"rack_aware_non_overlap_cost":4294967296`, "config.rack_aware_non_overlap_cost", "is more than"},
		{classicLine, `"num_standby_replicas":0`, `"rack_aware_strategy":"some"`, "config.rack_aware_strategy", `"some" is unknown`},
		{classicLine, `"num_standby_replicas":0`, `"num_standby_replicas":1.5`, "config.num_standby_replicas", "a JSON number 1.5 where a whole number belongs"},
		{classicLine, `"partitions":2`, `"partitions":-2`, "subtopologies[0].partitions", "-2 is negative"},
		{classicLine, `"partitions":2`, `"partitions":20000000`, "subtopologies[0].partitions", "is more than 2000000"},
		{classicLine, `"partitions":2,`, ``, "subtopologies[0].partitions", "it is missing"},
		{classicLine, `"partitions":2`, `"partitions":1`, "subtopologies[0].end_offsets", "2 offsets of 1 tasks"},
		{classicLine, `[5,6]`, `[5,-6]`, "subtopologies[0].end_offsets[1]", "-6 is negative"},
		{classicLine, `"partitions":2`, `"source_topics":[],"partitions":2`, "subtopologies[0].source_topics", "every subtopology has one"},
		{classicLine, `"id":0,`, ``, "subtopologies[0].id", "it is missing"},
		{classicLine, `,"stateful":true`, ``, "subtopologies[0].stateful", "it is missing"},
		{classicLine, `[{"id":0,`, `[{"id":0,"partitions":1,"stateful":false},{"id":0,`, "subtopologies", `"0" is there twice`},
		{classicLine, `"subtopologies"`, `"topologies"`, "subtopologies", "it is missing"},
		{classicLine, `"processes"`, `"instances"`, "processes", "there is no instance"},
		{classicLine, `"high-availability"`, `"range"`, "assignor", `"range" is unknown`},
		{classicLine, `"assignor"`, `"assigner"`, "assignor", "it is missing"},
		{classicLine, `"4.3.1"`, `"four"`, "kafka_version", `"four" is not a Kafka version`},
		{classicLine, `"4.3.1"`, `"3.1.0"`, "kafka_version", "cannot be computed to the task"},
		{streamsLine, `["0_0"]`, `["0_9"]`, "members[0].active[0]", "the subtopology has 2 tasks"},
		{streamsLine, `["0_0"]`, `["0_0","0_0"]`, "members[0].active[1]", `task "0_0" is there twice`},
		{streamsLine, `["0_1"]`, `["7_1"]`, "members[0].standby[0]", `task "7_1" is in no subtopology`},
		{streamsLine, `"warmup":[]`, `"warmup":["x"]`, "members[0].warmup[0]", `"x" is not a task`},
		{streamsLine, `{"0_1":7}`, `{"0_1":-2}`, "members[0].task_offsets.0_1", "-2 is negative"},
		{streamsLine, `"m2"`, `"m1"`, "members[1].id", `member "m1" is there twice`},
		{streamsLine, `,"process_id":"p2"`, ``, "members[1].process_id", "it is missing"},
		{streamsLine, `"members"`, `"processes"`, "members", "there is no instance"},
		{streamsLine, `"id":"0"`, `"id":""`, "subtopologies[0].id", "it is missing"},
		{streamsLine, `"name":"b"`, `"name":"b","kafka_version":"4.1.2"`, "kafka_version", "cannot be computed to the task"},
		{streamsLine, `"name":"b"`, `"name":5`, "name", "a JSON number where text belongs"},
		{streamsLine, `]}`, ``, "", "no scenario"},
		{streamsLine, streamsLine, `[]`, "", "no scenario"},
	}
	for _, tt := range tests {
		line := strings.Replace(tt.line, tt.from, tt.to, 1)
		if line == tt.line {
			t.Errorf("%s: nothing was replaced", tt.from)
			continue
		}
		b, err := scenario.Answer(12, []byte(line))
		wrong, ok := errors.AsType[*scenario.Error](err)
		if !ok || wrong.Line != 12 || wrong.Field != tt.field || !strings.Contains(wrong.Text, tt.text) {
			t.Errorf("%s -> %s: %v, want field %q with %q", tt.from, tt.to, err, tt.field, tt.text)
			continue
		}
		var out struct {
			Name   *string
			Result json.RawMessage
			Error  struct {
				Message, Field string
				Line           int
			}
		}
		if json.Unmarshal(b, &out) != nil || out.Name == nil || out.Result != nil || out.Error.Message != wrong.Error() || out.Error.Field != tt.field || out.Error.Line != 12 {
			t.Errorf("%s -> %s: answer %s", tt.from, tt.to, b)
		}
		if !strings.HasPrefix(wrong.Error(), "line 12: ") || !strings.Contains(wrong.Error(), tt.field) {
			t.Errorf("%s -> %s: %q does not name line and field", tt.from, tt.to, wrong)
		}
	}
}

// What may be missing, and what is left of groups that have changed.
func TestAccepted(t *testing.T) {
	for _, tt := range []struct{ line, from, to string }{
		{classicLine, "", ""},
		{streamsLine, "", ""},
		{classicLine, `"0_0":-2`, `"0_0":-2,"9_33":4`}, // state on disk of a subtopology that is gone
		{streamsLine, `{"0_1":7}`, `{"0_1":7,"9_33":4}`},
		{classicLine, `,"leader":"80000000-0000-0000-0000-000000000001"`, ``},
		{classicLine, `"config":{"num_standby_replicas":0},`, ``},
		{classicLine, `"kafka_version":"4.3.1",`, ``},
		{classicLine, `["0_0"]`, `["0_0","0_0"]`},
		{classicLine, `"partitions":2,"stateful":true,"end_offsets":[5,6]`, `"partitions":2,"stateful":true`},
		{classicLine, `"name":"a",`, `"name":"a","chain":1,"round":2,"event":"start","result":{"probing":7},`},
	} {
		line := strings.Replace(tt.line, tt.from, tt.to, 1)
		if b, err := scenario.Answer(1, []byte(line)); err != nil || !bytes.Contains(b, []byte(`"result":{`)) {
			t.Errorf("%s -> %s: %s, %v", tt.from, tt.to, b, err)
		}
	}
}

func TestAnswerAll(t *testing.T) {
	in := classicLine + "\n\n{]\r\n" + streamsLine + `
{"name":"é \"<x>","assignor":"streams-sticky","subtopologies":[],"members":[{"id":"é<","process_id":"p"}]}`
	var out bytes.Buffer
	in += "\n" + `{"name":"l","assignor":"learner","config":{"balancing_factor":2,"num_standby_replicas":0},"subtopologies":[{"id":0,"partitions":1,"stateful":true}],` +
		`"processes":[{"id":"00000000-0000-0000-0000-000000000001","workers":1,"generation":0,"tasks":[]}]}` + "\n" + `{"name":"k","assignor":"learner","processes":[]}`
	bad, err := scenario.AnswerAll(strings.NewReader(in), &out)
	if err != nil || bad != 2 {
		t.Fatalf("%d bad, %v; want 2", bad, err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	want := []string{`{"name":"a","result":{"probing":false,`, `{"name":"","error":{"message":"line 3: no scenario: `, `{"name":"b","result":{"members":{"m1":{"active":["0_0"]`, `{"name":`,
		`{"name":"l","result":{"processes":{"00000000-0000-0000-0000-000000000001":{"active":["0_0"]`, `{"name":"k","error":{"message":"line 7: field `}
	if len(lines) != len(want) {
		t.Fatalf("%d lines: %s", len(lines), out.String())
	}
	for i, prefix := range want {
		if !strings.HasPrefix(lines[i], prefix) || !json.Valid([]byte(lines[i])) {
			t.Errorf("line %d: %s", i, lines[i])
		}
	}
	var last struct {
		Name   string
		Result struct{ Members map[string]any }
	}
	if err := json.Unmarshal([]byte(lines[3]), &last); err != nil || last.Name != `é "<x>` || last.Result.Members["é<"] == nil {
		t.Errorf("%s: %v", lines[3], err)
	}
}

// failing is a file that cannot be read to its end.
type failing struct{ *strings.Reader }

var errBroken = errors.New("broken disk")

func (f failing) Read(b []byte) (int, error) {
	if f.Len() == 0 {
		return 0, errBroken
	}
	return f.Reader.Read(b)
}

func TestAnswerAllOfABrokenFile(t *testing.T) {
	var out bytes.Buffer
	bad, err := scenario.AnswerAll(failing{strings.NewReader(classicLine + "\n" + streamsLine[:20])}, &out)
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "line 2") || bad != 0 || bytes.Count(out.Bytes(), []byte("\n")) != 1 {
		t.Errorf("%d bad, %v; answered %s", bad, err, out.String())
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(classicLine))
	f.Add([]byte(streamsLine))
	longNumber := regexp.MustCompile(`:\s*[0-9.eE+]{5}`)
	f.Fuzz(func(t *testing.T, line []byte) {
		if longNumber.Match(line) {
			return // as many tasks take long
		}
		if b, _ := scenario.Answer(1, line); !json.Valid(b) {
			t.Errorf("%q gives %q, which is no JSON", line, b)
		}
	})
}

// A line that is no object has no field at fault: null, and a sentence without
// names of our own code.
func TestRefusedLinesAreDocuments(t *testing.T) {
	for line, want := range map[string]string{
		`[]`:        `{"name":"","error":{"message":"line 7: no scenario: a JSON array where an object belongs","line":7,"field":null}}`,
		`"learner"`: `{"name":"","error":{"message":"line 7: no scenario: a JSON string where an object belongs","line":7,"field":null}}`,
		`{"name":"k","assignor":"learner","processes":[]}`: `{"name":"k","error":{"message":"line 7: field \"subtopologies\": it is missing","line":7,"field":"subtopologies"}}`,
	} {
		got, err := scenario.Answer(7, []byte(line))
		if err == nil || string(got) != want {
			t.Errorf("%s: %s, want %s (%v)", line, got, want, err)
		}
	}
}
