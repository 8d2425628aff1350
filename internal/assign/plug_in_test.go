package assign

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/streamctl/streamctl/internal/model"
)

// plugInApp is a Kafka Streams app as it goes on after a round: a task is
// withheld from its new owner until the old one has given it up, and what a
// process gave up stays on its disk.
type plugInApp struct {
	set   LearnerSettings
	top   *Topology
	procs []*plugInProcess
	size  int64 // records of a cold copy
	last  LearnerResult
}

type plugInProcess struct {
	LearnerInstance
	owned   map[Task]bool
	copies  map[Task]int64 // records that are missing
	running map[Task]bool  // of the copies: assigned
}

func (a *plugInApp) start(id string, workers int) *plugInProcess {
	p := &plugInProcess{owned: map[Task]bool{}, copies: map[Task]int64{}, running: map[Task]bool{}}
	p.ID, p.RemainingMs = id, LearnerNoDeadline
	for w := range workers {
		p.Workers = append(p.Workers, LearnerWorker{ID: fmt.Sprintf("%s/%d", id, w)})
	}
	a.procs = append(a.procs, p)
	return p
}

func (a *plugInApp) input() LearnerInput {
	in := LearnerInput{Settings: a.set, Topology: a.top}
	for _, p := range a.procs {
		inst := p.LearnerInstance
		inst.Workers = slices.Clone(inst.Workers)
		for _, t := range slices.Sorted(maps.Keys(p.owned)) {
			inst.Workers[0].Tasks = append(inst.Workers[0].Tasks, LearnerTask{Task: t, Role: model.Active})
		}
		for _, t := range slices.Sorted(maps.Keys(p.copies)) {
			inst.Workers[0].Tasks = append(inst.Workers[0].Tasks, LearnerTask{Task: t, Role: model.Standby, Lag: p.copies[t]})
		}
		in.Instances = append(in.Instances, inst)
	}
	return in
}

// known is what the round before tells.
func (a *plugInApp) known(leaving []string) *PlugInBefore {
	b := &PlugInBefore{Leaving: leaving}
	owner := map[Task]string{}
	for _, s := range a.last.Instances {
		for _, t := range s.Active {
			owner[t] = s.ID
		}
	}
	for _, s := range a.last.Instances {
		for _, t := range s.Learner {
			b.Learners = append(b.Learners, PlugInLearner{Task: t, By: s.ID, Owner: owner[t]})
		}
	}
	return b
}

func (a *plugInApp) leaving() (ids []string) {
	for _, p := range a.procs {
		if p.Leaving {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// take takes the result of a round; true when another follows at once.
func (a *plugInApp) take(r LearnerResult) (withheld bool) {
	a.last = r
	owned := map[Task]bool{}
	for _, p := range a.procs {
		maps.Copy(owned, p.owned)
	}
	for _, s := range r.Instances {
		p := a.procs[slices.IndexFunc(a.procs, func(p *plugInProcess) bool { return p.ID == s.ID })]
		before := p.owned
		p.owned, p.running = map[Task]bool{}, map[Task]bool{}
		for _, t := range slices.Concat(s.Learner, s.Standby) {
			if _, has := p.copies[t]; !has {
				p.copies[t] = a.size
			}
			p.running[t] = true
		}
		for _, t := range s.Active {
			if owned[t] && !before[t] {
				withheld = true
				if _, has := p.copies[t]; has {
					p.running[t] = true
				}
				continue
			}
			p.owned[t] = true
			delete(p.copies, t)
		}
		for t := range before {
			if !p.owned[t] && a.top.Stateful(t) {
				p.copies[t] = 0
			}
		}
	}
	return withheld
}

// restore lets time pass: copies that run catch up, those left on disk fall behind.
func (a *plugInApp) restore(t *rapid.T) {
	for _, p := range a.procs {
		for _, task := range slices.Sorted(maps.Keys(p.copies)) {
			if p.running[task] {
				p.copies[task] = max(0, p.copies[task]-rapid.Int64Range(a.size/3, a.size).Draw(t, "restored"))
			} else {
				p.copies[task] += rapid.Int64Range(0, 20).Draw(t, "behind")
			}
		}
	}
}

// TestPlugInRests lets apps live through joins, crashes and marks, with what is
// known of the round before lost now and then. After each event they come to
// rest: leaving processes are empty, the others within their bounds, and no
// task that had an owner started cold while its owner could keep it.
func TestPlugInRests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		top, err := NewTopology([]Subtopology{
			{ID: "0", Partitions: rapid.IntRange(1, 20).Draw(t, "stateful"), Stateful: true}, {ID: "1", Partitions: rapid.IntRange(0, 8).Draw(t, "stateless")},
		})
		if err != nil {
			t.Fatal(err)
		}
		a := &plugInApp{size: 1000, top: top}
		a.set = LearnerSettings{
			Factor: rapid.SampledFrom([]int64{1000, 1200, 2000, 4000}).Draw(t, "factor"), MaxLearners: rapid.IntRange(1, 4).Draw(t, "max"),
			Standbys: rapid.IntRange(0, 2).Draw(t, "standbys"), AcceptableLag: 100,
		}
		for n := range rapid.IntRange(2, 7).Draw(t, "events") {
			kind := rapid.IntRange(0, 5).Draw(t, "event")
			switch {
			case kind < 3 || len(a.procs) < 2:
				a.start(fmt.Sprintf("%c%d", rapid.IntRange('a', 'z').Draw(t, "id"), n), rapid.IntRange(1, 3).Draw(t, "workers"))
			case kind == 3:
				gone := rapid.IntRange(0, len(a.procs)-1).Draw(t, "gone")
				a.procs = slices.Delete(a.procs, gone, gone+1)
			default:
				p := a.procs[rapid.IntRange(0, len(a.procs)-1).Draw(t, "marked")]
				p.Leaving = !p.Leaving
				p.Expired = p.Leaving && rapid.IntRange(0, 3).Draw(t, "expired") == 0
			}
			a.rest(t)
		}
	})
}

