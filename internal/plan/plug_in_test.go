package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// plugged is an app of three instances with our assignor, four tasks each, that
// keeps exactly even and restores two at a time.
func plugged(t *testing.T) *made {
	g := newMade(t, model.Classic, 12, true, 50_000)
	g.instance(1, 1, every(0, 3, 12)...).instance(2, 1, every(1, 3, 12)...).instance(3, 1, every(2, 3, 12)...)
	g.in.Assignor, g.in.plug = NameLearner, &plugIn{leader: testID(2), before: &assign.PlugInBefore{}}
	g.in.Settings = []Setting{{KeyFactor, "1", "group config"}, {KeyWarmups, "2", "group config"}, {KeyAcceptableLag, "100", "group config"}}
	return g
}

// told writes the rounds of a plan, one a line.
func (p *Plan) told() string {
	var out []string
	for _, r := range p.Rounds {
		line := fmt.Sprintf("%s %gs:", r.Trigger, r.AtS)
		for _, l := range r.Learners {
			line += " +" + l.Task
		}
		for _, m := range r.Moves {
			line += " " + m.Task + " " + m.How
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// A marked instance is drained two tasks at a time: those that have caught up by
// a follow-up are withheld in it and run after the hand-over, and the next two
// begin at once. It stays, with nothing.
func TestPlugInDrain(t *testing.T) {
	g := plugged(t)
	p := g.plan(Options{Changes: []Change{Leaving{Instance: "P2"}}})
	if got, want := p.told(), strings.Join([]string{
		"P2 is marked as leaving 0s: +0_7 +0_10",
		"follow-up 5s: +0_1 +0_4",
		"hand-over 5s: 0_7 ready learner 0_10 ready learner",
		"follow-up 10s:",
		"hand-over 10s: 0_1 ready learner 0_4 ready learner",
	}, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if p.Assignor != NameLearner || !p.Converged || p.Totals.TasksDown != 0 || p.Totals.Moves != 4 || p.Totals.Rounds != 3 {
		t.Errorf("assignor %s, totals %+v", p.Assignor, p.Totals)
	}
	if n := p.After.Instances[testID(1)].Active; n != 6 || p.After.Instances[testID(2)].Active != 0 || !p.After.Balanced {
		t.Errorf("after %+v", p.After)
	}
	if text := p.finding(NoteAssumed); !strings.Contains(text, "follow-up") {
		t.Errorf("findings %+v", p.Findings)
	}
}

// The time between follow-ups is the leader's, where it tells it; else it is
// assumed, and that is said.
func TestPlugInFollowUp(t *testing.T) {
	for told, want := range map[string]string{"": "follow-up 5s:", "1500": "follow-up 1.5s:"} {
		g := plugged(t)
		if told != "" {
			g.in.Settings = append(g.in.Settings, Setting{KeyFollowUp, told, "group config"})
		}
		p := g.plan(Options{Changes: []Change{Leaving{Instance: "P2"}}})
		if !strings.Contains(p.told(), want) {
			t.Errorf("told %q: %s", told, p.told())
		}
		if assumed := slices.ContainsFunc(p.Findings, func(f Finding) bool {
			return f.Text == "the leader's streamctl.followup.interval.ms is not told: taken as 5000 ms (--set)"
		}); assumed != (told == "") {
			t.Errorf("told %q: findings %+v", told, p.Findings)
		}
	}
}

// With a restore rate follow-ups go by without a move until copies have caught
// up; a deadline that comes before moves the tasks as they are.
func TestPlugInDeadline(t *testing.T) {
	rate, err := ParseRate("2500/s")
	if err != nil {
		t.Fatal(err)
	}
	g := plugged(t)
	g.in.Settings = append(g.in.Settings, Setting{KeyWarmups, "12", "group config"})
	p := g.plan(Options{Changes: []Change{Leaving{Instance: "P2"}}, Rate: rate})
	if p.Totals.TasksDown != 0 || p.Totals.Moves != 4 || !strings.Contains(p.told(), "follow-up 35s:\n") {
		t.Errorf("no deadline: %+v\n%s", p.Totals, p.told())
	}
	p = g.plan(Options{Changes: []Change{Leaving{Instance: "P2"}}, Rate: rate, Set: map[string]string{KeyScaleDown: "12000"}})
	if p.Totals.TasksDown != 4 || p.Totals.Moves != 4 || !strings.Contains(p.told(), "deadline of P2 12s:") || p.After.Instances[testID(2)].Active != 0 {
		t.Errorf("with a deadline: %+v\n%s", p.Totals, p.told())
	}
}

// One more instance gets what balance needs and nothing moves twice; one that
// goes leaves its tasks to those with copies. A mark on an instance that had
// learners goes on with them.
func TestPlugInChanges(t *testing.T) {
	p := plugged(t).plan(Options{Changes: []Change{Add{Count: 1, IDs: []string{testID(9)}}}})
	if p.Totals.Moves != 3 || p.Totals.TasksDown != 0 || p.After.Instances[testID(9)].Active != 3 {
		t.Errorf("one more: %+v\n%s", p.Totals, p.told())
	}
	p = plugged(t).plan(Options{Changes: []Change{Remove{Instance: "P1"}}})
	if p.Totals.Moves != 4 || p.Totals.TasksDown != 4 {
		t.Errorf("one less: %+v\n%s", p.Totals, p.told())
	}
	if p = plugged(t).plan(Options{}); len(p.Rounds) != 0 || p.Totals.Moves != 0 {
		t.Errorf("no change: %s", p.told())
	}

	g := plugged(t)
	next := int64(2000)
	g.in.NextMs, g.in.Settled = &next, false
	g.in.Instances[1].Leaving = true
	g.in.Instances[0].Members[0].Learner = []assign.Task{4}
	g.in.Instances[0].Members[0].Reported = append(g.in.Instances[0].Members[0].Reported, assign.Offset{Task: 4, Sum: 10})
	g.in.plug.before = &assign.PlugInBefore{Leaving: []string{testID(2)}, Learners: []assign.PlugInLearner{{Task: 4, By: testID(1), Owner: testID(2)}}}
	p = g.plan(Options{})
	if p.Rounds[0].Trigger != TriggerFollowUp || p.Rounds[0].AtS != 2 || p.Totals.Moves != 4 || slices.ContainsFunc(p.Rounds, func(r Round) bool {
		return slices.ContainsFunc(r.Learners, func(l Copy) bool { return l.Task == "0_4" })
	}) {
		t.Errorf("under way: %s", p.told())
	}
}
