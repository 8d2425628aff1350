package assign

import (
	"math"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
)

// one is an instance of one worker.
func one(id string, tasks ...LearnerTask) LearnerInstance {
	return LearnerInstance{ID: id, RemainingMs: LearnerNoDeadline, Workers: []LearnerWorker{{ID: id + "/1", Generation: 1, Tasks: tasks}}}
}

func and(lists ...[]LearnerTask) (all []LearnerTask) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// Evacuation goes by the time that is left: no deadline is last.
func TestLearnerEvacuationOrder(t *testing.T) {
	in := LearnerInput{Settings: LearnerSettings{Factor: 1000, MaxLearners: 1}, Topology: statefulTopology(t, 6, 0)}
	in.Instances = []LearnerInstance{one("a", claims(4, 5)...), one("b", claims(0, 1)...), one("c", claims(2, 3)...), one("d")}
	for i, ms := range []int64{LearnerNoDeadline, 500, 501} {
		in.Instances[i].Leaving, in.Instances[i].RemainingMs = true, ms
	}
	wantTasks(t, "most urgent", shareOf(t, Learner(in), "d").Learner, 1)
	wantTasks(t, "waiting", Learner(in).Waiting, 0, 2, 3, 4, 5)
	in.Instances[1].RemainingMs = 502
	wantTasks(t, "most urgent", shareOf(t, Learner(in), "d").Learner, 3)
	in.Instances[1].RemainingMs, in.Instances[2].RemainingMs = LearnerNoDeadline, LearnerNoDeadline
	wantTasks(t, "nobody urgent: the highest", shareOf(t, Learner(in), "d").Learner, 5)
	in.Instances[2].RemainingMs = math.MaxInt64
	wantTasks(t, "any deadline", shareOf(t, Learner(in), "d").Learner, 3)
}

// The best shot for a task without owner: lag, then an unready learner, then the
// load, then the id. A lag within the acceptable one is none.
func TestLearnerBestShot(t *testing.T) {
	for _, c := range []struct {
		name      string
		a, b      []LearnerTask
		want      string
		otherwise int64 // acceptable lag
	}{
		{"smallest lag", copies(model.Learner, 9, 0), copies(model.Standby, 8, 0), "b", 0},
		{"learner first", copies(model.Standby, 9, 0), copies(model.Learner, 9, 0), "b", 0},
		{"both within", copies(model.Standby, 8, 0), copies(model.Learner, 9, 0), "b", 10},
		{"unknown is more than any", copies(model.Learner, LearnerLagUnknown, 0), copies(model.Standby, 1<<60, 0), "b", 0},
		{"unknown is more than the largest", copies(model.Learner, LearnerLagUnknown, 0), copies(model.Standby, math.MaxInt64, 0), "b", 0},
		{"smallest load", and(copies(model.Standby, 9, 0), claims(1)), copies(model.Standby, 9, 0), "b", 0},
		{"lowest id", copies(model.Standby, 9, 0), copies(model.Standby, 9, 0), "a", 0},
		{"of two learners the smaller lag", copies(model.Learner, 9, 0), copies(model.Learner, 8, 0), "b", 0},
		{"a ready learner", copies(model.Standby, 0, 0), []LearnerTask{{Task: 0, Role: model.Learner, Ready: true, Lag: 7}}, "b", 0},
	} {
		in := LearnerInput{Settings: LearnerSettings{Factor: 4000, AcceptableLag: c.otherwise}, Topology: statefulTopology(t, 2, 0)}
		in.Instances = []LearnerInstance{one("a", c.a...), one("b", c.b...)}
		if got := shareOf(t, Learner(in), c.want).Active; len(got) == 0 || got[0] != 0 {
			t.Errorf("%s: %q has %v", c.name, c.want, got)
		}
	}
}

// While one instance is above its high, nobody else gives, even when it has
// nothing movable.
func TestLearnerOnlyTheHighGive(t *testing.T) {
	in := LearnerInput{Settings: LearnerSettings{Factor: 1500, MaxLearners: 1}, Topology: statefulTopology(t, 9, 2)}
	learned := LearnerTask{Task: 6, Role: model.Active, BeingLearned: true}
	in.Instances = []LearnerInstance{
		one("a", claims(0, 1, 2, 3, 4, 5)...), // above its high of 5, and max.learners allows no more
		one("b", append(claims(7, 8, 9, 10), learned)...),
		one("c", copies(model.Learner, 9, 6)...),
	}
	r := Learner(in)
	wantTasks(t, "c learns", shareOf(t, r, "c").Learner, 6)
	wantTasks(t, "b releases", shareOf(t, r, "b").Release)
	in.Settings.MaxLearners = 2 // now a gives one, and is no longer above
	r = Learner(in)
	wantTasks(t, "c learns", shareOf(t, r, "c").Learner, 0, 6)
	wantTasks(t, "b releases", shareOf(t, r, "b").Release, 9)
}
