//go:build realkafka

package e2e

import (
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// TestPlugin drives apps with our assignor on real brokers. The quick ones run
// in every run of the tests, the others in make e2e.
func TestPlugin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		quick bool
		run   func(*testing.T)
	}{
		{name: "unmark", quick: true, run: pluginUnmark},
		{name: "versions", quick: true, run: pluginVersions},
		{name: "command-drain", quick: true, run: pluginCommandDrain},
		{name: "described", run: pluginDescribed},
		{name: "planned", run: pluginPlanned},
		{name: "mixed", run: pluginMixed},
		{name: "replaced", run: pluginReplaced},
		{name: "fidelity", run: pluginFidelity},
		{name: "deadline", run: pluginDeadline},
		{name: "two-tools", run: pluginTwoTools},
		{name: "all-marked", run: pluginAllMarked},
		{name: "topic-deleted", run: pluginTopicDeleted},
		{name: "topic-anew", run: pluginTopicAnew},
		{name: "unreadable", run: pluginUnreadable},
		{name: "leader-killed", run: pluginLeaderKilled},
		{name: "bad-setting", run: pluginBadSetting},
		{name: "roll-out", run: pluginRollOut},
	} {
		if c.quick || everyChange() {
			t.Run(c.name, c.run)
		}
	}
}

// Drains whose times are judged run alone.
func TestPluginDrain(t *testing.T) {
	t.Run("one of two", pluginDrainOneOfTwo)
	if everyChange() {
		t.Run("two of four", pluginDrainTwoOfFour)
	}
}

// drainedWithin is how long a drain may take once the last learner has caught up.
// Those of the tests have next to nothing to restore, so they count from the mark.
const drainedWithin = 20 * time.Second

// One of two instances is marked and drained under traffic: its tasks go to
// learners that have caught up, and none restores cold. Once it has gone, its
// mark is withdrawn, so it may come back.
func pluginDrainOneOfTwo(t *testing.T) {
	c := env.cluster(t, v431)
	p := c.startPlugin(t, "plug-drain", nil)
	p.startWithState(t)
	writing := p.write300(t, stateRecords)
	if s := p.newestRound(t, "i1", "i2"); s != nil {
		t.Errorf("a status without a topic that streamctl made: %+v", s)
	}

	lines, rounds, started := len(p.proc.output()), len(p.log.of(t, p.group)), time.Now()
	p.mark(t, "i2", "mark-1", 0)
	p.rebalance(t)
	p.waitCounts(t, drainedWithin, map[string]int{"i1": 12, "i2": 0})
	t.Logf("drained %.1f s after the mark", time.Since(started).Seconds())
	p.settle(t)
	p.compareOwners(t, rounds)
	// A heartbeat of half a second, and one second.
	if gap := p.longestGap(t, max(rounds-1, 0)); gap > 1500*time.Millisecond {
		t.Errorf("a task was without owner for %v", gap)
	} else {
		t.Logf("longest time of a task without owner: %v", gap)
	}
	eventually(t, 10*time.Second, "the leader tells of the drained instance", func() bool {
		s := p.newestRound(t, "i1", "i2")
		return s != nil && !s.Round.AnotherRound && drained(s, p.process("i2"), "mark-1")
	})

	p.closeInstance(t, "i2")
	eventually(t, 20*time.Second, "the mark of the instance that is gone is withdrawn", func() bool {
		all, err := p.topic.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		state := control.Fold(all.Records)
		_, marked := state.Leaving[p.process("i2")]
		return !marked
	})
	p.run(t, "i2")
	p.waitCounts(t, time.Minute, map[string]int{"i1": 6, "i2": 6})
	if cold := p.restores(lines, pluginLag); len(cold) > 0 {
		t.Errorf("actives that had to restore: %q", cold)
	}
	writing.check(t)
}

// stockScaleUp is how long Streams' own assignor took with such an app.
const stockScaleUp = 1817 * time.Second

// A second instance comes to an app with Streams' own defaults but for r, which
// is 1 so that both shall have six tasks, each with more than the acceptable lag
// to restore: they are balanced fifty times sooner than with Streams' assignor,
// which waits for a probing rebalance, ten minutes each, for every two tasks. The
// time is judged, so it runs alone.
func TestPluginScaleUp(t *testing.T) {
	const lag, records = 10000, 90_000
	c := env.cluster(t, v431)
	p := c.startPlugin(t, "plug-up", map[string]string{
		"max.warmup.replicas": "2", "acceptable.recovery.lag": strconv.Itoa(lag), "streamctl.followup.interval.ms": "5000",
		"session.timeout.ms": "45000", "heartbeat.interval.ms": "3000",
	})
	p.run(t, "i1")
	p.waitCounts(t, time.Minute, map[string]int{"i1": 12})
	c.produce(t, "plug-up-in", records, 6000, 4800)
	c.waitCommitted(t, p.group, "plug-up-in", p.group+"-byvalue-repartition")
	for task, end := range p.endsByTask(t) {
		if end <= lag {
			t.Errorf("%s has only %d records to restore", task, end)
		}
	}
	p.settle(t)
	writing := p.write300(t, records)
	rounds, lines, started := len(p.log.of(t, p.group)), len(p.proc.output()), time.Now()
	p.run(t, "i2")
	p.waitCounts(t, stockScaleUp/50, map[string]int{"i1": 6, "i2": 6})
	t.Logf("one to two instances: balanced after %.1f s", time.Since(started).Seconds())
	p.settle(t)
	p.compareOwners(t, rounds)
	if cold := p.restores(lines, lag); len(cold) > 0 {
		t.Errorf("actives that had to restore: %q", cold)
	}
	writing.check(t)
}

