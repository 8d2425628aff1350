package plan

import (
	"slices"
	"time"

	"github.com/streamctl/streamctl/internal/assign"
)

// remarks says what the plan rests on and what stands out in it. Every
// assumption of live-prediction.md, section 5, that this plan makes is there.
func (p *Plan) remarks(in *Input, o *Options, assignor string, r *run) {
	for _, f := range append(r.rec.findings, in.Findings...) {
		p.find(f.Code, "%s", f.Text)
	}
	if why := worse(&p.Before, &p.After); why != "" {
		p.find(NoteWorse, "%s", why)
	}
	if n := p.Totals.IdleThreads; n > 0 {
		p.find(NoteIdle, "%d (%d threads, %d tasks)", n, r.rec.workers(), in.Topology.Len())
	}
	if w := p.Totals.LeaveWaitMs; w != nil {
		from := "as set"
		if p.Totals.Assumed {
			from = "the client's default, assumed"
		}
		p.find(NoteLeave, "without an explicit leave nothing moves until the session timeout of the member runs out: %s (%s)", span(*w), from)
	}
	if o.Factor != 0 && assignor != NameLearner {
		p.find(NoteAssumed, "%s knows no balancing factor: %g only sets the bounds that instances are judged by", assignor, o.Factor)
	}
	if in.Assignor != assignor {
		p.find(NoteOtherRules, "planned by the rules of %s; the group runs %s", assignor, in.Assignor)
	}
	unfinished := slices.ContainsFunc(p.Findings, func(f Finding) bool { return f.Code == NoteUnfinished })
	if !p.Converged && p.Totals.Extrapolated == 0 && !unfinished {
		p.find(NoteUnfinished, "no end within the bound of %s", count(o.MaxRounds, "round"))
	}
	if len(p.Rounds) > 0 && p.Rounds[0].Trigger == anyRebalance {
		p.find(NoteAssumed, "nothing is planned: these rounds come when something asks for a rebalance")
	}
	if in.plug != nil && assignor == NameLearner {
		p.plugInRemarks(in, o, r)
	}
	switch assignor {
	case assign.NameHighAvailability:
		p.classicRemarks(in, o, r)
	case assign.NameStreamsSticky:
		p.streamsRemarks(in)
	}
	for _, c := range o.Changes {
		if a, ok := c.(Add); ok && a.Count > 0 && !a.AllState && len(a.State) == 0 {
			p.find(NoteAssumed, "new instances are taken as empty: faster if one still has state on its disk (--add 1,id=UUID,state=all)")
		}
	}
	for _, b := range in.Instances {
		p.staticRemark(o, &b)
	}
}

func (p *Plan) classicRemarks(in *Input, o *Options, r *run) {
	if n := len(r.rec.reported); n > 0 {
		h := r.rec.reported[0]
		p.find(NoteOldPosition, "%s as last reported, all others as caught up since: %s on %s and so on", count(n, "copy"), r.rec.name(h.task), r.rec.parties[h.party].name)
	}
	switch {
	case in.Settled:
		p.find(NoteAssumed, "positions are those of the last round%s: every copy held since is taken as caught up; wrong if the group changed within its last restore time, and if a copy was given and taken away again since then", in.age())
	default:
		p.find(NoteOldPosition, "a rebalance is planned and positions are those of the last round%s: copies held since are taken as caught up; those that were not restored yet, or restored or taken away since, are not seen", in.age())
	}
	p.find(NoteAssumed, "producers at rest: with new input left-over state falls behind and learners come in another order")
	p.find(NoteUnknown, "an assignor plugged in (task.assignor.class) and the settings of the leader cannot be seen; --set KEY=VALUE where yours differ from those taken")
	if len(o.Set) > 0 {
		p.find(NoteAssumed, "the leader has the settings that are given (--set); one that is new to it counts once it has been restarted with it (--bounce)")
	}
	for _, c := range o.Changes {
		if b, ok := c.(Bounce); ok && !b.Static {
			p.find(NoteAssumed, "the group's leader decides by its own settings: a setting that changes with a rolling restart counts once the leader has been restarted")
		}
	}
	if r.set.heartbeatMs > 0 && hasFollowUp(p) && o.Follow != FollowRate {
		p.find(NoteRange, "follow-up rounds come 0 to %s after the round before; a restore that takes about as long may give other learners on the way, not another end", span(r.set.heartbeatMs))
	}
	added, racks := false, true
	for _, c := range o.Changes {
		if a, ok := c.(Add); ok && a.Count > 0 {
			added, racks = true, racks && a.Rack != ""
		}
	}
	if r.set.RackStrategy != assign.RackNone && added && !racks {
		p.find(NoteUnknown, "the rack of a new instance is not known: planned without rack awareness as long as it is there (--add 1,rack=RACK)")
	}
	if len(r.set.StandbyTags) > 0 && added {
		p.find(NoteUnknown, "the client tags of a new instance are not known: planned as if it had none")
	}
	for _, i := range in.Instances {
		if len(i.Members) > 1 {
			p.find(NoteRange, "with left-over state which thread of an instance gets a task is a guess; which instance is not")
			break
		}
	}
}

// age says how old the positions are.
func (in *Input) age() string {
	if in.AsOf == nil || in.TakenAt == nil {
		return ", of which no time is given"
	}
	return ", about " + in.TakenAt.Sub(*in.AsOf).Round(time.Second).String() + " ago"
}

// moved counts the moves of one kind.
func (p *Plan) moved(how string) int {
	n := 0
	for _, r := range p.Rounds {
		for _, m := range r.Moves {
			if m.How == how {
				n++
			}
		}
	}
	return n
}

func hasFollowUp(p *Plan) bool {
	for _, r := range p.Rounds {
		if r.Trigger == TriggerHandOver {
			return true
		}
	}
	return false
}

func (p *Plan) streamsRemarks(in *Input) {
	silent := 0
	for _, i := range in.Instances {
		for _, m := range i.Members {
			if m.ReportsOffsets != nil && !*m.ReportsOffsets {
				silent++
			}
		}
	}
	if silent > 0 {
		p.find(NoteUnknown, "%s report no task offsets: moves to them are cold, and no time can be given", count(silent, "member"))
		p.Totals.EstimateS = nil
	}
	p.find(NoteUnknown, "an assignor plugged into the broker (group.streams.assignors) cannot be seen, nor the ids that new members draw, which break ties")
	if n := p.moved(HowLeftOver); n > 0 {
		p.find(NoteAssumed, "%s to instances that have no standby, but state left over on their disk, as their task offsets say: taken as there still (state.cleanup.delay.ms after a task has gone it is deleted)", count(n, "task")+verb(n, " goes", " go"))
	}
	p.find(NoteAssumed, "no warm-ups: no released broker makes any; an active task moves at once and restores on its new owner unless that one had a copy")
}

// staticRemark says what static membership means for a restart.
func (p *Plan) staticRemark(o *Options, i *Instance) {
	static := 0
	for _, m := range i.Members {
		if m.Static {
			static++
		}
	}
	for _, c := range o.Changes {
		b, ok := c.(Bounce)
		if !ok || b.Instance != i.Name && b.Instance != i.ID || static == 0 || static == len(i.Members) {
			continue
		}
		p.find(NoteStatic, "%d of %d members of %s have a group.instance.id; the others join anew", static, len(i.Members), i.Name)
	}
}
