//go:build realkafka

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// everyChange says that all changes are to be made, not only the quick ones.
func everyChange() bool { return os.Getenv("E2E_ALL") == "1" }

// tried is a group to be changed: what it is before, what is done, and what the
// plan says of it.
type tried struct {
	name     string   // of the group and the change
	quick    bool     // also made without E2E_ALL
	start    []string // instances before the change, of one thread each
	settings map[string]string
	words    []string // add NAME..., stop NAME, thread NAME, restart NAME..., standbys
	swaps    bool     // which thread of a process gets what hangs on which joined first

	c     *cluster
	a     *app
	group string

	shot     string // file of the snapshot taken before the change
	in       *plan.Input
	forecast []plan.TracedRound
	document *plan.Plan
	told     []toldRound // by streamctl plan; nil: it was not asked
}

// chosen are the changes of this run.
func chosen(all []*tried) []*tried {
	return slices.DeleteFunc(all, func(g *tried) bool { return !g.quick && !everyChange() })
}

// process is the process id of an instance: written into its state directory
// before it starts, and the same in every run.
func (g *tried) process(instance string) string {
	sum := sha256.Sum256([]byte(g.name + " " + instance))
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // as Java draws them
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[0:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// run starts an instance.
func (g *tried) run(t testing.TB, instance string, settings ...string) {
	t.Helper()
	all := []string{"application.id=" + g.group, "app.process.id=" + g.process(instance), "num.stream.threads=1"}
	for k, v := range g.settings {
		all = append(all, k+"="+v)
	}
	g.a.add(t, g.group+"-"+instance, append(all, settings...)...)
}

// make does what the words say.
func (g *tried) make(t testing.TB) {
	t.Helper()
	say := func(word, instance string) {
		if err := g.a.proc.say(word + " " + g.group + "-" + instance); err != nil {
			t.Fatal(g.a.proc.failure(err.Error()))
		}
	}
	verb, instances := g.words[0], g.words[1:]
	switch verb {
	case "add":
		for _, i := range instances {
			g.run(t, i)
		}
	case "stop":
		say("close", instances[0])
	case "thread":
		say("thread", instances[0])
	case "restart": // with standbys
		for _, i := range instances {
			say("close", i)
		}
		for _, i := range instances {
			g.run(t, i, "num.standby.replicas=1")
		}
	default:
		t.Fatalf("what is %q?", verb)
	}
}

// changes are the words as a plan takes them.
func (g *tried) changes() []plan.Change {
	verb, instances := g.words[0], g.words[1:]
	switch verb {
	case "add":
		a := plan.Add{Count: len(instances), Threads: 1}
		for _, i := range instances {
			a.IDs = append(a.IDs, g.process(i))
		}
		return []plan.Change{a}
	case "stop":
		return []plan.Change{plan.Remove{Instance: g.process(instances[0])}}
	case "thread":
		return []plan.Change{plan.Threads{Instance: g.process(instances[0]), Count: 2}}
	case "restart":
		var out []plan.Change
		for _, i := range instances {
			out = append(out, plan.Bounce{Instance: g.process(i)})
		}
		return out
	}
	return nil
}

// snapshot saves what there is to see of the group.
func (g *tried) snapshot(t testing.TB) {
	t.Helper()
	res := g.c.streamctl(t, "snapshot", g.group)
	if res.code != 0 {
		t.Fatalf("snapshot of %s: exit %d: %s", g.group, res.code, res.stderr)
	}
	g.shot = filepath.Join(t.TempDir(), g.group+".json")
	if err := os.WriteFile(g.shot, []byte(res.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
}

// plan takes the plan from the snapshot alone.
func (g *tried) plan(t testing.TB, changes []plan.Change, set map[string]string) {
	t.Helper()
	text, err := os.ReadFile(g.shot)
	if err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	topology, err := groupmeta.ParseTopologyText(strings.NewReader(appTopology(g.a.spec.topic)))
	if err != nil {
		t.Fatal(err)
	}
	m, err := groupmeta.Build(s, g.group, groupmeta.BuildOptions{Topology: topology})
	if err != nil {
		t.Fatal(err)
	}
	if g.in, err = plan.FromGroup(m); err != nil {
		t.Fatalf("%s: %v", g.name, err)
	}
	o := plan.Options{Changes: changes, Set: set}
	if g.forecast, err = plan.Trace(g.in, o); err != nil {
		t.Fatalf("%s: %v", g.name, err)
	}
	if g.document, err = plan.Make(g.in, o); err != nil {
		t.Fatalf("%s: %v", g.name, err)
	}
	if len(g.forecast) == 0 {
		t.Fatalf("%s: the plan has no rounds", g.name)
	}
	g.ask(t)
}

// toldRound is a round as streamctl plan writes it.
type toldRound struct {
	Moves []struct{ Task, From, To string }
}

// ask lets streamctl make the same plan from the same file.
func (g *tried) ask(t testing.TB) {
	t.Helper()
	g.told = nil
	topology := g.shot + ".topology"
	if err := os.WriteFile(topology, []byte(appTopology(g.a.spec.topic)), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"plan", g.group, "-o", "json", "--from", g.shot, "--topology", topology}
	for _, c := range g.document.Request.Changes {
		if c.Flag == "wait" { // the command knows none
			return
		}
		args = append(args, "--"+c.Flag, c.Value)
	}
	for k, v := range g.document.Request.Set {
		args = append(args, "--set", k+"="+v)
	}
	res := runCmd(t, streamctlCmd(t.Context(), t, args...))
	var d struct{ Rounds []toldRound }
	if err := json.Unmarshal([]byte(res.stdout), &d); err != nil || res.code != 0 {
		t.Fatalf("%v: exit %d, %v: %s%s", args, res.code, err, res.stdout, res.stderr)
	}
	if len(d.Rounds) != len(g.forecast) {
		t.Fatalf("%v: %d rounds, want %d: %s", args, len(d.Rounds), len(g.forecast), res.stdout)
	}
	g.told = d.Rounds
}

// compareMoves follows the moves that streamctl plan printed, and holds who
// runs each task after each round against the real owners (process by task;
// a task that is withheld has none).
func (g *tried) compareMoves(t *testing.T, came []map[string]string) {
	t.Helper()
	owner := map[string]string{}
	for _, i := range g.in.Instances {
		for _, m := range i.Members {
			for _, task := range m.Active {
				owner[g.in.Topology.ID(task).String()] = i.ID
			}
		}
	}
	for n, r := range g.told {
		for _, m := range r.Moves {
			if owner[m.Task] != m.From {
				t.Errorf("round %d moves %s from %s, which %s runs", n+1, m.Task, m.From, owner[m.Task])
			}
			owner[m.Task] = m.To
		}
		if n >= len(came) {
			return
		}
		for task, process := range came[n] {
			if owner[task] != process {
				t.Errorf("round %d: %s is with %s, the printed plan says %s", n+1, task, process, owner[task])
			}
		}
	}
}

// appTopology is the topology of StreamsApp, as it prints it.
func appTopology(topic string) string {
	return `Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [` + topic + `])
      --> KSTREAM-AGGREGATE-0000000001, KSTREAM-KEY-SELECT-0000000002
    Processor: KSTREAM-KEY-SELECT-0000000002 (stores: [])
      --> byvalue-repartition-filter
      <-- KSTREAM-SOURCE-0000000000
    Processor: byvalue-repartition-filter (stores: [])
      --> byvalue-repartition-sink
      <-- KSTREAM-KEY-SELECT-0000000002
    Processor: KSTREAM-AGGREGATE-0000000001 (stores: [bykey])
      --> none
      <-- KSTREAM-SOURCE-0000000000
    Sink: byvalue-repartition-sink (topic: byvalue-repartition)
      <-- byvalue-repartition-filter
   Sub-topology: 1
    Source: byvalue-repartition-source (topics: [byvalue-repartition])
      --> KSTREAM-AGGREGATE-0000000003
    Processor: KSTREAM-AGGREGATE-0000000003 (stores: [byvalue])
      --> KTABLE-TOSTREAM-0000000007
      <-- byvalue-repartition-source
    Processor: KTABLE-TOSTREAM-0000000007 (stores: [])
      --> KSTREAM-MAPVALUES-0000000008
      <-- KSTREAM-AGGREGATE-0000000003
    Processor: KSTREAM-MAPVALUES-0000000008 (stores: [])
      --> KSTREAM-SINK-0000000009
      <-- KTABLE-TOSTREAM-0000000007
    Sink: KSTREAM-SINK-0000000009 (topic: ` + topic + `-out)
      <-- KSTREAM-MAPVALUES-0000000008
`
}

// ends are the end offsets of everything that belongs to the groups.
func (c *cluster) ends(t testing.TB, groups []*tried) map[string]int64 {
	t.Helper()
	var topics []string
	for _, g := range groups {
		topics = append(topics, g.a.spec.topic, g.group+"-bykey-changelog", g.group+"-byvalue-changelog", g.group+"-byvalue-repartition")
	}
	list, err := c.admin.ListEndOffsets(t.Context(), topics...)
	if err == nil {
		err = list.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for topic, partitions := range list {
		for p, end := range partitions {
			out[fmt.Sprintf("%s-%d", topic, p)] = end.Offset
		}
	}
	return out
}

func words(list []model.TaskID) string {
	var out []string
	for _, id := range list {
		out = append(out, id.String())
	}
	return strings.Join(out, " ")
}
