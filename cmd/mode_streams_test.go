package cmd

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// versionsOf are what brokers of a release answer, with the feature for streams
// groups at a level.
func versionsOf(v *kversion.Versions, level int16) []snapshot.APIVersions {
	out := snapshot.APIVersions{Broker: 1}
	v.EachMaxKeyVersion(func(key, highest int16) {
		out.Keys = append(out.Keys, snapshot.APIRange{Key: key, Max: highest})
	})
	out.Features = []snapshot.APIFeature{{Name: "streams.version", SupportedMax: 1, Finalized: level}}
	return []snapshot.APIVersions{out}
}

// Field case 32: where 4.2.0 cannot be ruled out it is said, and refused without
// --force; a 4.4 cluster is fine.
func TestFieldCase32OfflineMigrationBug(t *testing.T) {
	for _, c := range []struct {
		name     string
		versions []snapshot.APIVersions
		args     []string
		code     int
		stdout   string
		stderr   string
	}{
		{"4.2", versionsOf(kversion.V4_2_0(), 1), nil, 1, "unsure  broker release: v4.2: 4.2.0, in which this move is broken, cannot be", "a broker may be 4.2.0"},
		{"4.2 --force", versionsOf(kversion.V4_2_0(), 1), []string{"--force"}, 0, "4.2.0 cannot be ruled out from here; --force", ""},
		{"4.3", versionsOf(kversion.V4_3_0(), 1), nil, 0, "broker release: v4.3: not 4.2.0", ""},
		{"4.4", versionsOf(kversion.V4_4_0(), 1), nil, 0, "broker release: v4.4: not 4.2.0", ""},
		{"4.4, feature off", versionsOf(kversion.V4_4_0(), 0), nil, 1, "streams.version: the feature streams.version is not on", "kafka-features upgrade"},
		{"nothing told", []snapshot.APIVersions{}, nil, 1, "streams.version: no broker told", "4.2.0"},
	} {
		s := with(t, fixture(t, "classic-empty"), func(s *snapshot.Snapshot) { s.APIVersions = c.versions })
		got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), append([]string{"mode", "set", "ledger", "streams"}, c.args...)...)
		if got.code != c.code || !strings.Contains(got.out, c.stdout) || !strings.Contains(got.err, c.stderr) {
			t.Errorf("%s: exit code %d, want %d\nstdout %s\nstderr %s", c.name, got.code, c.code, got.out, got.err)
		}
	}
}

// Field case 33: with members it is refused and names them; Empty, it says what
// is kept and what is lost.
func TestFieldCase33OnlyOffsetsSurvive(t *testing.T) {
	v44 := func(s *snapshot.Snapshot) { s.APIVersions = versionsOf(kversion.V4_4_0(), 1) }
	stable := with(t, fixture(t, "classic-learners"), v44)
	got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{stable}}), "mode", "set", "shop", "streams")
	for _, want := range []string{`group "shop" is Stable: its members must be gone first: pod-a/T1, pod-a/T2, pod-b/T1, pod-b/T2`, "remove-member shop"} {
		if got.code != 1 || !strings.Contains(got.err, want) {
			t.Errorf("exit code %d, stderr lacks %q:\n%s", got.code, want, got.err)
		}
	}
	empty := with(t, fixture(t, "classic-empty"), func(s *snapshot.Snapshot) {
		v44(s)
		s.Group("ledger").Commits = s.Group("ledger").Commits[:3]
	})
	got = runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{empty}}), "mode", "set", "ledger", "streams")
	for _, want := range []string{"can be started as a streams group", "kept  committed offsets of 3 partitions", "internal topics", "lost  members and their assignment", "nothing was changed"} {
		if got.code != 0 || !strings.Contains(got.out, want) {
			t.Errorf("exit code %d, stdout lacks %q:\n%s%s", got.code, want, got.out, got.err)
		}
	}
	got = runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{empty}}), "mode", "set", "ledger", "streams", "-o", "json")
	mode, ok := document(t, got.out)["mode"].(map[string]any)
	if !ok || mode["to"] != "streams" || mode["migration"] == nil {
		t.Errorf("document %s", got.out)
	}
	streams := fixture(t, "streams-stable-4.3.1")
	got = runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{streams}}), "mode", "set", "billing", "streams")
	if got.code != 1 || !strings.Contains(got.err, "is a streams group already") {
		t.Errorf("exit code %d: %s", got.code, got.err)
	}
	for _, args := range [][]string{{"rebalance", "billing", "--yes"}, {"remove-member", "billing", "--instance", "b1", "--yes"}, {"mode", "set", "billing", "incremental", "--yes"}} {
		d := fakeDeps(t, &idle{fakeCluster{answers: []*snapshot.Snapshot{streams}}})
		if got := runWith(t, d, args...); got.code != 1 || !strings.Contains(got.err, "streams group") || got.out != "" {
			t.Errorf("%v: exit code %d: %s%s", args, got.code, got.out, got.err)
		}
	}
}
