//go:build realkafka

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// markDoc is what the tests read of the document of a change.
type markDoc struct {
	Done bool
	Plan *planDoc
	Wait *struct {
		Met      bool
		WaitedMs int64 `json:"waited_ms"`
	}
	Leaving *struct {
		Marks      []struct{ Honoured *bool }
		HandedOver []struct {
			Task string
			Warm string
			Cold *bool
		} `json:"handed_over"`
	}
	Rebalance *struct{ Asked []struct{ Caught bool } }
}

// planDoc is what they read of a plan.
type planDoc struct {
	Assignor string
	Rounds   []struct {
		Trigger  string
		Moves    []struct{ Task, From, To, How string }
		Learners []struct{ Task, Instance string }
	}
	Totals struct {
		Moves     int
		TasksDown int `json:"tasks_down"`
	}
}

func parsed[T any](t testing.TB, res result) T {
	t.Helper()
	var out T
	if err := json.Unmarshal([]byte(res.stdout), &out); err != nil {
		t.Fatalf("exit %d: %v\n%s\n%s", res.code, err, res.stdout, res.stderr)
	}
	return out
}

// must runs streamctl on the app's group and fails the test unless it exits so.
func (p *pluginApp) must(t testing.TB, code int, args ...string) result {
	t.Helper()
	res := p.c.streamctl(t, args...)
	if res.code != code {
		t.Fatalf("streamctl %s: exit %d, want %d\n%s\n%s", strings.Join(args, " "), res.code, code, res.stdout, res.stderr)
	}
	return res
}

func contains(t testing.TB, what, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%s lacks %q:\n%s", what, want, text)
		}
	}
}

// tagged are the settings of an app that says who has the plug-in.
func tagged(more map[string]string) map[string]string {
	out := map[string]string{"client.tag.streamctl": "plug-in"}
	maps.Copy(out, more)
	return out
}

// The first drain of an app whose group has no control topic yet, by the command
// alone and under traffic: nothing restores cold, it says that it is safe to
// stop, and unmark gives the tasks back.
func pluginCommandDrain(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	p := c.startPlugin(t, "plug-cmd", tagged(nil))
	p.startWithState(t)
	writing := p.write300(t, stateRecords)
	lines, rounds := len(p.proc.output()), len(p.log.of(t, p.group))

	res := p.must(t, 0, "mark-leaving", "i2", "-g", p.group, "--wait", "--timeout", "2m", "--reason", "node drain", "-o", "json")
	t.Logf("mark-leaving --wait:\n%s", res.stderr)
	doc := parsed[markDoc](t, res)
	if doc.Wait == nil || !doc.Wait.Met || len(doc.Leaving.HandedOver) != 6 || doc.Leaving.Marks[0].Honoured == nil || !*doc.Leaving.Marks[0].Honoured {
		t.Errorf("document: %s", res.stdout)
	}
	if doc.Plan == nil || doc.Plan.Assignor != "learner" || doc.Plan.Totals.Moves != 6 || doc.Plan.Totals.TasksDown != 0 {
		t.Errorf("plan: %+v", doc.Plan)
	}
	contains(t, "stderr", res.stderr, "marking i2", "6 active tasks go to i1 (6)", "a rebalance is asked for", "TIME ROUND OWNS READY TO RESTORE", "now on i1")
	p.waitCounts(t, time.Minute, map[string]int{"i1": 12, "i2": 0})
	p.settle(t)
	p.compareOwners(t, rounds)
	t.Logf("drained in %.1f s", float64(doc.Wait.WaitedMs)/1000)

	told := p.must(t, 0, "describe", "group", p.group)
	contains(t, "describe", told.stdout, "i2 is leaving and runs 0 tasks", "node drain", "streamctl's plug-in")
	if strings.Contains(told.stdout, "~") {
		t.Errorf("describe infers something:\n%s", told.stdout)
	}
	contains(t, "check stop", p.must(t, 0, "check", "stop", "i2", "-g", p.group).stdout, "yes")
	p.must(t, 0, "wait", p.group, "--for", "drained", "--instance", "i2", "--timeout", "0")
	contains(t, "mode get", p.must(t, 0, "mode", "get", p.group).stdout, "plug-in")
	again := p.must(t, 0, "mark-leaving", "i2", "-g", p.group, "--wait", "--timeout", "30s")
	contains(t, "again", again.stdout, "drained: i2 owns no task", "safe to stop")

	p.must(t, 0, "unmark", "i2", "-g", p.group)
	p.waitCounts(t, time.Minute, map[string]int{"i1": 6, "i2": 6})
	if cold := p.restores(lines, pluginLag); len(cold) > 0 {
		t.Errorf("actives that had to restore: %q", cold)
	}
	writing.check(t)
}

