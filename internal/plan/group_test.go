package plan

import (
	"fmt"
	"testing"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// made is a group for tests: instances in order, tasks dealt out as told.
type made struct {
	t    testing.TB
	in   *Input
	kind model.Kind
}

// newMade makes a group without instances of one sub-topology.
func newMade(t testing.TB, kind model.Kind, tasks int, stateful bool, end int64) *made {
	t.Helper()
	sub := assign.Subtopology{ID: "0", Partitions: tasks, Stateful: stateful, Sources: []string{"orders"}}
	if stateful {
		sub.Changelogs = []string{"app-store-changelog"}
	}
	for range tasks {
		sub.EndOffsets = append(sub.EndOffsets, end)
	}
	top, err := assign.NewTopology([]assign.Subtopology{sub})
	if err != nil {
		t.Fatal(err)
	}
	in := &Input{Group: "app", Kind: kind, State: model.StateStable, Topology: top, Logs: make([]Log, tasks), Settled: true, Fingerprint: "test"}
	in.Assignor = map[model.Kind]string{model.Classic: assign.NameHighAvailability, model.Streams: assign.NameStreamsSticky, model.Worker: NameLearner}[kind]
	for i := range in.Logs {
		if stateful {
			in.Logs[i] = Log{End: end, Known: true}
		}
	}
	return &made{t, in, kind}
}

func testID(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n) }

// instance adds an instance with so many threads; its active tasks are dealt to
// them in turn.
func (g *made) instance(n, threads int, active ...assign.Task) *made {
	i := Instance{ID: testID(n), Name: fmt.Sprintf("P%d", n), RemainingMs: -1}
	for k := range threads {
		m := Member{
			ID: fmt.Sprintf("app-P%d-StreamThread-%d-consumer-%012d", n, k+1, n), Name: fmt.Sprintf("P%d/T%d", n, k+1),
			ClientID: fmt.Sprintf("app-P%d-StreamThread-%d-consumer", n, k+1), Thread: k + 1, Place: 100*n + k,
		}
		for j, t := range active {
			if j%threads == k {
				m.Active, m.TargetActive = append(m.Active, t), append(m.TargetActive, t)
				m.Reported = append(m.Reported, assign.Offset{Task: t, Sum: assign.SumRunning})
			}
		}
		i.Members = append(i.Members, m)
	}
	g.in.Instances = append(g.in.Instances, i)
	return g
}

// every gives the tasks from first in steps.
func every(first, step, end int) []assign.Task {
	var out []assign.Task
	for t := first; t < end; t += step {
		out = append(out, assign.Task(t))
	}
	return out
}

func (g *made) plan(o Options) *Plan {
	g.t.Helper()
	p, err := Make(g.in, o)
	if err != nil {
		g.t.Fatal(err)
	}
	return p
}

func (p *Plan) finding(code string) string {
	for _, f := range p.Findings {
		if f.Code == code {
			return f.Text
		}
	}
	return ""
}
