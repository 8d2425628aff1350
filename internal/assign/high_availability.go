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
	res := &Result{Processes: make([]ProcessResult, len(g.Processes)), Members: make([]MemberResult, len(g.Members))}
	h.placeActives()
	h.placeStandbys()
	for i, lists := range h.standbyLists() {
		res.Processes[h.clients[i].process].TargetStandby = lists
	}
	for i, lists := range h.activeLists(true) {
		res.Processes[h.clients[i].process].TargetActive = lists
	}
	h.moveActives()
	h.moveStandbys()
	h.placeStateless()
	res.ActiveMovements, res.StandbyMovements = h.movedActives, h.movedStandbys
	res.Probing = h.movedActives+h.movedStandbys > 0
	for i, lists := range h.standbyLists() {
		res.Processes[h.clients[i].process].Standby = lists
	}
	for i, lists := range h.activeLists(false) {
		res.Processes[h.clients[i].process].Active = lists
	}
	for i, lists := range h.warmupLists() {
		res.Processes[h.clients[i].process].Warmup = lists
	}
	h.handOut(res)
	return res, nil
}
