//go:build realkafka

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/plan"
)

// plannedCase is a change that is planned first and then made.
type plannedCase struct {
	name     string
	standbys int
	start    []string
	change   func(p *pluginApp) plan.Change
	flags    func(p *pluginApp) []string
	make     func(t *testing.T, p *pluginApp)
	end      map[string]int
}

// A plan taken before is what the plug-in then does, round by round and to the
// task: as `plan --leaving -o json` tells it, and down to the thread.
func pluginPlanned(t *testing.T) {
	t.Parallel()
	drain := plannedCase{
		start:  []string{"i1", "i2", "i3"},
		change: func(*pluginApp) plan.Change { return plan.Leaving{Instance: "i2"} },
		flags:  func(*pluginApp) []string { return []string{"--leaving", "i2"} },
		make: func(t *testing.T, p *pluginApp) {
			p.must(t, 0, "mark-leaving", "i2", "-g", p.group, "--wait", "--timeout", "3m")
		},
		end: map[string]int{"i1": 6, "i2": 0, "i3": 6},
	}
	withStandby := drain
	drain.name, withStandby.name, withStandby.standbys = "drain0", "drain1", 1
	for _, c := range []plannedCase{drain, withStandby, {
		name: "join0", start: []string{"i1", "i2"},
		change: func(p *pluginApp) plan.Change { return plan.Add{Count: 1, IDs: []string{p.process("i3")}} },
		flags:  func(p *pluginApp) []string { return []string{"--add", "1,id=" + p.process("i3")} },
		make:   func(t *testing.T, p *pluginApp) { p.run(t, "i3") },
		end:    map[string]int{"i1": 4, "i2": 4, "i3": 4},
	}, {
		name: "stop1", standbys: 1, start: []string{"i1", "i2", "i3"},
		change: func(*pluginApp) plan.Change { return plan.Remove{Instance: "i3"} },
		flags:  func(*pluginApp) []string { return []string{"--remove", "i3"} },
		make:   func(t *testing.T, p *pluginApp) { p.closeInstance(t, "i3") },
		end:    map[string]int{"i1": 6, "i2": 6},
	}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.compare(t)
		})
	}
}

// prepare starts the app with state, and has its leader tell of the round.
func (x *plannedCase) prepare(t *testing.T) *pluginApp {
	t.Helper()
	c := env.cluster(t, v431)
	group := "plug-plan-" + x.name
	p := c.startPlugin(t, group, tagged(map[string]string{
		"max.warmup.replicas": "2", "num.standby.replicas": fmt.Sprint(x.standbys), "app.restore.delay.ms": "1500",
		"streamctl.followup.interval.ms": "8000",
	}))
	want := map[string]int{}
	for _, i := range x.start {
		p.run(t, i)
		want[i] = 12 / len(x.start)
	}
	p.waitCounts(t, 2*time.Minute, want)
	c.produce(t, group+"-in", stateRecords, 600, 480)
	c.waitCommitted(t, p.group, group+"-in", p.group+"-byvalue-repartition")
	p.settle(t)
	if _, err := p.topic.Ensure(t.Context()); err != nil { // so that the leader tells its settings
		t.Fatal(err)
	}
	p.rebalance(t)
	p.settle(t)
	eventually(t, 20*time.Second, "the leader has told of the present round", func() bool { g := p.model(t); return g.PlugIn != nil && g.PlugIn.Fresh })
	return p
}

func (x *plannedCase) compare(t *testing.T) {
	t.Helper()
	p := x.prepare(t)
	set := map[string]string{plan.KeyHeartbeat: "500", plan.KeySession: "10000"} // the rest its leader tells
	args := append([]string{"plan", p.group, "-o", "json"}, x.flags(p)...)
	for k, v := range set {
		args = append(args, "--set", k+"="+v)
	}
	told := parsed[planDoc](t, p.must(t, 0, args...))
	in, err := plan.FromGroup(p.model(t))
	if err != nil {
		t.Fatal(err)
	}
	forecast, err := plan.Trace(in, plan.Options{Changes: []plan.Change{x.change(p)}, Set: set})
	if err != nil {
		t.Fatal(err)
	}
	from := len(p.log.of(t, p.group))
	before := p.log.of(t, p.group)[from-1]
	x.make(t, p)
	p.waitShares(t, 2*time.Minute, x.end)
	p.settle(t)
	rounds := p.log.of(t, p.group)[from:]
	var was, want []string
	for _, r := range rounds {
		was = appendNew(was, roundText(r.members))
	}
	for _, r := range forecast {
		var members []roundMember
		for _, m := range r.Members {
			members = append(members, roundMember{process: m.Process, thread: m.Thread, active: m.Active, standby: m.Standby})
		}
		want = appendNew(want, roundText(members))
	}
	if !slices.Equal(was, want) {
		t.Errorf("%d rounds (alike ones in a row counted once), predicted %d:\n%s\npredicted:\n%s", len(was), len(want), strings.Join(was, "\n\n"), strings.Join(want, "\n\n"))
		p.logRounds(t, from-1)
	}
	if x.standbys == 0 {
		if was, want := eventsOf(before, rounds), told.events(); !slices.Equal(was, want) {
			t.Errorf("what happened:\n%s\nas plan -o json told it:\n%s", strings.Join(was, "\n"), strings.Join(want, "\n"))
		}
	}
	t.Logf("%d rounds, %d that differ, as predicted", len(rounds), len(was))
}

// appendNew leaves out a round that changed nothing.
func appendNew(list []string, text string) []string {
	if n := len(list); n > 0 && list[n-1] == text {
		return list
	}
	return append(list, text)
}

func roundText(members []roundMember) string {
	var out []string
	for _, m := range members {
		out = append(out, fmt.Sprintf("%s/%d A %s S %s", m.process[:8], m.thread, words(m.active), words(m.standby)))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// events are the moves and the learners that begin, a line a round that has some.
func (d planDoc) events() []string {
	var out []string
	for _, r := range d.Rounds {
		var list []string
		for _, m := range r.Moves {
			list = append(list, fmt.Sprintf("%s %s -> %s", m.Task, m.From[:8], m.To[:8]))
		}
		for _, l := range r.Learners {
			list = append(list, fmt.Sprintf("%s learned by %s", l.Task, l.Instance[:8]))
		}
		if slices.Sort(list); len(list) > 0 {
			out = append(out, strings.Join(list, ", "))
		}
	}
	return out
}

// eventsOf are those of rounds that were held, in an app without standbys.
func eventsOf(before coordinatorRound, rounds []coordinatorRound) []string {
	owner, held := ownersOf(before), map[string]bool{}
	var out []string
	for _, r := range rounds {
		var list []string
		now := map[string]bool{}
		for _, m := range r.members {
			for _, x := range m.standby {
				k := m.process + " " + x.String()
				if now[k] = true; !held[k] {
					list = append(list, fmt.Sprintf("%s learned by %s", x, m.process[:8]))
				}
			}
		}
		for task, to := range ownersOf(r) {
			if from := owner[task]; from != to {
				list = append(list, fmt.Sprintf("%s %s -> %s", task, from[:8], to[:8]))
			}
			owner[task] = to
		}
		held = now
		if slices.Sort(list); len(list) > 0 {
			out = append(out, strings.Join(list, ", "))
		}
	}
	return out
}
