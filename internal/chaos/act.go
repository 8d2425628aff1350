package chaos

import (
	"fmt"
	"time"

	"github.com/streamctl/streamctl/worker"
)

// actor carries a script out.
type actor struct {
	*Job
	script
	f     *faults // nil: none on this cluster
	mode  worker.Mode
	marks int
	cut   map[string]time.Time // when those that are paused are resumed
}

// most is how many instances run at the same time.
const most = 5

// do carries out one step; what makes no sense now is left out.
func (a *actor) do(s step) {
	switch s.op {
	case opJoin:
		if len(a.Pods(up)) < most {
			a.enter(fmt.Sprintf("i%02d", len(a.Pods(anyPod))))
		}
	case opRestart:
		if p := pick(a.Pods(func(p *Pod) bool { return p.State != "up" }), s.pick); p != nil && len(a.Pods(up)) < most {
			a.enter(p.Name)
		}
	case opDrain, opTimeout:
		a.mark(s)
	case opUnmark:
		if p := pick(a.Pods(func(p *Pod) bool { return up(p) && p.Mark != "" }), s.pick); p != nil {
			a.Say("unmark %s", p.Name)
			a.Unmark(p.Name)
		}
	case opKill, opKillLeader, opClose:
		a.end(s)
	case opPause:
		if p := pick(a.Pods(whole), s.pick); p != nil && len(a.Pods(whole)) > 1 {
			wait := a.O.Session * time.Duration(3+s.pick%20) / 10
			a.Say("pause %s for %v", p.Name, wait)
			a.Pause(p.Name)
			a.cut[p.Name] = time.Now().Add(wait)
		}
	case opSwitch:
		a.change()
	case opFault:
		a.f.start(s.pick)
	case opBurst:
		a.Produce(200)
	}
}

func (a *actor) enter(name string) {
	if a.settings.Mode != a.mode {
		a.Say("%s starts with the old mode in its settings", name)
	}
	a.Start(name)
}

func anyPod(*Pod) bool { return true }

// whole is an instance that runs and is not cut off.
func whole(p *Pod) bool { return up(p) && !p.Cut }

// pick is one of a list by a number, nil of an empty one.
func pick(list []*Pod, n int) *Pod {
	if len(list) == 0 {
		return nil
	}
	return list[n%len(list)]
}

// mark marks one that is not marked. Rarely none is left that stays, so that the
// marks are void.
func (a *actor) mark(s step) {
	free := a.Pods(func(p *Pod) bool { return whole(p) && p.Mark == "" })
	if len(free) == 0 || len(free) == 1 && s.pick%5 > 0 {
		return
	}
	p := pick(free, s.pick)
	a.marks++
	timeout := time.Duration(0)
	if s.op == opTimeout {
		timeout = time.Duration(200+s.pick%2000) * time.Millisecond
	}
	a.Say("mark %s, timeout %v", p.Name, timeout)
	a.Mark(p.Name, fmt.Sprintf("mark-%d", a.marks), timeout)
}

// end ends an instance, but not the last.
func (a *actor) end(s step) {
	list := a.Pods(up)
	p := pick(list, s.pick)
	if p == nil || len(list) == 1 {
		return
	}
	if led := a.Events(worker.RoundLed); s.op == opKillLeader && len(led) > 0 {
		for _, x := range list {
			if x.ID == led[len(led)-1].Instance {
				p = x
			}
		}
	}
	a.Say("%s %s", s.op, p.Name)
	delete(a.cut, p.Name)
	if s.op == opClose && !p.Cut {
		a.Close(p.Name)
		return
	}
	a.Kill(p.Name)
}

// change switches to the other mode. In a calm run the switch before is over.
func (a *actor) change() {
	if a.calm {
		a.Until(20*time.Second, "the switch before is over", func() bool { return a.following(a.mode) })
	}
	a.mode = map[worker.Mode]worker.Mode{worker.Incremental: worker.Upgrading, worker.Upgrading: worker.Incremental}[a.mode]
	a.Say("switch to %s", a.mode)
	a.Switch(a.mode, 10*time.Second)
}

// following says whether all instances are in the group in this mode.
func (a *actor) following(m worker.Mode) bool {
	for _, p := range a.Pods(whole) {
		if s := p.In.Stats(); s.Mode != m || s.Generation == 0 {
			return false
		}
	}
	return true
}

// resume takes back pauses whose time is up; with all, every one.
func (a *actor) resume(all bool) {
	for name, at := range a.cut {
		if !all && time.Now().Before(at) {
			continue
		}
		delete(a.cut, name)
		if p := a.Pod(name); p.State == "up" {
			a.Say("resume %s", name)
			a.Resume(name)
		}
	}
}

// rest waits between two steps, resuming whose time it is.
func (a *actor) rest(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		a.resume(false)
	}
}
