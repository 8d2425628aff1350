package plan

import (
	"slices"

	"github.com/streamctl/streamctl/internal/assign"
)

// join lets the time to the next round pass and every member report. Early
// members join before it, all others after it.
func (c *classicSim) join() {
	for _, p := range c.procs {
		if !p.gone {
			c.report(p, true)
		}
	}
	c.progress(c.gapMs)
	c.now += c.gapMs
	for _, p := range c.procs {
		if !p.gone {
			c.report(p, false)
		}
	}
}

// report fixes what the early or the late members of a process say.
func (c *classicSim) report(p *classicProc, early bool) {
	for i, m := range p.members {
		if m.early != early {
			continue
		}
		list := merge(merge(m.active, m.standby), m.also)
		for _, t := range m.lost {
			if !p.holds(t) {
				list = merge(list, []assign.Task{t})
			}
		}
		if i == p.keeper() {
			list = merge(list, c.leftOvers(p))
		}
		m.reports = make([]assign.Offset, 0, len(list))
		for _, t := range list {
			if p.running[t] {
				m.reports = append(m.reports, assign.Offset{Task: t, Sum: assign.SumRunning})
			} else if n, ok := p.position[t]; ok {
				m.reports = append(m.reports, assign.Offset{Task: t, Sum: n})
			}
		}
	}
}

// holds reports whether a thread of the process has the task.
func (p *classicProc) holds(t assign.Task) bool {
	return slices.ContainsFunc(p.members, func(m *classicMember) bool { return has(m.active, t) || has(m.standby, t) })
}

// leftOvers are the tasks that the process has state of and no thread holds or
// has just given up.
func (c *classicSim) leftOvers(p *classicProc) []assign.Task {
	var held []assign.Task
	for _, m := range p.members {
		held = merge(held, merge(merge(m.active, m.standby), merge(m.lost, m.also)))
	}
	if len(p.position)+len(p.running) <= len(held) && !c.anyLeft(p, held) {
		return nil
	}
	var out []assign.Task
	for t := range p.position {
		if !has(held, t) {
			out = append(out, t)
		}
	}
	slices.Sort(out)
	return out
}

// anyLeft reports whether a position is there that held does not explain.
func (c *classicSim) anyLeft(p *classicProc, held []assign.Task) bool {
	n := 0
	for _, t := range held {
		if _, ok := p.position[t]; ok {
			n++
		}
	}
	return n < len(p.position)
}

// keeper is the thread that reports what is left over: the one that locked the
// directory. Which one does at the next round hangs on which joins first; taken
// is the one that reported most of it the last time, else the first.
func (p *classicProc) keeper() int {
	return min(p.kept, len(p.members)-1)
}

// findKeeper tells from what the members reported which of them kept the
// left-overs.
func (p *classicProc) findKeeper(from *Instance) {
	best := 0
	for i := range from.Members {
		n := 0
		for _, r := range from.Members[i].Reported {
			if _, state := p.position[r.Task]; state && !p.holds(r.Task) {
				n++
			}
		}
		if n > best {
			best, p.kept = n, i
		}
	}
}

// progress lets copies restore for some time. Without a rate the two regimes
// of live-prediction.md, section 3, stand for it.
func (c *classicSim) progress(ms float64) {
	long := ms > float64(c.set.heartbeatMs)
	switch {
	case ms <= 0:
		return
	case c.o.Rate.Known() && (c.follow == FollowRate || c.plug != nil):
		for _, p := range c.procs {
			if !p.gone {
				c.restore(p, ms/1000)
			}
		}
		return
	case c.plug != nil && !c.plug.restores():
		return
	case c.plug == nil && c.follow == FollowSlow && !long:
		return
	}
	for _, p := range c.procs {
		if p.gone {
			continue
		}
		for _, m := range p.members {
			for _, t := range m.active {
				if c.top.Stateful(t) {
					p.run(t)
				}
			}
			for _, t := range m.standby {
				if !slices.Contains(p.stale, t) {
					p.position[t] = c.ends[t]
				}
			}
		}
	}
}

// restore shares the rate of an instance: its actives first, then its copies,
// each of them the same.
func (c *classicSim) restore(p *classicProc, secs float64) {
	var actives, copies []assign.Task
	for _, m := range p.members {
		for _, t := range m.active {
			if c.top.Stateful(t) && !p.running[t] {
				actives = append(actives, t)
			}
		}
		copies = append(copies, minus(m.standby, sorted(p.stale))...)
	}
	secs = share(c.in, c.o.Rate, c.ends, p.position, actives, secs)
	for _, t := range actives {
		if p.position[t] >= c.ends[t] {
			p.run(t)
		}
	}
	share(c.in, c.o.Rate, c.ends, p.position, copies, secs)
}
