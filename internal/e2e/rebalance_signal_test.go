//go:build realkafka

package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// told is a streamctl process with what it says on stderr, line by line.
type told struct {
	cmd *exec.Cmd

	mu    sync.Mutex
	lines []string
	done  chan struct{} // closed when all is read
}

// signalAt starts a rebalance and sends the signal when it says that a step
// begins.
func (c *cluster) signalAt(t testing.TB, group, step string, s os.Signal) *told {
	t.Helper()
	return c.signalled(t, "visitor: "+step, s, "rebalance", group, "--yes", "-v")
}

// signalled starts a command and sends it the signal once a line on stderr has
// these words.
func (c *cluster) signalled(t testing.TB, says string, s os.Signal, args ...string) *told {
	t.Helper()
	cmd := streamctlCmd(t.Context(), t, append(args, "--bootstrap-server", c.addrs[0])...)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	w := &told{cmd: cmd, done: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.done)
		sent := false
		for sc := bufio.NewScanner(pipe); sc.Scan(); {
			if !sent && strings.Contains(sc.Text(), says) {
				_ = cmd.Process.Signal(s) // Wait tells
				sent = true
			}
			w.mu.Lock()
			w.lines = append(w.lines, sc.Text())
			w.mu.Unlock()
		}
	}()
	return w
}

// end waits for the process and gives its exit code, -1 when a signal killed it.
func (w *told) end() (int, string) {
	<-w.done
	_ = w.cmd.Wait() // the code tells
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cmd.ProcessState.ExitCode(), strings.Join(w.lines, "\n")
}

// hasVisitor reports whether a member of the group is none of the app's.
func (c *cluster) hasVisitor(t testing.TB, group string) bool {
	t.Helper()
	for _, m := range c.describeClassic(t, group).Members {
		if !strings.HasPrefix(m.ClientID, "pod-") {
			return true
		}
	}
	return false
}

// Ctrl-C and SIGTERM at each step of a visit, and kill -9 while the visitor is a
// member: after the one it is gone at once, after the other within its session
// of 6 s. The app goes on as it was. It runs alone: times count.
func TestRebalanceEndedAtEachStep(t *testing.T) {
	c := env.cluster(t, v431)
	const group = "stopped"
	c.createTopic(t, "stopped-in", 6)
	c.produce(t, "stopped-in", 6000, 300, 200)
	a := c.startApp(t, appSpec{group: group, topic: "stopped-in", settings: map[string]string{"heartbeat.interval.ms": "1000"}})
	a.add(t, "pod-a")
	a.waitActive(t, "pod-a", 12)
	a.add(t, "pod-b")
	eventually(t, 90*time.Second, "6 and 6 active tasks", func() bool {
		x, _ := a.count(t, "pod-a")
		y, _ := a.count(t, "pod-b")
		return x == 6 && y == 6
	})
	c.waitMembers(t, group, false, 4)
	before := memberIDs(c.describeClassic(t, group))
	settled := func(within time.Duration, what string) {
		t.Helper()
		eventually(t, within, "the group is as before "+what, func() bool {
			g := c.describeClassic(t, group)
			return g.State == "Stable" && slices.Equal(before, memberIDs(g))
		})
	}

	for _, step := range []string{"look", "id", "join", "listed", "leave", "settle"} {
		for _, s := range []struct {
			signal syscall.Signal
			code   int
		}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
			code, said := c.signalAt(t, group, step, s.signal).end()
			if code != s.code || strings.Contains(said, "may still be a member") {
				t.Errorf("%v at %s: exit %d, want %d:\n%s", s.signal, step, code, s.code, said)
			}
			// The visitor is gone when the process is: no session passes.
			if c.hasVisitor(t, group) {
				t.Errorf("%v at %s: the visitor is still a member", s.signal, step)
			}
			settled(5*time.Second, "after "+s.signal.String()+" at "+step)
		}
	}

	// It is a matter of milliseconds whether kill -9 meets the visitor inside.
	inside := false
	for try := 0; try < 20 && !inside; try++ {
		c.signalAt(t, group, "join", syscall.SIGKILL).end()
		killed := time.Now()
		inside = c.hasVisitor(t, group)
		eventually(t, 6*time.Second+5*time.Second, "the visitor is dropped at the end of its session", func() bool { return !c.hasVisitor(t, group) })
		dropped := time.Since(killed)
		settled(30*time.Second, "after kill -9") // what it was given comes back in rounds of a heartbeat each
		if !inside {                             // the id that it was given is waited for in the next round, for a session: let that be over
			if res := c.streamctl(t, "rebalance", group, "--yes"); res.code != 0 {
				t.Fatalf("rebalance: exit %d: %s", res.code, res.stderr)
			}
			settled(5*time.Second, "after a rebalance")
		}
		t.Logf("kill -9, visitor inside: %v; dropped after %s, all as before after %s",
			inside, dropped.Round(10*time.Millisecond), time.Since(killed).Round(10*time.Millisecond))
	}
	if !inside {
		t.Error("twenty kills, and none met the visitor inside")
	}
	c.allTasks(t, a, group, 6, 6)
}
