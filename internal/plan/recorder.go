package plan

import (
	"cmp"
	"slices"

	"github.com/streamctl/streamctl/internal/assign"
)

// nobody owns a task that no instance runs.
const nobody = int32(-1)

// party is one instance in a plan: one that is there, or one that joins.
type party struct {
	id, name string
	workers  int
	gone     bool // it takes part no more
	leaving  bool // it shall take nothing
	shown    int  // active tasks as last recorded

	active, standby, learner []assign.Task // after the last round, ascending
}

// holding is a copy on an instance.
type holding struct {
	task  assign.Task
	party int32
}

// recorder makes the rounds of a plan out of what each instance holds after
// each of them.
type recorder struct {
	in         *Input
	top        *assign.Topology
	ends       []int64 // by task
	acceptable int64
	rate       Rate

	parties []*party
	taken   map[string]bool  // ids of instances that are there
	called  map[string]bool  // names of instances
	unnamed int              // that joined
	owner   []int32          // by task: who ran it last
	learned map[holding]bool // copies that began as learners
	dropped map[holding]int64

	orphans     []assign.Task // of instances that restart, until the next round
	findings    []Finding
	reported    []holding // copies that were taken as last reported
	rounds      []Round
	downTasks   map[assign.Task]bool
	totals      Totals
	records     int64
	bytes       int64
	noBytes     bool
	noRecords   bool
	endMs       float64 // when the last restore ends, with a rate
	noEnd       bool    // some restore has no known end
	leaveWaitMs float64
}

func newRecorder(in *Input, acceptable int64, rate Rate) *recorder {
	r := &recorder{
		in: in, top: in.Topology, acceptable: acceptable, rate: rate, ends: in.ends(), owner: make([]int32, in.Topology.Len()),
		learned: make(map[holding]bool), dropped: make(map[holding]int64), downTasks: make(map[assign.Task]bool),
		taken: make(map[string]bool), called: make(map[string]bool),
	}
	for t := range r.owner {
		r.owner[t] = nobody
	}
	for i := range in.Instances {
		from := &in.Instances[i]
		p := &party{id: from.ID, name: from.Name, workers: len(from.Members), leaving: from.Leaving}
		for _, m := range from.Members {
			p.active = append(p.active, m.Active...)
			p.standby = append(p.standby, m.Standby...)
			p.learner = append(p.learner, m.Learner...)
		}
		p.tidy()
		for _, t := range p.active {
			r.owner[t] = int32(i)
		}
		for _, t := range p.learner {
			r.learned[holding{t, int32(i)}] = true
		}
		r.taken[p.id], r.called[p.name] = true, true
		r.parties = append(r.parties, p)
	}
	return r
}

func (p *party) tidy() {
	for _, list := range []*[]assign.Task{&p.active, &p.standby, &p.learner} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}

// outcome is what a round left with one instance.
type outcome struct {
	active, standby, learner []assign.Task
	parked                   map[assign.Task]bool // in standby for a hand-over only
}

// step is one round as the simulation saw it. had gives how far the instance's
// copy of a task was when the round was made, false where it had none.
type step struct {
	trigger string
	atMs    float64
	most    *float64 // ms
	unowned *Unowned
	outcome []outcome // by party
	had     func(party int32, t assign.Task) (int64, bool)
	waitMs  float64 // tasks of those who went ran nowhere for so long before the round
	waitWhy string
	gone    []int32 // parties that went before the round
}

