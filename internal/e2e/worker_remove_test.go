//go:build realkafka

package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/chaos"
)

// removeSession is so long that nothing here waits for its end: who has gone
// within it was thrown out.
const removeSession = 3 * time.Minute

// A worker instance that has died is thrown out: its tasks are with the others
// long before its session is over. One that lives comes back, and that is said.
// Nothing is lost.
func TestRemoveMemberWorkers(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	const group = "thrown-workers"
	j, stop := c.startJob(t, chaos.Options{Group: group, Workers: 2, Settings: evenly(), Session: removeSession}, "a", "b", "c")
	c.refusals(t, group, [][]string{
		{group, "--instance", "d"}, {group, "--member", "d"}, {group, "--instance-id", "c"}, {"thrown-nowhere", "--instance", "c"},
	})
	had := j.owned("c")
	j.Kill("c")
	killed := time.Now()
	if doc := parseChange(t, j.must(0, "remove-member", group, "--instance", "c", "--dry-run", "-o", "json")); doc.Done || len(doc.RemoveMember.Members) != 2 || doc.RemoveMember.Members[0].Removed {
		t.Errorf("a dry run: %+v", doc)
	}
	if n := len(memberIDs(c.describeClassic(t, group))); n != 6 {
		t.Fatalf("%d members, not 6: is the dead one gone already?", n)
	}
	j.must(2, "remove-member", group, "--instance", "c") // nobody to ask
	j.must(2, "remove-member", group, "--yes")
	res := j.must(0, "remove-member", group, "--instance", "c", "--yes", "-o", "json", "--reason", "its node is gone")
	var tasks []string
	for _, m := range parseChange(t, res).RemoveMember.Members {
		if !m.Removed || m.Instance != j.Pod("c").ID {
			t.Errorf("member %+v", m)
		}
		tasks = append(tasks, m.Tasks...)
	}
	slices.Sort(tasks)
	if !slices.Equal(tasks, had) || len(had) != 4 || !parseChange(t, res).Done {
		t.Errorf("it threw out %v, c had %v: %s", tasks, had, res.stdout)
	}
	if n := len(memberIDs(c.describeClassic(t, group))); n != 4 {
		t.Errorf("%d members are left, not 4", n)
	}
	j.Running()
	if took := time.Since(killed); took > removeSession/2 {
		t.Errorf("its tasks run after %v: was it thrown out?", took)
	} else {
		t.Logf("its tasks run %v after the kill", took.Round(10*time.Millisecond))
	}

	before := memberIDs(c.describeClassic(t, group))
	res = j.must(0, "remove-member", group, "--instance", "b", "--yes")
	if !strings.Contains(res.stdout, "removed from "+group) || !strings.Contains(oneText(res.stdout), "came back, so it is alive: b") {
		t.Errorf("one that lives: %s", res.stdout)
	}
	t.Log(res.stderr, res.stdout)
	c.waitMembers(t, group, false, 4)
	if after := memberIDs(c.describeClassic(t, group)); slices.Equal(before, after) {
		t.Errorf("the members are as before: %v", after)
	}
	j.end(stop, true)
}

// Groups whose members cannot be thrown out, and members that are not there, are
// refused with exit code 1, and nobody is thrown out.
func (c *cluster) refusals(t testing.TB, group string, more [][]string) {
	t.Helper()
	plain, err := kgo.NewClient(kgo.SeedBrokers(c.addrs...), kgo.ConsumerGroup(group+"-plain"), kgo.ConsumeTopics(group+"-orders"), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	c.waitMembers(t, group+"-plain", false, 1)
	before := memberIDs(c.describeClassic(t, group))
	for _, args := range append(more, []string{group + "-plain", "--instance", "kgo"}) {
		res := c.streamctl(t, append([]string{"remove-member", "--yes"}, args...)...)
		if res.code != 1 || res.stdout != "" || res.stderr == "" {
			t.Errorf("%v: exit %d\n%s%s", args, res.code, res.stdout, res.stderr)
		}
		t.Logf("%v: %s", args, res.stderr)
	}
	if after := memberIDs(c.describeClassic(t, group)); !slices.Equal(before, after) || len(memberIDs(c.describeClassic(t, group+"-plain"))) != 1 {
		t.Errorf("members %v, before %v", after, before)
	}
}

// Instances of a Streams app that were closed stay members: it does not leave
// when it ends, and a static one never does. Thrown out, the one by its client id
// and the other by its static id, their tasks are with the one that stays at once,
// and not after the session.
func TestRemoveMemberClassic(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	const group = "thrown"
	c.createTopic(t, "thrown-in", 6)
	c.produce(t, "thrown-in", 6000, 300, 200)
	a := c.startApp(t, appSpec{group: group, topic: "thrown-in", settings: map[string]string{"session.timeout.ms": millis(removeSession), "heartbeat.interval.ms": "500"}})
	a.add(t, "pod-a")
	a.waitActive(t, "pod-a", 12)
	a.add(t, "pod-b")
	a.add(t, "pod-c", "group.instance.id=static-c")
	eventually(t, 2*time.Minute, "4, 4 and 4 active tasks", func() bool {
		for _, pod := range []string{"pod-a", "pod-b", "pod-c"} {
			if n, _ := a.count(t, pod); n != 4 {
				return false
			}
		}
		return true
	})
	c.waitMembers(t, group, false, 6)

	a.closeInstance(t, "pod-b")
	closed := time.Now()
	if n := len(memberIDs(c.describeClassic(t, group))); n != 6 {
		t.Fatalf("%d members, not 6: did it leave?", n)
	}
	res := c.streamctl(t, "remove-member", group, "--instance", "pod-b", "--yes", "-o", "json")
	doc := parseChange(t, res)
	tasks := 0
	for _, m := range doc.RemoveMember.Members {
		tasks += len(m.Tasks)
	}
	if res.code != 0 || !doc.Done || len(doc.RemoveMember.Members) != 2 || tasks != 4 {
		t.Errorf("exit %d: %s%s", res.code, res.stdout, res.stderr)
	}
	c.waitMembers(t, group, false, 4)

	a.closeInstance(t, "pod-c")
	res = c.streamctl(t, "remove-member", group, "--instance-id", "static-c", "--yes")
	if res.code != 0 || !strings.Contains(res.stdout, "removed from "+group+": ") || strings.Contains(res.stdout, "alive") {
		t.Errorf("exit %d: %s%s", res.code, res.stdout, res.stderr)
	}
	t.Log(res.stderr, res.stdout)
	a.waitActive(t, "pod-a", 12)
	c.waitMembers(t, group, false, 2)
	if took := time.Since(closed); took > removeSession {
		t.Errorf("the tasks run after %v: sessions were over by then", took)
	}
	if res := c.streamctl(t, "remove-member", group, "--instance-id", "static-c", "--yes"); res.code != 1 || !strings.Contains(res.stderr, `has the static id "static-c"`) {
		t.Errorf("once more: exit %d: %s%s", res.code, res.stdout, res.stderr)
	}
	one := memberIDs(c.describeClassic(t, group))[0]
	if res := c.streamctl(t, "remove-member", group, "--member", one, "--yes"); res.code != 0 || !strings.Contains(res.stdout, "came back, so it is alive") {
		t.Errorf("a thread that lives: exit %d: %s%s", res.code, res.stdout, res.stderr)
	}
	eventually(t, time.Minute, "that thread is back under another id", func() bool {
		g := c.describeClassic(t, group)
		ids := memberIDs(g)
		return g.State == "Stable" && len(ids) == 2 && !slices.Contains(ids, one)
	})
	a.waitActive(t, "pod-a", 12)
}
