package cmd

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/streamctl/streamctl/internal/snapshot"
)

var errFake = errors.New("broker went away")

// The next node of a rolling restart waits until the group has settled.
func TestFieldCase24WaitForStable(t *testing.T) {
	s := fixture(t, "classic-one-instance")
	script := func(t *testing.T) *fakeCluster {
		c := &fakeCluster{every: time.Second}
		for i := range 70 {
			if i >= 20 && i < 25 {
				c.answers = append(c.answers, preparing(t, s))
			} else {
				c.answers = append(c.answers, s)
			}
		}
		return c
	}
	for _, c := range []struct {
		args []string
		code int
		took time.Duration
	}{
		{[]string{"--settle", "30s", "--timeout", "10m"}, 0, 55 * time.Second},
		{[]string{"--settle", "30s", "--timeout", "40s"}, 4, 40 * time.Second},
		{[]string{"--timeout", "0"}, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			got := runWith(t, fakeDeps(t, script(t)), append([]string{"wait", "shop", "--for", "stable"}, c.args...)...)
			took := time.Since(begin).Round(time.Second)
			if got.code != c.code || took < c.took-time.Second || took > c.took+time.Second {
				t.Errorf("%v: exit code %d after %s, want %d after %s\n%s%s", c.args, got.code, took, c.code, c.took, got.out, got.err)
			}
		})
	}
}

// A --timeout shorter than the default of --settle is no bad usage: the wait runs
// out, with its document, and says beforehand that it will.
func TestWaitTooShortToSettle(t *testing.T) {
	for _, want := range []string{"stable", "converged"} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			c := &fakeCluster{every: time.Second, answers: []*snapshot.Snapshot{fixture(t, "classic-one-instance")}}
			got := runWith(t, fakeDeps(t, c), "wait", "shop", "--for", want, "--timeout", "3s", "-o", "json")
			took := time.Since(begin).Round(time.Second)
			if got.code != 4 || took != 3*time.Second || !strings.Contains(got.err, "does not fit into --timeout 3s") || !strings.Contains(got.err, "hint: a longer --timeout") {
				t.Fatalf("%s: exit code %d after %s\n%s", want, got.code, took, got.err)
			}
			if doc := document(t, got.out); doc["met"] != false || doc["for"] != want || len(doc["blockers"].([]any)) == 0 {
				t.Errorf("%s: %s", want, got.out)
			}
		})
	}
}

// A classic group that is judged by its last round says so, also where nothing
// is in the way.
func TestWaitSaysThatPositionsAreOld(t *testing.T) {
	got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{fixture(t, "classic-halfway")}}), "wait", "checkout", "--for", "restored", "--timeout", "0")
	if !strings.Contains(got.err, "positions are those of the last round") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// What only counts time is no change: a settling group is told once, and again
// by the reminder, not at every look.
func TestWaitTellsChangesOnly(t *testing.T) {
	s := fixture(t, "classic-one-instance")
	c := &fakeCluster{every: time.Second, answers: []*snapshot.Snapshot{s}}
	synctest.Test(t, func(t *testing.T) {
		got := runWith(t, fakeDeps(t, c), "wait", "shop", "--for", "stable", "--settle", "50s")
		if n := strings.Count(got.err, "settled for"); got.code != 0 || n != 2 {
			t.Errorf("exit code %d, told %d times, want 2\n%s", got.code, n, got.err)
		}
	})
}

// restoringAt is the restoring 4.4 group with all that restores at a position.
func restoringAt(t *testing.T, share float64) *snapshot.Snapshot {
	return with(t, fixture(t, "streams-restoring-4.4.0"), func(s *snapshot.Snapshot) {
		ms := s.Groups[0].Streams.Members
		for i := range ms {
			if !strings.HasPrefix(ms[i].ClientID, "pod-b") {
				continue
			}
			for k := range ms[i].TaskOffsets {
				o := &ms[i].TaskOffsets[k]
				for _, m := range ms {
					for _, end := range m.TaskEnds {
						if end.Subtopology == o.Subtopology && end.Partition == o.Partition {
							o.Offset = int64(share * float64(end.Offset))
						}
					}
				}
			}
		}
	})
}

// What restores, how fast and how long it takes is said from the second look on.
func TestFieldCase08WaitSaysRateAndTimeToGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &fakeCluster{every: 30 * time.Second, answers: []*snapshot.Snapshot{restoringAt(t, 0), restoringAt(t, 0.2), restoringAt(t, 0.4), fixture(t, "streams-stable-4.4.0")}}
		got := runWith(t, fakeDeps(t, c), "wait", "billing", "--for", "restored", "--timeout", "30m", "--interval", "30s")
		if got.code != 0 || !strings.Contains(got.out, "restored: billing") {
			t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
		}
		for _, want := range []string{"0_4 on pod-b/T2  0/50,378  -  left -", "/s  left 1m30s"} {
			if !strings.Contains(got.err, want) {
				t.Errorf("no %q in\n%s", want, got.err)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := &fakeCluster{answers: []*snapshot.Snapshot{restoringAt(t, 0.5)}}
		got := runWith(t, fakeDeps(t, c), "wait", "billing", "--for", "restored", "--timeout", "2m")
		if got.code != 4 || !strings.Contains(got.out, "not restored") {
			t.Errorf("a restore that never ends: exit code %d\n%s%s", got.code, got.out, got.err)
		}
	})
}

