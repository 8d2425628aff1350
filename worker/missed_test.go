package worker

import (
	"testing"
	"time"
)

// One that hears of a switch there and back at once has nothing to stop, but
// leaves the others what they carry.
func TestStateMissedSwitch(t *testing.T) {
	g := threeOf(t)
	g.round()
	late := g.by["S1"]
	if late.unaware(0) {
		t.Error("there is nothing to be aware of")
	}
	if news, leave := late.follow(Incremental, 2, time.Minute, g.now); !news || leave {
		t.Errorf("news %v, leaves %v", news, leave)
	}
	if !late.unaware(0) {
		t.Error("in the round that is on it said nothing of the switch")
	}
	all := g.by
	for _, name := range []string{"S2", "S3"} {
		all[name].follow(Upgrading, 1, time.Minute, g.now)
		all[name].follow(Incremental, 2, time.Minute, g.now)
	}
	g.by = map[string]*state{"S1": late}
	md := g.round()["S1/w0"]
	if !md.SwitchRemainingMs.Known || md.LastInstances != 3 || md.Carried {
		t.Errorf("S1 said %+v %+v", md.StreamRound, md.SwitchRemainingMs)
	}
	if late.unaware(0) {
		t.Error("it has said so")
	}
	g.is("S1[T1,T2]")
	if a := g.tick("S1"); a.switched {
		t.Error("the switch is over though two are missing")
	}
	g.by = all
	g.round()
	g.is("S1[T1,T2] S2[T3,T4] S3[T5]")
	if a := g.tick("S1"); !a.switched {
		t.Error("the switch goes on")
	}
}

// They may stay away: then the switch's time ends the wait.
func TestStateMissedSwitchRunsOutOfTime(t *testing.T) {
	g := threeOf(t)
	g.round()
	late := g.by["S1"]
	late.follow(Incremental, 2, time.Second, g.now)
	g.by = map[string]*state{"S1": late}
	g.round()
	g.is("S1[T1,T2]")
	g.now = g.now.Add(time.Second)
	g.tick("S1")
	g.round()
	g.is("S1[T1,T2,T3,T4,T5]")
}
