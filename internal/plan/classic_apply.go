package plan

import "github.com/streamctl/streamctl/internal/assign"

// apply hands the assignment to the members.
func (c *classicSim) apply(res *assign.Result) {
	n := 0
	for _, p := range c.procs {
		if p.gone {
			continue
		}
		before := make([][]assign.Task, len(p.members))
		var stood []assign.Task
		for i, m := range p.members {
			r := &res.Members[n]
			n++
			before[i], m.lost = m.standby, nil
			gone := minus(m.active, r.Active)
			for _, t := range gone {
				if c.top.Stateful(t) {
					m.lost = append(m.lost, t)
				}
			}
			m.early = r.Next == assign.NextNow || len(gone) > 0
			m.active, m.standby, m.next, m.reports = r.Active, r.Standby, r.Next, nil
			stood = merge(stood, m.standby)
		}
		c.open(p)
		for i, m := range p.members {
			m.also = nil
			if m.early {
				m.also = both(minus(before[i], m.standby), stood)
			}
		}
	}
}

// open starts what a process got and closes what it lost.
func (c *classicSim) open(p *classicProc) {
	for _, m := range p.members {
		for _, t := range m.lost {
			if p.running[t] {
				delete(p.running, t)
				p.position[t] = c.ends[t]
			}
		}
	}
	begin := func(list []assign.Task) {
		for _, t := range list {
			if _, ok := p.position[t]; !ok && !p.running[t] && c.top.Stateful(t) {
				p.position[t] = 0
			}
		}
	}
	for _, m := range p.members {
		begin(m.active)
		begin(m.standby)
	}
}

// outcome is what each party holds. A task that is withheld is with nobody.
func (c *classicSim) outcome(res *assign.Result) []outcome {
	out := make([]outcome, len(c.rec.parties))
	n, k := 0, 0
	for _, p := range c.procs {
		if p.gone {
			continue
		}
		o := &out[p.party]
		var standby []assign.Task
		for range p.members {
			o.active = append(o.active, res.Members[n].Active...)
			standby = append(standby, res.Members[n].Standby...)
			n++
		}
		o.active = sorted(o.active)
		standby = sorted(standby)
		o.learner = both(sorted(res.Processes[k].Warmup), standby)
		o.standby = minus(standby, o.learner)
		parked := minus(o.standby, sorted(res.Processes[k].Standby))
		if len(parked) > 0 {
			o.parked = make(map[assign.Task]bool, len(parked))
			for _, t := range parked {
				o.parked[t] = true
			}
		}
		k++
	}
	return out
}
