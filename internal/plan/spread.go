package plan

// Names of what may differ between draws of ids, beside the totals' own.
const (
	VaryUnbalanced = "unbalanced" // 1: an instance ends outside its bounds
	VaryWorse      = "worse"      // 1: less balanced than before
	VaryMax        = "max_over_expected"
)

// spread is the least and most of every total over the draws.
type spread struct{ ranges map[string][2]float64 }

func newSpread(p *Plan) *spread {
	s := &spread{ranges: map[string][2]float64{}}
	s.add(p)
	return s
}

func (s *spread) add(p *Plan) {
	for k, v := range figures(p) {
		r, ok := s.ranges[k]
		if !ok {
			r = [2]float64{v, v}
		}
		s.ranges[k] = [2]float64{min(r[0], v), max(r[1], v)}
	}
}

// figures are the numbers of a plan that may hang on ids.
func figures(p *Plan) map[string]float64 {
	t := &p.Totals
	out := map[string]float64{
		"moves": float64(t.Moves), "rounds": float64(t.Rounds), "learners": float64(t.Learners), "standbys": float64(t.Standbys),
		"tasks_down": float64(t.TasksDown), "discarded_records": float64(t.DiscardedRecords), "idle_threads": float64(t.IdleThreads),
		"earliest_s": t.EarliestS, VaryMax: p.After.MaxOverExpected, VaryUnbalanced: one(!p.After.Balanced), VaryWorse: one(worse(p) != ""),
	}
	if t.RemainingRecords != nil {
		out["remaining_records"] = float64(*t.RemainingRecords)
	}
	if t.RemainingBytes != nil {
		out["remaining_bytes"] = float64(*t.RemainingBytes)
	}
	if t.EstimateS != nil {
		out["estimate_s"] = *t.EstimateS
	}
	return out
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Worst is the most of a figure over all draws of ids.
func (p *Plan) Worst(name string) float64 {
	if r, ok := p.NewIDs.Varies[name]; ok {
		return r[1]
	}
	return figures(p)[name]
}

// Range is the least and most of a figure over all draws of ids.
func (p *Plan) Range(name string) (least, most float64) {
	if r, ok := p.NewIDs.Varies[name]; ok {
		return r[0], r[1]
	}
	v := figures(p)[name]
	return v, v
}

// WouldMove reports whether something would move or stop for some time, with any ids
// (plan --exit-code).
func (p *Plan) WouldMove() bool {
	return p.Worst("moves")+p.Worst("learners")+p.Worst("standbys")+p.Worst("tasks_down") > 0
}
