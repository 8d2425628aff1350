package plan

import (
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

func TestMeasureRate(t *testing.T) {
	look := func(kind model.Kind, at int, fast, slow int64) *model.Group {
		taken := time.Unix(int64(at), 0)
		task := func(id string, position int64, state model.RestoreState) model.Task {
			return model.Task{ID: mustTask(t, id), Role: model.Learner, Restore: model.Restore{State: state, Position: &position}}
		}
		return &model.Group{ID: "app", Kind: kind, TakenAt: &taken, Instances: []model.Instance{
			{ID: "a", Members: []model.Member{{Tasks: []model.Task{task("0_0", fast, model.Restoring), task("0_1", fast, model.Restoring)}}}},
			{ID: "b", Members: []model.Member{{Tasks: []model.Task{task("0_2", slow, model.Restoring), task("0_3", int64(at), model.Running)}}}},
			{ID: "c", Members: []model.Member{{Tasks: []model.Task{task("0_4", 7, model.Restoring)}}}},
		}}
	}
	got, err := MeasureRate(look(model.Worker, 100, 0, 1000), look(model.Worker, 110, 5000, 5000))
	if err != nil || got != (Rate{Records: 400}) { // b: 4000 in 10 s; a has 1000/s, c none
		t.Errorf("got %+v, %v", got, err)
	}
	for name, two := range map[string][2]*model.Group{
		"classic":     {look(model.Classic, 100, 0, 0), look(model.Classic, 110, 5, 5)},
		"no progress": {look(model.Worker, 100, 5, 5), look(model.Worker, 110, 5, 5)},
		"same time":   {look(model.Worker, 100, 0, 0), look(model.Worker, 100, 5, 5)},
	} {
		if got, err := MeasureRate(two[0], two[1]); err == nil {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}
