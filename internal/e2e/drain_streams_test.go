//go:build realkafka

package e2e

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Drains of streams groups: the first in every run, the others where all changes
// are made (make e2e).
func TestDrainStreams(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name  string
		quick bool
		run   func(*testing.T)
	}{
		{"consent", true, drainByConsent},
		{"ended at each step", false, drainEndedAtEachStep},
		{"ended when gone", false, drainEndedWhenGone},
		{"other ends", false, drainOtherEnds},
		{"while producing", false, drainWhileProducing},
		{"without positions", false, drainWithoutPositions},
	} {
		if x.quick || everyChange() {
			t.Run(x.name, x.run)
		}
	}
}

// An instance of a streams group is drained: refused without consent, then with
// one standby more for as long as it takes. Every task goes where it was
// foretold, to a copy that has caught up, and the setting is as before.
func drainByConsent(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v440)
	g := c.startDrained(t, "drain-one", 24_000)

	res := c.streamctl(t, "mark-leaving", "pod-c", "-g", g.group)
	if res.code != 1 || !strings.Contains(res.stderr, "cannot stop safely") || !strings.Contains(res.stderr, "--raise-standbys raises num.standby.replicas from 0 to") {
		t.Errorf("without consent: exit %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	g.asBefore(t)
	res = c.streamctl(t, "plan", g.group, "--leaving", "pod-c")
	if res.code != 0 || !strings.Contains(res.stdout, "can stop with no task restoring cold with num.standby.replicas") {
		t.Errorf("plan: exit %d\n%s%s", res.code, res.stdout, res.stderr)
	}

	d := g.drain(t, nil, "--raise-standbys", "--wait", "--timeout", "2m", "--reason", "node drain")
	d.says(t, stepSafe)
	if !g.finding(t, "raised-standbys") {
		t.Error("describe shows no raised standbys")
	}
	g.stop(t)
	code, doc, said := d.end(t)
	t.Log(said)
	if code != 0 || doc.Wait == nil || !doc.Wait.Met || !doc.Standbys.PutBack {
		t.Errorf("exit %d, %+v", code, doc)
	}
	g.whereForetold(t, doc)
	g.asBefore(t)
}

// Whatever ends a drain, and wherever: mark and setting stay, are told of by
// describe, and the same command, or unmark, brings it to its end. The group is
// then as before.
func drainEndedAtEachStep(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v440)
	g := c.startDrained(t, "drain-ended", 24_000)
	for _, x := range []struct {
		step   string
		signal os.Signal
		code   int
	}{
		{stepNoted, syscall.SIGKILL, -1}, {stepMarked, syscall.SIGKILL, -1}, {stepSet, syscall.SIGKILL, -1}, {stepSafe, syscall.SIGKILL, -1},
		{stepNoted, os.Interrupt, 130}, {stepSet, os.Interrupt, 130}, {stepSafe, os.Interrupt, 130}, {stepSafe, syscall.SIGTERM, 143},
	} {
		for _, after := range []string{"unmark", "the same again"} {
			t.Run(strings.Trim(x.step, ":")+" "+x.signal.String()+" "+after, func(t *testing.T) {
				code, _, said := g.drain(t, signalled(x.step, x.signal), "--raise-standbys", "--wait").end(t)
				if code != x.code {
					t.Fatalf("exit %d, want %d\n%s", code, x.code, said)
				}
				if x.signal == os.Interrupt && (!strings.Contains(said, "unmark") || !strings.Contains(said, "the same command")) {
					t.Errorf("Ctrl-C does not say what stays:\n%s", said)
				}
				if x.step != stepNoted && !g.finding(t, "raised-standbys") {
					t.Error("describe shows no raised standbys")
				}
				if after == "unmark" {
					g.unmark(t, "pod-c")
					return
				}
				g.finish(t)
				g.again(t)
			})
		}
	}
}

// A drain that ends once the instance is gone: any changing command puts the
// setting back.
func drainEndedWhenGone(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v440)
	g := c.startDrained(t, "drain-gone", 24_000)
	for _, step := range []string{stepSafe, stepGone, stepBack} {
		for _, after := range [][]string{
			{"mark-leaving", "pod-c", "-g", "drain-gone", "--raise-standbys", "--wait"},
			{"unmark", g.pods["pod-c"], "-g", "drain-gone"},
			{"rebalance", "drain-gone", "--yes"},
			{"remove-member", "drain-gone", "--instance", "pod-c", "--yes"},
			{"mode", "set", "drain-gone", "incremental", "--yes"},
			{"replace", "drain-gone", "--with", "1", "--yes"},
		} {
			if step != stepSafe && after[0] != "mark-leaving" && after[0] != "unmark" {
				continue
			}
			t.Run(strings.Trim(step, ":;")+" "+after[0], func(t *testing.T) {
				d := g.drain(t, signalled(step, syscall.SIGKILL), "--raise-standbys", "--wait")
				if step == stepSafe {
					if code, _, said := d.end(t); code != -1 {
						t.Fatalf("exit %d\n%s", code, said)
					}
					g.stop(t)
				} else {
					d.says(t, stepSafe)
					g.stop(t)
					if code, _, said := d.end(t); code != -1 && code != 0 { // it may have ended just before
						t.Fatalf("exit %d\n%s", code, said)
					}
				}
				res := c.streamctl(t, after...)
				t.Logf("exit %d\n%s%s", res.code, res.stdout, res.stderr)
				g.asBefore(t)
				g.noneCold(t)
				g.again(t)
			})
		}
	}
}

