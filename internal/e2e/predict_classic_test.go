//go:build realkafka

package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
)

// Settings of every app here. A probing rebalance comes after a minute at the
// earliest, so the groups wait for theirs together. What a member reports at a
// round hangs on how far its copies are. Those who join at once shall have
// restored nothing, those who join a heartbeat later everything, also on a busy
// machine: so a copy begins a while after it was given, and heartbeats are long.
const (
	predictHeartbeat = 10 * time.Second
	predictSession   = 30 * time.Second
	predictRestore   = 4 * time.Second
	predictProbing   = time.Minute
	predictLag       = 100
)

// The plan is taken from a snapshot, then the change is made: every round is
// the one that the plan told, down to the task and the thread.
func TestPredictedClassic(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	groups := chosen([]*tried{
		{name: "add-one", quick: true, start: []string{"i1"}, settings: warmups(4), words: []string{"add", "i2"}},
		{name: "stop-with-standbys", quick: true, start: []string{"i1", "i2", "i3"}, settings: map[string]string{plan.KeyStandbys: "1"}, words: []string{"stop", "i3"}},
		{name: "one-more-thread", quick: true, start: []string{"i1", "i2"}, settings: warmups(4), words: []string{"thread", "i1"}, swaps: true},
		{name: "add-one-to-two", start: []string{"i1", "i2"}, words: []string{"add", "i3"}},
		{name: "add-two", start: []string{"i1"}, settings: warmups(4), words: []string{"add", "i2", "i3"}},
		{name: "add-one-with-standbys", start: []string{"i1", "i2"}, settings: map[string]string{plan.KeyStandbys: "1", plan.KeyWarmups: "4"}, words: []string{"add", "i3"}},
		{name: "stop-without-standbys", start: []string{"i1", "i2", "i3"}, words: []string{"stop", "i2"}},
		{name: "standbys-on", start: []string{"i1", "i2"}, words: []string{"restart", "i1", "i2"}},
	})
	c.startPredicted(t, groups, "forecast-in", appSpec{settings: map[string]string{
		plan.KeyHeartbeat: millis(predictHeartbeat), plan.KeySession: millis(predictSession),
		plan.KeyProbing: millis(predictProbing), plan.KeyAcceptableLag: strconv.Itoa(predictLag),
		"app.restore.delay.ms": millis(predictRestore),
	}})
	for _, g := range groups {
		g.snapshot(t)
		set := maps.Clone(g.settings)
		if g.words[0] == "restart" {
			set = map[string]string{plan.KeyStandbys: "1"}
		}
		g.plan(t, g.changes(), g.classicSet(set))
	}
	log := c.follow(t)
	changed := time.Now()
	for _, g := range groups {
		g.make(t)
	}
	waitRounds(t, log, groups, changed)
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) { g.compareRounds(t, log.of(t, g.group), changed) })
	}
}

func warmups(n int) map[string]string { return map[string]string{plan.KeyWarmups: strconv.Itoa(n)} }

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// classicSet is what a plan has to be told: none of it is on the wire.
func (g *tried) classicSet(more map[string]string) map[string]string {
	set := map[string]string{
		plan.KeyHeartbeat: millis(predictHeartbeat), plan.KeySession: millis(predictSession),
		plan.KeyProbing: millis(predictProbing), plan.KeyAcceptableLag: strconv.Itoa(predictLag), plan.KeyStandbys: "0",
	}
	maps.Copy(set, more)
	return set
}

// startPredicted starts the groups side by side, in one JVM. They form while
// there are no records yet: every copy is caught up then, and the tasks are
// spread without any warm-up. Then come the records, which everyone reads; the
// producer rests when it returns, and two looks ten seconds apart were equal.
func (c *cluster) startPredicted(t *testing.T, groups []*tried, topic string, spec appSpec) {
	t.Helper()
	c.createTopic(t, topic, 6)
	spec.group, spec.topic = topic, topic
	a := c.startApp(t, spec)
	for _, g := range groups {
		g.c, g.a, g.group = c, a, strings.TrimSuffix(topic, "-in")+"-"+g.name
		for _, i := range g.start {
			g.run(t, i)
		}
	}
	for _, g := range groups {
		standbys := 0
		if len(g.start) > 1 {
			standbys, _ = strconv.Atoi(g.settings[plan.KeyStandbys])
		}
		eventually(t, 2*time.Minute, g.group+" has spread its tasks", func() bool {
			for _, i := range g.start {
				active, standby := a.count(t, g.group+"-"+i)
				if active != 12/len(g.start) || standby != standbys*12/len(g.start) || a.last("STATE", g.group+"-"+i) != "RUNNING" {
					return false
				}
			}
			return true
		})
		c.waitMembers(t, g.group, spec.streams, len(g.start))
	}
	c.produce(t, topic, 6000, 600, 480)
	for _, g := range groups {
		c.waitCommitted(t, g.group, topic, g.group+"-byvalue-repartition")
	}
	for before := c.ends(t, groups); ; {
		time.Sleep(10 * time.Second)
		now := c.ends(t, groups)
		if maps.Equal(before, now) {
			return
		}
		before = now
	}
}

