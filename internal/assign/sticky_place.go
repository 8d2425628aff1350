package assign

import (
	"github.com/streamctl/streamctl/internal/javaorder"
	"github.com/streamctl/streamctl/internal/model"
)

// keepActives leaves actives where they were, up to the quota, and returns the
// tasks that are left.
func (s *sticky) keepActives() []Task {
	var left []Task
	for _, t := range s.byPartition {
		if m := s.prevActive[t]; m >= 0 && int(s.members[m].count) < s.activeQuota.each {
			s.giveNamed(m, t, model.Active)
		} else {
			left = append(left, t)
		}
	}
	return left
}

// promoteStandbys makes previous standbys active, up to the quota.
func (s *sticky) promoteStandbys(tasks []Task) []Task {
	left := tasks[:0]
	for _, t := range tasks {
		if m := s.pick(t, false); m >= 0 && int(s.members[m].count) < s.activeQuota.each {
			s.giveNamed(m, t, model.Active)
		} else {
			left = append(left, t)
		}
	}
	return left
}

// placeActives gives what is left to the least loaded processes; the quota
// does not count.
func (s *sticky) placeActives(left []Task) {
	if len(left) == 0 {
		return
	}
	queue := s.leastLoaded()
	s.eachTask(func(t Task) {
		if s.active[t] < 0 {
			p, _ := queue.Poll()
			s.giveLeast(p, t, model.Active)
			queue.Offer(p)
		}
	})
}

// leastLoaded queues the processes by load; ties leave it as in Java.
func (s *sticky) leastLoaded() *javaorder.PriorityQueue[int32] {
	queue := javaorder.NewPriorityQueue(func(a, b int32) bool { return s.load[a] < s.load[b] }, nil)
	for _, p := range s.walk {
		queue.Offer(p)
	}
	return queue
}

// placeStandbys gives standbys to previous holders, up to the quota, then to
// the least loaded processes.
func (s *sticky) placeStandbys() {
	missing := make([]int32, s.g.Topology.Len())
	some := false
	for k := len(s.byPartition) - 1; k >= 0; k-- {
		t := s.byPartition[k]
		if !s.g.Topology.Stateful(t) {
			continue
		}
		for left := s.g.Settings.Standbys; left > 0; left-- {
			if !s.keepStandby(t) {
				missing[t], some = int32(min(left, len(s.procs))), true
				break
			}
		}
	}
	if some {
		s.placeMissing(missing)
	}
}

// keepStandby gives one copy to the previous owner or a previous standby.
func (s *sticky) keepStandby(t Task) bool {
	if m := s.prevActive[t]; m >= 0 && !s.has(s.members[m].process, t) && int(s.members[m].count) < s.totalQuota.each {
		s.giveNamed(m, t, model.Standby)
		return true
	}
	if m := s.pick(t, true); m >= 0 && int(s.members[m].count) < s.totalQuota.each {
		s.giveNamed(m, t, model.Standby)
		return true
	}
	return false
}

// placeMissing gives the other standbys to the least loaded processes, from
// the last task to the first.
func (s *sticky) placeMissing(missing []int32) {
	queue := s.leastLoaded()
	var tried []int32
	for i := len(s.subs) - 1; i >= 0; i-- {
		first, end := s.g.Topology.Tasks(s.subs[i])
		for t := end - 1; t >= first; t-- {
			for ; missing[t] > 0; missing[t]-- {
				var found bool
				if tried, found = s.placeStandby(queue, t, tried[:0]); !found {
					break
				}
			}
		}
	}
}

// placeStandby takes processes off the queue until one does not hold the task,
// and puts them back, the last one first.
func (s *sticky) placeStandby(queue *javaorder.PriorityQueue[int32], t Task, tried []int32) ([]int32, bool) {
	found := false
	for !found {
		p, ok := queue.Poll()
		if !ok {
			break
		}
		tried = append(tried, p)
		if !s.has(p, t) {
			s.giveLeast(p, t, model.Standby)
			found = true
		}
	}
	for k := len(tried) - 1; k >= 0; k-- {
		queue.Offer(tried[k])
	}
	return tried, found
}

// pick chooses among the previous standbys of a task the least loaded one, -1
// for none. With apart its process must not hold the task yet.
func (s *sticky) pick(t Task, apart bool) int32 {
	holders := s.prev.of(t)
	if len(holders) == 0 {
		return -1
	}
	if s.variant == Sticky42 {
		return s.pick42(holders, t, apart)
	}
	best := int32(-1)
	for _, h := range holders {
		p := s.members[h.member].process
		if apart && s.has(p, t) {
			continue
		}
		if best < 0 || s.lighter(h.member, best) {
			best = h.member
		}
	}
	return best
}

// pick42 starts from the first holder whether or not its process holds the
// task, and gives up in the end if it does.
func (s *sticky) pick42(holders []stickyHolder, t Task, apart bool) int32 {
	best := holders[0].member
	for _, h := range holders[1:] {
		if s.lighter(h.member, best) && !(apart && s.has(s.members[h.member].process, t)) {
			best = h.member
		}
	}
	if apart && s.has(s.members[holders[0].member].process, t) {
		return -1
	}
	return best
}

// lighter says whether a member has fewer tasks than another and its process a
// lower load.
func (s *sticky) lighter(a, b int32) bool {
	return s.load[s.members[a].process] < s.load[s.members[b].process] && s.members[a].count < s.members[b].count
}
