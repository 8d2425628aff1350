package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// workBudget bounds what the draws of ids cost together, in tasks and instances
// looked at over all rounds. One draw is always made.
const workBudget = 3_000_000

// firstSeed draws the ids of the plan that is shown.
const firstSeed = 1

// quickRestore is the number of records up to which a copy is taken to be
// restored within a heartbeat interval when no rate is given.
const quickRestore = 10_000

// Make computes the plan. Errors are a *RefusedError, a *ChangeError or a
// *SettingError where the request is at fault, else what Options.Stopped gave.
func Make(in *Input, o Options) (*Plan, error) {
	other := o.Follow == ""
	in, assignor, err := prepare(in, &o)
	if err != nil {
		return nil, err
	}
	given, unknown := ids(in, &o)
	draws := 1
	if unknown {
		draws = o.Draws
	}
	first, err := runOnce(in, &o, assignor, firstSeed)
	if err != nil {
		return nil, err
	}
	p := document(in, &o, assignor, first)
	p.NewIDs.Given = given
	spread := spread{}
	spread.add(figures(p))
	cost := (len(first.rec.rounds) + 1) * (in.Topology.Len()*(1+first.set.Standbys) + 4*first.rec.workers())
	tried := max(1, min(draws, workBudget/max(1, cost)))
	others, err := drawn(in, &o, assignor, tried)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		spread.add(other)
	}
	if unknown {
		if p.NewIDs.Tried = tried; tried < draws {
			p.find(NoteRange, "the group is large: %s of ids tried instead of %d, so the ranges and the conditions of a gate rest on fewer", count(tried, "draw"), draws)
		}
	}
	p.NewIDs.Varies = spread
	if other && assignor == assign.NameHighAvailability {
		if err := p.otherRegime(in, o, assignor, cost <= workBudget/12 && p.Totals.Extrapolated == 0); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// prepare fills in what was left open in the options, and refuses what cannot
// be planned. The input that it gives has the partitions that are asked for.
func prepare(in *Input, o *Options) (_ *Input, assignor string, _ error) {
	if err := in.refuse(o); err != nil {
		return nil, "", err
	}
	in, err := in.withPartitions(o.Changes)
	if err != nil {
		return nil, "", err
	}
	if o.Measured != nil && !o.Rate.Known() {
		o.Rate = o.Measured.Rate
	}
	o.Draws = cmp.Or(max(o.Draws, 0), DefaultDraws)
	o.MaxRounds = cmp.Or(max(o.MaxRounds, 0), DefaultMaxRounds)
	if assignor = assignorOf(in, o); !slices.Contains(assign.Names(), assignor) {
		return nil, "", &SettingError{"assignor", assignor, "is none of " + strings.Join(assign.Names(), ", ")}
	}
	o.Follow = follow(in, o)
	return in, assignor, nil
}

// assignorOf is the assignor to plan with: what was asked for, else what the
// group runs; a balancing factor is one of learner's only.
func assignorOf(in *Input, o *Options) string {
	if o.Factor != 0 && o.Assignor == "" {
		return NameLearner
	}
	return cmp.Or(o.Assignor, in.Assignor)
}

// refuse says why no plan can be made of the group as it is.
func (in *Input) refuse(o *Options) error {
	members := 0
	for _, i := range in.Instances {
		members += len(i.Members)
	}
	if members == 0 {
		return &RefusedError{Group: in.Group, Why: "has no members", Hint: "assign --from FILE computes a scenario without any group"}
	}
	for _, i := range in.Instances {
		if _, err := canonicalUUID(i.ID); err != nil && in.Kind == model.Classic && assignorOf(in, o) == assign.NameHighAvailability {
			return &RefusedError{Group: in.Group, Why: "has an instance of which the process id is not known (" + i.Name + "): its metadata could not be read", Hint: "describe member shows what was wrong with it"}
		}
	}
	if err := in.tooMany(o, members); err != nil {
		return err
	}
	g := in.group
	if g == nil || o.Force {
		return nil
	}
	if g.Metadata.Mixed {
		return &RefusedError{Group: in.Group, Why: "has members with different metadata versions: what the leader decides then is not known", Hint: "wait until the rolling upgrade is done, or --force", Forceable: true}
	}
	if g.AssignmentBasis != model.AssignmentCurrent {
		return &RefusedError{Group: in.Group, Why: "is in state " + cmp.Or(in.State, "unknown") + ": its tasks are those of the round before", Hint: "wait until it is Stable", Forceable: true}
	}
	return nil
}

// maxMembers bounds the threads of a group after the changes.
const maxMembers = 50_000

// tooMany refuses changes that make more threads than a plan takes.
func (in *Input) tooMany(o *Options, members int) error {
	for _, c := range o.Changes {
		switch x := c.(type) {
		case Add:
			members += x.Count * cmp.Or(x.Threads, usualThreads(in))
		case Threads:
			members += x.Count
		case Bounce:
			members += x.Threads
		}
		if members > maxMembers {
			return &ChangeError{c.Describe(), fmt.Sprintf("that makes more than %s threads in the group, which is more than a plan takes", model.Thousands(maxMembers))}
		}
	}
	return nil
}

// ids are the process ids that the changes give, and whether ids that may
// decide are left to draw: those of processes, in streams groups of members too.
func ids(in *Input, o *Options) (given []string, unknown bool) {
	given = []string{}
	for _, c := range o.Changes {
		switch x := c.(type) {
		case Add:
			given = append(given, x.IDs...)
			unknown = unknown || len(x.IDs) < x.Count
			members := x.Count * cmp.Or(x.Threads, usualThreads(in))
			unknown = unknown || in.Kind == model.Streams && len(x.Members) < members
		case Bounce, Threads:
			unknown = unknown || in.Kind == model.Streams
		}
	}
	return given, unknown
}

// follow chooses how copies fare in follow-up rounds.
func follow(in *Input, o *Options) Follow {
	switch {
	case o.Follow != "":
		return o.Follow
	case o.Rate.Known():
		return FollowRate
	}
	for _, end := range in.ends() {
		if end > quickRestore {
			return FollowSlow
		}
	}
	return FollowFast
}

// otherRegime says what would be different if copies took longer, or less
// long, than a heartbeat interval. Where that is too much to compute, it says
// what was taken.
func (p *Plan) otherRegime(in *Input, o Options, assignor string, compute bool) error {
	if o.Follow == FollowRate {
		return nil
	}
	this, that := "within a heartbeat interval", "longer than that"
	other := FollowSlow
	if o.Follow == FollowSlow {
		this, that, other = "longer than a heartbeat interval", "less than that", FollowFast
	}
	if !compute {
		p.find(NoteRange, "taken that a copy is restored %s; rounds, moves and learners are others if it takes %s (--restore-rate tells)", this, that)
		return nil
	}
	o.Follow = other
	r, err := runOnce(in, &o, assignor, firstSeed)
	if err != nil {
		return err
	}
	t := r.rec.totals
	if t.Moves != p.Totals.Moves || t.Rounds != p.Totals.Rounds || t.Learners != p.Totals.Learners {
		p.find(NoteRange, "taken that a copy is restored %s; if it takes %s: %s, %s, %s (--restore-rate tells)", this, that, count(t.Rounds, "round"), count(t.Moves, "move"), count(t.Learners, "learner"))
	}
	return nil
}

func (p *Plan) find(code, format string, args ...any) {
	f := Finding{Code: code, Severity: severityOf(code), Object: "group " + p.Group, Text: fmt.Sprintf(format, args...)}
	if !slices.Contains(p.Findings, f) { // there are a dozen
		p.Findings = append(p.Findings, f)
	}
}

// document makes the plan of one run.
func document(in *Input, o *Options, assignor string, r *run) *Plan {
	p := &Plan{
		Kind: Kind, SchemaVersion: SchemaVersion, Group: in.Group, TakenAt: in.TakenAt, Assignor: assignor, BalancingFactor: r.set.factor,
		Changes: []string{}, BasedOn: BasedOn{State: in.State, Fingerprint: in.Fingerprint, TakenAt: in.TakenAt, Copies: r.copies},
		Taken: r.set.taken, Before: r.before, After: r.rec.balance(r.set.factor), Rounds: r.rec.rounds,
		Converged: r.converged, Totals: r.totals(in, o), Findings: []Finding{}, Request: requestOf(o),
	}
	if in.ClusterID != "" {
		p.ClusterID = &in.ClusterID
	}
	for _, c := range o.Changes {
		if a, ok := c.(Add); ok && a.Count > 0 && a.Threads == 0 {
			a.Threads = usualThreads(in)
			c = a
		}
		p.Changes = append(p.Changes, c.Describe())
	}
	p.Rounds = quiet(p.Rounds)
	p.measured(o)
	p.discards(r)
	p.remarks(in, o, assignor, r)
	return p
}

// quiet leaves out the round that was only asked for to see whether anything
// would move, when nothing did.
func quiet(rounds []Round) []Round {
	if len(rounds) == 1 && rounds[0].Trigger == anyRebalance && len(rounds[0].Moves)+len(rounds[0].Learners)+len(rounds[0].Standbys)+len(rounds[0].Down) == 0 {
		return []Round{}
	}
	if rounds == nil {
		return []Round{}
	}
	return rounds
}

// anyRebalance is the trigger of a round that nobody planned.
const anyRebalance = "any rebalance"

// totals are the sums over the run.
func (r *run) totals(in *Input, o *Options) Totals {
	t := r.rec.totals
	if len(quiet(r.rec.rounds)) == 0 {
		t.Rounds = 0
	}
	t.TasksDown = len(r.rec.downTasks)
	records, bytes := r.rec.records, r.rec.bytes
	if !r.rec.noRecords {
		t.RemainingRecords = &records
	}
	if !r.rec.noBytes {
		t.RemainingBytes = &bytes
	}
	for _, n := range r.rec.dropped {
		t.DiscardedRecords = plus(t.DiscardedRecords, n)
	}
	if o.Rate.Known() && !r.rec.noEnd {
		s := seconds(r.rec.endMs)
		t.EstimateS = &s
	}
	t.IdleThreads = max(0, r.rec.workers()-in.Topology.Len())
	if r.rec.leaveWaitMs > 0 {
		ms := int64(r.rec.leaveWaitMs)
		t.LeaveWaitMs, t.Assumed = &ms, r.set.sessionTaken
	}
	return t
}

// discards names the copies whose records were restored for nobody.
func (p *Plan) discards(r *run) {
	var list []holding
	for h, n := range r.rec.dropped {
		if n > 0 {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(a, b holding) int { return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.party, b.party)) })
	rest := int64(0)
	for i, h := range list {
		n, share := r.rec.dropped[h], ""
		if i >= maxNamed {
			rest += n
			continue
		}
		if end := r.rec.end(h.task); end > 0 {
			share = fmt.Sprintf(", %.0f%%", float64(n)*100/float64(end))
		}
		p.find(NoteDiscarded, "%d records (%s on %s%s)", n, r.rec.name(h.task), r.rec.parties[h.party].name, share)
	}
	if rest > 0 {
		p.find(NoteDiscarded, "%s in %s more", count(int(rest), "record"), count(len(list)-maxNamed, "copy"))
	}
}
