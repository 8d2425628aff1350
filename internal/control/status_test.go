package control_test

import (
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// What makes a status too large is left out, least important first; marks and
// modes always get through.
func TestStatusThatIsTooLarge(t *testing.T) {
	many := func(n int, sized bool) []control.Task {
		out := make([]control.Task, n)
		for i := range out {
			out[i] = control.Task{ID: model.ClassicTask("", 0, int32(i)), Role: model.Standby, Tags: []model.Tag{model.IsStateful}}
			if sized {
				out[i].Position, out[i].End = new(int64), new(int64)
			}
		}
		return out
	}
	for _, c := range []struct {
		name                     string
		tasks                    []control.Task
		round                    int // tasks in the round
		positions, leads, listed bool
	}{
		{"fits", many(7000, true), 0, true, true, true},
		{"without positions", many(12000, true), 0, false, true, true},
		{"without the round", many(5000, true), 10000, false, false, true},
		{"without tasks", many(20000, false), 0, false, false, false},
	} {
		s := control.Status{
			Source: control.SourceWorker, At: time.Unix(0, 0), Marks: []string{"m-1"}, Leaving: true, Tasks: c.tasks,
			Round: &control.Round{
				Settings:  control.Settings{BalancingFactor: 2000, RejoinPolicy: "stable"},
				Instances: []control.RoundInstance{{ID: anInstance, Tasks: many(c.round, false)}},
			},
		}
		r, err := s.Record(anInstance)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := control.DecodeStatus(r.Value)
		if err != nil || len(r.Value) > control.MaxValue {
			t.Errorf("%s: %d bytes, %v", c.name, len(r.Value), err)
			continue
		}
		positions := len(got.Tasks) > 0 && got.Tasks[0].Position != nil
		if positions != c.positions || (got.Round != nil) != c.leads || (len(got.Tasks) == len(c.tasks)) != c.listed || !got.Honours("m-1") {
			t.Errorf("%s: positions %v, leads %v, %d tasks, marks %v", c.name, positions, got.Round != nil, len(got.Tasks), got.Marks)
		}
		if c.tasks[0].ID != (model.ClassicTask("", 0, 0)) || c.positions && c.tasks[0].Position == nil {
			t.Errorf("%s: what was given was changed", c.name)
		}
	}
}

// How far an instance must have read to know all that it is told: statuses, which
// come all the time, and keys of others say nothing.
func TestOrdersAreAllButStatus(t *testing.T) {
	status, err := control.Status{Source: control.SourceWorker}.Record(anInstance)
	if err != nil {
		t.Fatal(err)
	}
	var s control.State
	for i, c := range []struct {
		record control.Record
		want   int64
	}{
		{status, 0},
		{control.Record{Key: "other"}, 0},
		{control.Record{Key: control.KeyMode, Value: []byte("garbage")}, 3},
		{status, 3},
		{control.Record{Key: control.KeyLeaving(anInstance)}, 5}, // a withdrawal
		{control.NoStatus(anInstance), 5},
	} {
		c.record.Offset = int64(i)
		if s.Apply(c.record); s.Orders != c.want || s.Offset != int64(i)+1 {
			t.Errorf("after %q at %d: orders %d, want %d; offset %d", c.record.Key, i, s.Orders, c.want, s.Offset)
		}
	}
}

// A text that is only shown does not keep a status from being written.
func TestLongErrorInStatus(t *testing.T) {
	r, err := control.Status{Source: control.SourceWorker, ControlError: strings.Repeat("ü", 2000)}.Record(anInstance)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := control.DecodeStatus(r.Value); err != nil || len(s.ControlError) > control.MaxText || !strings.HasSuffix(s.ControlError, "ü…") {
		t.Errorf("%q, %v", s.ControlError, err)
	}
}

// An encoder refuses what a decoder would not take.
func TestWhatIsNotWritten(t *testing.T) {
	day := 24 * time.Hour
	for name, err := range map[string]error{
		"mode":             second(control.Mode{Mode: "eager", Epoch: 1, Allowed: time.Second}.Record()),
		"epoch":            second(control.Mode{Mode: control.Upgrading, Allowed: time.Second}.Record()),
		"allowed":          second(control.Mode{Mode: control.Upgrading, Epoch: 1, Allowed: 2 * day}.Record()),
		"mark":             second(control.Leaving{}.Record(anInstance)),
		"instance":         second(control.Leaving{Mark: "m"}.Record("pod-a")),
		"UUID in capitals": second(control.Leaving{Mark: "m"}.Record(strings.ToUpper(anInstance))),
		"reason":           second(control.Leaving{Mark: "m", Reason: strings.Repeat("x", 1025)}.Record(anInstance)),
		"who":              second(control.Standbys{Set: "1", Instances: []string{"i"}, Who: strings.Repeat("x", 1025)}.Record()),
		"source":           second(control.Status{}.Record(anInstance)),
		"tags": second(control.Status{Source: control.SourceWorker, Tasks: []control.Task{
			{ID: model.ClassicTask("", 0, 0), Role: model.Active, Tags: []model.Tag{model.IsReady}},
		}}.Record(anInstance)),
		"twice": second(control.Status{Source: control.SourceWorker, Tasks: []control.Task{
			{ID: model.ClassicTask("", 0, 0), Role: model.Active}, {ID: model.ClassicTask("", 0, 0), Role: model.Standby},
		}}.Record(anInstance)),
	} {
		if err == nil {
			t.Errorf("%s: written", name)
		}
	}
}

func second(_ control.Record, err error) error { return err }
