//go:build realkafka

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// The commands of a working day, while an instance joins a group with state:
// watch tells the rounds and why they came, wait and check answer for the state
// that is there, and Ctrl-C ends a watch.
func TestEverydayCommands(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, v431)
	c.createTopic(t, "parcels-in", 6)
	c.produce(t, "parcels-in", 300_000, 150_000, 120_000)
	a := c.startApp(t, appSpec{group: "depot", topic: "parcels-in"})
	a.add(t, "pod-a")
	a.waitActive(t, "pod-a", 12)
	c.waitCommitted(t, "depot", "parcels-in", "depot-byvalue-repartition")

	watch := streamctlCmd(context.Background(), t, "watch", "depot", "-o", "json", "--bootstrap-server", c.addrs[0])
	var said bytes.Buffer
	watch.Stdout = &said
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = watch.Process.Kill() }() // when the test fails half-way
	time.Sleep(3 * time.Second)                 // its first look
	a.add(t, "pod-b")
	a.waitState(t, "pod-b", "RUNNING")
	c.waitMembers(t, "depot", false, 4)
	time.Sleep(3 * time.Second) // a look after the round
	if err := watch.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = watch.Wait() // the exit code is looked at below
	if code := watch.ProcessState.ExitCode(); code != 130 {
		t.Errorf("watch ended by Ctrl-C: exit %d, want 130", code)
	}
	joined := false
	for s := bufio.NewScanner(&said); s.Scan(); {
		var e struct{ Kind, Group, What, Object, Cause string }
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			t.Fatalf("watch wrote no JSON line: %v: %s", err, s.Text())
		}
		joined = joined || strings.Contains(e.What+" "+e.Cause, "joined")
	}
	if !joined {
		t.Error("watch does not say that members joined")
	}

	for _, x := range []struct {
		args []string
		code int
	}{
		{[]string{"wait", "depot", "--for", "stable", "--settle", "1s"}, 0},
		{[]string{"wait", "depot", "--for", "caught-up", "--max-lag", "0"}, 0},
		{[]string{"wait", "depot", "--for", "converged", "--timeout", "0"}, 4},
		{[]string{"check", "stop", "pod-b", "-g", "depot"}, 0}, // owns no active task
		{[]string{"check", "stop", "pod-a", "-g", "depot"}, 3},
		{[]string{"describe", "group", "depot", "--fail-on", "learning"}, 3},
		{[]string{"describe", "group", "depto"}, 1}, // there is no such group
		{[]string{"describe", "instance", "pod-b", "-g", "depot"}, 0},
		{[]string{"describe", "member", "pod-b-StreamThread-1", "-g", "depot"}, 0},
		{[]string{"describe", "task", "0_0", "-g", "depot"}, 0},
		{[]string{"can-i", "-g", "depot"}, 0},
		{[]string{"config", "test"}, 0},
		{[]string{"version"}, 0},
	} {
		if res := c.streamctl(t, x.args...); res.code != x.code {
			t.Errorf("%v: exit %d, want %d\nstdout: %s\nstderr: %s", x.args, res.code, x.code, res.stdout, res.stderr)
		}
	}
	if c.describeClassic(t, "depto").State != "Dead" {
		t.Error("describing a group that is not there has made it")
	}

	var list struct {
		Items []struct{ ID, Role string }
	}
	res := c.streamctl(t, "get", "tasks", "-g", "depot", "-o", "json")
	if err := json.Unmarshal([]byte(res.stdout), &list); err != nil {
		t.Fatalf("get tasks: %v: %s%s", err, res.stdout, res.stderr)
	}
	active, learners := map[string]bool{}, 0
	for _, item := range list.Items {
		switch item.Role {
		case "active":
			active[item.ID] = true
		case "learner":
			learners++
		}
	}
	if len(active) != 12 || learners != 2 {
		t.Errorf("get tasks: %d active, %d learners, want 12 and 2:\n%s", len(active), learners, res.stdout)
	}
	names := strings.Fields(c.streamctl(t, "get", "instances", "-g", "depot", "-o", "name").stdout)
	slices.Sort(names)
	if len(names) != 2 {
		t.Errorf("get instances -o name: %q", names)
	}
}
