package cmd

import (
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/snapshot"
)

func TestFirstRelease(t *testing.T) {
	for text, want := range map[string]string{
		"v4.3": "4.3", "at least v4.4": "4.4", "between v4.1 and v4.2": "4.1", "": "", "unknown custom version": "", "not even v0.8.0": "0.8",
	} {
		if got := firstRelease(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A plan of a streams group goes by the release of its coordinator, and says of
// 4.1 that only its numbers are right.
func TestPlanGoesByTheRelease(t *testing.T) {
	of41 := func(s *snapshot.Snapshot) { // the highest versions of a 4.1 broker with the early access on
		older := map[int16]int16{2: 10, 8: 9, 9: 9, 27: 1, 35: 4, 78: 1, 79: 1, 80: 0, 85: 0, 87: 0, 90: 0}
		for i := range s.APIVersions {
			for k := range s.APIVersions[i].Keys {
				if key := &s.APIVersions[i].Keys[k]; older[key.Key] > 0 || key.Key == 80 || key.Key == 85 || key.Key == 87 || key.Key == 90 {
					key.Max = older[key.Key]
				}
			}
		}
	}
	const unknown, counts = "version is not known", "the plan's counts are a fair guess"
	for name, c := range map[string]struct {
		fixture string
		change  func(*snapshot.Snapshot)
		want    string // in the text; "": neither
	}{
		"4.3":             {"streams-stable-one-4.3.1", func(*snapshot.Snapshot) {}, ""},
		"4.4":             {"streams-stable-one-4.4.0", func(*snapshot.Snapshot) {}, ""},
		"4.1":             {"streams-stable-one-4.3.1", of41, counts},
		"nobody tells it": {"streams-stable-one-4.3.1", func(s *snapshot.Snapshot) { s.APIVersions = nil }, unknown},
	} {
		s := with(t, fixture(t, c.fixture), c.change)
		got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), "plan", "billing", "--add", "1")
		words := strings.Join(strings.Fields(got.out), " ")
		for _, said := range []string{unknown, counts} {
			if strings.Contains(words, said) != (said == c.want) {
				t.Errorf("%s: %q, want %q\n%s%s", name, said, c.want, got.out, got.err)
			}
		}
	}
}
