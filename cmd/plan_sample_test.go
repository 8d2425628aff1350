package cmd

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// restored is a look at a group so much later, when every member that restores
// has come so many records further.
func restored(t *testing.T, s *snapshot.Snapshot, after time.Duration, records int64) *snapshot.Snapshot {
	return with(t, s, func(s *snapshot.Snapshot) {
		at := s.TakenAt.Add(after)
		s.TakenAt = &at
		for i := range s.Groups[0].Streams.Members {
			m := &s.Groups[0].Streams.Members[i]
			for k := range m.TaskOffsets {
				m.TaskOffsets[k].Offset += records
			}
		}
	})
}

// Two looks at a group that restores give the rate: every time is then known.
func TestPlanMeasuresTheRestoreRate(t *testing.T) {
	first := fixture(t, "streams-restoring-4.4.0")
	run := func(f *fakeCluster, args ...string) (got captured, took time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			got = runWith(t, fakeDeps(t, f), append([]string{"plan", "billing", "--bounce", "pod-b"}, args...)...)
			took = time.Since(began)
		})
		return got, took
	}
	two := func() *fakeCluster {
		return &fakeCluster{answers: []*snapshot.Snapshot{first, restored(t, first, 10*time.Second, 1000)}}
	}
	got, took := run(two(), "--sample", "10s", "-o", "json")
	doc := document(t, got.out)
	totals, _ := doc["totals"].(map[string]any)
	if got.code != 0 || took < 10*time.Second || took > 20*time.Second {
		t.Fatalf("exit code %d after %s\n%s", got.code, took, got.err)
	}
	if totals["estimate_s"] == nil || !strings.Contains(got.out, `{"key":"restore-rate","source":"measured","value":"600 records/s"}`) {
		t.Errorf("estimate %v\n%s", totals["estimate_s"], got.out)
	}
	got, _ = run(two(), "--sample", "10s")
	words := strings.Join(strings.Fields(got.out), " ")
	for _, want := range []string{"restore-rate 600 records/s: measured", "restore rate 600 records/s, measured between", "of pod-b", "; done after "} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in\n%s%s", want, got.out, got.err)
		}
	}
	still, _ := run(&fakeCluster{answers: []*snapshot.Snapshot{first, restored(t, first, 10*time.Second, 0)}}, "--sample", "10s")
	words = strings.Join(strings.Fields(still.out), " ")
	if still.code != 0 || !strings.Contains(words, "no copy came nearer to its end in 10s") || strings.Contains(words, "done after") {
		t.Errorf("nothing moved: exit code %d\n%s%s", still.code, still.out, still.err)
	}
	if _, took := run(two()); took >= 10*time.Second {
		t.Errorf("one look took %s", took)
	}
}

// Two looks are bounded like one: --sample comes on top of --timeout. A group
// that moves at the second look is not planned.
func TestPlanSecondLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fixture(t, "classic-one-instance")
		got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s, preparing(t, s)}}), "plan", "shop", "--sample", "40s", "--timeout", "5s")
		if got.code != 4 || got.out != "" || !strings.Contains(got.err, "not Stable") {
			t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
		}
		got = runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s, s}}), "plan", "shop", "--sample", "40s", "--timeout", "5s")
		if words := strings.Join(strings.Fields(got.out), " "); got.code != 0 || !strings.Contains(words, "one after the other") {
			t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
		}
		got = runWith(t, fakeDeps(t, nil), "plan", "shop", "--sample", "5s", "--restore-rate", "100")
		if got.code != 2 || !strings.Contains(got.err, "one of the two") {
			t.Errorf("exit code %d\n%s", got.code, got.err)
		}
	})
}
