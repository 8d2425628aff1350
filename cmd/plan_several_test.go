package cmd

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// A group that does not become Stable in time takes no other's plan with it:
// that is made while it is waited for. A wait that ran out is all that failed.
func TestPlanBesideOneThatRebalances(t *testing.T) {
	moving := preparing(t, with(t, fixture(t, "classic-standbys"), func(*snapshot.Snapshot) {}))
	s := merge(fixture(t, "classic-learners"), moving)
	synctest.Test(t, func(t *testing.T) {
		c := &fakeCluster{every: time.Second, answers: []*snapshot.Snapshot{s}}
		got := runWith(t, fakeDeps(t, c), "plan", "stats", "shop", "--timeout", "5s", "-o", "json")
		doc := document(t, got.out)
		items, _ := doc["items"].([]any)
		if got.code != 4 || len(items) != 1 || items[0].(map[string]any)["group"] != "shop" || doc["taken_at"] == nil {
			t.Fatalf("exit code %d, %d items\n%s", got.code, len(items), got.err)
		}
		list, _ := doc["errors"].([]any)
		if len(list) != 1 || list[0].(map[string]any)["object"] != "group stats" || !strings.Contains(got.err, `group "stats" is still PreparingRebalance after 5s`) {
			t.Errorf("errors %v\n%s", list, got.err)
		}
	})
}

// withNowhere is a snapshot of groups and of one that does not exist.
func withNowhere(list ...*snapshot.Snapshot) *snapshot.Snapshot {
	return merge(append(list, &snapshot.Snapshot{Groups: []snapshot.Group{{ID: "nowhere", Classic: &snapshot.ClassicGroup{State: "Dead"}}}})...)
}

// What could not be read is in the document, each thing once: of a plan with its
// object, of a group that is not there with the hint.
func TestErrorsOfSeveralPlans(t *testing.T) {
	broken := with(t, withNowhere(fixture(t, "classic-learners"), fixture(t, "classic-standbys")), func(s *snapshot.Snapshot) {
		s.Errors = append(s.Errors, snapshot.Error{Object: "broker 3", Code: "REQUEST_TIMED_OUT", Text: "silent"})
	})
	got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{broken}}), "plan", "stats", "shop", "nowhere", "-o", "json")
	var objects []string
	for _, e := range document(t, got.out)["errors"].([]any) {
		e := e.(map[string]any)
		objects = append(objects, e["object"].(string))
		if e["object"] == "group nowhere" && (e["hint"] == nil || e["error"] != `group "nowhere" not found`) {
			t.Errorf("%v", e)
		}
	}
	if want := []string{"broker 3", "group nowhere"}; got.code != 1 || !slices.Equal(objects, want) {
		t.Errorf("exit code %d, errors of %v, want %v\n%s", got.code, objects, want, got.err)
	}
}

// Of several groups one that does not exist is in the document that has the
// others.
func TestMissingGroupIsInTheDocument(t *testing.T) {
	s := withNowhere(fixture(t, "classic-learners"), fixture(t, "classic-standbys"))
	for _, args := range [][]string{{"describe", "group"}, {"get", "instances"}, {"get", "members"}, {"get", "tasks"}} {
		got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), append(args, "shop", "nowhere", "stats", "-o", "json")...)
		doc := document(t, got.out)
		list, _ := doc["errors"].([]any)
		if got.code != 1 || len(list) != 1 || len(doc["items"].([]any)) < 2 {
			t.Fatalf("%v: exit code %d, errors %v\n%s", args, got.code, list, got.err)
		}
		if e := list[0].(map[string]any); e["object"] != "group nowhere" || e["error"] != `group "nowhere" not found` || e["hint"] == nil || e["code"] != nil {
			t.Errorf("%v: %v", args, e)
		}
		if strings.Count(got.err, "not found") != 1 {
			t.Errorf("%v: said more than once, or not: %s", args, got.err)
		}
	}
}