// While learners run, everything is exact: roles, tags, topology with stores, why
// each learner was started, positions as of that round. A stale word, and an app
// without any, are inferred as ever.
func pluginDescribed(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	p := c.startPlugin(t, "plug-seen", map[string]string{"app.restore.delay.ms": "20000", "max.warmup.replicas": "4"})
	p.startWithState(t)
	res := p.must(t, 1, "mark-leaving", "i2", "-g", p.group)
	contains(t, "refusal", res.stderr, "no instance of it is known to have the plug-in (docs/howto/plug-in.md)")
	// Neither tags nor a topic: it is forced, and the leader then says that it has it.
	p.must(t, 0, "mark-leaving", "i2", "-g", p.group, "--force")
	eventually(t, 20*time.Second, "i1 learns four tasks of i2", func() bool { _, n := p.lastShare(t, "i1"); return n == 4 })
	var g *model.Group
	eventually(t, 20*time.Second, "the leader's word is that of the present round", func() bool {
		g = p.model(t)
		return g.PlugIn != nil && g.PlugIn.Fresh && len(g.PlugIn.Learners) == 4
	})
	if g.Topology.Source != "status" || len(g.Topology.Uncertain) > 0 || g.Positions.Basis != model.PositionsStatus || g.Positions.AsOf == nil {
		t.Errorf("topology %+v, positions %+v", g.Topology, g.Positions)
	}
	for _, s := range g.Topology.Subtopologies {
		if len(s.Stores) != 1 || len(s.ChangelogTopics) != 1 || s.Stateful == nil || !*s.Stateful || s.Inferred {
			t.Errorf("sub-topology %+v", s)
		}
	}
	learners, learned := 0, 0
	for i := range g.Instances {
		for _, m := range g.Instances[i].Members {
			for _, x := range m.Tasks {
				if x.Inferred || x.Uncertain {
					t.Errorf("%s on %s is inferred", x.ID, m.Name)
				}
				if x.Role == model.Learner && x.Reason == "evacuation" && x.Restore.RemainingRecords != nil {
					learners++
				}
				if x.Role == model.Active && slices.Contains(x.Tags, model.BeingLearned) && slices.Contains(x.Tags, model.IsLeaving) {
					learned++
				}
			}
		}
	}
	if learners != 4 || learned != 4 {
		t.Errorf("%d learners, %d tasks being learned, want 4 each", learners, learned)
	}
	doc := c.streamctl(t, "describe", "group", p.group, "-o", "json").stdout
	contains(t, "document", doc, `"reason":"evacuation"`, `"stores":["bykey"]`, `"source":"status"`, `"plug_in":{`)
	p.must(t, 0, "unmark", "i2", "-g", p.group)
	eventually(t, 20*time.Second, "i1 learns nothing more", func() bool { _, n := p.lastShare(t, "i1"); return n == 0 })
}

