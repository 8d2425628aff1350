package plan

import (
	"math"
	"slices"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// wait queues the round that comes by itself: the first worker with its
// learners ready (stable: all, eager: one of them) or the first deadline of a
// leaving instance. It returns false when nothing is to come.
func (s *learnerSim) wait() bool {
	waiting := false
	s.each(func(_ *learnerInst, _ *learnerWorker, _ assign.Task, x *learnerTask) {
		waiting = waiting || x.role == model.Learner
	})
	if !s.o.Rate.Known() {
		if !waiting {
			return false
		}
		s.unready = true
		s.each(func(_ *learnerInst, _ *learnerWorker, _ assign.Task, x *learnerTask) {
			if x.role == model.Learner {
				x.ready, x.lag = true, 0
			}
		})
		s.queue = append(s.queue, learnerEvent{trigger: "learners ready"})
		return true
	}
	at, who := never(), ""
	var due *learnerInst
	for _, i := range s.insts {
		if i.gone {
			continue
		}
		if ms := s.askAfter(i); ms < at {
			at, who, due = ms, "learners of "+i.name+" ready", nil
		}
		if i.leaving && i.deadlineMs >= 0 && max(0, i.deadlineMs-s.now) < at {
			at, due = max(0, i.deadlineMs-s.now), i
		}
	}
	switch {
	case math.IsInf(at, 1):
		return false
	case due != nil:
		s.expire(due, at)
	default:
		s.queue = append(s.queue, learnerEvent{trigger: who, afterMs: at})
	}
	return true
}

// expire ends an instance at its deadline, in so many ms: it closes its tasks
// and leaves at once.
func (s *learnerSim) expire(i *learnerInst, afterMs float64) {
	s.restore(afterMs)
	i.gone, i.expired = true, true
	s.queue = append(s.queue, learnerEvent{trigger: "deadline of " + i.name + ": it leaves with what it still owns", gone: []int32{i.party}})
}

// never is a time that does not come.
func never() float64 { return math.Inf(1) }

// askAfter is when an instance asks for a round, in ms from now.
func (s *learnerSim) askAfter(i *learnerInst) float64 {
	work := s.work(i)
	best := never()
	for _, w := range i.workers {
		last, first, learners := 0.0, never(), 0
		for t, x := range w.tasks {
			if x.role != model.Learner {
				continue
			}
			learners++
			ms := 0.0
			if !x.ready {
				ms = work.doneAfter(t, x)
			}
			last, first = max(last, ms), min(first, ms)
		}
		switch {
		case learners == 0:
		case s.set.eager:
			best = min(best, first)
		default:
			best = min(best, last)
		}
	}
	return best
}

// restoring is how long an instance still restores: learners first, then
// standbys, all that are in the same place share its rate.
type restoring struct {
	s     *learnerSim
	alone []float64 // seconds that each learner would take alone, ascending; without those that never end
	sum   []float64 // of the first so many
}

func (s *learnerSim) work(i *learnerInst) *restoring {
	r := &restoring{s: s}
	for _, w := range i.workers {
		for t, x := range w.tasks {
			if x.role == model.Learner && x.lag > 0 {
				if secs := s.alone(t, x); !math.IsInf(secs, 1) {
					r.alone = append(r.alone, secs)
				}
			}
		}
	}
	slices.Sort(r.alone)
	r.sum = make([]float64, len(r.alone)+1)
	for k, secs := range r.alone {
		r.sum[k+1] = r.sum[k] + secs
	}
	return r
}

// alone is how long a task restores with the whole rate of its instance, in
// seconds.
func (s *learnerSim) alone(t assign.Task, x *learnerTask) float64 {
	per := s.o.Rate.records(s.in.Logs[t])
	if per <= 0 {
		return never()
	}
	return float64(x.lag) / per
}

// doneAfter is when a task is restored to the end, in ms: shared alike, each of
// the others has then had what it needs, at most as much as this one. (It may be
// ready a little earlier, within the acceptable lag; an estimate is no place to
// count on that.)
func (r *restoring) doneAfter(t assign.Task, x *learnerTask) float64 {
	if x.lag <= 0 {
		return 0
	}
	mine := r.s.alone(t, x)
	if math.IsInf(mine, 1) {
		return never()
	}
	k, _ := slices.BinarySearch(r.alone, mine)
	return (r.sum[k] + float64(len(r.alone)-k)*mine) * 1000
}

// restore lets time pass.
func (s *learnerSim) restore(ms float64) {
	s.now += ms
	if !s.o.Rate.Known() || ms <= 0 {
		return
	}
	for _, i := range s.insts {
		if i.gone {
			continue
		}
		secs := s.advance(i, model.Learner, ms/1000)
		s.advance(i, model.Standby, secs)
	}
}

// advance restores the copies of one role and returns the seconds left.
func (s *learnerSim) advance(i *learnerInst, role model.Role, secs float64) float64 {
	position := make(map[assign.Task]int64)
	var tasks []assign.Task
	var list []*learnerTask
	for _, w := range i.workers {
		for t, x := range w.tasks {
			if x.role == role && x.lag > 0 {
				position[t] = s.ends[t] - x.lag
				tasks, list = append(tasks, t), append(list, x)
			}
		}
	}
	left := share(s.in, s.o.Rate, s.ends, position, tasks, secs)
	for k, t := range tasks {
		list[k].lag = max(0, s.ends[t]-position[t])
		if role == model.Learner && list[k].lag <= s.set.AcceptableLag {
			list[k].ready = true
		}
	}
	return left
}
