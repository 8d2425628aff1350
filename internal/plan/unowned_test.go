package plan

import (
	"testing"

	"github.com/streamctl/streamctl/internal/model"
)

// Tasks of a streams group have no owner while they are handed over, to another
// instance or to another thread.
func TestUnowned(t *testing.T) {
	for _, x := range []struct {
		name   string
		change Change
		tasks  int
	}{
		{"another instance", Add{Count: 1, Threads: 1}, 2},
		{"another thread", Threads{"P1", 2}, 2},
		{"the tasks of one that goes", Remove{Instance: "P2"}, 2},
	} {
		p := newMade(t, model.Streams, 6, true, 0).instance(1, 1, 0, 1, 2, 3).instance(2, 1, 4, 5).plan(Options{Changes: []Change{x.change}, KafkaVersion: "4.3"})
		got := 0
		for _, r := range p.Rounds {
			if r.Unowned != nil {
				got += r.Unowned.Tasks
			}
		}
		if got != x.tasks {
			t.Errorf("%s: %d tasks without an owner for a while, want %d", x.name, got, x.tasks)
		}
	}
}
