//go:build realkafka

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// drainGroup is a streams group of three instances of one thread each, pod-a to
// pod-c, of which pod-c is drained; 12 stateful tasks, two stores.
type drainGroup struct {
	*tried
	pods map[string]string // process id by name
	seen int               // lines of the app before pod-c stopped
	busy bool              // records come all the while: which of two copies is a little ahead, and gets the task, changes
}

const standbysSetting = "streams.num.standby.replicas"

// startDrained starts the group and waits until its state is written.
func (c *cluster) startDrained(t *testing.T, group string, records int, settings ...string) *drainGroup {
	t.Helper()
	g := &drainGroup{tried: &tried{name: group, c: c, group: group}, pods: map[string]string{}}
	topic := group + "-in"
	c.createTopic(t, topic, 6)
	g.a = c.startApp(t, appSpec{group: group, topic: topic, streams: true, settings: map[string]string{"num.stream.threads": "1"}})
	for _, pod := range []string{"pod-a", "pod-b", "pod-c"} {
		g.pods[pod] = g.process(pod)
		g.add(t, pod, settings...)
	}
	c.produce(t, topic, records, records/3, records/4)
	g.spread(t)
	c.waitCommitted(t, group, topic, group+"-byvalue-repartition")
	return g
}

func (g *drainGroup) add(t *testing.T, pod string, settings ...string) {
	t.Helper()
	g.a.add(t, pod, append([]string{"app.process.id=" + g.pods[pod]}, settings...)...)
}

// spread waits until each instance runs four tasks and the group is at rest.
func (g *drainGroup) spread(t *testing.T) {
	t.Helper()
	eventually(t, 90*time.Second, g.group+" has spread its tasks", func() bool {
		for pod := range g.pods {
			if active, _ := g.a.count(t, pod); active != 4 || g.a.last("STATE", pod) != "RUNNING" {
				return false
			}
		}
		return g.c.describeStreams(t, g.group).State == "Stable"
	})
}

// again starts pod-c once more, with the state that it left.
func (g *drainGroup) again(t *testing.T) {
	t.Helper()
	g.add(t, "pod-c")
	g.spread(t)
}

// owners gives the process that runs each task.
func (g *drainGroup) owners(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	d := g.c.describeStreams(t, g.group)
	for _, m := range d.Members {
		for _, id := range taskIDs(m.Assignment.ActiveTasks) {
			out[id.String()] = m.ProcessID
		}
	}
	return out
}

// setting gives a setting of the group and whether it is the group's own.
func (c *cluster) setting(t testing.TB, group, key string) (value string, own bool) {
	t.Helper()
	req := kmsg.NewPtrDescribeConfigsRequest()
	rs := kmsg.NewDescribeConfigsRequestResource()
	rs.ResourceType, rs.ResourceName, rs.ConfigNames = kmsg.ConfigResourceTypeGroupConfig, group, []string{key}
	req.Resources = append(req.Resources, rs)
	resp, err := req.RequestWith(t.Context(), c.client)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range resp.Resources[0].Configs {
		if x.Name == key && x.Value != nil {
			return *x.Value, x.Source == kmsg.ConfigSourceGroupConfig
		}
	}
	t.Fatalf("the broker tells no %s of group %s: %+v", key, group, resp.Resources[0])
	return "", false
}

// asBefore makes sure that the group has no setting of its own, no mark and no
// record of a drain.
func (g *drainGroup) asBefore(t testing.TB) {
	t.Helper()
	if v, own := g.c.setting(t, g.group, standbysSetting); v != "0" || own {
		t.Errorf("%s is %s, the group's own: %t; it was 0, the brokers' default", standbysSetting, v, own)
	}
	var d struct {
		Verdict struct{ Findings []struct{ Code, Text string } }
		Marks   []struct{ Instance string }
	}
	res := g.c.streamctl(t, "describe", "group", g.group, "-o", "json")
	if err := json.Unmarshal([]byte(res.stdout), &d); err != nil {
		t.Fatalf("%v: %s%s", err, res.stdout, res.stderr)
	}
	for _, f := range d.Verdict.Findings {
		if f.Code == "raised-standbys" || f.Code == "leaving" || f.Code == "stale-mark" {
			t.Errorf("finding %s: %s", f.Code, f.Text)
		}
	}
	if len(d.Marks) > 0 {
		t.Errorf("marks are left: %+v", d.Marks)
	}
}

// finding reports whether describe shows a finding.
func (g *drainGroup) finding(t testing.TB, code string) bool {
	t.Helper()
	res := g.c.streamctl(t, "describe", "group", g.group, "-o", "json")
	return strings.Contains(res.stdout, `"code":"`+code+`"`)
}

// stop stops pod-c.
func (g *drainGroup) stop(t *testing.T) {
	t.Helper()
	g.seen = len(g.a.proc.output())
	g.a.closeInstance(t, "pod-c")
}

