package plan

// Figure is a number of a plan that may hang on ids; the totals' have their
// names in the document.
type Figure string

// The figures.
const (
	FigureMoves      Figure = "moves"
	FigureRounds     Figure = "rounds"
	FigureLearners   Figure = "learners"
	FigureStandbys   Figure = "standbys"
	FigureDown       Figure = "tasks_down"
	FigureDiscarded  Figure = "discarded_records"
	FigureIdle       Figure = "idle_threads"
	FigureEarliest   Figure = "earliest_s"
	FigureEstimate   Figure = "estimate_s"        // only with a restore rate
	FigureRecords    Figure = "remaining_records" // only where known
	FigureBytes      Figure = "remaining_bytes"   // only where known
	FigureMax        Figure = "max_over_expected"
	FigureUnbalanced Figure = "unbalanced" // 1: an instance ends outside its bounds
	FigureWorse      Figure = "worse"      // 1: less balanced than before
)

// Whole reports whether a figure is a whole number.
func (f Figure) Whole() bool {
	return f != FigureEarliest && f != FigureEstimate && f != FigureMax
}

// spread is the least and most of every figure over the draws.
type spread map[Figure][2]float64

func (s spread) add(figures map[Figure]float64) {
	for k, v := range figures {
		r, ok := s[k]
		if !ok {
			r = [2]float64{v, v}
		}
		s[k] = [2]float64{min(r[0], v), max(r[1], v)}
	}
}

// figures are those of the plan that is shown.
func figures(p *Plan) map[Figure]float64 { return figuresOf(&p.Totals, &p.Before, &p.After) }

// figures are those of a run, without a document of it.
func (r *run) figures(in *Input, o *Options) map[Figure]float64 {
	t, after := r.totals(in, o), r.rec.balance(r.set.factor)
	return figuresOf(&t, &r.before, &after)
}

func figuresOf(t *Totals, before, after *Balance) map[Figure]float64 {
	out := map[Figure]float64{
		FigureMoves: float64(t.Moves), FigureRounds: float64(t.Rounds), FigureLearners: float64(t.Learners), FigureStandbys: float64(t.Standbys),
		FigureDown: float64(t.TasksDown), FigureDiscarded: float64(t.DiscardedRecords), FigureIdle: float64(t.IdleThreads),
		FigureEarliest: t.EarliestS, FigureMax: after.MaxOverExpected, FigureUnbalanced: one(!after.Balanced), FigureWorse: one(worse(before, after) != ""),
	}
	if t.RemainingRecords != nil {
		out[FigureRecords] = float64(*t.RemainingRecords)
	}
	if t.RemainingBytes != nil {
		out[FigureBytes] = float64(*t.RemainingBytes)
	}
	if t.EstimateS != nil {
		out[FigureEstimate] = *t.EstimateS
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
func (p *Plan) Worst(name Figure) float64 {
	if r, ok := p.NewIDs.Varies[name]; ok {
		return r[1]
	}
	return figures(p)[name]
}

// Range is the least and most of a figure over all draws of ids.
func (p *Plan) Range(name Figure) (least, most float64) {
	if r, ok := p.NewIDs.Varies[name]; ok {
		return r[0], r[1]
	}
	v := figures(p)[name]
	return v, v
}

// WouldMove reports whether something would move or stop for some time, with any ids
// (plan --exit-code).
func (p *Plan) WouldMove() bool {
	return p.Worst(FigureMoves)+p.Worst(FigureLearners)+p.Worst(FigureStandbys)+p.Worst(FigureDown) > 0
}
