//go:build realkafka

package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/chaos"
	"github.com/streamctl/streamctl/worker"
)

// switchWarm is how many records a job has processed before its modes are
// switched: some seconds of traffic.
const switchWarm = 1500

// Upgrading to incremental and back under traffic, on a broker that forms new
// groups without delay. Tests that measure a pause run alone: none of them is
// parallel, and those that are wait until all others are over.
func TestWorkerSwitch(t *testing.T) {
	c := env.cluster(t, v431)
	t.Log("pauses", chaos.SwitchAndBack(t, "switch", c.addrs, switchWarm, 2*time.Second))
}

// The same on three brokers that wait a second for members of a new group: a
// pause takes no more than two seconds and twice that.
func TestWorkerSwitchDelayed(t *testing.T) {
	c := env.cluster(t, "workers")
	t.Log("pauses", chaos.SwitchAndBack(t, "delayed", c.addrs, switchWarm, 2*time.Second+2*delayOfWorkers))
}

// mode set there and back, with traffic, on brokers that delay new groups by
// nothing and by a second: the delay is read and announced, and the pause that
// is printed, and that of every task, is under two seconds and twice the delay.
func TestModeSet(t *testing.T) {
	for _, x := range []struct {
		cluster string
		delay   time.Duration
		said    string
	}{{v431, 0, "0ms"}, {"workers", delayOfWorkers, "1s"}} {
		t.Run(x.cluster, func(t *testing.T) {
			c, group := env.cluster(t, x.cluster), "mode-"+x.cluster
			j, stop := c.startJob(t, chaos.Options{Group: group, Workers: 2, Settings: upgrading()}, "a", "b", "c")
			j.Counted(2*time.Minute, switchWarm)
			before, bound := j.Picture(), 2*time.Second+2*x.delay
			announced := fmt.Sprintf("pause: at most about %s: twice the broker's group.initial.rebalance.delay.ms of %s, and 2s", bound, x.said)

			res := j.must(0, "mode", "set", group, "incremental", "--dry-run", "-o", "json")
			if doc := parseChange(t, res); doc.Done || doc.Mode.Epoch != nil || j.GroupType() != "consumer" || j.State().Mode != nil {
				t.Errorf("a dry run: %s, group of type %s", res.stdout, j.GroupType())
			}

			res = j.must(0, "mode", "set", group, "incremental", "--yes", "-o", "json", "--reason", "roll-out is over")
			m := parseChange(t, res).Mode
			if m.DelayMs == nil || *m.DelayMs != x.delay.Milliseconds() || m.RolledBack || *m.Epoch != 1 || len(m.NotFollowed) > 0 || !parseChange(t, res).Done {
				t.Errorf("document %s", res.stdout)
			}
			if m.PauseMs == nil || *m.PauseMs <= 0 || *m.PauseMs > bound.Milliseconds() {
				t.Errorf("a pause of more than %v: %s", bound, res.stdout)
			}
			if said := oneText(res.stderr); !strings.Contains(said, announced) || !strings.Contains(said, "3 instances stop their 12 active tasks") {
				t.Errorf("not announced: %s\n%s", announced, res.stderr)
			}
			j.after(worker.Incremental, "stream", before)

			res = j.must(0, "mode", "set", group, "upgrading", "--yes")
			said := regexp.MustCompile(`switched: \S+ runs in mode upgrading, epoch 2, with all 3 instances; pause (\S+)`).FindStringSubmatch(oneText(res.stdout))
			if said == nil {
				t.Fatalf("%s\n%s", res.stdout, res.stderr)
			}
			pause, err := time.ParseDuration(said[1])
			if err != nil || pause <= 0 || pause > bound {
				t.Errorf("pause %s, more than %v: %v", said[1], bound, err)
			}
			j.after(worker.Upgrading, "consumer", before)
			stop()
			if idle := j.Idle(); idle > bound {
				t.Errorf("a task was without an active for %v, more than %v", idle, bound)
			}
			t.Logf("pauses printed: %d ms and %s; longest of a task %v", *m.PauseMs, said[1], j.Idle())
			if res = j.must(0, "mode", "set", group, "upgrading", "--yes"); !strings.Contains(res.stdout, "already, nothing was done") {
				t.Errorf("once more: %s", res.stdout)
			}
			j.Finish(false)
		})
	}
}