// What restores is told every few seconds, not at every look.
func TestWaitTellsProgressNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &fakeCluster{every: time.Second}
		for i := range 20 {
			c.answers = append(c.answers, restoringAt(t, float64(i)/20))
		}
		got := runWith(t, fakeDeps(t, c), "wait", "billing", "--for", "restored", "--timeout", "20s", "--interval", "1s")
		if n := strings.Count(got.err, "0_4 on pod-b/T2  "); got.code != 4 || n < 3 || n > 5 {
			t.Errorf("exit code %d, told %d times in 20 seconds\n%s", got.code, n, got.err)
		}
	})
}

// A probe looks once; a task that restores for ever is named as such.
func TestFieldCase09ProbeLooksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &fakeCluster{answers: []*snapshot.Snapshot{restoringAt(t, 0.5)}}
		got := runWith(t, fakeDeps(t, c), "wait", "billing", "--for", "restored", "--timeout", "0", "-o", "json")
		doc := document(t, got.out)
		if got.code != 4 || len(c.queries) != 1 || doc["kind"] != "Wait" || doc["met"] != false {
			t.Errorf("exit code %d after %d looks: %v", got.code, len(c.queries), doc)
		}
		got = runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{fixture(t, "streams-stable-4.4.0")}}), "wait", "billing", "--for", "restored", "--timeout", "0")
		if got.code != 0 {
			t.Errorf("all restored: exit code %d\n%s", got.code, got.err)
		}
		got = runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{restoringAt(t, 0.5)}}), "wait", "billing", "--for", "restored", "--timeout", "10s")
		if !strings.Contains(got.err, "(no progress for 3 samples)") {
			t.Errorf("nothing about no progress in\n%s", got.err)
		}
	})
}

// A failure of the first look ends a wait, a later one does not.
func TestWaitAndFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fixture(t, "classic-one-instance")
		got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}, errs: []error{errFake}}), "wait", "shop", "--for", "stable")
		if got.code != 1 || got.out != "" {
			t.Errorf("first look fails: exit code %d, stdout %q", got.code, got.out)
		}
		got = runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}, errs: []error{nil, errFake, errFake}}), "wait", "shop", "--for", "stable", "--settle", "5s")
		if got.code != 0 || strings.Count(got.err, "broker went away") != 1 {
			t.Errorf("later looks fail: exit code %d\n%s", got.code, got.err)
		}
	})
}

func TestWaitForDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fixture(t, "classic-learners")
		got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), "wait", "shop", "--for", "drained", "--instance", "pod-b")
		if got.code != 0 || !strings.Contains(got.out, "drained: pod-b of shop") {
			t.Errorf("pod-b owns nothing: exit code %d\n%s%s", got.code, got.out, got.err)
		}
		got = runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), "wait", "shop", "--for", "drained", "--instance", "pod-a", "--timeout", "5s")
		if got.code != 4 || !strings.Contains(got.err, "learner on pod-b") {
			t.Errorf("pod-a owns all: exit code %d\n%s", got.code, got.err)
		}
		got = runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), "wait", "shop", "--for", "drained", "--instance", "pod-z")
		if got.code != 1 || !strings.Contains(got.err, "hint: there is pod-a, pod-b") {
			t.Errorf("no such instance: exit code %d\n%s", got.code, got.err)
		}
	})
}

// The mark asks for a round itself: a wait that begins within it, while members
// have no metadata, waits until the group tells its instances, and is not done
// because the instance is called otherwise afterwards.
func TestWaitDrainedThatBeginsInARebalance(t *testing.T) {
	s := fixture(t, "classic-learners")
	name := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), "get", "instances", "-g", s.Groups[0].ID, "-o", "name").out
	name, _, _ = strings.Cut(name, "\n")
	name = name[strings.LastIndex(name, "/")+1:]
	// What the rebalance makes of it: the instance goes by its client id.
	unsettled := preparing(t, s)
	c := &fakeCluster{every: time.Second, answers: []*snapshot.Snapshot{unsettled, unsettled, s}}
	synctest.Test(t, func(t *testing.T) {
		got := runWith(t, fakeDeps(t, c), "wait", s.Groups[0].ID, "--for", "drained", "--instance", name, "--timeout", "10s")
		if got.code != 4 || !strings.Contains(got.err, "PreparingRebalance") || !strings.Contains(got.err, "is still owned") {
			t.Errorf("instance %q: exit code %d\n%s%s", name, got.code, got.out, got.err)
		}
	})
}
