package plan

import (
	"strings"
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
		basis := map[model.Kind]string{model.Classic: model.PositionsLastRound, model.Streams: model.PositionsNone, model.Worker: model.PositionsStatus}[kind]
		return &model.Group{ID: "app", Kind: kind, TakenAt: &taken, Positions: model.Positions{Basis: basis}, Instances: []model.Instance{
			{ID: "a", Name: "a", Members: []model.Member{{Tasks: []model.Task{task("0_0", fast, model.Restoring), task("0_1", fast, model.Restoring)}}}},
			{ID: "b", Name: "b", Members: []model.Member{{Tasks: []model.Task{task("0_2", slow, model.Restoring), task("0_3", int64(at), model.Running)}}}},
			{ID: "c", Name: "c", Members: []model.Member{{Tasks: []model.Task{task("0_4", 7, model.Restoring)}}}},
		}}
	}
	got := Measure(look(model.Worker, 100, 0, 1000), look(model.Worker, 110, 5000, 5000))
	if got.Rate != (Rate{Records: 400}) { // b: 4000 in 10 s; a has 1000/s, c none
		t.Errorf("got %+v", got)
	}
	if want := "restore rate 400 records/s, measured between 00:01:40 and 00:01:50 UTC of b, the slowest of 2 instances that restore"; got.Note != want {
		t.Errorf("note %q, want %q", got.Note, want)
	}
	ready := look(model.Worker, 110, 5000, 5000)
	ready.Instances[1].Members[0].Tasks[0].Restore.State = model.CaughtUp
	if got := Measure(look(model.Worker, 100, 0, 1000), ready); got.Rate != (Rate{Records: 1000}) {
		t.Errorf("b got ready, a did not: %+v", got)
	}
	for k := range ready.Instances[0].Members[0].Tasks {
		ready.Instances[0].Members[0].Tasks[k].Restore.State = model.Running
	}
	if got := Measure(look(model.Worker, 100, 0, 1000), ready); got.Rate != (Rate{Records: 400}) || !strings.Contains(got.Note, "it is faster than that") {
		t.Errorf("all got ready: %+v", got)
	}
	for name, c := range map[string]struct {
		two  [2]*model.Group
		want string
	}{
		"classic":     {[2]*model.Group{look(model.Classic, 100, 0, 0), look(model.Classic, 110, 5, 5)}, "only in a rebalance"},
		"streams 4.3": {[2]*model.Group{look(model.Streams, 100, 0, 0), look(model.Streams, 110, 5, 5)}, "no member reports task offsets"},
		"no progress": {[2]*model.Group{look(model.Worker, 100, 5, 5), look(model.Worker, 110, 5, 5)}, "no copy came nearer to its end in 10s"},
		"same time":   {[2]*model.Group{look(model.Worker, 100, 0, 0), look(model.Worker, 100, 5, 5)}, "one after the other"},
	} {
		if got := Measure(c.two[0], c.two[1]); got.Rate.Known() || !strings.Contains(got.Note, c.want) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// What a rate prints is read again as the same rate.
func TestRateReadsWhatItPrints(t *testing.T) {
	for _, r := range []Rate{{Records: 400}, {Records: 12.75}, {Bytes: 1e7}} {
		if got, err := ParseRate(r.String()); err != nil || got != r {
			t.Errorf("%v: %q gives %v, %v", r, r.String(), got, err)
		}
	}
}
