package plan

import (
	"maps"
	"testing"

	"github.com/streamctl/streamctl/internal/assign"
)

// A trace has the rounds of the plan, and in each the members of an instance
// run together what the plan says of it.
func TestTrace(t *testing.T) {
	n := 0
	for _, l := range readLines[liveChange](t, "../../testdata/live/classic-changes.jsonl") {
		in, o := l.input(t), *l.options(t, FollowFast)
		p, err := Make(in, o)
		if err != nil {
			t.Fatal(err)
		}
		rounds, err := Trace(in, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(rounds) != len(p.Rounds) {
			t.Fatalf("%s: %d rounds traced, %d planned", l.Name, len(rounds), len(p.Rounds))
		}
		planned := map[string]int{} // as far as the rounds have told
		for id, c := range p.Before.Instances {
			planned[id] = c.Active
		}
		for i, r := range rounds {
			want := p.Rounds[i]
			maps.Copy(planned, want.Active)
			active := map[string]int{}
			for _, m := range r.Members {
				active[m.Process] += len(m.Active)
			}
			if r.Trigger != want.Trigger || r.AtS != want.AtS {
				t.Errorf("%s round %d: %s at %g, want %s at %g", l.Name, i+1, r.Trigger, r.AtS, want.Trigger, want.AtS)
			}
			for id, k := range active {
				if planned[id] != k {
					t.Errorf("%s round %d: %s runs %d tasks, want %d", l.Name, i+1, id, k, planned[id])
				}
			}
			for _, m := range r.Members {
				if m.Next == assign.NextNow {
					n++
				}
			}
		}
	}
	if n == 0 {
		t.Error("no member was told to come back at once")
	}
}
