package assign

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/streamctl/streamctl/internal/model"
)

// simAnything draws a group in any state at all, also such as no sound group
// reaches: two claims, several learners, marks of all kinds, workers of one
// instance that contradict each other, carried claims.
func simAnything(t *rapid.T) *simLife {
	set, top := simSettings(t, 20)
	l := &simLife{learnerSim: newLearnerSim(set, top, 1000), t: t}
	l.round = 5
	roles := rapid.SampledFrom([]model.Role{model.Active, model.Active, model.Learner, model.Standby})
	for range rapid.IntRange(1, 8).Draw(t, "instances") {
		l.arrive()
		in := l.insts[len(l.insts)-1]
		if rapid.IntRange(0, 2).Draw(t, "leaving") == 0 {
			in.leaving, in.expired = true, rapid.IntRange(0, 3).Draw(t, "expired") == 0
			in.remainingMs = rapid.Int64Range(-1, 2).Draw(t, "remaining")
		}
		for _, w := range in.workers {
			w.Generation = rapid.Int64Range(3, 5).Draw(t, "generation")
			w.Carried, w.Epoch = rapid.IntRange(0, 4).Draw(t, "carried") == 0, rapid.Int64Range(0, 1).Draw(t, "epoch")
			for range rapid.IntRange(0, top.Len()/2+1).Draw(t, "tasks") {
				x := LearnerTask{Task: Task(rapid.IntRange(0, top.Len()-1).Draw(t, "task")), Role: roles.Draw(t, "role")}
				if !top.Stateful(x.Task) {
					x.Role = model.Active
				}
				x.Lag = rapid.SampledFrom([]int64{LearnerLagUnknown, 0, 50, 300, 301, 9000}).Draw(t, "lag")
				x.BeingLearned = x.Role == model.Active && top.Stateful(x.Task) && rapid.Bool().Draw(t, "tagged")
				x.Ready = x.Role == model.Learner && rapid.Bool().Draw(t, "ready")
				w.tasks[x.Task] = &simTask{LearnerTask: x}
			}
		}
	}
	return l
}

// shuffledInput is the same input in another order, with the workers of an
// instance given apart or not.
func shuffledInput(t *rapid.T, in LearnerInput) LearnerInput {
	out := in
	out.Instances = nil
	for _, i := range in.Instances {
		workers := rapid.Permutation(i.Workers).Draw(t, "workers")
		for n := range workers {
			workers[n].Tasks = rapid.Permutation(workers[n].Tasks).Draw(t, "tasks")
		}
		cut := rapid.IntRange(0, len(workers)).Draw(t, "cut")
		for _, part := range [][]LearnerWorker{workers[:cut], workers[cut:]} {
			i.Workers = part
			out.Instances = append(out.Instances, i)
		}
	}
	out.Instances = rapid.Permutation(out.Instances).Draw(t, "instances")
	return out
}

// TestLearnerAnyState checks the invariants from any state of the members on:
// the round, its answer for the same members in another order, and the way to
// the fixed point.
func TestLearnerAnyState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := simAnything(t)
		in := l.input()
		want := Learner(in)
		if got := Learner(shuffledInput(t, in)); !reflect.DeepEqual(got, want) {
			t.Fatalf("invariant 9: another order of the members, another answer\n%+v\n%+v", got, want)
		}
		if again := Learner(l.input()); !reflect.DeepEqual(again, want) {
			t.Fatal("the input was changed")
		}
		l.play()
		l.settle(rapid.Bool().Draw(t, "all ready at once"))
	})
}

// TestLearnerSwitch takes groups through a mode switch, with instances back at
// different times: no stateful task may go anywhere but to a caught-up copy or
// a ready learner while the leader waits, and afterwards all have an owner.
func TestLearnerSwitch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, top := simSettings(t, 24)
		l := &simLife{learnerSim: newLearnerSim(set, top, 1000), t: t}
		for range rapid.IntRange(1, 5).Draw(t, "instances") {
			l.arrive()
			l.progress()
			l.play()
		}
		owner := map[Task]string{}
		for _, s := range l.last.Instances {
			for _, task := range s.Active {
				owner[task] = s.ID
			}
		}
		l.leaveForSwitch()
		for len(l.away) > 0 {
			n := rapid.IntRange(1, len(l.away)).Draw(t, "back")
			l.insts, l.away = append(l.insts, l.away[:n]...), l.away[n:]
			if rapid.Bool().Draw(t, "newcomer") {
				l.arrive() // ranks as an instance, but has nothing to wait for
			}
			in := l.input()
			l.play()
			checkWaitingRound(t, in, &l.last, owner)
		}
		l.settle(true)
		if len(l.last.Unassigned) > 0 {
			t.Fatalf("without owner: %v", l.last.Unassigned)
		}
	})
}

func checkWaitingRound(t *rapid.T, in LearnerInput, r *LearnerResult, owner map[Task]string) {
	caughtUp := map[Task][]string{}
	for _, i := range in.Instances {
		for _, w := range i.Workers {
			for _, x := range w.Tasks {
				if x.Role == model.Active || x.Ready || x.Lag >= 0 && x.Lag <= in.Settings.AcceptableLag {
					caughtUp[x.Task] = append(caughtUp[x.Task], i.ID)
				}
			}
		}
	}
	for _, s := range r.Instances {
		for _, task := range s.Active {
			if r.SwitchWaiting && !slices.Contains(caughtUp[task], s.ID) {
				t.Fatalf("%q got task %d of %q while a switch waits", s.ID, task, owner[task])
			}
		}
		if r.SwitchWaiting && len(s.Release) > 0 {
			t.Fatalf("%q is to release tasks while a switch waits", s.ID)
		}
	}
	if r.SwitchWaiting && !r.AnotherRound {
		t.Fatal("a switch waits, and no other round is asked for")
	}
}
