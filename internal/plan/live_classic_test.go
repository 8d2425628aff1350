package plan

import (
	"slices"
	"testing"
)

// rounds runs the recorded change from its snapshot and gives each round.
func (l *liveChange) simulate(t *testing.T, follow Follow) (rounds [][]threadLine, at []float64, rec *recorder) {
	t.Helper()
	in, o := l.input(t), l.options(t, follow)
	set, err := resolve(in, in.Assignor, o)
	if err != nil {
		t.Fatal(err)
	}
	rec = newRecorder(in, set.AcceptableLag, o.Rate)
	c := newClassicSim(in, o, set, rec, 1)
	list, wait := steps(o.Changes)
	for i, s := range list {
		if err := c.change(s, i == 0); err != nil {
			t.Fatal(err)
		}
		for n := 0; (i == len(list)-1 || n < wait[i]) && n < 100; n++ {
			more, err := c.round()
			if err != nil {
				t.Fatal(err)
			}
			if !more {
				break
			}
			rounds, at = append(rounds, c.lines()), append(at, c.now)
		}
	}
	return rounds, at, rec
}

func TestProbe(t *testing.T) {
	for _, l := range readLines[liveChange](t, "../../testdata/live/classic-changes.jsonl") {
		for _, f := range []Follow{FollowFast, FollowSlow} {
			rounds, _, _ := l.simulate(t, f)
			equal, process := 0, 0
			for i := range min(len(rounds), len(l.Rounds)) {
				want := l.Rounds[i].lines()
				if slices.Equal(rounds[i], want) {
					equal++
				}
				if slices.Equal(perProcess(rounds[i]), perProcess(want)) {
					process++
				}
			}
			key := "late_members_caught_up"
			if f == FollowSlow {
				key = "no_progress_in_follow_ups"
			}
			s := l.Simulated[key]
			mark := ""
			if s.Equal != equal || s.Process != process || s.Predicted != len(rounds) {
				mark = "  <<<<"
			}
			t.Logf("%-22s %-18s %s predicted %d observed %d equal %d process %d | theirs %d %d %d%s", l.Name, l.Prediction, f, len(rounds), len(l.Rounds), equal, process, s.Predicted, s.Equal, s.Process, mark)
		}
	}
}
