//go:build realkafka

package e2e

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
)

// another starts one more JVM of the same app, for instances that are to die
// alone, or that run with other settings.
func (p *pluginApp) another(t testing.TB, change func(*appSpec)) *pluginApp {
	t.Helper()
	spec := p.spec
	if change != nil {
		change(&spec)
	}
	o := *p
	o.app = p.c.startApp(t, spec)
	o.dir = p.dir // a process keeps its state directory wherever it runs
	return &o
}

// waitShares waits until the last round gave each instance so many active tasks
// and all tasks have an owner.
func (p *pluginApp) waitShares(t testing.TB, within time.Duration, want map[string]int) {
	t.Helper()
	eventually(t, within, fmt.Sprintf("%s is assigned %v", p.group, want), func() bool {
		rounds := p.log.of(t, p.group)
		if len(rounds) == 0 || len(ownersOf(rounds[len(rounds)-1])) != 12 {
			return false
		}
		for instance, n := range want {
			if active, _ := p.lastShare(t, instance); active != n {
				return false
			}
		}
		return true
	})
}

// leader is the process that led the last round.
func (p *pluginApp) leader(t testing.TB) string {
	t.Helper()
	rounds := p.log.of(t, p.group)
	last := rounds[len(rounds)-1]
	for i := range last.value.Members {
		if last.value.Leader != nil && last.value.Members[i].MemberID == *last.value.Leader {
			m, err := readMember(&last.value.Members[i])
			if err != nil {
				t.Fatal(err)
			}
			return m.process
		}
	}
	t.Fatalf("group %s has no leader", p.group)
	return ""
}

// The leader is killed while others learn the tasks of a marked instance: the
// next one goes on, and the instance is drained.
func pluginLeaderKilled(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	first := c.startPlugin(t, "plug-leader", map[string]string{"app.restore.delay.ms": "4000"})
	jvms := map[string]*pluginApp{"i1": first, "i2": first.another(t, nil), "i3": first.another(t, nil)}
	for name, p := range jvms {
		p.run(t, name)
	}
	first.waitShares(t, 2*time.Minute, map[string]int{"i1": 4, "i2": 4, "i3": 4})
	c.produce(t, "plug-leader-in", stateRecords, 600, 480)
	c.waitCommitted(t, first.group, "plug-leader-in", first.group+"-byvalue-repartition")
	first.settle(t)
	writing := first.write300(t, stateRecords)

	var leads, leaves, stays string
	for name := range jvms {
		switch {
		case first.process(name) == first.leader(t):
			leads = name
		case leaves == "":
			leaves = name
		default:
			stays = name
		}
	}
	first.mark(t, leaves, "mark-1", 0)
	first.rebalance(t)
	eventually(t, 20*time.Second, "the tasks of the marked instance are learned", func() bool {
		_, a := first.lastShare(t, leads)
		_, b := first.lastShare(t, stays)
		return a+b == 4
	})
	jvms[leads].proc.kill()
	first.waitShares(t, time.Minute, map[string]int{leaves: 0, stays: 12})
	if first.leader(t) == first.process(leads) {
		t.Error("the dead instance still leads")
	}
	jvms[stays].waitCounts(t, time.Minute, map[string]int{stays: 12})
	writing.checkNoneLost(t)
}

// Two of four instances are marked at once; the two that stay get their tasks.
func pluginDrainTwoOfFour(t *testing.T) {
	c := env.cluster(t, v431)
	p := c.startPlugin(t, "plug-four", nil)
	p.startFour(t)
	writing := p.write300(t, stateRecords)
	lines, rounds, started := len(p.proc.output()), len(p.log.of(t, p.group)), time.Now()
	p.mark(t, "i1", "mark-1", 0)
	p.mark(t, "i3", "mark-2", 0)
	p.rebalance(t)
	p.waitCounts(t, drainedWithin, map[string]int{"i1": 0, "i2": 6, "i3": 0, "i4": 6})
	t.Logf("two of four drained %.1f s after the marks", time.Since(started).Seconds())
	if cold := p.restores(lines, pluginLag); len(cold) > 0 {
		t.Errorf("actives that had to restore: %q", cold)
	}
	p.settle(t)
	p.compareOwners(t, rounds)
	writing.check(t)
}

// startFour starts four instances that have three tasks each and then, records
// to restore.
func (p *pluginApp) startFour(t testing.TB) {
	t.Helper()
	for _, i := range []string{"i1", "i2", "i3", "i4"} {
		p.run(t, i)
	}
	p.waitCounts(t, 2*time.Minute, map[string]int{"i1": 3, "i2": 3, "i3": 3, "i4": 3})
	p.c.produce(t, p.group+"-in", stateRecords, 600, 480)
	p.c.waitCommitted(t, p.group, p.group+"-in", p.group+"-byvalue-repartition")
	p.settle(t)
}

