package cmd

import (
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// Tasks of partitions to come restore nobody knows how much: the total is not
// known then, though that of others is; no gate opens for what is known of it.
func TestPlanOfWhatNobodyKnows(t *testing.T) {
	run := func(args ...string) captured {
		c := &fakeCluster{answers: []*snapshot.Snapshot{fixture(t, "classic-learners")}}
		return runWith(t, fakeDeps(t, c), append([]string{"plan", "shop", "--partitions", "orders=12"}, args...)...)
	}
	doc := document(t, run("-o", "json").out)
	learned := false
	for _, r := range doc["rounds"].([]any) {
		for _, l := range r.(map[string]any)["learners"].([]any) {
			learned = learned || l.(map[string]any)["remaining_records"] != nil
		}
	}
	totals := doc["totals"].(map[string]any)
	if !learned || totals["remaining_records"] != nil || totals["remaining_bytes"] != nil {
		t.Errorf("learners with a number %v, totals %v", learned, totals)
	}
	got := run("--fail-on", "restore>1TB", "--fail-on", "restore>1000000000")
	if got.code != 3 || !strings.Contains(got.err, "cannot be told") {
		t.Errorf("exit code %d\n%s", got.code, got.err)
	}
	if out := flat(run().out); !strings.Contains(out, "Restore how many records is not known") || strings.Contains(out, "6 0 15 0") {
		t.Errorf("as a table:\n%s", out)
	}
}
