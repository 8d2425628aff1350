package scenario_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/scenario"
)

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{
		classicLine:                  true,
		learnerLineOK:                true,
		"\n " + learnerLineOK:        true,
		`{"kind":"Snapshot"}`:        false,
		`{"taken_at":1,"kind":"x"}`:  false,
		`{"name":"x","members":[`:    true,
		"":                           false,
		"[]":                         false,
		`{"name":`:                   false,
		`{"name":"x"}`:               false,
		"\x00\x01":                   false,
		`{"name":"x","processes":7}`: true,
	} {
		if got := scenario.Is(strings.NewReader(text)); got != want {
			t.Errorf("%.60q: %t, want %t", text, got, want)
		}
	}
}

const learnerLineOK = `{"name":"l","assignor":"learner","config":{},"subtopologies":[{"id":0,"partitions":2,"stateful":true,"end_offsets":[5,6]}],` +
	`"processes":[{"id":"a","workers":1,"generation":1,"tasks":[{"id":"0_0","role":"active"}]}]}`

func TestRead(t *testing.T) {
	list, err := scenario.Read(strings.NewReader(classicLine + "\n\n" + learnerLineOK))
	if err != nil || len(list) != 2 || list[0].Kafka == nil || list[0].Learner != nil || list[1].Learner == nil || list[1].Name != "l" {
		t.Fatalf("%+v, %v", list, err)
	}
	if ends := list[1].Learner.Input.Topology.Subtopologies()[0].EndOffsets; len(ends) != 2 || ends[1] != 6 {
		t.Errorf("ends %v", ends)
	}
	for name, c := range map[string]struct {
		text, field string
		line        int
	}{
		"three ends of two tasks": {strings.Replace(learnerLineOK, "[5,6]", "[5,6,7]", 1), "subtopologies[0].end_offsets", 1},
		"a negative end":          {"\n" + strings.Replace(learnerLineOK, "[5,6]", "[5,-6]", 1), "subtopologies[0].end_offsets[1]", 2},
		"no assignor":             {classicLine + "\n" + `{"name":"x","processes":[]}`, "assignor", 2},
	} {
		_, err := scenario.Read(strings.NewReader(c.text))
		e, ok := errors.AsType[*scenario.Error](err)
		if !ok || e.Field != c.field || e.Line != c.line {
			t.Errorf("%s: %v", name, err)
		}
	}
}
