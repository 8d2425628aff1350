//go:build realkafka

package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// changeDoc is what the tests read of a Change.
type changeDoc struct {
	Kind, Change, Group string
	Done                bool
	Rebalance           *struct {
		Asked []struct {
			At       time.Time
			Visitor  string
			TookMs   *int64 `json:"took_ms"`
			Caught   bool
			Moved    int
			Balanced *bool
		}
	}
	RemoveMember *struct {
		Members []struct {
			Member, Instance string
			Removed          bool
			Tasks            []string
		}
	} `json:"remove_member"`
	Mode *struct {
		Epoch       *int64
		DelayMs     *int64   `json:"initial_delay_ms"`
		PauseMs     *int64   `json:"pause_ms"`
		RolledBack  bool     `json:"rolled_back"`
		NotFollowed []string `json:"not_followed"`
	}
	Leaving *struct {
		Marks []struct {
			Mark, Instance         string
			Before, Honoured, Gone bool
		}
		HandedOver []struct {
			Task, To string
			Cold     *bool
		} `json:"handed_over"`
	}
	Replace *struct {
		Resumed  bool
		Old, New []string
		Steps    []struct {
			Step string
			Done bool
		}
	}
	Wait *struct {
		Met      bool
		WaitedMs int64 `json:"waited_ms"`
	}
}

func parseChange(t testing.TB, res result) changeDoc {
	t.Helper()
	var c changeDoc
	if err := json.Unmarshal([]byte(res.stdout), &c); err != nil || c.Kind != "Change" {
		t.Fatalf("exit %d, no Change: %v\nstdout: %s\nstderr: %s", res.code, err, res.stdout, res.stderr)
	}
	return c
}

// lastProbing is when, by the plan, the last task moves without anybody asking:
// the time of the last round in which something moves.
func (c *cluster) lastProbing(t testing.TB, group string) time.Duration {
	t.Helper()
	res := c.streamctl(t, "plan", group, "-o", "json")
	if res.code != 0 {
		t.Fatalf("plan: exit %d: %s", res.code, res.stderr)
	}
	var p struct {
		Rounds []struct {
			AtS   float64 `json:"at_s"`
			Moves []json.RawMessage
		}
		After struct{ Balanced bool }
	}
	if err := json.Unmarshal([]byte(res.stdout), &p); err != nil {
		t.Fatal(err)
	}
	last := 0.0
	for _, r := range p.Rounds {
		if len(r.Moves) > 0 {
			last = r.AtS
		}
	}
	if !p.After.Balanced || last == 0 {
		t.Fatalf("the plan ends unbalanced or moves nothing: %s", res.stdout)
	}
	return time.Duration(last * float64(time.Second))
}

func memberIDs(g kmsg.DescribeGroupsResponseGroup) []string {
	var out []string
	for _, m := range g.Members {
		out = append(out, m.MemberID)
	}
	slices.Sort(out)
	return out
}

// A classic app with the timeouts that Kafka Streams has by default grows from
// one instance to two. Asked for rebalances it is balanced at least twenty times
// sooner than its own probing would make it, by the plan; nobody is thrown out,
// no task is lost, and the visitor is gone. It runs alone, since its time is
// measured.
func TestRebalanceUntilConverged(t *testing.T) {
	c := env.cluster(t, v431)
	const group = "grown"
	c.createTopic(t, "grown-in", 6)
	c.produce(t, "grown-in", 300_000, 150_000, 120_000)
	a := c.startApp(t, appSpec{group: group, topic: "grown-in", settings: map[string]string{
		"session.timeout.ms": "45000", "heartbeat.interval.ms": "3000", // Kafka's defaults
	}})
	a.add(t, "pod-a")
	a.waitActive(t, "pod-a", 12)
	c.waitCommitted(t, group, "grown-in", group+"-byvalue-repartition")
	a.add(t, "pod-b")
	a.waitState(t, "pod-b", "RUNNING")
	eventually(t, 60*time.Second, "pod-b has two warm-ups", func() bool {
		_, warm := a.count(t, "pod-b")
		return warm == 2
	})
	c.waitMembers(t, group, false, 4)
	before := memberIDs(c.describeClassic(t, group))
	probing := c.lastProbing(t, group)

	began := time.Now()
	res := c.streamctl(t, "rebalance", group, "--until", "converged", "--yes", "-o", "json")
	took := time.Since(began)
	if res.code != 0 {
		t.Fatalf("exit %d: %s", res.code, res.stderr)
	}
	doc := parseChange(t, res)
	if !doc.Done || doc.Wait == nil || !doc.Wait.Met || doc.Rebalance == nil {
		t.Errorf("document %s", res.stdout)
	}
	t.Logf("balanced after %s and %d rebalances; probing alone would move the last task after %s, %.0f times later\n%s",
		took.Round(100*time.Millisecond), len(doc.Rebalance.Asked), probing, probing.Seconds()/took.Seconds(), res.stderr)
	if probing < 20*took {
		t.Errorf("took %s, and the plan without it %s: less than twenty times as long", took, probing)
	}
	for i, r := range doc.Rebalance.Asked[1:] {
		if gap := r.At.Sub(doc.Rebalance.Asked[i].At); gap < 5*time.Second {
			t.Errorf("rebalances %s apart, the least interval is 5s", gap)
		}
	}
	after := c.describeClassic(t, group)
	if !slices.Equal(before, memberIDs(after)) || after.State != "Stable" {
		t.Errorf("state %s, members %v, before %v", after.State, memberIDs(after), before)
	}
	c.allTasks(t, a, group, 6, 6)
}

// allTasks holds that the two instances run so many of the twelve tasks, each
// one of them once, that the group says the same, and that no thread has died.
func (c *cluster) allTasks(t testing.TB, a *app, group string, x, y int) {
	t.Helper()
	eventually(t, 30*time.Second, "12 tasks run", func() bool {
		na, _ := a.count(t, "pod-a")
		nb, _ := a.count(t, "pod-b")
		return na == x && nb == y
	})
	var all []string
	for _, pod := range []string{"pod-a", "pod-b"} {
		for _, th := range a.tasks(t, pod) {
			all = append(all, th.Active...)
		}
		if s := a.last("STATE", pod); s != "RUNNING" {
			t.Errorf("%s is %s", pod, s)
		}
	}
	slices.Sort(all)
	if once := slices.Compact(slices.Clone(all)); len(once) != 12 || len(all) != 12 {
		t.Errorf("tasks %v", all)
	}
	d := c.describe(t, group)
	sameLines(t, "roles", d.holdings(true), a.holdings(t, "pod-a", "pod-b"))
	for _, l := range a.proc.output() {
		if strings.Contains(l, "SHUTDOWN") || strings.Contains(l, "PENDING_ERROR") || strings.Contains(l, "STATE pod-a ERROR") || strings.Contains(l, "STATE pod-b ERROR") {
			t.Errorf("the app says: %s", l)
		}
	}
}
