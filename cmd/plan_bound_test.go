package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// --timeout ends the computing too, not only the reading.
func TestPlanComputesInTime(t *testing.T) {
	s := fixture(t, "classic-learners")
	run := func(args ...string) captured {
		return runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), append([]string{"plan", "shop", "--timeout", "100ms"}, args...)...)
	}
	for _, args := range [][]string{{"--add", "10000"}, {"--sweep", "add=9000..9900"}} {
		start := time.Now()
		got := run(args...)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%v: %s", args, took)
		}
		if got.code != 1 || got.out != "" || !strings.Contains(got.err, `group "shop": its plan is not computed: --timeout of 100ms is over`) || !strings.Contains(got.err, "--max-rounds") {
			t.Errorf("%v: exit code %d\n%s%s", args, got.code, got.out, got.err)
		}
	}
}

// The plan and the check go by one rule: what the plan takes over without a wait
// the check lets stop, as far as both look at copies at their end.
func TestPlanAndCheckStopAgree(t *testing.T) {
	for _, c := range []struct {
		fixture, group, pod string
		code                int
	}{
		{"streams-stable-4.4.0", "billing", "pod-a", 3}, // pod-b has no state of its tasks
		{"streams-stable-4.4.0", "billing", "pod-b", 0}, // pod-a has them left over
		{"streams-standbys-4.4.0", "visitors", "pod-a", 0},
		{"streams-standbys-4.4.0", "visitors", "pod-b", 0},
		{"streams-stable-one-4.4.0", "billing", "pod-a", 3},
	} {
		f := func() *fakeCluster { return &fakeCluster{answers: []*snapshot.Snapshot{fixture(t, c.fixture)}} }
		plan := runWith(t, fakeDeps(t, f()), "plan", c.group, "--remove", c.pod, "--fail-on", "downtime")
		check := runWith(t, fakeDeps(t, f()), "check", "stop", c.pod, "-g", c.group)
		if plan.code != c.code || check.code != c.code {
			t.Errorf("%s, %s: plan %d, check %d, want %d\n%s%s", c.fixture, c.pod, plan.code, check.code, c.code, plan.err, check.out)
		}
	}
}

// A group that cannot be planned beats one that was waited for in vain, and the
// document names it.
func TestFieldCase66ExitCodeOfSeveralPlans(t *testing.T) {
	s := preparing(t, fixture(t, "classic-one-instance"))
	got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{merge(s, fixture(t, "classic-mixed"))}}), "plan", "shop", "delivery", "--timeout", "0", "-o", "json")
	if got.code != 1 {
		t.Errorf("exit code %d\n%s", got.code, got.err)
	}
	objects := map[string]bool{}
	for _, e := range document(t, got.out)["errors"].([]any) {
		objects[e.(map[string]any)["object"].(string)] = true
	}
	if !objects["group shop"] || !objects["group delivery"] {
		t.Errorf("errors of %v", objects)
	}
}

// What a gate finds is said also where the saved plan no longer holds.
func TestCheckAndGate(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "plan.json")
	run := func(name string, args ...string) captured {
		return runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{fixture(t, name)}}), append([]string{"plan", "shop"}, args...)...)
	}
	if err := os.WriteFile(saved, []byte(run("classic-one-instance", "--add", "1", "-o", "json").out), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run("classic-learners", "--check", saved, "--fail-on", "moves>0")
	if got.code != 3 || !strings.Contains(got.out, "differs: ") || !strings.Contains(got.err, "--fail-on moves>0") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	if got = run("classic-one-instance", "--check", saved, "--fail-on", "moves>0"); got.code != 3 || !strings.Contains(got.err, "--fail-on moves>0") {
		t.Errorf("the same plan: exit code %d\n%s%s", got.code, got.out, got.err)
	}
}