// Two people mark one instance each at the same time, neither knowing of the
// other: both are drained, and both commands say so.
func pluginTwoTools(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	p := c.startPlugin(t, "plug-tools", tagged(nil))
	p.startFour(t)
	writing := p.write300(t, stateRecords)
	lines, rounds := len(p.proc.output()), len(p.log.of(t, p.group))
	var both sync.WaitGroup
	said := map[string]*result{"i1": {}, "i3": {}}
	for instance, res := range said {
		cmd := streamctlCmd(t.Context(), t, "mark-leaving", instance, "-g", p.group, "--wait", "--timeout", "2m", "--bootstrap-server", c.addrs[0])
		both.Go(func() { *res = runCmd(t, cmd) })
	}
	both.Wait()
	for instance, res := range said {
		if res.code != 0 {
			t.Fatalf("mark-leaving %s: exit %d\n%s\n%s", instance, res.code, res.stdout, res.stderr)
		}
		contains(t, "mark-leaving "+instance, res.stdout, "drained: "+instance+" owns no task", "nothing restored cold", "safe to stop")
	}
	p.waitCounts(t, time.Minute, map[string]int{"i1": 0, "i2": 6, "i3": 0, "i4": 6})
	p.settle(t)
	p.compareOwners(t, rounds)
	if cold := p.restores(lines, pluginLag); len(cold) > 0 {
		t.Errorf("actives that had to restore: %q", cold)
	}
	writing.check(t)
}

// Two tools mark one instance each, and with that all: the marks are void, which
// the leader says, until one of them is withdrawn.
func pluginAllMarked(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	p := c.startPlugin(t, "plug-all", nil)
	p.startWithState(t)
	writing := p.write300(t, stateRecords)
	before := p.owners(t)
	p.mark(t, "i1", "mark-1", 0)
	p.mark(t, "i2", "mark-2", 0)
	p.rebalance(t)
	p.settle(t)
	eventually(t, 10*time.Second, "the leader says that the marks are void", func() bool {
		s := p.newestRound(t, "i1", "i2")
		return s != nil && s.Round.MarksVoid
	})
	if got := p.owners(t); !maps.Equal(got, before) {
		t.Errorf("something moved: %v, before %v", got, before)
	}
	p.write(t, control.Withdrawal(p.process("i1")))
	p.rebalance(t)
	p.waitCounts(t, time.Minute, map[string]int{"i1": 12, "i2": 0})
	writing.check(t)
}

// The jar is rolled in one instance at a time, and out again; all tasks run
// after each step. What its leaders told of is left in the control topic, and
// counts for nothing then.
func pluginRollOut(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	with := c.startPlugin(t, "plug-roll", nil)
	without := with.another(t, func(s *appSpec) {
		s.plugin, s.settings = false, map[string]string{"num.stream.threads": "1", "max.warmup.replicas": "12", "probing.rebalance.interval.ms": "60000"}
	})
	if _, err := with.topic.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	without.run(t, "i1")
	without.run(t, "i2")
	both := func(what string) {
		t.Helper()
		eventually(t, time.Minute, "all tasks run "+what, func() bool {
			n := 0
			for _, p := range []*pluginApp{with, without} {
				for _, i := range []string{"i1", "i2"} {
					if state := p.last("STATE", i); state != "" && state != "NOT_RUNNING" {
						active, _ := p.count(t, i)
						n += active
						if state != "RUNNING" {
							return false
						}
					}
				}
			}
			return n == 12
		})
	}
	both("without the jar")
	c.produce(t, "plug-roll-in", stateRecords, 600, 480)
	c.waitCommitted(t, with.group, "plug-roll-in", with.group+"-byvalue-repartition")
	writing := with.write300(t, stateRecords)
	for _, step := range []struct {
		from, to *pluginApp
		instance string
	}{{without, with, "i1"}, {without, with, "i2"}, {with, without, "i2"}, {with, without, "i1"}} {
		step.from.closeInstance(t, step.instance)
		step.to.run(t, step.instance)
		both("after " + step.instance + " was replaced")
	}
	if s := with.newestRound(t, "i1", "i2"); s == nil {
		t.Error("no leader with the jar told of a round")
	}
	if p := with.model(t).PlugIn; p != nil {
		t.Errorf("the jar is rolled out, and it is said that it is there: %+v", p)
	}
	writing.check(t)
}

// olderReleases are those that the plug-in runs in besides those that all tests
// run with.
func olderReleases() []string { return []string{"3.8.1", "3.9.1", "4.0.0", "4.1.1"} }

// fetch has the jars of releases ready.
func (r *rig) fetch(versions ...string) error {
	out, err := exec.Command(filepath.Join(r.root, "testdata", "jvm", "fetch.sh"), versions...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("fetch.sh: %w\n%s", err, out)
	}
	return nil
}

// fetchOlder is olderReleases with their jars ready.
func fetchOlder(t *testing.T) []string {
	t.Helper()
	if err := env.older(); err != nil {
		t.Fatal(err)
	}
	return olderReleases()
}

// An instance is drained in an app of each release.
func pluginVersions(t *testing.T) {
	t.Parallel()
	versions := []string{v440}
	if everyChange() {
		versions = append(versions, fetchOlder(t)...)
	}
	for _, v := range versions {
		t.Run(v, func(t *testing.T) {
			t.Parallel()
			name := v431
			if v == v440 {
				name = v440
			}
			c := env.cluster(t, name)
			p := c.startPluginOf(t, "plug-v"+strings.ReplaceAll(v, ".", ""), v, nil)
			p.startWithState(t)
			writing := p.write300(t, stateRecords)
			lines := len(p.proc.output())
			p.mark(t, "i2", "mark-1", 0)
			p.rebalance(t)
			p.waitCounts(t, time.Minute, map[string]int{"i1": 12, "i2": 0})
			if cold := p.restores(lines, pluginLag); len(cold) > 0 {
				t.Errorf("actives that had to restore: %q", cold)
			}
			eventually(t, 10*time.Second, "the leader tells of the drained instance", func() bool {
				s := p.newestRound(t, "i1", "i2")
				return s != nil && drained(s, p.process("i2"), "mark-1")
			})
			writing.check(t)
		})
	}
}
