package plan

// extrapolate ends a plan at a state that so many moves a round come nearer
// to, without running those rounds.
func (r *recorder) extrapolate(end []outcome, aRound int, roundMs float64) {
	moves := 0
	for i, p := range r.parties {
		if p.gone {
			continue
		}
		o := end[i]
		held := merge(p.standby, p.learner)
		for _, t := range minus(o.active, p.active) {
			if r.owner[t] == int32(i) {
				continue
			}
			moves++
			r.owner[t] = int32(i)
			if r.top.Stateful(t) && !has(held, t) {
				r.totals.Learners++
				r.begin(t, int32(i), 0)
			}
		}
		p.active, p.standby, p.learner = o.active, o.standby, nil
	}
	r.noEnd = r.noEnd || moves > 0
	if n := len(r.rounds); n > 0 && len(r.rounds[n-1].Moves)+len(r.rounds[n-1].Learners) == 0 {
		r.totals.Moves += moves
		r.note(NoteUnfinished, "no end within %s: copies are not restored by then, and rounds in which nothing moves are no measure for the rest; %s still to come", count(r.totals.Rounds, "round"), count(moves, "move")+verb(moves, " is", " are"))
		return
	}
	rounds := (moves + aRound - 1) / max(aRound, 1)
	r.totals.Moves += moves
	r.totals.Rounds += rounds
	r.totals.Extrapolated = rounds
	r.totals.EarliestS += seconds(float64(rounds) * roundMs)
	r.note(NoteBound, "after %s the rest is extrapolated: %s with %s, %d a round", count(r.totals.Rounds-rounds, "round"), count(rounds, "round"), count(moves, "move"), aRound)
}
