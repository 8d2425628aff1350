package report

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/render"
)

// A task that nobody ran comes from nobody: null, as all that is absent; and a
// plan that is read again says so too.
func TestAMoveFromNobody(t *testing.T) {
	p := addOne()
	p.Rounds = []plan.Round{{Round: 1, Moves: []plan.Move{{Task: "0_6", To: process(1), How: plan.HowCold}, {Task: "0_7", From: process(0), To: process(1), How: plan.HowCold}}}}
	b := write(t, render.Options{Format: render.JSON}, planReport(p, PlanOptions{}))
	doc := decode(t, b).(map[string]any)
	moves := doc["rounds"].([]any)[0].(map[string]any)["moves"].([]any)
	first, second := moves[0].(map[string]any), moves[1].(map[string]any)
	if from, there := first["from"]; !there || from != nil || first["to"] != process(1) || first["how"] != "cold" {
		t.Errorf("from nobody: %v", first)
	}
	if second["from"] != process(0) {
		t.Errorf("from %v, want %s", second["from"], process(0))
	}
	again, err := ReadPlan(b)
	if err != nil || !slices.EqualFunc(again.Rounds[0].Moves, p.Rounds[0].Moves, func(a, b plan.Move) bool { return a.From == b.From && a.To == b.To && a.Task == b.Task }) {
		t.Errorf("read again: %+v, %v", again, err)
	}
}

// A total and its least and most are the same kind of number, also where those
// of 64 bits are quoted.
func TestTotalsAndTheirRangesAreAlike(t *testing.T) {
	all := map[plan.Figure][2]float64{}
	for _, k := range []plan.Figure{
		plan.FigureMoves, plan.FigureRounds, plan.FigureLearners, plan.FigureStandbys, plan.FigureDown, plan.FigureDiscarded, plan.FigureIdle,
		plan.FigureEarliest, plan.FigureEstimate, plan.FigureRecords, plan.FigureBytes,
	} {
		all[k] = [2]float64{1, 2}
	}
	p := addOne()
	p.Totals.EstimateS, p.NewIDs.Varies = ptr(1.5), all
	for _, quoted := range []bool{false, true} {
		doc := decode(t, write(t, render.Options{Format: render.JSON, JSONStrings: quoted}, planReport(p, PlanOptions{}))).(map[string]any)
		totals, varies := doc["totals"].(map[string]any), doc["new_ids"].(map[string]any)["varies"].(map[string]any)
		for k := range all {
			_, number := totals[string(k)].(json.Number)
			for _, v := range varies[string(k)].([]any) {
				if _, same := v.(json.Number); same != number {
					t.Errorf("quoted %v: %s is %#v, but varies by %#v", quoted, k, totals[string(k)], v)
				}
			}
		}
	}
}

// The errors of several plans are sorted, each once, with those of what was read.
func TestErrorsOfSeveralPlans(t *testing.T) {
	g := scaleOut("shop", "pod-a", "pod-b")
	g.Errors = []model.ReadError{{Object: "broker 3", Text: "silent"}}
	one, two := NewPlan(addOne(), g, PlanOptions{}), NewPlan(addOne(), g, PlanOptions{})
	l := NewPlanList([]*Plan{one, two}, []Error{{Object: "group z", Text: "not found"}, {Object: "group a", Text: "not found"}})
	var objects []string
	for _, e := range l.Errors {
		objects = append(objects, e.Object)
	}
	if want := []string{"broker 3", "group a", "group z"}; !slices.Equal(objects, want) {
		t.Errorf("errors of %v, want %v", objects, want)
	}
}
