package worker

import (
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
)

// drainOne brings S2[T3,T4] to where it is marked and T4 has been taken off it.
func drainOne(t *testing.T) *group {
	g := threeOf(t)
	g.by["S2"].setMark("m", nil, g.now)
	g.round()
	g.caughtUp("S3", 4)
	g.tick("S3")
	g.round()
	g.is("S1[T1,T2] learns T3 S2[T3] S3[T4,T5]")
	return g
}

// fourth is T4.
func fourth() model.TaskID { return model.ClassicTask("", 0, 3) }

// lists says whether an instance joins with a task.
func (g *group) lists(name string, id model.TaskID) bool {
	for _, t := range g.by[name].metadata(0, g.now, g.size, g.lagOf(name)).Tasks {
		if t.ID == id {
			return true
		}
	}
	return false
}

// What is taken off a marked instance stays there, at rest; it does not say so.
func TestMarkedKeepsStateAtRest(t *testing.T) {
	g := drainOne(t)
	s := g.by["S2"]
	wants, _ := s.wants()
	if w := wants[fourth()]; !w.keep || w.copies || len(w.owners) > 0 {
		t.Errorf("of T4 it wants %+v", w)
	}
	if g.lists("S2", fourth()) {
		t.Error("a marked instance offers what it handed over")
	}
	g.round()
	if wants, _ := s.wants(); !wants[fourth()].keep {
		t.Error("the next round forgets what is kept")
	}
	for _, other := range []string{"S1", "S3"} {
		if n := len(g.by[other].kept); n > 0 {
			t.Errorf("%s, which is not marked, keeps %d", other, n)
		}
	}
}

// A mark that is withdrawn makes copies of what was kept; then the leader
// decides.
func TestUnmarkedOffersWhatItKept(t *testing.T) {
	g := drainOne(t)
	s := g.by["S2"]
	s.clearMark()
	if !g.lists("S2", fourth()) {
		t.Error("it does not offer its copy")
	}
	if wants, _ := s.wants(); !wants[fourth()].keep || wants[fourth()].copies {
		t.Errorf("of T4 it wants %+v before a round", wants[fourth()])
	}
	g.round()
	if wants, settled := s.wants(); !settled || wants[fourth()].keep {
		t.Errorf("the leader wants no copy, but %+v", wants[fourth()])
	}
}

// The same while a round is on that was begun with the mark: what that takes
// off the instance is offered in the next one.
func TestUnmarkedInTheMiddleOfARound(t *testing.T) {
	g := drainOne(t)
	s := g.by["S2"]
	g.by["S1"].members[0].tasks[model.ClassicTask("", 0, 2)].ready = true
	m := s.members[0]
	id, generation := m.id, m.generation
	g.round("S2") // it joins, and its assignment takes T3 too
	s.clearMark()
	s.assigned(0, generation+1, id, &groupmeta.StreamAssignment{}, false, g.now)
	for _, task := range []int32{2, 3} {
		if !g.lists("S2", model.ClassicTask("", 0, task)) {
			t.Errorf("it does not offer T%d", task+1)
		}
	}
}

// A task that comes back to a marked instance is not kept beside: all are
// marked, so that no mark counts.
func TestKeptComesBack(t *testing.T) {
	g := drainOne(t)
	for _, name := range []string{"S1", "S3"} {
		g.by[name].setMark("m", nil, g.now)
	}
	delete(g.by, "S3")
	g.by["S2"].members[0].askAt = time.Time{}
	g.round()
	for _, name := range []string{"S1", "S2"} {
		s := g.by[name]
		for id := range s.kept {
			if s.members[0].tasks[id] != nil {
				t.Errorf("%s has %s and keeps it beside", name, id)
			}
		}
	}
}
