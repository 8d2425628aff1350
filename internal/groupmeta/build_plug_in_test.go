package groupmeta_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

// told is what a leader says of a round: by instance "0_0 learner 300".
func told(leader string, instances map[string][]string, change func(*control.Status)) control.Record {
	warmups, followUp := int64(2), int64(1500)
	r := &control.Round{
		FollowUpMs: &followUp,
		Settings:   control.Settings{BalancingFactor: 1500, AcceptableRecoveryLag: 100, MaxLearners: &warmups, RejoinPolicy: "eager"},
		Topology: []control.Subtopology{
			{ID: 0, Stateful: true, Partitions: 6, SourceTopics: []string{"orders"}, ChangelogTopics: []string{"shop-bykey-changelog"}, Stores: []string{"bykey"}},
			{ID: 1, Partitions: 6, RepartitionSourceTopics: []string{"shop-byvalue-repartition"}},
		},
	}
	for name, tasks := range instances {
		in := control.RoundInstance{ID: process(name).String(), Workers: 1, PlugIn: name == leader}
		for _, text := range tasks {
			words := strings.Fields(text)
			lag := map[string]int64{"0": 0, "7": 7, "90": 90, "4000": 4000}[words[2]]
			x := control.Task{ID: ids(words[0])[0], Role: model.Role(words[1]), Lag: &lag}
			if x.ID.Subtopology == "0" {
				x.Tags = append(x.Tags, model.IsStateful)
				if x.Role == model.Learner {
					x.Tags, x.Reason = append(x.Tags, model.IsLearner), control.ReasonEvacuation
				}
			}
			in.Tasks = append(in.Tasks, x)
		}
		r.Instances = append(r.Instances, in)
	}
	s := control.Status{Source: control.SourcePlugIn, Software: "streamctl-streams", Version: "0.3.0", At: start().Add(-9 * time.Second), Workers: 1, Round: r}
	s.Members = []string{leader + "-StreamThread-1-consumer-0000"} // the app's first member leads
	if change != nil {
		change(&s)
	}
	return must(s.Record(process(leader).String()))
}

// each writes words behind every task of a list.
func each(list, words string) []string {
	var out []string
	for _, id := range ids(list) {
		out = append(out, id.String()+" "+words)
	}
	return out
}

// learning is an app of two instances: b learns two tasks of a, and a leads.
func learning() (*app, map[string][]string) {
	a := twelve(
		appMember{process: "a", active: all0 + " " + all1, owned: all0 + " " + all1, sums: running(all0), next: start().Add(time.Minute).UnixMilli()},
		appMember{process: "b", standby: "0_0 0_1", sums: map[string]int64{"0_1": 4022}},
	)
	return a, map[string][]string{"a": append(each(all0, "active 0"), each(all1, "active 0")...), "b": {"0_0 learner 4000", "0_1 learner 7"}}
}

