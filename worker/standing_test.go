package worker

import (
	"slices"
	"testing"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/seat"
)

// A worker that is about to leave for a mode switch keeps what it got last in
// the group that it leaves: a learner that is ready elsewhere does not get it,
// and what it has learned itself is still its own.
func TestStateStandingKeepsAll(t *testing.T) {
	g := threeOf(t)
	g.join("S4")
	g.round()
	g.is("S1[T1,T2] S2[T3,T4] S3[T5] S4[] learns T1")
	g.caughtUp("S4", 1)
	g.tick("S4")
	decide := func(of string) string {
		t.Helper()
		r := seat.Round{Generation: g.number + 1, Partitions: g.size}
		for _, name := range g.names() {
			s := g.by[name]
			s.beforeJoin(0)
			md := s.metadata(0, g.now, g.size, g.lagOf(name))
			if name == of {
				md = s.standing(0, g.size, g.lagOf(name))
			}
			raw, err := groupmeta.EncodeWorkerMetadata(groupmeta.ProtocolTypeStream, md)
			if err != nil {
				t.Fatal(err)
			}
			r.Members = append(r.Members, seat.Member{ID: name, Metadata: raw})
		}
		l, err := g.by["S2"].decide(groupmeta.ProtocolTypeStream, r, false, g.now)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range l.round(r.Generation).Instances {
			for _, task := range in.Tasks {
				if task.ID.Partition == 0 && task.Role == "active" {
					return in.ID[len(in.ID)-1:]
				}
			}
		}
		return "nobody"
	}
	if owner := decide("S1"); owner != "1" {
		t.Errorf("S1 is about to leave and stops T1, but S%s has it", owner)
	}
	if owner := decide(""); owner != "4" {
		t.Errorf("S1 has stopped T1, but S%s has it", owner)
	}
	g.round()
	g.is("S1[T2] S2[T3,T4] S3[T5] S4[T1]")
	if owner := decide("S4"); owner != "4" {
		t.Errorf("S4 has got T1 and is about to leave, but S%s has it", owner)
	}
}

// A leader that is about to leave for a mode switch gives nothing to a ready
// learner of those who have left before it: they are on their way back.
func TestStateHoldingGivesNothing(t *testing.T) {
	g := threeOf(t)
	g.join("S4")
	g.round()
	g.is("S1[T1,T2] S2[T3,T4] S3[T5] S4[] learns T1")
	g.caughtUp("S4", 1)
	g.tick("S4")
	r := seat.Round{Generation: g.number + 1, Partitions: g.size}
	for _, name := range []string{"S2", "S4"} {
		s := g.by[name]
		s.beforeJoin(0)
		raw, err := groupmeta.EncodeWorkerMetadata(groupmeta.ProtocolTypeStream, s.metadata(0, g.now, g.size, g.lagOf(name)))
		if err != nil {
			t.Fatal(err)
		}
		r.Members = append(r.Members, seat.Member{ID: name, Metadata: raw})
	}
	owners := func(hold bool) (list []string, learner bool) {
		l, err := g.by["S2"].decide(groupmeta.ProtocolTypeStream, r, hold, g.now)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range l.round(r.Generation).Instances {
			for _, task := range in.Tasks {
				if task.Role == "active" {
					list = append(list, task.ID.String())
				}
				learner = learner || task.Role == "learner" && task.ID.Partition == 0 && slices.Contains(task.Tags, "isReady")
			}
		}
		slices.Sort(list)
		return list, learner
	}
	if got, learner := owners(true); !slices.Equal(got, []string{"0_2", "0_3"}) || !learner {
		t.Errorf("the round that is held gives out %v, and S4 is a ready learner: %v", got, learner)
	}
	if got, _ := owners(false); !slices.Equal(got, []string{"0_0", "0_1", "0_2", "0_3", "0_4"}) {
		t.Errorf("after a crash of the same instances the round gives out %v", got)
	}
}