// Time runs out: exit 4, everything stays; a setting that somebody changed is
// left and named; a stop before it is safe is said to be one, and seen by what
// the tasks restore.
func drainOtherEnds(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v440)
	g := c.startDrained(t, "drain-other", 24_000)
	t.Run("time-out", func(t *testing.T) {
		code, doc, said := g.drain(t, nil, "--raise-standbys", "--wait", "--timeout", "8s").end(t)
		if code != 4 || doc.Standbys.PutBack || doc.Standbys.Set == nil || !strings.Contains(said, "unmark") {
			t.Fatalf("exit %d, %+v\n%s", code, doc, said)
		}
		if !g.finding(t, "raised-standbys") {
			t.Error("describe shows no raised standbys")
		}
		g.finish(t)
		g.again(t)
	})
	t.Run("time-out, then unmark", func(t *testing.T) {
		if code, doc, said := g.drain(t, nil, "--raise-standbys", "--wait", "--timeout", "8s").end(t); code != 4 || doc.Standbys.PutBack {
			t.Fatalf("exit %d, %+v\n%s", code, doc, said)
		}
		g.unmark(t, "pod-c")
	})
	t.Run("without waiting, then unmark", func(t *testing.T) {
		if code, doc, said := g.drain(t, nil, "--raise-standbys").end(t); code != 0 || doc.Standbys.Set == nil {
			t.Fatalf("exit %d, %+v\n%s", code, doc, said)
		}
		g.unmark(t, "pod-c")
	})
	t.Run("somebody changes the setting", func(t *testing.T) {
		d := g.drain(t, nil, "--raise-standbys", "--wait")
		d.says(t, stepSafe)
		other := "2"
		if v, _ := c.setting(t, g.group, standbysSetting); v == other {
			other = "1"
		}
		c.setGroup(t, g.group, standbysSetting, other)
		d.says(t, "somebody changed")
		g.stop(t)
		code, doc, said := d.end(t)
		if doc.Standbys.PutBack || doc.Standbys.Left == nil || *doc.Standbys.Left != other || code > 1 {
			t.Errorf("exit %d, %+v\n%s", code, doc.Standbys, said)
		}
		if v, own := c.setting(t, g.group, standbysSetting); v != other || !own {
			t.Errorf("setting %s, own %t", v, own)
		}
		c.deleteSetting(t, g.group, standbysSetting)
		g.asBefore(t)
		g.again(t)
	})
	t.Run("what the brokers allow", func(t *testing.T) {
		if err := c.alterGroup(t, g.group, standbysSetting, "3"); err == nil {
			t.Error("the broker takes 3 standbys: its group.streams.max.standby.replicas is no longer 2")
		} else {
			t.Log(err)
		}
		g.asBefore(t)
	})
	t.Run("stopped too early", func(t *testing.T) {
		g.fresh(t, "app.restore.sleep.ms=500", "app.restore.delay.ms=20000")
		d := g.drain(t, nil, "--raise-standbys", "--wait")
		d.says(t, stepSet)
		d.says(t, "TIME")
		g.stop(t)
		code, doc, said := d.end(t)
		if code != 1 || !doc.Standbys.PutBack {
			t.Errorf("exit %d, %+v\n%s", code, doc, said)
		}
		g.asBefore(t)
		if n := g.cold(t); n == 0 {
			t.Error("no task restored cold: the other cases would not see one either")
		}
	})
}

// A drain while records come: no position is ever at the end, and yet it is seen
// that the copies have caught up.
func drainWhileProducing(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v440)
	g := c.startDrained(t, "drain-busy", 24_000)
	g.busy = true
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				c.client.Produce(context.Background(), &kgo.Record{Topic: g.group + "-in", Key: []byte("k" + strconv.Itoa(i%500)), Value: []byte("v" + strconv.Itoa(i%400))}, nil)
			}
		}
	}()
	defer func() { close(stop); <-done }()
	g.finish(t)
}

// A broker that tells no positions: it is never called safe, the drain ends all
// the same, and nothing is cold.
func drainWithoutPositions(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	g := c.startDrained(t, "drain-blind", 24_000)
	d := g.drain(t, nil, "--raise-standbys", "--wait")
	d.says(t, "whether the copies have caught up cannot be seen")
	eventually(t, time.Minute, "the copies are there, as the app says", func() bool {
		n := 0
		for pod := range g.pods {
			_, standby := g.a.count(t, pod)
			n += standby
		}
		return n >= 12
	})
	time.Sleep(5 * time.Second) // 2,000 records a copy take less; nothing tells
	g.stop(t)
	code, doc, said := d.end(t)
	if code != 0 || !doc.Standbys.PutBack || doc.Standbys.Safe == nil || *doc.Standbys.Safe != "unknown" {
		t.Errorf("exit %d, %+v\n%s", code, doc.Standbys, said)
	}
	owners := g.owners(t)
	for _, x := range doc.Standbys.Departures {
		if x.To[0] != owners[x.Task] {
			t.Errorf("%s is with %s, foretold was %v", x.Task, owners[x.Task], x.To)
		}
	}
	g.noneCold(t)
	g.asBefore(t)
}
