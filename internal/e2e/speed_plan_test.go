//go:build bench

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Plans of large groups, as whole processes that read a snapshot file.
func TestSpeedLabPlan(t *testing.T) {
	plainHome(t)
	bin := buildAt(t, ".")
	const id = "12345678-9abc-4def-8123-456789abcdef" // one draw
	for _, size := range []struct {
		tasks, members int
		most           time.Duration
		peak           int64 // MiB
	}{
		{1000, 50, 100 * time.Millisecond, 1024},
		{50_000, 1000, 10 * time.Second, 1024},
	} {
		file := labSnapshot(t, bin, size.tasks, size.members)
		for _, p := range []struct {
			assignor string
			most     time.Duration
			args     []string
		}{
			{"learner", size.most, []string{"--add", "1"}},
			{"streams-sticky", size.most, []string{"--add", "1"}},
			{"high-availability", size.most, []string{"--add", "1,id=" + id, "--set", "acceptable.recovery.lag=0", "--max-rounds", "20"}},
			{"high-availability", time.Second, []string{"--add", "1,id=" + id, "--set", "acceptable.recovery.lag=0", "--max-rounds", "1000"}},
		} {
			if p.most == time.Second && size.tasks > 1000 {
				continue // all rounds: only of the small group
			}
			name := "plan " + strconv.Itoa(size.tasks) + " tasks on " + strconv.Itoa(size.members) + ", " + p.assignor + " " + p.args[len(p.args)-1]
			argv := append([]string{bin, "plan", "large", "--from", file, "--assignor", p.assignor, "-o", "json"}, p.args...)
			c := &contender{name: name, runs: 3 + 10_000/size.tasks, argv: argv}
			race(t, c)
			var d struct {
				Kind   string
				Rounds []json.RawMessage
			}
			if err := json.Unmarshal([]byte(c.out), &d); err != nil || d.Kind != "Plan" || len(d.Rounds) == 0 {
				t.Fatalf("%v: no plan (%v): %.300s", argv, err, c.out)
			}
			took, peak := c.median(), float64(c.memory())/(1<<20)
			bar(t, name, took.Seconds(), " s", took < p.most, "under "+p.most.String())
			bar(t, "its memory", peak, " MiB", peak < float64(size.peak), "under "+strconv.FormatInt(size.peak, 10)+" MiB")
		}
	}
}

// labSnapshot makes a snapshot of a large group of the embedded broker.
func labSnapshot(t *testing.T, bin string, tasks, members int) string {
	t.Helper()
	addr := startLab(t, bin, "--members", strconv.Itoa(members), "--tasks", strconv.Itoa(tasks))
	shot := &contender{argv: []string{bin, "snapshot", "large", "--bootstrap-server", addr}}
	shot.run(t)
	file := filepath.Join(t.TempDir(), "large.json")
	if err := os.WriteFile(file, []byte(shot.out), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
