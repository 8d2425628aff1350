//go:build realkafka

package e2e

import (
	"slices"
	"testing"
	"time"
)

// Three brokers, and the one that coordinates the group is killed while
// describe runs again and again. No run hangs or prints half a document; soon
// the next coordinator answers with the same group.
func TestBrokerDies(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, "three")
	c.createTopic(t, "alerts", 6)
	c.produce(t, "alerts", 6000, 1000, 800)
	a := c.startApp(t, appSpec{group: "fraud", topic: "alerts", settings: map[string]string{"session.timeout.ms": "30000"}})
	a.add(t, "pod-a")
	a.waitActive(t, "pod-a", 12)
	c.waitMembers(t, "fraud", false, 2)
	c.waitCommitted(t, "fraud", "alerts", "fraud-byvalue-repartition")
	before := c.describe(t, "fraud")
	victim := before.Coord.ID
	if got := c.coordinator(t, "fraud"); got != victim {
		t.Fatalf("coordinator %d, want %d", victim, got)
	}
	alive := slices.Concat(c.addrs[:victim-1], c.addrs[victim:])

	type run struct {
		result
		began time.Time
	}
	runs := make(chan run)
	stop := make(chan struct{})
	go func() {
		defer close(runs)
		for {
			select {
			case <-stop:
				return
			default:
			}
			began := time.Now()
			args := []string{"describe", "group", "fraud", "-o", "json", "--timeout", "20s"}
			for _, addr := range alive {
				args = append(args, "--bootstrap-server", addr)
			}
			runs <- run{runCmd(t, streamctlCmd(t.Context(), t, args...)), began}
		}
	}()
	<-runs // one while all is well
	killed := time.Now()
	c.nodes[victim-1].kill()

	good := 0
	for r := range runs {
		if r.took > 25*time.Second {
			t.Errorf("a run took %v, more than its timeout", r.took)
		}
		switch {
		case r.code == 0:
			d := parseGroup(t, r.stdout)
			if d.Totals.Tasks != 12 && d.State == "Stable" {
				t.Errorf("a Stable group with %d tasks", d.Totals.Tasks)
			}
			if d.Coord != nil && d.Coord.ID != victim && d.Totals.Active == 12 {
				good++
			}
		case r.code == 1:
			if r.stdout != "" {
				parseGroup(t, r.stdout) // in part, then; but whole as a document
			}
			if r.stderr == "" {
				t.Error("a run failed and said nothing")
			}
		default:
			t.Errorf("exit %d\nstdout: %s\nstderr: %s", r.code, r.stdout, r.stderr)
		}
		if good == 2 || time.Since(killed) > 90*time.Second {
			close(stop)
			break
		}
	}
	for range runs { // the last one
	}
	if good == 0 {
		t.Fatal("no run found the group at its next coordinator")
	}
	t.Logf("the next coordinator answered %v after the kill", time.Since(killed).Round(100*time.Millisecond))
}