// With the leader's word of the present round nothing is inferred.
func TestPlugInRound(t *testing.T) {
	a, round := learning()
	g := build(t, withControl(a.snapshot(), told("a", round, func(s *control.Status) {
		for k := range s.Round.Instances {
			if in := &s.Round.Instances[k]; in.ID == process("a").String() {
				in.Tasks[0].Tags = []model.Tag{model.IsStateful, model.BeingLearned}
			}
		}
	})), groupmeta.BuildOptions{})
	if p := g.PlugIn; p == nil || !p.Fresh || p.Leader != process("a").String() || p.Stale != "" || len(p.Learners) != 2 || p.Learners[0].Owner != process("a").String() {
		t.Fatalf("plug-in %+v", g.PlugIn)
	}
	wantText(t, "0_0", shown(g, "0_0"), "b learner")
	if x := holding(t, g, "b", "0_0"); x.Reason != control.ReasonEvacuation || slices.Contains(x.Tags, model.IsReady) || num(x.Restore.RemainingRecords) != "4056" || x.Restore.Basis != model.RestoreStatus {
		t.Errorf("0_0 on b: %+v", x)
	}
	if x := holding(t, g, "b", "0_1"); !slices.Contains(x.Tags, model.IsReady) || num(x.Restore.Position) != "4022" || num(x.Restore.RemainingRecords) != "10" {
		t.Errorf("0_1 on b: %+v", x)
	}
	if x := holding(t, g, "a", "0_0"); !slices.Contains(x.Tags, model.BeingLearned) || x.Inferred || x.Restore.State != model.Running {
		t.Errorf("0_0 on a: %+v", x)
	}
	if p := g.Positions; p.Basis != model.PositionsStatus || p.AsOf == nil || !p.AsOf.Equal(start().Add(-9*time.Second)) || p.Estimated {
		t.Errorf("positions %+v", p)
	}
	top := g.Topology
	if top.Source != "status" || len(top.Uncertain) != 0 || top.Subtopologies[0].Inferred || !slices.Equal(top.Subtopologies[0].Stores, []string{"bykey"}) || *top.Subtopologies[1].Stateful {
		t.Errorf("topology %+v", top)
	}
	if !slices.Contains(g.Facts.Settings, model.Setting{Key: "streamctl.followup.interval.ms", Value: "1500", Source: model.SourcePlugIn}) {
		t.Errorf("settings %+v", g.Facts.Settings)
	}
	if g.Balance.Factor != 1.5 || g.Timing.Standbys == nil || *g.Timing.Standbys != 0 || g.Timing.StandbysSource != model.SourcePlugIn {
		t.Errorf("balance %+v, timing %+v", g.Balance, g.Timing)
	}
	wantText(t, "finding", finding(g, model.FindingLearning), "b learns 2 tasks for a: 0_0 0_1")
	wantText(t, "mixed", finding(g, model.FindingMixedPlugIn), "")
	wantText(t, "notes", strings.Join(g.Notes, "\n"), "")
}

// A leader's word that is not of the present round changes nothing of what is
// inferred, and that is said: as a finding where some instances are not known to
// have the plug-in, else as a note.
func TestPlugInRoundOfAnother(t *testing.T) {
	for name, c := range map[string]struct {
		change func(a *app, round map[string][]string)
		tag    string
		stale  string
	}{
		"another active": {func(a *app, r map[string][]string) { r["b"], r["a"] = append(r["b"], "0_5 active 0"), r["a"][:5] }, "", "task 0_5 of instance a is not as that round gave it"},
		"another copy":   {func(_ *app, r map[string][]string) { r["b"] = r["b"][:1] }, "streamctl", "task 0_1 of instance b is not as that round gave it"},
		"one that came":  {func(_ *app, r map[string][]string) { delete(r, "b") }, "", "instance b was not in it"},
		"one that went":  {func(_ *app, r map[string][]string) { r["c"] = nil }, "streamctl", "instance " + process("c").String() + " is gone"},
	} {
		a, round := learning()
		c.change(a, round)
		a.members[1].tags = c.tag
		g := build(t, withControl(a.snapshot(), told("a", round, nil)), groupmeta.BuildOptions{})
		if g.PlugIn == nil || g.PlugIn.Fresh || g.PlugIn.Stale == "" {
			t.Fatalf("%s: plug-in %+v", name, g.PlugIn)
		}
		if g.Positions.Basis != model.PositionsLastRound || g.Assignor != "" || shown(g, "0_0") != "b learner~" {
			t.Errorf("%s: positions %+v, assignor %q, 0_0 %s", name, g.Positions, g.Assignor, shown(g, "0_0"))
		}
		mixed, note := finding(g, model.FindingMixedPlugIn), strings.Join(g.Notes, "\n")
		if c.tag == "" {
			wantText(t, name, mixed, "1 instance has the plug-in (a), 1 instance is not known to have it (b); the last round was not led by one of these: "+c.stale+"; while one without it leads, marks do nothing")
		} else {
			wantText(t, name, mixed+note, "the status of the plug-in is not that of the present round ("+c.stale+"): roles and positions are inferred")
		}
	}
}

// A task that a round hands over is withheld: nobody runs it, its new owner has
// it as a copy meanwhile.
func TestPlugInRoundThatHandsOver(t *testing.T) {
	a, round := learning()
	a.members[0].active = "0_1 0_2 0_3 0_4 0_5 " + all1
	a.members[1].next = atOnce
	round["a"], round["b"] = round["a"][1:], []string{"0_0 active 90", "0_1 learner 4000"}
	g := build(t, withControl(a.snapshot(), told("a", round, func(s *control.Status) { s.Round.AnotherRound = true })), groupmeta.BuildOptions{})
	if g.PlugIn == nil || !g.PlugIn.Fresh || len(g.Moving) != 1 || g.Moving[0].String() != "0_0" {
		t.Fatalf("plug-in %+v, moving %v", g.PlugIn, g.Moving)
	}
	wantText(t, "0_0", shown(g, "0_0"), "b standby parked")
	wantText(t, "0_1", shown(g, "0_1"), "b learner")
}

