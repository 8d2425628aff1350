//go:build realkafka

package e2e

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
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
	hook := streamctlCmd(t.Context(), t, "mark-leaving", "--self", "-g", p.group, "--wait", "--timeout", "30s", "--bootstrap-server", c.addrs[0])
	hook.Env = append(hook.Environ(), "HOSTNAME=i2") // as in its pod
	again := runCmd(t, hook)
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
