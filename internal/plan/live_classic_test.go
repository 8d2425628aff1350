package plan

import (
	"slices"
	"strings"
	"testing"
)

const liveClassic = "../../testdata/live/classic-changes.jsonl"

// simulate runs the recorded change from its snapshot and gives each round with
// its time in ms.
func (l *liveChange) simulate(t *testing.T, follow Follow) (rounds [][]threadLine, at []float64) {
	t.Helper()
	in, o := l.input(t), l.options(t, follow)
	set, err := resolve(in, in.Assignor, o)
	if err != nil {
		t.Fatal(err)
	}
	c := newClassicSim(in, o, set, newRecorder(in, set.AcceptableLag, o.Rate), 1)
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
	return rounds, at
}

// recorded are the rounds that really were: a static restart has none, its one
// record is the old generation with a new member id.
func (l *liveChange) recorded() []liveRound {
	if len(l.Change) == 1 && l.Change[0].Static {
		return nil
	}
	return l.Rounds
}

// matches reports whether the simulated rounds are the recorded ones. A
// recording may end before the group settled.
func (l *liveChange) matches(rounds [][]threadLine, process bool) bool {
	was := l.recorded()
	if len(rounds) < len(was) || len(rounds) > len(was) && l.Name != "live-add23slow" {
		return false
	}
	for i := range was {
		got, want := rounds[i], was[i].lines()
		if process {
			got, want = perProcess(got), perProcess(want)
		}
		if !slices.Equal(got, want) {
			return false
		}
	}
	return true
}

// Every recorded change, from its snapshot and the change alone, with the
// restore regime it needs: equal to the thread, or to the process where a
// recording is marked so.
func TestRecordedChanges(t *testing.T) {
	equal, rounds, differ := 0, 0, 0
	for _, l := range readLines[liveChange](t, liveClassic) {
		if l.Prediction == "differs" {
			differ++
			continue
		}
		fits := false
		for _, follow := range []Follow{FollowFast, FollowSlow} {
			got, at := l.simulate(t, follow)
			if !l.matches(got, l.Prediction != "equal") {
				continue
			}
			fits = true
			l.checkTimes(t, at)
		}
		if !fits {
			t.Errorf("%s: no regime gives the recorded rounds", l.Name)
			continue
		}
		equal, rounds = equal+1, rounds+len(l.recorded())
	}
	if equal != 29 || differ != 4 {
		t.Errorf("%d changes equal, %d that differ; there are 29 and 4", equal, differ)
	}
	t.Logf("%d changes, %d rounds", equal, rounds)
}

// checkTimes compares the times between rounds: as predicted, and at most a
// heartbeat and a second more.
func (l *liveChange) checkTimes(t *testing.T, at []float64) {
	t.Helper()
	was := l.recorded()
	for i := range min(len(was), len(at)) {
		got, took := at[i], was[i].Ms
		if i > 0 {
			got, took = at[i]-at[i-1], was[i].Ms-was[i-1].Ms
		}
		slack := float64(l.HeartbeatMs) + 1500
		if took < got-max(slack, 3000) || took > got+slack {
			t.Errorf("%s round %d: predicted after %.0f ms, was after %.0f ms", l.Name, i+1, got, took)
		}
	}
}

// Where reality parted from the prediction the end is right all the same, and
// the plan names what it took for granted.
func TestRecordedChangesThatDiffer(t *testing.T) {
	named := map[string]string{
		"live-stop42mixed":   "a restore that takes about as long",
		"live-add2apart":     "a restore that takes about as long",
		"live-stop42mixed3s": "given and taken away again",
		"live-stop43slow":    "copies held since are taken as caught up; those that were not restored yet",
	}
	for _, l := range readLines[liveChange](t, liveClassic) {
		if l.Prediction != "differs" {
			continue
		}
		was := l.recorded()
		want := perProcess(was[len(was)-1].lines())
		for _, follow := range []Follow{FollowFast, FollowSlow} {
			rounds, _ := l.simulate(t, follow)
			if got := perProcess(rounds[len(rounds)-1]); !slices.Equal(got, want) {
				t.Errorf("%s, %s: the end is\n%v, was\n%v", l.Name, follow, got, want)
			}
		}
		p, err := Make(l.input(t), *l.options(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(p.Findings, func(f Finding) bool { return strings.Contains(f.Text, named[l.Name]) })
		if !found || named[l.Name] == "" {
			t.Errorf("%s: the plan does not name what broke (%s):\n%v", l.Name, l.Note, p.Findings)
		}
	}
}

// The plan of the worked example add12, as a document.
func TestPlanOfRecordedAdd(t *testing.T) {
	l := readLines[liveChange](t, liveClassic)[0]
	p, err := Make(l.input(t), *l.options(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range p.Rounds {
		line := r.Trigger
		for _, m := range r.Moves {
			line += " " + m.Task + ":" + m.How
		}
		for _, c := range r.Learners {
			line += " learn " + c.Task
		}
		got = append(got, line)
	}
	want := []string{
		"1 member joins learn 0_0 learn 0_2", "probing rebalance learn 0_4 learn 1_0", "hand-over 0_0:ready learner 0_2:ready learner",
		"probing rebalance learn 1_2 learn 1_4", "hand-over 0_4:ready learner 1_0:ready learner", "probing rebalance", "hand-over 1_2:ready learner 1_4:ready learner",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if p.Totals.Moves != 6 || p.Totals.Rounds != 4 || p.Totals.Learners != 6 || p.Totals.TasksDown != 0 || *p.Totals.RemainingRecords != 4056+3963+4097+3986+4082+4042 {
		t.Errorf("totals %+v", p.Totals)
	}
	if !p.After.Balanced || p.After.MaxOverExpected != 1 || p.NewIDs.Tried != 0 || !slices.Equal(p.NewIDs.Given, []string{l.Change[0].Process}) {
		t.Errorf("after %+v, ids %+v", p.After, p.NewIDs)
	}
}
