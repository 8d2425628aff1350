package cmd

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// preparing is the same group while it rebalances: as 4.x brokers answer, with
// the assignments of the round before and no metadata.
func preparing(t *testing.T, s *snapshot.Snapshot) *snapshot.Snapshot {
	return with(t, s, func(s *snapshot.Snapshot) {
		c := s.Groups[0].Classic
		c.State, c.Protocol = "PreparingRebalance", ""
		for i := range c.Members {
			c.Members[i].Metadata = nil
		}
	})
}

// rounds is a group that goes A, rebalance, B, rebalance, A.
func rounds(t *testing.T) *fakeCluster {
	b := fixture(t, "classic-learners")
	a := with(t, b, func(s *snapshot.Snapshot) {
		m := s.Groups[0].Classic.Members
		s.Groups[0].Classic.Members = m[:len(m)-1]
	})
	return &fakeCluster{every: 10 * time.Second, answers: []*snapshot.Snapshot{a, preparing(t, a), b, preparing(t, b), a}}
}

// Rebalances that chase each other are counted; the exit code is 3 at the Nth.
func TestFieldCase01WatchCountsRebalances(t *testing.T) {
	for _, c := range []struct {
		failOn string
		code   int
	}{{"rebalances=2", 3}, {"rebalances=3", 0}} {
		synctest.Test(t, func(t *testing.T) {
			got := runWith(t, fakeDeps(t, rounds(t)), "watch", "shop", "--for", "5m", "--fail-on", c.failOn)
			if got.code != c.code {
				t.Errorf("%s: exit code %d, want %d\n%s%s", c.failOn, got.code, c.code, got.out, got.err)
			}
			if n := strings.Count(got.out, "  rebalance "); n != 2 {
				t.Errorf("%d lines of rounds, want 2:\n%s", n, got.out)
			}
			if !strings.Contains(got.out, "rebalance 2 in 10s") {
				t.Errorf("no line about the second round:\n%s", got.out)
			}
		})
	}
}

// The cause is worked out and marked so; JSON is one object a line.
func TestFieldCase05WatchNamesTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := runWith(t, fakeDeps(t, rounds(t)), "watch", "shop", "--for", "1m")
		for _, want := range []string{"cause~: member pod-b/T2 joined", "cause~: member pod-b/T2 left"} {
			if !strings.Contains(got.out, want) {
				t.Errorf("no %q in\n%s", want, got.out)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		got := runWith(t, fakeDeps(t, rounds(t)), "watch", "shop", "--for", "1m", "-o", "json")
		seen := 0
		for _, line := range strings.Split(strings.TrimSpace(got.out), "\n") {
			var e struct {
				Kind, What, Group string
				Cause             *string
				Inferred          bool `json:"cause_inferred"`
			}
			if err := json.Unmarshal([]byte(line), &e); err != nil || e.Kind != "Event" || e.Group != "shop" {
				t.Fatalf("line is no event: %v %s", err, line)
			}
			if e.What == "rebalance" {
				seen++
				if e.Cause == nil || !e.Inferred {
					t.Errorf("no inferred cause: %s", line)
				}
			}
		}
		if got.code != 0 || seen != 2 {
			t.Errorf("exit code %d, %d rebalances, want 0 and 2", got.code, seen)
		}
	})
}

// A look that fails in the middle is told and tried again.
func TestWatchGoesOnAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := rounds(t)
		c.errs = []error{nil, errFake, nil}
		got := runWith(t, fakeDeps(t, c), "watch", "shop", "--for", "1m")
		if got.code != 0 || strings.Count(got.err, "cannot look: broker went away") != 1 {
			t.Errorf("exit code %d, stderr\n%s", got.code, got.err)
		}
	})
}

func TestWatchFlagRedraws(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := rounds(t)
		c.errs = []error{nil, nil, nil, nil, nil}
		d := fakeDeps(t, c)
		got := runWith(t, d, "get", "groups", "-w", "--fail-on", "learning")
		if got.code != 3 || strings.Count(got.out, "GROUP") != 1 {
			t.Errorf("exit code %d\n%s", got.code, got.out)
		}
	})
}
