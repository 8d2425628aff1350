package plan

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// change makes one step of changes and queues the rounds that they start.
func (s *learnerSim) change(list []Change, first bool) error {
	e := learnerEvent{}
	var why []string
	var later []learnerEvent
	for _, ch := range list {
		var text string
		var err error
		switch x := ch.(type) {
		case Add:
			text, err = s.add(x)
		case Remove:
			text, err = s.remove(x, &e)
		case Leaving:
			text, err = s.mark(x)
		case Bounce:
			var back learnerEvent
			text, back, err = s.bounce(x, &e)
			later = append(later, back)
		case Threads:
			text, err = s.threads(x)
		case Partitions:
			text = x.Describe()
		default:
			err = &ChangeError{ch.Describe(), "is not for this group"}
		}
		if err != nil {
			return err
		}
		if text != "" {
			why = append(why, text)
		}
	}
	if len(why) > 0 {
		e.trigger = strings.Join(why, ", ")
		e.afterMs = e.waitMs
		s.queue = append(s.queue, e)
		s.queue = append(s.queue, later...)
		return nil
	}
	if first && len(list) == 0 {
		s.queue = append(s.queue, learnerEvent{trigger: anyRebalance})
	}
	return nil
}

func (s *learnerSim) add(a Add) (string, error) {
	threads := cmp.Or(a.Threads, usualThreads(s.in))
	for k := range a.Count {
		i := &learnerInst{deadlineMs: -1}
		party, joined, err := s.rec.join(a, k, s.draw.uuid(), threads)
		if err != nil {
			return "", err
		}
		i.id, i.name, i.party = joined.id, joined.name, party
		i.workers = s.newWorkers(i.id, threads)
		disk := make(map[assign.Task]int64)
		if err := onDisk(s.top, s.ends, disk, a); err != nil {
			return "", err
		}
		for t := range disk {
			i.workers[0].tasks[t] = &learnerTask{role: model.Standby}
		}
		s.insts = append(s.insts, i)
	}
	if a.Count == 0 {
		return "no change", nil
	}
	return count(a.Count, "instance") + verb(a.Count, " joins", " join"), nil
}

func (s *learnerSim) newWorkers(id string, n int) []*learnerWorker {
	var out []*learnerWorker
	for t := range n {
		out = append(out, &learnerWorker{id: id + "-" + strconv.Itoa(t+1), tasks: map[assign.Task]*learnerTask{}})
	}
	return out
}

func (s *learnerSim) inst(name string) (*learnerInst, error) {
	k, err := s.in.find(name)
	if err != nil {
		return nil, err
	}
	if s.insts[k].gone {
		return nil, &ChangeError{name, "the instance is removed already"}
	}
	return s.insts[k], nil
}

// remove takes an instance out. A worker leaves the group as it closes.
func (s *learnerSim) remove(r Remove, e *learnerEvent) (string, error) {
	i, err := s.inst(r.Instance)
	if err != nil {
		return "", err
	}
	i.gone = true
	s.rec.free(i.id)
	e.gone = append(e.gone, i.party)
	if r.How == HowKill || s.in.Kind == model.Classic && r.How != HowLeave {
		e.waitMs = float64(s.set.sessionMs)
		e.waitWhy = "nobody runs it for " + span(s.set.sessionMs) + " until the session times out"
		return "session timeout of " + i.name, nil
	}
	return i.name + " leaves", nil
}

// mark marks an instance as leaving.
func (s *learnerSim) mark(l Leaving) (string, error) {
	i, err := s.inst(l.Instance)
	if err != nil {
		return "", err
	}
	i.leaving = true
	if s.set.scaleDownMs >= 0 {
		i.deadlineMs = float64(s.set.scaleDownMs)
		if !s.o.Rate.Known() {
			s.rec.note(NoteUnknown, "whether %s is enough for the drain of %s cannot be told without a restore rate; what has no ready learner by then restores cold", span(s.set.scaleDownMs), i.name)
		}
	}
	s.rec.parties[i.party].leaving = true
	return i.name + " is marked as leaving", nil
}

// bounce lets an instance leave and come back with its state as standbys.
func (s *learnerSim) bounce(b Bounce, e *learnerEvent) (string, learnerEvent, error) {
	i, err := s.inst(b.Instance)
	if err != nil {
		return "", learnerEvent{}, err
	}
	back := &learnerInst{id: i.id, name: i.name, party: i.party, deadlineMs: -1, workers: s.newWorkers(i.id, cmp.Or(b.Threads, len(i.workers)))}
	for t, x := range i.best() {
		if s.top.Stateful(t) {
			back.workers[0].tasks[t] = &learnerTask{role: model.Standby, lag: x.lag}
		}
	}
	i.gone = true
	s.rec.parties[i.party].workers = len(back.workers)
	return i.name + " leaves", learnerEvent{trigger: i.name + " comes back", join: back}, nil
}

// threads changes the number of workers of an instance.
func (s *learnerSim) threads(x Threads) (string, error) {
	i, err := s.inst(x.Instance)
	if err != nil {
		return "", err
	}
	n := len(i.workers)
	s.rec.parties[i.party].workers = x.Count
	if x.Count >= n {
		i.workers = append(i.workers, s.newWorkers(i.id+"-more", x.Count-n)...)
		return count(x.Count-n, "worker") + " of " + i.name + verb(x.Count-n, " joins", " join"), nil
	}
	for _, w := range i.workers[x.Count:] { // its tasks go to the other workers of the instance
		for t, task := range w.tasks {
			if i.workers[0].tasks[t] == nil {
				i.workers[0].tasks[t] = task
			}
		}
	}
	i.workers = i.workers[:x.Count]
	return count(n-x.Count, "worker") + " of " + i.name + verb(n-x.Count, " leaves", " leave"), nil
}
