//go:build bench

package e2e

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Large groups of the embedded broker, which runs in a process of its own.
func TestSpeedLab(t *testing.T) {
	plainHome(t)
	bin := buildAt(t, ".")
	t.Run("large group", func(t *testing.T) {
		addr := startLab(t, bin, "--members", "1000", "--tasks", "10000")
		groups := &contender{name: "get groups", runs: 1, argv: []string{bin, "get", "groups", "-o", "json", "--bootstrap-server", addr}}
		groups.run(t)
		group, members := largest(t, groups.out)
		if members != 1000 {
			t.Fatalf("the largest group %q has %d members, want 1000", group, members)
		}
		describe := &contender{
			name: "describe group, 1,000 members, 10,000 tasks", runs: 15,
			argv: []string{bin, "describe", "group", group, "-o", "json", "--bootstrap-server", addr},
		}
		race(t, describe)
		var d struct {
			Totals struct{ Tasks int }
		}
		if err := json.Unmarshal([]byte(describe.out), &d); err != nil || d.Totals.Tasks != 10_000 {
			t.Fatalf("%d tasks, want 10000 (%v)", d.Totals.Tasks, err)
		}
		took, peak := describe.median(), float64(describe.memory())/(1<<20)
		bar(t, "describe a large group", took.Seconds(), " s", took < 500*time.Millisecond, "under 0.5 s")
		bar(t, "its memory", peak, " MiB", peak < 150, "under 150 MiB")
	})
	t.Run("many groups", func(t *testing.T) {
		addr := startLab(t, bin, "--groups", "10000")
		list := &contender{name: "get groups, 10,000 groups", runs: 15, argv: []string{bin, "get", "groups", "-o", "json", "--bootstrap-server", addr}}
		race(t, list)
		var d struct {
			Groups []json.RawMessage `json:"groups"`
		}
		if err := json.Unmarshal([]byte(list.out), &d); err != nil || len(d.Groups) < 10_000 {
			t.Fatalf("%d groups, want 10000 (%v)", len(d.Groups), err)
		}
		took := list.median()
		bar(t, "list many groups", took.Seconds(), " s", took < time.Second, "under 1 s")
	})
}

// startLab starts streamctl lab and gives its address, which it prints first.
func startLab(t *testing.T, bin string, args ...string) string {
	t.Helper()
	cmd := exec.Command(bin, append([]string{"lab"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended by itself
		_ = cmd.Wait()
	})
	lines := make(chan string, 1)
	go func() {
		s := bufio.NewScanner(out)
		s.Scan()
		lines <- s.Text()
		for s.Scan() {
		}
	}()
	select {
	case line := <-lines:
		addr, ok := strings.CutPrefix(line, "bootstrap ")
		if !ok {
			t.Fatalf("the first line of lab is %q", line)
		}
		return strings.TrimSpace(addr)
	case <-time.After(2 * time.Minute):
		t.Fatal("lab printed no address within two minutes")
	}
	return ""
}

// largest gives the group with the most members of a GroupList.
func largest(t *testing.T, text string) (group string, members int) {
	t.Helper()
	var list struct {
		Groups []struct {
			Group   string
			Members int
		}
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, g := range list.Groups {
		if g.Members > members {
			group, members = g.Group, g.Members
		}
	}
	return group, members
}
