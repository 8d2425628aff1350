package progress

import (
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// appWith is an app of two instances: one runs the task, the other learns it and
// is so far as of the round that its leader told of last.
func appWith(owner string, position, end, offset int64) *model.Group {
	at := time.Date(2026, 11, 30, 1, 0, int(offset), 0, time.UTC)
	yes, left := true, end-position
	task := func(role model.Role) model.Task {
		return model.Task{ID: model.ClassicTask("", 0, 1), Role: role, Stateful: &yes, Restore: model.Restore{State: model.Running}}
	}
	g := &model.Group{
		ID: "shop", Kind: model.Classic, State: model.StateStable, AssignmentBasis: model.AssignmentCurrent,
		Positions: model.Positions{Basis: model.PositionsStatus, AsOf: &at},
		PlugIn:    &model.PlugIn{Has: []string{"a", "b"}, Leader: "a", Offset: offset, Fresh: true},
		Facts:     model.Facts{Settings: []model.Setting{{Key: "acceptable.recovery.lag", Value: "10"}}},
	}
	for _, id := range []string{"a", "b"} {
		x := task(model.Active)
		if id != owner {
			x = task(model.Learner)
			x.Restore = model.Restore{State: model.Restoring, Position: &position, End: &end, RemainingRecords: &left}
			if left == 0 {
				x.Restore.State = model.CaughtUp
			}
		}
		in := model.Instance{ID: id, Name: id, Members: []model.Member{{ID: id + "-1", Tasks: []model.Task{x}}}}
		if x.Role == model.Active {
			in.Active = 1
		}
		g.Instances = append(g.Instances, in)
	}
	return g
}

// honouring is a control topic in which the leader says that the instance is
// under its mark.
func honouring(instance, mark string) *control.State {
	return &control.State{
		Leaving: map[string]control.Leaving{instance: {Mark: mark}},
		Status: map[string]control.Status{"a": {Source: control.SourcePlugIn, Round: &control.Round{Instances: []control.RoundInstance{
			{ID: "a", PlugIn: true}, {ID: instance, Leaving: true, Marks: []string{mark}},
		}}}},
	}
}

// Rounds are counted from the mark, positions move with them only, and the
// leader's word that the mark is honoured counts for the instance.
func TestDrainOfPlugIn(t *testing.T) {
	d := NewDrain([]DrainTarget{{ID: "b", Name: "b", Mark: "mark-1"}})
	begin := time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC)
	d.Begin(appWith("b", 0, 1000, 3))
	silent := &control.State{Leaving: map[string]control.Leaving{"b": {Mark: "mark-1"}}}
	if l := d.Look(appWith("b", 0, 1000, 3), silent, begin); l.Round != nil || l.Met || len(l.Waiting) != 1 || l.Waiting[0] != "the mark of b is not honoured yet: the round that sees it has not come" {
		t.Errorf("before the round: %+v", l)
	}
	for i, step := range []struct {
		position, offset int64
		round            int32
		rate             float64 // records a second; negative: none yet
	}{{100, 5, 1, -1}, {100, 5, 1, -1}, {600, 8, 2, 250}, {600, 8, 2, 250}} {
		l := d.Look(appWith("b", step.position, 1000, step.offset), honouring("b", "mark-1"), begin.Add(time.Duration(i+1)*time.Second))
		if l.Round == nil || *l.Round != step.round || l.Owns != 1 || l.Met || len(l.Waiting) != 0 || *l.ToRestore != 1000-step.position {
			t.Errorf("look %d: %+v", i, l)
		}
		if (l.Rate == nil) != (step.rate < 0) || l.Rate != nil && *l.Rate != step.rate {
			t.Errorf("look %d: rate %v, want %v", i, l.Rate, step.rate)
		}
		if still := l.Tasks[0].Still; still > 2*time.Second {
			t.Errorf("look %d: the copy stands still for %v", i, still)
		}
	}
	between := appWith("a", 0, 1000, 8) // handed over, and the leader has not told of it yet
	between.PlugIn.Fresh = false
	if l := d.Look(between, honouring("b", "mark-1"), begin.Add(5*time.Second)); len(l.Moved) != 1 || l.Moved[0].Warm != Unknown || l.ToRestore != nil {
		t.Errorf("before the leader told: %+v", l)
	}
	l := d.Look(appWith("a", 0, 1000, 9), honouring("b", "mark-1"), begin.Add(6*time.Second))
	if moves := d.HandOvers(); !l.Met || l.Owns != 0 || len(moves) != 1 || moves[0].Warm != Yes {
		t.Errorf("at the end: %+v", l)
	}
}

// Positions are as of the last round, however exact: a copy that lagged then may
// have caught up since, and one that had caught up counts by the present end.
func TestCheckStopOfPlugIn(t *testing.T) {
	for _, c := range []struct {
		position int64
		after    bool
		want     Answer
	}{{600, false, Unknown}, {600, true, No}, {1000, false, Yes}} {
		g := appWith("b", c.position, 1000, 3)
		check := CheckStop
		if c.after {
			check = CheckStopAfterRound
		}
		if got := check(g, &g.Instances[1]); got.Answer != c.want {
			t.Errorf("position %d: %+v, want %s", c.position, got, c.want)
		}
	}
}