// model is the group as streamctl sees it in a snapshot.
func (p *pluginApp) model(t testing.TB) *model.Group {
	t.Helper()
	s, err := snapshot.Read(bytes.NewReader([]byte(p.must(t, 0, "snapshot", p.group).stdout)))
	if err != nil {
		t.Fatal(err)
	}
	g, err := groupmeta.Build(s, p.group, groupmeta.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A plan taken before is what the plug-in then does, round by round and to the
// task: as `plan --leaving -o json` tells it, and down to the thread.
func pluginPlanned(t *testing.T) {
	t.Parallel()
	for standbys := range 2 {
		t.Run(fmt.Sprintf("%d standbys", standbys), func(t *testing.T) {
			t.Parallel()
			planDrain(t, standbys)
		})
	}
}

func planDrain(t *testing.T, standbys int) {
	t.Helper()
	c := env.cluster(t, v431)
	group := fmt.Sprintf("plug-plan%d", standbys)
	p := c.startPlugin(t, group, tagged(map[string]string{
		"max.warmup.replicas": "2", "num.standby.replicas": fmt.Sprint(standbys), "app.restore.delay.ms": "1500",
		"streamctl.followup.interval.ms": "8000",
	}))
	for _, i := range []string{"i1", "i2", "i3"} {
		p.run(t, i)
	}
	p.waitCounts(t, 2*time.Minute, map[string]int{"i1": 4, "i2": 4, "i3": 4})
	c.produce(t, group+"-in", stateRecords, 600, 480)
	c.waitCommitted(t, p.group, group+"-in", p.group+"-byvalue-repartition")
	p.settle(t)
	if _, err := p.topic.Ensure(t.Context()); err != nil { // so that the leader tells its settings
		t.Fatal(err)
	}
	p.rebalance(t)
	p.settle(t)
	eventually(t, 20*time.Second, "the leader has told of the present round", func() bool { g := p.model(t); return g.PlugIn != nil && g.PlugIn.Fresh })

	set := []string{"--set", "streamctl.followup.interval.ms=8000", "--set", "heartbeat.interval.ms=500"}
	told := parsed[planDoc](t, p.must(t, 0, append([]string{"plan", p.group, "--leaving", "i2", "-o", "json"}, set...)...))
	in, err := plan.FromGroup(p.model(t))
	if err != nil {
		t.Fatal(err)
	}
	forecast, err := plan.Trace(in, plan.Options{Changes: []plan.Change{plan.Leaving{Instance: "i2"}}, Set: map[string]string{plan.KeyFollowUp: "8000", plan.KeyHeartbeat: "500"}})
	if err != nil {
		t.Fatal(err)
	}
	from := len(p.log.of(t, p.group))
	before := p.log.of(t, p.group)[from-1]
	p.must(t, 0, "mark-leaving", "i2", "-g", p.group, "--wait", "--timeout", "3m")
	p.waitCounts(t, time.Minute, map[string]int{"i1": 6, "i2": 0, "i3": 6})
	p.settle(t)
	rounds := p.log.of(t, p.group)[from:]
	var was, want []string
	for _, r := range rounds {
		was = appendNew(was, roundText(r.members))
	}
	for _, r := range forecast {
		var members []roundMember
		for _, m := range r.Members {
			members = append(members, roundMember{process: m.Process, thread: m.Thread, active: m.Active, standby: m.Standby})
		}
		want = appendNew(want, roundText(members))
	}
	if !slices.Equal(was, want) {
		t.Errorf("%d rounds (alike ones in a row counted once), predicted %d:\n%s\npredicted:\n%s", len(was), len(want), strings.Join(was, "\n\n"), strings.Join(want, "\n\n"))
		p.logRounds(t, from-1)
	}
	if standbys == 0 {
		if was, want := eventsOf(before, rounds), told.events(); !slices.Equal(was, want) {
			t.Errorf("what happened:\n%s\nas plan -o json told it:\n%s", strings.Join(was, "\n"), strings.Join(want, "\n"))
		}
	}
	t.Logf("%d rounds, %d that differ, as predicted", len(rounds), len(was))
}

// appendNew leaves out a round that changed nothing.
func appendNew(list []string, text string) []string {
	if n := len(list); n > 0 && list[n-1] == text {
		return list
	}
	return append(list, text)
}

func roundText(members []roundMember) string {
	var out []string
	for _, m := range members {
		out = append(out, fmt.Sprintf("%s/%d A %s S %s", m.process[:8], m.thread, words(m.active), words(m.standby)))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// events are the moves and the learners that begin, a line a round that has some.
func (d planDoc) events() []string {
	var out []string
	for _, r := range d.Rounds {
		var list []string
		for _, m := range r.Moves {
			list = append(list, fmt.Sprintf("%s %s -> %s", m.Task, m.From[:8], m.To[:8]))
		}
		for _, l := range r.Learners {
			list = append(list, fmt.Sprintf("%s learned by %s", l.Task, l.Instance[:8]))
		}
		if slices.Sort(list); len(list) > 0 {
			out = append(out, strings.Join(list, ", "))
		}
	}
	return out
}

// eventsOf are those of rounds that were held, in an app without standbys.
func eventsOf(before coordinatorRound, rounds []coordinatorRound) []string {
	owner, held := ownersOf(before), map[string]bool{}
	var out []string
	for _, r := range rounds {
		var list []string
		now := map[string]bool{}
		for _, m := range r.members {
			for _, x := range m.standby {
				k := m.process + " " + x.String()
				if now[k] = true; !held[k] {
					list = append(list, fmt.Sprintf("%s learned by %s", x, m.process[:8]))
				}
			}
		}
		for task, to := range ownersOf(r) {
			if from := owner[task]; from != to {
				list = append(list, fmt.Sprintf("%s %s -> %s", task, from[:8], to[:8]))
			}
			owner[task] = to
		}
		held = now
		if slices.Sort(list); len(list) > 0 {
			out = append(out, strings.Join(list, ", "))
		}
	}
	return out
}
