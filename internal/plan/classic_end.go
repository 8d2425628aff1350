package plan

import (
	"github.com/streamctl/streamctl/internal/assign"
)

// partitions is the round that follows new partitions: they are in the
// topology from the start.
func (c *classicSim) partitions(x Partitions) (string, error) {
	return x.Describe(), nil
}

// finish ends the plan. When rounds were cut off, the target that every round
// comes nearer to is the end, with so many moves a probing interval.
func (c *classicSim) finish(bounded bool) error {
	if c.plug != nil {
		c.plug.finish(bounded)
		return nil
	}
	if !bounded || c.last == nil {
		return nil
	}
	out := make([]outcome, len(c.rec.parties))
	k := 0
	for _, p := range c.procs {
		if p.gone {
			continue
		}
		res := c.last.Processes[k]
		k++
		var stateless []assign.Task
		for _, t := range res.Active {
			if !c.top.Stateful(t) {
				stateless = append(stateless, t)
			}
		}
		out[p.party] = outcome{active: merge(sorted(res.TargetActive), stateless), standby: sorted(res.TargetStandby)}
	}
	c.rec.extrapolate(out, c.set.MaxWarmups, float64(c.set.probingMs))
	return nil
}