// Records that are none change nothing; a mark withdrawn half-way drops the
// learners, and nothing has moved.
func pluginUnmark(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	p := c.startPlugin(t, "plug-unmark", map[string]string{"app.restore.delay.ms": "20000"})
	p.startWithState(t)
	writing := p.write300(t, stateRecords)
	before, rounds := p.owners(t), len(p.log.of(t, p.group))
	p.write(t, control.Record{Key: control.KeyLeaving(p.process("i2")), Value: []byte(`{"schema_version":1,"mark":[`)})
	p.rebalance(t)
	p.settle(t)

	p.mark(t, "i2", "mark-1", 0)
	p.rebalance(t)
	eventually(t, 20*time.Second, "i1 learns the six tasks of i2", func() bool {
		_, learners := p.lastShare(t, "i1")
		return learners == 6
	})
	p.write(t, control.Withdrawal(p.process("i2")))
	p.rebalance(t)
	eventually(t, 20*time.Second, "i1 learns nothing more", func() bool {
		_, learners := p.lastShare(t, "i1")
		return learners == 0
	})
	p.settle(t)
	for i, r := range p.log.of(t, p.group)[rounds:] {
		if got := ownersOf(r); !maps.Equal(got, before) {
			t.Errorf("round %d moved something: %v, before %v", i, got, before)
		}
	}
	if t.Failed() {
		p.logRounds(t, rounds)
	}
	writing.check(t)
}

// The time of a leaving instance runs out before its learners are ready, by its
// mark or by the app's setting: they take over as they are, and the instance has
// nothing any more.
func pluginDeadline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mark    time.Duration // 0: the app's setting holds
		setting string
	}{
		"mark":    {3 * time.Second, ""},
		"setting": {0, "3000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expires(t, "plug-deadline-"+name, c.mark, c.setting)
		})
	}
}

func expires(t *testing.T, group string, mark time.Duration, setting string) {
	t.Helper()
	p := env.cluster(t, v431).startPlugin(t, group, map[string]string{"app.restore.delay.ms": "8000", "streamctl.scale.down.timeout.ms": setting})
	p.startWithState(t)
	writing := p.write300(t, stateRecords)
	rounds, started := len(p.log.of(t, p.group)), time.Now()
	p.mark(t, "i2", "mark-1", mark)
	p.rebalance(t)
	eventually(t, 30*time.Second, "the tasks of i2 are with i1", func() bool {
		active, _ := p.lastShare(t, "i1")
		return active == 12
	})
	if took := time.Since(started); took < 3*time.Second {
		t.Errorf("i2 lost its tasks %v after the mark, and has 3 s", took)
	}
	p.waitCounts(t, time.Minute, map[string]int{"i1": 12, "i2": 0})
	p.settle(t)
	p.compareOwners(t, rounds)
	writing.check(t)
}

// stateRecords is how many records startWithState writes.
const stateRecords = 12000

// startWithState starts two instances that have six tasks each and then, records
// to restore.
func (p *pluginApp) startWithState(t testing.TB) {
	t.Helper()
	p.run(t, "i1")
	p.run(t, "i2")
	p.waitCounts(t, 2*time.Minute, map[string]int{"i1": 6, "i2": 6})
	p.c.produce(t, p.group+"-in", stateRecords, 600, 480)
	p.c.waitCommitted(t, p.group, p.group+"-in", p.group+"-byvalue-repartition")
	p.settle(t)
}

// owners gives by task its owner in the last round.
func (p *pluginApp) owners(t testing.TB) map[string]string {
	t.Helper()
	rounds := p.log.of(t, p.group)
	return ownersOf(rounds[len(rounds)-1])
}

func ownersOf(r coordinatorRound) map[string]string {
	out := map[string]string{}
	for _, m := range r.members {
		for _, task := range m.active {
			out[task.String()] = m.process
		}
	}
	return out
}

// lastShare counts what an instance got in the last round.
func (p *pluginApp) lastShare(t testing.TB, instance string) (active, standby int) {
	t.Helper()
	rounds := p.log.of(t, p.group)
	for _, m := range rounds[len(rounds)-1].members {
		if m.process == p.process(instance) {
			active, standby = active+len(m.active), standby+len(m.standby)
		}
	}
	return active, standby
}

// drained reports whether a leader says that an instance is under a mark and
// owns nothing.
func drained(s *control.Status, instance, mark string) bool {
	for _, i := range s.Round.Instances {
		if i.ID != instance {
			continue
		}
		owned := 0
		for _, task := range i.Tasks {
			if task.Role == model.Active {
				owned++
			}
		}
		return i.Leaving && len(i.Marks) == 1 && i.Marks[0] == mark && owned == 0
	}
	return false
}
