package assign

// HighAvailability is the task assignor of classic Kafka Streams groups since
// 2.6, by the rules of 3.4 to 4.4 (assignors.md, sections 2 and 3), with the
// spread over threads and the cooperative hand-over that surround it.
type HighAvailability struct{}

// Name is "high-availability".
func (HighAvailability) Name() string { return NameHighAvailability }

// Assign gives the round that follows from what the members reported. The
// order of processes and members does not matter unless two threads of one
// process contradict each other.
func (HighAvailability) Assign(g *Group) (*Result, error) {
	h, err := newHA(g)
	if err != nil {
		return nil, err
	}
	h.placeActives()
	h.placeStandbys()
	return h.round(), nil
}

// round makes the round that follows from the target.
func (h *ha) round() *Result {
	res := &Result{Processes: make([]ProcessResult, len(h.g.Processes)), Members: make([]MemberResult, len(h.g.Members))}
	set := func(lists [][]Task, field func(*ProcessResult) *[]Task) {
		for i, tasks := range lists {
			*field(&res.Processes[h.clients[i].process]) = tasks
		}
	}
	set(h.activeLists(true), func(p *ProcessResult) *[]Task { return &p.TargetActive })
	set(h.standbyLists(), func(p *ProcessResult) *[]Task { return &p.TargetStandby })
	h.moveActives()
	h.moveStandbys()
	h.placeStateless()
	set(h.activeLists(false), func(p *ProcessResult) *[]Task { return &p.Active })
	set(h.standbyLists(), func(p *ProcessResult) *[]Task { return &p.Standby })
	set(h.warmupLists(), func(p *ProcessResult) *[]Task { return &p.Warmup })
	res.ActiveMovements, res.StandbyMovements = h.movedActives, h.movedStandbys
	res.Probing = h.movedActives+h.movedStandbys > 0
	h.handOut(res)
	return res
}
