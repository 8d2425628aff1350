package assign

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/streamctl/streamctl/internal/model"
)

// TestLearnerStories plays the walk-throughs of stream-protocol.md, and others
// that read like them. In testdata/learner
//
//	group r=2 tasks=5 [stateless=N] [standbys=N] [max-learners=N]
//	S1 T1 T2
//
// is a group that has run for a while: S1 owns the stateful tasks T1 and T2
// (stateless ones are U1, U2, …; [T1] [T2] are two workers). Every other command
// is what happens next, and the round that follows:
//
//	join S4 …  [workers=N]   new instances come
//	ready S4 … [task=T1]     their learners, or that one, become ready
//	crash, restart, fence    one dies; comes back with its state; loses its membership
//	mark, unmark, expire S2  a mark, its withdrawal, its deadline (mark: [remaining=MS])
//	lag S3 T1=N …            what copies have still to restore; no round follows
//	miss S1 …                the next assignment does not reach them; no round follows
//	switch, back S1 …        all leave for another mode; some are back
//	round                    nothing
//	settle                   rounds with all learners ready, until nothing is left to do
//
// Told are the tasks revoked before the round, those that changed owner, and
// what each instance has after it.
func TestLearnerStories(t *testing.T) {
	datadriven.Walk(t, "testdata/learner", func(t *testing.T, path string) {
		var s *learnerStory
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "group" {
				s = newLearnerStory(t, d)
				return s.group()
			}
			return s.next(t, d)
		})
	})
}

type learnerStory struct {
	*learnerSim
	gone map[string]*simInstance
}

func newLearnerStory(t *testing.T, d *datadriven.TestData) *learnerStory {
	set := DefaultLearnerSettings()
	tasks, stateless := 0, 0
	for _, a := range d.CmdArgs {
		if a.Key == "r" {
			r, err := strconv.ParseFloat(a.Vals[0], 64)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			set.Factor = model.FactorThousandths(r)
		}
	}
	d.MaybeScanArgs(t, "tasks", &tasks)
	d.MaybeScanArgs(t, "stateless", &stateless)
	d.MaybeScanArgs(t, "standbys", &set.Standbys)
	d.MaybeScanArgs(t, "max-learners", &set.MaxLearners)
	top, err := NewTopology([]Subtopology{{ID: "0", Partitions: tasks, Stateful: true}, {ID: "1", Partitions: stateless}})
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	s := &learnerStory{learnerSim: newLearnerSim(set, top, 100_000), gone: map[string]*simInstance{}}
	s.round = 1
	for line := range strings.Lines(d.Input) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		parts := strings.Split(strings.Trim(rest, "[]"), "] [")
		in := s.join(name, len(parts))
		for w, part := range parts {
			in.workers[w].Generation = 1
			for _, word := range strings.Fields(part) {
				s.give(t, d, in.workers[w], word)
			}
		}
	}
	return s
}

// give makes a task a worker's: T1 its own, T1(standby) a caught-up copy.
func (s *learnerStory) give(t *testing.T, d *datadriven.TestData, w *simWorker, word string) {
	name, standby := strings.CutSuffix(word, "(standby)")
	task := s.task(t, d, name)
	w.own(task)
	if standby {
		w.tasks[task] = &simTask{LearnerTask: LearnerTask{Task: task, Role: model.Standby}}
		return
	}
	for _, in := range s.insts {
		if slices.Contains(in.workers, w) {
			s.owner[task] = in.id
		}
	}
}

func (s *learnerStory) name(t Task) string {
	id := s.top.ID(t)
	if s.top.Stateful(t) {
		return fmt.Sprint("T", id.Partition+1)
	}
	return fmt.Sprint("U", id.Partition+1)
}

func (s *learnerStory) task(t *testing.T, d *datadriven.TestData, name string) Task {
	for task := range Task(s.top.Len()) {
		if s.name(task) == name {
			return task
		}
	}
	d.Fatalf(t, "no task %q", name)
	return 0
}

// next lets something happen and plays the round that follows.
func (s *learnerStory) next(t *testing.T, d *datadriven.TestData) string {
	if d.Cmd == "settle" {
		return s.settle(t)
	}
	if d.Cmd == "switch" {
		s.leaveForSwitch()
		return "all are on their way back\n"
	}
	names := 0
	for _, a := range d.CmdArgs {
		if len(a.Vals) > 0 {
			continue
		}
		names++
		if d.Cmd == "join" {
			workers := 1
			d.MaybeScanArgs(t, "workers", &workers)
			s.join(a.Key, workers)
			continue
		}
		s.happen(t, d, a.Key)
	}
	if names == 0 && d.Cmd != "round" {
		d.Fatalf(t, "%s: nobody is named", d.Cmd)
	}
	if d.Cmd == "miss" || d.Cmd == "lag" {
		return ""
	}
	return s.play(t)
}

// happen lets a command happen to one instance.
func (s *learnerStory) happen(t *testing.T, d *datadriven.TestData, name string) {
	in := s.find(name)
	if in == nil && d.Cmd != "restart" && d.Cmd != "back" {
		d.Fatalf(t, "no instance %q", name)
	}
	switch d.Cmd {
	case "ready":
		only := ""
		d.MaybeScanArgs(t, "task", &only)
		for _, w := range in.workers {
			for _, x := range w.tasks {
				if x.Role == model.Learner && (only == "" || s.name(x.Task) == only) {
					x.finish()
				}
			}
		}
	case "crash":
		s.gone[name] = in
		s.crash(in)
	case "restart":
		s.restart(s.gone[name])
	case "fence":
		s.fence(in)
	case "mark":
		in.leaving = true
		d.MaybeScanArgs(t, "remaining", &in.remainingMs)
	case "unmark":
		in.unmark()
	case "expire":
		in.leaving, in.expired = true, true
	case "miss":
		for _, w := range in.workers {
			w.misses = true
		}
	case "lag":
		for _, a := range d.CmdArgs {
			for _, w := range in.workers {
				if x := w.tasks[s.taskOrNone(a.Key)]; x != nil && len(a.Vals) == 1 {
					d.ScanArgs(t, a.Key, &x.Lag)
				}
			}
		}
	case "back":
		i := slices.IndexFunc(s.away, func(in *simInstance) bool { return in.id == name })
		s.insts, s.away = append(s.insts, s.away[i]), slices.Delete(s.away, i, i+1)
	default:
		d.Fatalf(t, "unknown command %q", d.Cmd)
	}
}

func (s *learnerStory) taskOrNone(name string) Task {
	for task := range Task(s.top.Len()) {
		if s.name(task) == name {
			return task
		}
	}
	return -1
}