// whereForetold makes sure that the drain was right: every task went where it
// was foretold, and no active task restored more than a few records.
func (g *drainGroup) whereForetold(t *testing.T, doc drainDoc) {
	t.Helper()
	owners := g.owners(t)
	told := map[string][]string{}
	for _, d := range doc.Standbys.Departures {
		told[d.Task] = d.To
	}
	if len(told) < 4 {
		t.Errorf("%d departures were foretold, want 4 or more: %+v", len(told), doc.Standbys)
	}
	for task, to := range told {
		if to[0] != owners[task] && !(g.busy && slices.Contains(to, owners[task])) {
			t.Errorf("%s is with %s, foretold was %v", task, owners[task], to)
		}
	}
	if doc.Leaving == nil || len(doc.Leaving.HandedOver) < 4 {
		t.Errorf("handed over: %+v", doc.Leaving)
	} else {
		for _, h := range doc.Leaving.HandedOver {
			if h.Cold == nil || *h.Cold {
				t.Errorf("%s on %s: cold %v", h.Task, h.To, h.Cold)
			}
		}
	}
	g.noneCold(t)
}

// coldRestore is how many records a restore of an active task must have at least
// to be one: a copy that has caught up has next to none left.
const coldRestore = 50

// noneCold makes sure that no active task restored since pod-c stopped.
func (g *drainGroup) noneCold(t *testing.T) {
	t.Helper()
	if n := g.cold(t); n > 0 {
		t.Errorf("%d stores of active tasks restored cold", n)
	}
}

// cold counts the stores that active tasks of the others restored since pod-c
// stopped.
func (g *drainGroup) cold(t *testing.T) int {
	t.Helper()
	n := 0
	for _, l := range g.a.proc.output()[g.seen:] {
		words := strings.Fields(l)
		if len(words) != 4 || words[0] != "RESTORE" || words[1] == "pod-c" {
			continue
		}
		records, err := strconv.Atoi(words[3])
		if err != nil {
			t.Fatal(err)
		}
		if records >= coldRestore {
			t.Log(l)
			n++
		}
	}
	return n
}

// unmark ends a drain at once.
func (g *drainGroup) unmark(t *testing.T, instance string) {
	t.Helper()
	res := g.c.streamctl(t, "unmark", instance, "-g", g.group)
	if res.code != 0 {
		t.Errorf("unmark: exit %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	g.asBefore(t)
	eventually(t, 30*time.Second, g.group+" is at rest", func() bool { return g.c.describeStreams(t, g.group).State == "Stable" })
}

// finish goes on with a drain and stops pod-c when it is safe.
func (g *drainGroup) finish(t *testing.T) {
	t.Helper()
	d := g.drain(t, nil, "--raise-standbys", "--wait", "--timeout", "2m")
	d.says(t, stepSafe)
	g.stop(t)
	code, doc, said := d.end(t)
	if code != 0 || !doc.Standbys.PutBack {
		t.Errorf("exit %d, %+v\n%s", code, doc, said)
	}
	g.whereForetold(t, doc)
	g.asBefore(t)
}

// fresh starts all instances anew, with settings and without state.
func (g *drainGroup) fresh(t *testing.T, settings ...string) {
	t.Helper()
	for pod := range g.pods {
		g.a.closeInstance(t, pod)
	}
	for pod := range g.pods {
		if err := os.RemoveAll(filepath.Join(g.a.dir, pod)); err != nil {
			t.Fatal(err)
		}
	}
	for pod := range g.pods {
		g.add(t, pod, settings...)
	}
	g.spread(t)
}

// alterGroup sets a setting of a group and gives the broker's error.
func (c *cluster) alterGroup(t testing.TB, group, key, value string) error {
	t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	rs := kmsg.NewIncrementalAlterConfigsRequestResource()
	rs.ResourceType, rs.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	cfg := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	cfg.Name, cfg.Op, cfg.Value = key, kmsg.IncrementalAlterConfigOpSet, &value
	rs.Configs = append(rs.Configs, cfg)
	req.Resources = append(req.Resources, rs)
	resp, err := req.RequestWith(t.Context(), c.client)
	if err != nil {
		t.Fatal(err)
	}
	if r := resp.Resources[0]; r.ErrorCode != 0 {
		message := ""
		if r.ErrorMessage != nil {
			message = *r.ErrorMessage
		}
		return fmt.Errorf("%w: %s", kerr.ErrorForCode(r.ErrorCode), message)
	}
	return nil
}

// deleteSetting takes the group's own value away.
func (c *cluster) deleteSetting(t testing.TB, group, key string) {
	t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	rs := kmsg.NewIncrementalAlterConfigsRequestResource()
	rs.ResourceType, rs.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	cfg := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	cfg.Name, cfg.Op = key, kmsg.IncrementalAlterConfigOpDelete
	rs.Configs = append(rs.Configs, cfg)
	req.Resources = append(req.Resources, rs)
	if resp, err := req.RequestWith(t.Context(), c.client); err != nil || resp.Resources[0].ErrorCode != 0 {
		t.Fatalf("delete %s of group %s: %v %+v", key, group, err, resp)
	}
}
