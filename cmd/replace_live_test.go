package cmd

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// All instances are replaced by new ones in three steps; the tool may be
// interrupted and killed at each of them, and goes on with what it began: those
// that joined meanwhile are not taken for old ones.
func TestReplaceGoesOnAfterEachInterruption(t *testing.T) {
	t.Parallel()
	j := startJob(t, 2, 2000)
	bootstrap := j.Status().Bootstrap
	old := map[string]bool{j.pod("pod-a").ID: true, j.pod("pod-b").ID: true}
	if got := j.run(t.Context(), "replace", "clicks"); got.code != 2 {
		t.Errorf("without --with: exit code %d\n%s", got.code, got.err)
	}
	if got := j.run(t.Context(), "replace", "clicks", "--with", "2"); got.code != 2 || !strings.Contains(got.err, "--yes") {
		t.Errorf("without --yes: exit code %d\n%s", got.code, got.err)
	}
	got := j.run(t.Context(), "replace", "clicks", "--with", "2", "--dry-run")
	if got.code != 0 || !strings.Contains(got.err, "1 join: 0 of 2 new instances are there; start 2") || !strings.Contains(got.err, "12 active tasks go to new-1 (6) and new-2 (6)") {
		t.Errorf("dry run: exit code %d\n%s%s", got.code, got.out, got.err)
	}

	// Interrupted while it waits for new ones, one of which is there.
	j.interrupted(os.Interrupt, 130, "start 2 more", "replace", "clicks", "--with", "2", "--yes", "--bootstrap-server", bootstrap)
	if _, err := j.Add(t.Context(), 1); err != nil { // pod-c
		t.Fatal(err)
	}
	j.interrupted(syscall.SIGKILL, -1, "start 1 more", "replace", "clicks", "--yes", "--bootstrap-server", bootstrap)
	if got = j.run(t.Context(), "replace", "clicks", "--with", "3", "--yes"); got.code != 1 || !strings.Contains(got.err, "a replacement by 2 new instances goes on") {
		t.Errorf("another number: exit code %d\n%s", got.code, got.err)
	}
	if got = j.run(t.Context(), "replace", "clicks", "--yes", "--timeout", "2s"); got.code != 4 || !strings.Contains(strings.ReplaceAll(got.out, "\n  ", " "), "1 of 2 new instances are there") {
		t.Errorf("timed out: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	if j.mark("pod-a") != nil || j.mark("pod-b") != nil {
		t.Fatal("marked before the new ones were there")
	}
	if _, err := j.Add(t.Context(), 1); err != nil { // pod-d
		t.Fatal(err)
	}
	// Killed while the old ones are drained.
	j.interrupted(syscall.SIGKILL, -1, "marked. Ctrl-C ends the waiting", "replace", "clicks", "--yes", "--bootstrap-server", bootstrap)
	j.SetRestoreRate(0)
	got = j.run(t.Context(), "replace", "clicks", "--yes", "--timeout", "60s", "-o", "json")
	doc := j.document(got)
	if got.code != 0 || doc.Replace == nil || !doc.Replace.Resumed || len(doc.Replace.Old) != 2 || len(doc.Replace.New) != 2 || !old[doc.Replace.Old[0]] || !old[doc.Replace.Old[1]] {
		t.Fatalf("at last: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	for _, s := range doc.Replace.Steps {
		if !s.Done {
			t.Errorf("step %s is not done", s.Step)
		}
	}
	j.until("the new ones run all", func() bool { return j.pod("pod-c").Active+j.pod("pod-d").Active == 12 })
	if got = j.run(t.Context(), "replace", "clicks", "--yes"); got.code != 2 || !strings.Contains(got.err, "no replacement goes on") {
		t.Errorf("afterwards: exit code %d\n%s", got.code, got.err)
	}
	j.right()
}

// A replacement that is given up leaves no mark.
func TestReplaceAbandoned(t *testing.T) {
	t.Parallel()
	j := startJob(t, 3, 100)
	if got := j.run(t.Context(), "replace", "clicks", "--abandon", "--yes"); got.code != 0 || !strings.Contains(got.out, "no replacement goes on") {
		t.Errorf("nothing to abandon: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	done := make(chan captured, 1)
	go func() { done <- j.run(ctx, "replace", "clicks", "--with", "1", "--yes", "--timeout", "20s") }()
	if _, err := j.Add(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	j.until("the old ones are marked", func() bool { return j.pod("pod-a").Leaving && j.pod("pod-b").Leaving && j.pod("pod-c").Leaving })
	got := j.run(t.Context(), "replace", "clicks", "--abandon", "--yes")
	if got.code != 0 || !strings.Contains(got.out, "pod-a, pod-b and pod-c stay") {
		t.Errorf("abandon: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	j.until("nobody is leaving", func() bool { return !j.pod("pod-a").Leaving && !j.pod("pod-b").Leaving && !j.pod("pod-c").Leaving })
	if got := <-done; got.code == 0 {
		t.Errorf("the replacement that was abandoned: exit code %d\n%s%s", got.code, got.out, got.err)
	}
	j.right()
}

// interrupted runs a command as a process and sends it a signal once it has said
// something.
func (j liveJob) interrupted(signal os.Signal, want int, says string, args ...string) {
	j.t.Helper()
	p, out, _ := process(j.t, args...)
	said := &watched{want: says, seen: make(chan struct{})}
	p.Stderr = said
	if err := p.Start(); err != nil {
		j.t.Fatal(err)
	}
	select {
	case <-said.seen:
	case <-time.After(30 * time.Second):
		j.t.Fatalf("it never said %q\n%s", says, said)
	}
	if err := p.Process.Signal(signal); err != nil {
		j.t.Fatal(err)
	}
	if got := code(j.t, p.Wait()); got != want || out.Len() > 0 {
		j.t.Errorf("%v: exit code %d\n%s%s", args, got, out, said)
	}
	if want == 130 && !strings.Contains(said.String(), "replace clicks goes on with it") {
		j.t.Errorf("it does not say how to go on\n%s", said)
	}
}
