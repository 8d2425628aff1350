package scenario_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/streamctl/streamctl/internal/scenario"
)

// streamsChange is a line of testdata/live/streams-changes.jsonl, as far as it
// is looked at here.
type streamsChange struct {
	Name          string
	KafkaVersion  string          `json:"kafka_version"`
	Subtopologies json.RawMessage `json:"subtopologies"`
	Targets       []struct {
		Standbys  int             `json:"num_standby_replicas"`
		Members   []streamsTarget `json:"members"`
		EqualWith []string        `json:"equal_with"`
	}
}

type streamsTarget struct {
	ID             string           `json:"id"`
	ProcessID      string           `json:"process_id"`
	PreviousTarget streamsTasks     `json:"previous_target"`
	Current        streamsTasks     `json:"current"`
	TaskOffsets    map[string]int64 `json:"task_offsets"`
	Target         streamsTasks     `json:"target"`
}

type streamsTasks struct {
	Active  []string `json:"active"`
	Standby []string `json:"standby"`
}

// Every target that a real broker computed comes out from what its members had
// before, whatever order they are listed in.
func TestRecordedStreamsTargets(t *testing.T) {
	targets, told := 0, map[string]int{}
	n := recordedLines(t, "live/streams-changes.jsonl", func(_ int, data []byte) {
		var c streamsChange
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatal(err)
		}
		for i, target := range c.Targets {
			targets++
			for _, before := range target.EqualWith {
				told[before]++
				for _, members := range permutations(target.Members) {
					want := map[string]streamsTasks{}
					for _, m := range members {
						want[m.ID] = m.Target
					}
					if got := streamsAnswer(t, &c, target.Standbys, members, before); !reflect.DeepEqual(got, want) {
						t.Errorf("%s, target %d, %s: %v, want %v", c.Name, i, before, got, want)
					}
				}
			}
		}
	})
	if n != 14 || targets != 22 || told["previous_target"] != 18 || told["current"] != 18 {
		t.Errorf("%d changes, %d targets, explained by %v", n, targets, told)
	}
}

// streamsAnswer asks for a target as assign --from does.
func streamsAnswer(t *testing.T, c *streamsChange, standbys int, members []streamsTarget, before string) map[string]streamsTasks {
	t.Helper()
	var list []map[string]any
	for _, m := range members {
		had := m.PreviousTarget
		if before == "current" {
			had = m.Current
		}
		list = append(list, map[string]any{"id": m.ID, "process_id": m.ProcessID, "active": had.Active, "standby": had.Standby, "task_offsets": m.TaskOffsets})
	}
	line, err := json.Marshal(map[string]any{
		"assignor": "streams-sticky", "kafka_version": c.KafkaVersion, "subtopologies": c.Subtopologies,
		"config": map[string]int{"num_standby_replicas": standbys}, "members": list,
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := scenario.Answer(1, line)
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Result struct{ Members map[string]streamsTasks }
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out.Result.Members
}

func permutations[T any](s []T) [][]T {
	if len(s) < 2 {
		return [][]T{s}
	}
	var out [][]T
	for i := range s {
		for _, rest := range permutations(slices.Delete(slices.Clone(s), i, i+1)) {
			out = append(out, append([]T{s[i]}, rest...))
		}
	}
	return out
}
