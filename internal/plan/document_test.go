package plan

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
)

// The fields that output.md promises are there, lists are never null, and what
// was written is read back.
func TestDocument(t *testing.T) {
	g := newMade(t, model.Classic, 6, true, 50_000).instance(1, 1, 0, 1, 2).instance(2, 1, 3, 4, 5)
	p := g.plan(Options{Changes: []Change{Remove{Instance: "P2"}, Add{Count: 1}}})
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"kind", "schema_version", "group", "assignor", "balancing_factor", "changes", "based_on.state", "based_on.fingerprint", "based_on.taken_at", "based_on.copies",
		"taken.key", "taken.value", "taken.source", "before.balanced", "before.max_over_expected", "before.instances", "after.instances",
		"rounds.round", "rounds.trigger", "rounds.at_s", "rounds.moves.task", "rounds.moves.from", "rounds.moves.to", "rounds.moves.how",
		"rounds.learners", "rounds.down.task", "rounds.down.seconds", "rounds.down.why", "rounds.down.remaining_records", "rounds.down.wait_s",
		"totals.moves", "totals.rounds", "totals.learners", "totals.tasks_down", "totals.remaining_records", "totals.remaining_bytes", "totals.discarded_records",
		"totals.estimate_s", "totals.leave_wait_ms", "new_ids.given", "new_ids.tried", "new_ids.varies.moves", "converged", "findings", "taken_at", "cluster_id",
	} {
		if !there(doc, strings.Split(path, ".")) {
			t.Errorf("no field %s", path)
		}
	}
	if strings.Contains(string(b), `"moves":null`) || strings.Contains(string(b), `"findings":null`) || strings.Contains(string(b), `"down":null`) {
		t.Error("a list is null")
	}
	var back Plan
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(&back)
	if err != nil || string(again) != string(b) {
		t.Errorf("read back it is another: %v", err)
	}
}

// there looks for a field; of a list in its first element.
func there(v any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	if list, ok := v.([]any); ok {
		return len(list) > 0 && there(list[0], path)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	next, ok := m[path[0]]
	return ok && there(next, path[1:])
}

// The order in which instances and members are listed means nothing to a
// classic or a worker group.
func TestOrderMeansNothing(t *testing.T) {
	for _, kind := range []model.Kind{model.Classic, model.Worker} {
		g := newMade(t, kind, 13, true, 50_000).instance(1, 2, every(0, 2, 13)...).instance(2, 1, every(1, 2, 13)...).instance(3, 3)
		o := Options{Changes: []Change{Add{Count: 1}}, Draws: 1, Set: map[string]string{KeyStandbys: "1"}}
		want := g.plan(o)
		for seed := range uint64(10) {
			r := rand.New(rand.NewPCG(seed, 1))
			in := *g.in
			in.Instances = slices.Clone(in.Instances)
			r.Shuffle(len(in.Instances), func(i, j int) { in.Instances[i], in.Instances[j] = in.Instances[j], in.Instances[i] })
			got, err := Make(&in, o)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Rounds, want.Rounds) || !reflect.DeepEqual(got.After, want.After) {
				t.Errorf("%s, seed %d: another plan", kind, seed)
			}
		}
	}
}
