package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// objects calls f with the keys of every object of a JSON text, in their order.
func objects(t *testing.T, text string, f func(keys []string)) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value func()
	value = func() {
		tok, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		switch tok {
		case json.Delim('{'):
			for d.More() {
				k, err := d.Token()
				if err != nil {
					t.Fatal(err)
				}
				keys = append(keys, k.(string))
				value()
			}
			f(keys)
		case json.Delim('['):
			for d.More() {
				value()
			}
		default:
			return
		}
		if _, err := d.Token(); err != nil { // the end of it
			t.Fatal(err)
		}
	}
	value()
}

// A snapshot is a document: its keys are sorted, and what is read from it is
// what was written.
func TestSnapshotsHaveSortedKeys(t *testing.T) {
	for _, name := range []string{"classic-learners", "streams-restoring-4.4.0", "plain-mailer"} {
		s := fixture(t, name)
		got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), "snapshot", s.Groups[0].ID)
		if got.code != 0 {
			t.Fatalf("%s: exit code %d, %s", name, got.code, got.err)
		}
		n := 0
		objects(t, got.out, func(keys []string) {
			if n++; !slices.IsSorted(keys) {
				t.Errorf("%s: keys %v", name, keys)
			}
		})
		if n < 20 {
			t.Errorf("%s: %d objects only", name, n)
		}
		file := filepath.Join(t.TempDir(), "again.json")
		if err := os.WriteFile(file, []byte(got.out), 0o600); err != nil {
			t.Fatal(err)
		}
		again := runWith(t, fakeDeps(t, nil), "describe", "group", "--from", file, "-o", "json")
		before := runWith(t, fakeDeps(t, nil), "describe", "group", "--from", filepath.Join("..", "testdata", "snapshot", name+".json"), "-o", "json")
		if again.code != 0 || again.out != before.out {
			t.Errorf("%s: read again (exit code %d):\n%s\nwas\n%s", name, again.code, again.out, before.out)
		}
	}
}

// Both files of a diff are of one cluster, which the document names, or of two.
func TestDiffNamesTheCluster(t *testing.T) {
	path := func(name string) string { return filepath.Join("..", "testdata", "snapshot", name+".json") }
	one := runWith(t, fakeDeps(t, nil), "diff", path("classic-one-instance"), path("classic-learners"), "-o", "json")
	if id := document(t, one.out)["cluster_id"]; id == nil || id != *fixture(t, "classic-learners").ClusterID {
		t.Errorf("one cluster: cluster_id %v", id)
	}
	two := runWith(t, fakeDeps(t, nil), "diff", path("streams-stable-4.3.1"), path("streams-stable-4.4.0"), "-o", "json")
	if id := document(t, two.out)["cluster_id"]; id != nil || !strings.Contains(two.err, "of two clusters") {
		t.Errorf("two clusters: cluster_id %v, %s", id, two.err)
	}
}
