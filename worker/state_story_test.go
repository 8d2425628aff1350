package worker

import (
	"testing"

	"github.com/streamctl/streamctl/internal/groupmeta"
)

// The walk-throughs of docs/protocol/stream-protocol.md, without I/O.

func TestStateScaleUp(t *testing.T) {
	g := threeOf(t)
	g.join("S4")
	g.round()
	g.is("S1[T1,T2] S2[T3,T4] S3[T5] S4[] learns T1")
	g.join("S5")
	said := g.round()
	g.is("S1[T1,T2] S2[T3,T4] S3[T5] S4[] learns T1 S5[] learns T3")
	if tags := said["S1/w0"].Tasks[0].Tags; !tags.Has(groupmeta.TagBeingLearned) {
		t.Errorf("S1 joined with T1 tagged %v", tags.List())
	}
	g.caughtUp("S4", 1)
	if a := g.tick("S4"); a.ask[0] == "" || len(a.ready) != 1 {
		t.Errorf("S4 asks for %v", a)
	}
	if a := g.tick("S4"); len(a.ask) > 0 {
		t.Errorf("S4 asks again at once: %v", a.ask)
	}
	g.round()
	g.is("S1[T2] S2[T3,T4] S3[T5] S4[T1] S5[] learns T3")
	g.caughtUp("S5", 3)
	g.tick("S5")
	g.round()
	g.is("S1[T2] S2[T4] S3[T5] S4[T1] S5[T3]")
}

func TestStateLeaderCrash(t *testing.T) {
	g := threeOf(t)
	g.join("S4")
	g.round()
	delete(g.by, "S1")
	g.round()
	g.is("S2[T3,T4] S3[T2,T5] S4[T1]")
}

func TestStateScaleDown(t *testing.T) {
	g := threeOf(t)
	g.by["S2"].setMark("m", nil, g.now)
	if a := g.tick("S2"); a.ask[0] != "marks or mode changed" {
		t.Errorf("S2 asks for %v", a.ask)
	}
	said := g.round()["S2/w0"]
	if !said.Leaving || said.RemainingMs.Known || !said.Tasks[0].Tags.Has(groupmeta.TagLeaving) {
		t.Errorf("S2 said %+v", said)
	}
	g.is("S1[T1,T2] learns T3 S2[T3,T4] S3[T5] learns T4")
	g.caughtUp("S3", 4)
	g.tick("S3")
	g.round()
	g.is("S1[T1,T2] learns T3 S2[T3] S3[T4,T5]")
	if a := g.tick("S2"); a.drained {
		t.Error("S2 is drained with T3")
	}
	g.caughtUp("S1", 3)
	g.tick("S1")
	g.round()
	g.is("S1[T1,T2,T3] S2[] S3[T4,T5]")
	if a := g.tick("S2"); !a.drained {
		t.Error("S2 does not shut down")
	}
}

func TestStateFromTheGround(t *testing.T) {
	g := newGroup(t, 5)
	strict := func(c *Config) { c.Settings.BalancingFactor = 1000 }
	g.join("S1", strict)
	g.round()
	g.is("S1[T1,T2,T3,T4,T5]")
	g.join("S2", strict)
	g.join("S3", strict)
	for range 4 {
		g.round()
		for _, name := range g.names() {
			for n := range int32(5) {
				g.caughtUp(name, n+1)
			}
			g.tick(name)
		}
	}
	g.is("S1[T4,T5] S2[T1,T3] S3[T2]")
}
