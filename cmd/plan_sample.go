package cmd

import (
	"context"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/plan"
)

// again looks a second time at the groups that are ready, --sample after the
// first, and takes the restore rate of each from what came nearer to its end
// meanwhile. The plan is made of the second look.
func (w *planReading) again(ctx context.Context) error {
	first := make(map[string]*model.Group, len(w.ready))
	var ids []string
	for _, g := range w.ready {
		first[g.ID] = g
		ids = append(ids, g.ID)
	}
	w.o.d.verbose("first look done, the second in %s", w.o.d.flags.sample)
	if err := clock.Sleep(ctx, w.o.d.flags.sample); err != nil {
		return err
	}
	q := w.r.describeQuery(ids)
	s, err := w.r.cluster.Snapshot(ctx, q)
	if err != nil {
		return err
	}
	groups, err := w.r.build(s, ids)
	w.ready, w.measured = nil, make(map[string]plan.Measured, len(groups))
	for _, g := range groups {
		if w.waits(g) {
			w.failures = append(w.failures, w.unsettled(g))
			continue
		}
		w.ready = append(w.ready, g)
		w.measured[g.ID] = plan.Measure(first[g.ID], g)
	}
	return err
}

// withRate are the options for a group, with the rate that was measured of it.
func (w *planReading) withRate(po plan.Options, group string) plan.Options {
	if m, ok := w.measured[group]; ok {
		po.Measured = &m
	}
	return po
}