// after looks at a job after a switch: its type, who follows, and that every
// task is where it was.
func (j workerJob) after(m worker.Mode, protocolType, before string) {
	j.t.Helper()
	j.Running()
	if now := j.Picture(); now != before {
		j.t.Errorf("before the switch %s, after it %s", before, now)
	}
	if got := j.GroupType(); got != protocolType {
		j.t.Errorf("in mode %s the group is of type %q", m, got)
	}
	res := j.must(0, "mode", "get", j.O.Group)
	if !strings.Contains(res.stdout, string(m)+" (protocol type "+protocolType+")") || !strings.Contains(res.stdout, "3 of 3 instances follow") {
		j.t.Errorf("mode get: %s", res.stdout)
	}
}

// oneText is a text without its line breaks.
func oneText(s string) string { return strings.Join(strings.Fields(s), " ") }

// A worker that does not follow: the others go back by themselves, it is named,
// and the exit code is 1, also of a command that comes when the one that began the
// switch has ended: --timeout and Ctrl-C end the waiting, not the switch. Nothing
// is lost.
func TestModeSetNotFollowed(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	const group = "mode-back"
	j, stop := c.startJob(t, chaos.Options{Group: group, Workers: 1, Settings: upgrading(), Session: time.Minute}, "a", "b", "c")
	j.Pause("c")
	resumed := make(chan struct{})
	go func() {
		defer close(resumed)
		for t.Context().Err() == nil {
			if m := j.State().Mode; m != nil && m.Epoch == 2 {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		j.Resume("c")
	}()
	set := []string{"mode", "set", group, "incremental", "--yes"}
	res := j.must(4, append(set, "--allowed", "20s", "--timeout", "2s")...)
	if !strings.Contains(oneText(res.stdout), "not switched yet: mode-back after 2s") || !strings.Contains(oneText(res.stderr), "the switch goes on, or goes back, by itself") {
		t.Errorf("--timeout: %s%s", res.stdout, res.stderr)
	}
	code, said := c.signalled(t, "is on already", syscall.SIGINT, set...).end()
	if code != 130 || !strings.Contains(oneText(said), "the switch goes on by itself, epoch 1") {
		t.Errorf("Ctrl-C: exit %d: %s", code, said)
	}
	if m := j.State().Mode; m.Epoch != 1 {
		t.Fatalf("record %+v: the switch ended with the commands", m)
	}
	res = j.must(1, append(set, "-o", "json")...)
	<-resumed
	m := parseChange(t, res).Mode
	if !m.RolledBack || *m.Epoch != 1 || !slices.Equal(m.NotFollowed, []string{"c"}) || m.PauseMs != nil || parseChange(t, res).Done {
		t.Errorf("document %s", res.stdout)
	}
	if said := oneText(res.stderr); !strings.Contains(said, `group "mode-back" did not follow to mode incremental within 20s: did not follow: c`) {
		t.Errorf("it says %s", res.stderr)
	}
	t.Log(res.stderr, res.stdout)
	if s := j.State().Mode; s.Epoch != 2 || s.Mode != "upgrading" || j.GroupType() != "consumer" {
		t.Errorf("record %+v, group of type %s", s, j.GroupType())
	}
	j.end(stop, true)
}

// A worker that died just before. Where its session is longer than the switch may
// take, the others go back without it; else they switch without it, once they have
// waited for it. Who is gone is said, and not waited for any longer.
func TestModeSetOfOneThatDied(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	for _, x := range []struct {
		group, allowed string
		session        time.Duration
		code           int
		says           []string
		protocolType   string
	}{
		{"mode-dead", "3s", 10 * time.Second, 1, []string{
			"not switched: mode-dead is back in mode upgrading, epoch 2, with 2 of 3 instances; pause ", "did not follow: c; not in the group any more: c",
		}, "consumer"},
		{"mode-without", "15s", 6 * time.Second, 0, []string{
			"switched: mode-without runs in mode incremental, epoch 1, with 2 of 3 instances; pause ", "not in the group any more: c",
		}, "stream"},
	} {
		t.Run(x.group, func(t *testing.T) {
			t.Parallel()
			j, stop := c.startJob(t, chaos.Options{Group: x.group, Workers: 1, Settings: upgrading(), Session: x.session}, "a", "b", "c")
			j.Kill("c")
			res := j.must(x.code, "mode", "set", x.group, "incremental", "--yes", "--allowed", x.allowed)
			for _, want := range x.says {
				if !strings.Contains(oneText(res.stdout), want) {
					t.Errorf("it does not say %q\n%s%s", want, res.stdout, res.stderr)
				}
			}
			if got := j.GroupType(); got != x.protocolType {
				t.Errorf("group of type %s", got)
			}
			t.Log(res.stderr, res.stdout)
			j.end(stop, true)
		})
	}
}
