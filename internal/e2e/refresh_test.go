//go:build realkafka

package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Members of a classic app report how far their copies are when they join a
// round, so that after records came the answer is an old one: check stop cannot
// tell, and with --refresh it asks for a round and can.
func TestCheckStopRefreshed(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	const group = "asked"
	c.createTopic(t, "asked-in", 6)
	a := c.startApp(t, appSpec{group: group, topic: "asked-in", settings: map[string]string{"num.standby.replicas": "1", "heartbeat.interval.ms": "500"}})
	a.add(t, "pod-a")
	a.add(t, "pod-b")
	eventually(t, 90*time.Second, "6 and 6 active tasks", func() bool {
		x, sx := a.count(t, "pod-a")
		y, sy := a.count(t, "pod-b")
		return x == 6 && y == 6 && sx == 6 && sy == 6
	})
	c.waitMembers(t, group, false, 4)
	c.produce(t, "asked-in", 100_000, 50_000, 40_000)
	c.waitCommitted(t, group, "asked-in", group+"-byvalue-repartition")
	before := memberIDs(c.describeClassic(t, group))
	check := []string{"check", "stop", "pod-a", "-g", group}
	for _, x := range []struct {
		args []string
		code int
		says string
	}{
		{check, 3, "cannot tell: 6 tasks on pod-a may wait for state"},
		{append(check, "--refresh"), 2, "there is no terminal to ask on"},
		{append(check, "--refresh", "--dry-run"), 3, "dry run: nothing was asked for; the answer is that of the last round"},
		{append(check, "--refresh", "--yes"), 0, "yes: every one of the 6 active tasks on pod-a has a caught-up copy elsewhere"},
		{check, 0, "yes: "},
		{append(check, "--refresh", "--yes"), 0, "the answer is yes already: nothing is asked for"},
	} {
		res := c.streamctl(t, x.args...)
		if res.code != x.code || !strings.Contains(oneText(res.stdout+" "+res.stderr), x.says) {
			t.Errorf("%v: exit %d, want %d and %q\n%s%s", x.args, res.code, x.code, x.says, res.stdout, res.stderr)
		}
	}
	if after := memberIDs(c.describeClassic(t, group)); !slices.Equal(before, after) {
		t.Errorf("members %v, before %v", after, before)
	}
}