// waitRounds waits until every group has had its rounds and nothing more is to
// come, or until it is clear that the plan is wrong.
func waitRounds(t *testing.T, log *coordinatorLog, groups []*tried, changed time.Time) {
	t.Helper()
	for {
		waiting := 0
		for _, g := range groups {
			seen, told := log.of(t, g.group), len(g.forecast)
			if g.a.proc.ended() {
				t.Fatal(g.a.proc.failure("ended"))
			}
			last := g.forecast[told-1].AtS
			if n := len(seen); n > 0 && seen[n-1].settled() {
				quiet := predictSession / 2
				if n < told {
					quiet = 2 * predictProbing
				}
				if time.Since(seen[n-1].at) > quiet {
					continue
				}
			}
			if time.Since(changed) < time.Duration(last*float64(time.Second))+2*predictProbing {
				waiting++
			}
		}
		if waiting == 0 {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// compareRounds holds the rounds against those of the plan.
func (g *tried) compareRounds(t *testing.T, seen []coordinatorRound, changed time.Time) {
	t.Helper()
	g.apart(t, seen)
	var told, came []string
	var owners []map[string]string
	for i, r := range g.forecast {
		told = append(told, roundLines(i, toldMembers(r.Members), g.swaps)...)
	}
	for i, r := range seen {
		came = append(came, roundLines(i, r.members, g.swaps)...)
		owner := map[string]string{}
		for _, m := range r.members {
			for _, task := range m.active {
				owner[task.String()] = m.process
			}
		}
		owners = append(owners, owner)
	}
	g.compareMoves(t, owners)
	if !slices.Equal(told, came) {
		t.Errorf("%v: %d rounds were told, %d came\ntold (%s)\n%s\nreal\n%s", g.words, len(g.forecast), len(seen), times(g.forecast), strings.Join(told, "\n"), strings.Join(came, "\n"))
		for i, r := range seen {
			for _, m := range r.members {
				t.Logf("round %d: %s/%d reported %s", i+1, m.process, m.thread, m.reported)
			}
		}
		return
	}
	// Members hear of a round at their next heartbeat, and when that is cannot
	// be seen; a machine under load is late besides.
	for i, r := range seen {
		at, least := r.at.Sub(changed), time.Duration(g.forecast[i].AtS*float64(time.Second))
		most := least + time.Duration(i+2)*predictHeartbeat + 10*time.Second
		if at < least-predictHeartbeat || at > most {
			t.Errorf("round %d came after %.1f s, told for %.1f to %.1f s", i+1, at.Seconds(), least.Seconds(), most.Seconds())
		}
	}
	t.Logf("%v: %d rounds, all equal; told for %s", g.words, len(seen), times(g.forecast))
}

// apart takes the plan anew when the second of two new instances missed the
// heartbeat in which the first joined: that is another change, one that waits
// for rounds in between.
func (g *tried) apart(t *testing.T, seen []coordinatorRound) {
	t.Helper()
	if g.words[0] != "add" || len(g.words) != 3 {
		return
	}
	alone, first := 0, ""
	for _, r := range seen {
		for _, m := range r.members {
			if len(r.members) == len(g.start)+1 && (m.process == g.process("i2") || m.process == g.process("i3")) {
				alone, first = alone+1, m.process
			}
		}
	}
	if alone == 0 {
		return
	}
	a := plan.Add{Count: 1, Threads: 1, IDs: []string{first}}
	b := plan.Add{Count: 1, Threads: 1, IDs: []string{g.process("i2")}}
	if first == b.IDs[0] {
		b.IDs[0] = g.process("i3")
	}
	t.Logf("%s joined %d rounds before %s", a.IDs, alone, b.IDs)
	g.plan(t, []plan.Change{a, plan.Wait{Rounds: alone}, b}, g.classicSet(g.settings))
}

func times(rounds []plan.TracedRound) string {
	var out []string
	for _, r := range rounds {
		out = append(out, fmt.Sprintf("%.1f s", r.AtS))
	}
	return strings.Join(out, ", ")
}

func toldMembers(list []plan.TracedMember) []roundMember {
	var out []roundMember
	for _, m := range list {
		next := "none"
		switch m.Next {
		case assign.NextNow:
			next = "now"
		case assign.NextProbing:
			next = "probing"
		}
		out = append(out, roundMember{process: m.Process, thread: m.Thread, active: m.Active, standby: m.Standby, next: next})
	}
	slices.SortFunc(out, func(a, b roundMember) int {
		return cmp.Or(strings.Compare(a.process, b.process), cmp.Compare(a.thread, b.thread))
	})
	return out
}

// roundLines writes a round, a thread a line, or a process with perProcess. A
// probing time is the leader's, unless that has to come back at once, and who
// leads cannot be told: it stands in a line of its own, where nobody has to.
func roundLines(n int, members []roundMember, perProcess bool) []string {
	var out []string
	probing, atOnce := false, false
	for i, m := range members {
		probing, atOnce = probing || m.next == "probing", atOnce || m.next == "now"
		next := ""
		if m.next == "now" {
			next = " now"
		}
		if !perProcess {
			out = append(out, fmt.Sprintf("%d %s/%d A %s S %s%s", n+1, m.process[:8], m.thread, words(m.active), words(m.standby), next))
			continue
		}
		if i > 0 && members[i-1].process == m.process {
			continue
		}
		var active, standby []model.TaskID
		for _, o := range members {
			if o.process == m.process {
				active, standby = append(active, o.active...), append(standby, o.standby...)
			}
		}
		out = append(out, fmt.Sprintf("%d %s A %s S %s", n+1, m.process[:8], words(tidyTasks(active)), words(tidyTasks(standby))))
	}
	if atOnce {
		return out
	}
	return append(out, fmt.Sprintf("%d probing %v", n+1, probing))
}