// rest goes on until no round follows.
func (a *plugInApp) rest(t *rapid.T) {
	var marks []string
	for n := 0; ; n++ {
		if n > 4*a.top.Len()+20 {
			t.Fatalf("no rest after %d rounds: %+v", n, a.last)
		}
		var known *PlugInBefore
		if rapid.IntRange(0, 3).Draw(t, "forgot") > 0 {
			known = a.known(marks)
		}
		in := a.input()
		r := PlugIn(in, known)
		marks = a.leaving()
		a.checkRound(t, &r)
		atOnce := a.take(r)
		learns := slices.ContainsFunc(r.Instances, func(s LearnerShare) bool { return len(s.Learner) > 0 })
		if !atOnce && !learns {
			break
		}
		if !atOnce {
			a.restore(t)
		}
	}
	anyStays := slices.ContainsFunc(a.procs, func(p *plugInProcess) bool { return !p.Leaving })
	for i, s := range a.last.Instances {
		if len(s.Active) > s.Bounds.High && s.Stays || len(s.Active) < s.Bounds.Low {
			t.Fatalf("at rest %q has %d actives, bounds %v", s.ID, len(s.Active), s.Bounds)
		}
		if !s.Stays && anyStays && len(s.Active)+len(s.Standby) > 0 {
			t.Fatalf("at rest %q is not empty: %+v", s.ID, a.last.Instances[i])
		}
	}
}

// checkRound holds a round against what every round keeps.
func (a *plugInApp) checkRound(t *rapid.T, r *LearnerResult) {
	owners, learners := map[Task]int{}, 0
	for _, s := range r.Instances {
		p := a.procs[slices.IndexFunc(a.procs, func(p *plugInProcess) bool { return p.ID == s.ID })]
		learners += len(s.Learner)
		if len(s.Release) > 0 {
			t.Fatalf("%q is to release %v", s.ID, s.Release)
		}
		for _, task := range s.Active {
			owners[task]++
			lag, has := p.copies[task]
			if p.owned[task] || !a.top.Stateful(task) || has && lag <= a.set.AcceptableLag {
				continue
			}
			for _, o := range a.procs {
				if o.owned[task] && !(o.Leaving && o.Expired) {
					t.Fatalf("%q gets task %d cold while %q has it", s.ID, task, o.ID)
				}
			}
		}
	}
	for task := range Task(a.top.Len()) {
		if owners[task] != 1 {
			t.Fatalf("task %d has %d owners", task, owners[task])
		}
	}
	if running := a.set.MaxLearners; learners > max(running, len(a.known(nil).Learners)) {
		t.Fatalf("%d learners, at most %d", learners, running)
	}
}