// add records a round.
func (r *recorder) add(s step) {
	round := Round{
		Round: len(r.rounds) + 1, Trigger: s.trigger, AtS: seconds(s.atMs), Unowned: s.unowned,
		Moves: []Move{}, Learners: []Copy{}, Standbys: []Copy{}, Down: []Down{}, Active: map[string]int{},
	}
	if s.most != nil {
		most := seconds(*s.most)
		round.AtMostS = &most
	}
	orphans := r.leave(s.gone)
	for i, o := range s.outcome {
		r.settle(&round, &s, int32(i), o, orphans)
	}
	deserted := r.deserted()
	for _, t := range sortedTasks(orphans) { // not yet given to anyone
		if deserted {
			r.downTasks[t] = true
			round.Down = append(round.Down, Down{Task: r.name(t), task: t, Why: WhyNobodyLeft, Reason: WhyNobodyLeft})
			continue
		}
		r.down(&round, t, &s, 0, 0, true)
	}
	slices.SortFunc(round.Moves, func(a, b Move) int { return cmp.Compare(a.task, b.task) })
	for _, list := range [][]Copy{round.Learners, round.Standbys} {
		slices.SortStableFunc(list, func(a, b Copy) int { return cmp.Compare(a.task, b.task) })
	}
	slices.SortStableFunc(round.Down, func(a, b Down) int { return cmp.Compare(a.task, b.task) })
	for _, p := range r.parties {
		if n := len(p.active); !p.gone && len(r.rounds) == 0 || n != p.shown {
			round.Active[p.id], p.shown = n, n
		}
	}
	r.rounds = append(r.rounds, round)
	if s.trigger != TriggerHandOver {
		r.totals.Rounds++
	}
	r.totals.EarliestS = round.AtS
	if len(round.Moves)+len(round.Learners) > 0 {
		r.endMs = max(r.endMs, s.atMs)
	}
	r.leaveWaitMs = max(r.leaveWaitMs, s.waitMs)
}

// WhyNobodyLeft is why the tasks of a group are down whose last instance goes.
const WhyNobodyLeft = "no instance is left to run it"

// deserted reports whether no instance takes part any more.
func (r *recorder) deserted() bool {
	return !slices.ContainsFunc(r.parties, func(p *party) bool { return !p.gone })
}

// leave takes instances out. It returns the tasks that they ran.
func (r *recorder) leave(gone []int32) map[assign.Task]bool {
	orphans := make(map[assign.Task]bool)
	for _, t := range r.orphans {
		orphans[t] = true
	}
	r.orphans = nil
	for _, i := range gone {
		p := r.parties[i]
		for _, t := range p.active {
			orphans[t] = true
		}
		for _, t := range p.learner {
			r.drop(holding{t, i}, 0)
		}
		p.active, p.standby, p.learner, p.gone = nil, nil, nil, true
	}
	return orphans
}

func (r *recorder) drop(h holding, position int64) {
	if r.learned[h] {
		r.dropped[h] = position
		delete(r.learned, h)
	}
}

// settle compares what an instance holds with what it held before.
func (r *recorder) settle(round *Round, s *step, i int32, o outcome, orphans map[assign.Task]bool) {
	p := r.parties[i]
	if p.gone {
		return
	}
	had := func(t assign.Task) int64 {
		if n, ok := s.had(i, t); ok {
			return n
		}
		return 0
	}
	held := merge(p.standby, p.learner)
	now := merge(merge(o.active, o.standby), o.learner)
	for _, t := range minus(held, now) {
		r.drop(holding{t, i}, had(t))
	}
	for _, t := range minus(o.active, p.active) {
		r.give(round, s, i, t, had(t), orphans[t])
	}
	for _, t := range o.active {
		delete(orphans, t)
		r.owner[t] = i
	}
	had0 := merge(held, p.active)
	for _, t := range minus(o.learner, p.learner) {
		h := holding{t, i}
		if r.learned[h] {
			continue
		}
		r.learned[h] = true
		delete(r.dropped, h)
		r.totals.Learners++
		round.Learners = append(round.Learners, r.begin(t, i, had(t)))
	}
	for _, t := range minus(o.standby, had0) {
		if !o.parked[t] && r.end(t)-had(t) > r.acceptable {
			r.totals.Standbys++
			round.Standbys = append(round.Standbys, r.begin(t, i, had(t)))
		}
	}
	p.active, p.standby, p.learner = o.active, o.standby, o.learner
}
