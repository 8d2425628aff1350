//go:build realkafka

package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// The jar is rolled in, and an instance without it leads: that is said with who
// has it and who is not known to, a plan by its rules is refused, and a mark that
// nobody honours is never taken for a drain. Once one that has it leads, all of
// it works.
func pluginMixed(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	with := c.startPlugin(t, "plug-mixed", tagged(nil))
	without := with.another(t, func(s *appSpec) { s.plugin, s.settings = false, map[string]string{"num.stream.threads": "1"} })
	without.run(t, "i1")
	without.waitCounts(t, 2*time.Minute, map[string]int{"i1": 12})
	with.run(t, "i2")
	with.run(t, "i3")
	eventually(t, 2*time.Minute, "all are there", func() bool { return len(with.model(t).Instances) == 3 })
	with.settle(t)

	told := with.must(t, 0, "describe", "group", with.group)
	contains(t, "describe", told.stdout, model.FindingMixedPlugIn, "2 instances have the plug-in (i2 i3), 1 instance is not known to have it (i1)", "not known of i1")
	contains(t, "plan", with.must(t, 1, "plan", with.group, "--leaving", "i2").stderr, "unless their last round was led by streamctl's plug-in")
	res := with.must(t, 4, "mark-leaving", "i2", "-g", with.group, "--wait", "--timeout", "6s")
	contains(t, "mark-leaving", res.stderr, "not known to have the plug-in: i1", "the mark of i2 is not honoured yet")
	with.must(t, 0, "unmark", "i2", "-g", with.group, "--no-rebalance")

	without.closeInstance(t, "i1")
	eventually(t, time.Minute, "the others have all tasks", func() bool {
		a, _ := with.count(t, "i2")
		b, _ := with.count(t, "i3")
		return a+b == 12
	})
	with.settle(t)
	with.must(t, 0, "mark-leaving", "i2", "-g", with.group, "--wait", "--timeout", "2m")
	with.waitCounts(t, time.Minute, map[string]int{"i2": 0, "i3": 12})
}

// Two instances are replaced by two new ones, which come while the command waits
// for them; the old ones stay without tasks until they are stopped.
func pluginReplaced(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	p := c.startPlugin(t, "plug-replace", tagged(nil))
	p.startWithState(t)
	writing := p.write300(t, stateRecords)
	lines := len(p.proc.output())
	p.run(t, "i3")
	p.run(t, "i4")
	res := p.must(t, 0, "replace", p.group, "--with", "2", "--yes", "--timeout", "4m", "--reason", "new image")
	t.Logf("replace:\n%s\n%s", res.stderr, res.stdout)
	contains(t, "result", res.stdout, "i3 and i4 run all tasks of plug-replace")
	p.waitCounts(t, time.Minute, map[string]int{"i1": 0, "i2": 0, "i3": 6, "i4": 6})
	if cold := p.restores(lines, pluginLag); len(cold) > 0 {
		t.Errorf("actives that had to restore: %q", cold)
	}
	writing.check(t)
}

// A setting that cannot be ends the app at its start, and what ends it names the
// setting and says what it may be.
func pluginBadSetting(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	p := c.startPlugin(t, "plug-bad", map[string]string{"streamctl.followup.interval.ms": "soon"})
	p.run(t, "i1")
	p.waitState(t, "i1", "ERROR")
	eventually(t, 10*time.Second, "it is said why", func() bool {
		return strings.Contains(p.last("DIED", "i1"), "Invalid value soon for configuration streamctl.followup.interval.ms: it must be a whole number of milliseconds from 100 to 3600000")
	})
}