// A status that was left by what ran in an instance before it was started anew
// tells nothing of what runs there now: whether it has the jar, nor that its round
// is the present one. Static members come back under other ids without a round.
func TestPlugInStatusLeftBehind(t *testing.T) {
	before := func(s *control.Status) { s.Members = []string{"a-StreamThread-1-consumer-9999"} }
	for name, c := range map[string]struct {
		tag, static string
		change      func(*control.Status)
		has, stale  string
	}{
		"as it was":      {"", "", nil, "a", ""},
		"anew":           {"", "", before, "", ""},
		"anew, with tag": {"streamctl", "", before, "b", "instance a, which led it, was started anew"},
		"anew, static":   {"", "shop-a", before, "a", ""},
		"does not tell":  {"", "", func(s *control.Status) { s.Members = nil }, "a", ""},
	} {
		a, round := learning()
		a.members[0].static, a.members[1].tags = c.static, c.tag
		g := build(t, withControl(a.snapshot(), told("a", round, c.change)), groupmeta.BuildOptions{})
		if c.has == "" {
			if g.PlugIn != nil || g.Positions.Basis != model.PositionsLastRound {
				t.Errorf("%s: plug-in %+v, positions %+v", name, g.PlugIn, g.Positions)
			}
			continue
		}
		if p := g.PlugIn; p == nil || len(p.Has) != 1 || p.Has[0] != process(c.has).String() || p.Fresh != (c.stale == "") {
			t.Errorf("%s: plug-in %+v", name, g.PlugIn)
			continue
		}
		if c.stale != "" {
			wantText(t, name, finding(g, model.FindingMixedPlugIn), "1 instance has the plug-in (b), 1 instance is not known to have it (a); the last round was not led by one of these: "+c.stale+"; while one without it leads, marks do nothing")
		}
	}
}

// Where no leader has told of a round, a client tag tells who has it; without
// any nothing is said of it.
func TestPlugInByTag(t *testing.T) {
	a, _ := learning()
	if g := build(t, a.snapshot(), groupmeta.BuildOptions{}); g.PlugIn != nil {
		t.Errorf("plug-in %+v", g.PlugIn)
	}
	a.members[0].tags = "streamctl"
	g := build(t, a.snapshot(), groupmeta.BuildOptions{})
	if p := g.PlugIn; p == nil || p.Fresh || p.Leader != "" || len(p.Has) != 1 || len(p.Lacks) != 1 {
		t.Fatalf("plug-in %+v", g.PlugIn)
	}
	wantText(t, "mixed", finding(g, model.FindingMixedPlugIn), "1 instance has the plug-in (a), 1 instance is not known to have it (b); no leader has told of a round; while one without it leads, marks do nothing")
}

// A mark is honoured when the leader's word of the present round names it.
func TestPlugInMarks(t *testing.T) {
	a, round := learning()
	mark := must(control.Leaving{Mark: "mark-1", At: start(), Who: "alice@ops-1"}.Record(process("a").String()))
	seen := func(s *control.Status) {
		for k := range s.Round.Instances {
			if in := &s.Round.Instances[k]; in.ID == process("a").String() {
				in.Leaving, in.Marks = true, []string{"mark-1"}
			}
		}
	}
	for _, c := range []struct {
		change   func(*control.Status)
		honoured bool
		finding  string
	}{
		{nil, false, "a is marked leaving and does not say that it honours the mark (marked by alice@ops-1)"},
		{seen, true, "a is leaving and runs 12 tasks (marked by alice@ops-1)"},
	} {
		g := build(t, withControl(a.snapshot(), told("a", round, c.change), mark), groupmeta.BuildOptions{})
		if len(g.Marks) != 1 || g.Marks[0].Honoured != c.honoured || (instance(t, g, "a").Leaving != nil) != c.honoured {
			t.Errorf("marks %+v", g.Marks)
		}
		wantText(t, "leaving", finding(g, model.FindingLeaving), c.finding)
	}
}
