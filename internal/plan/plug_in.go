package plan

import (
	"fmt"
	"slices"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// plugIn is a classic group whose leader has our assignor, as a plan starts from
// it (docs/protocol/plug-in.md).
type plugIn struct {
	leader string               // instance that led the last round; "" when nobody told
	before *assign.PlugInBefore // nil: nobody told of that round
}

// plugIn takes over what the leader told of the group's present round. Where no
// leader ever told of one, since there is no control topic yet, and all instances
// have the plug-in, their metadata have to do. Marks that no round has seen yet
// count too: the one that follows sees them.
func (in *Input) plugIn(g *model.Group) {
	p := g.PlugIn
	switch {
	case p == nil || g.Kind != model.Classic:
		return
	case p.Fresh:
		in.plug = &plugIn{leader: p.Leader, before: &assign.PlugInBefore{Leaving: slices.Clone(p.Leaving)}}
		for _, l := range p.Learners {
			if t, ok := in.Topology.Find(l.Task); ok {
				in.plug.before.Learners = append(in.plug.before.Learners, assign.PlugInLearner{Task: t, By: l.By, Owner: l.Owner})
			}
		}
	case p.Leader == "" && len(p.Lacks) == 0:
		in.plug = &plugIn{}
	default:
		return
	}
	in.Assignor = NameLearner
	for i := range g.Marks {
		m := &g.Marks[i]
		k := slices.IndexFunc(in.Instances, func(x Instance) bool { return x.ID == m.Instance })
		if k < 0 || in.Instances[k].Leaving {
			continue
		}
		in.Instances[k].Leaving = true
		if m.TimeoutMs != nil {
			in.Instances[k].RemainingMs = *m.TimeoutMs
		}
	}
}

// plugInRules decides the rounds of such a group, and when they come, in place
// of Kafka's own assignor.
type plugInRules struct {
	c      *classicSim
	before *assign.PlugInBefore
	marked map[*classicProc]float64 // when its time is up, in ms of the plan's clock; negative: never
	untold map[*classicProc]bool    // under a mark that no round has seen yet
}

func (c *classicSim) plugInRules(p *plugIn) *plugInRules {
	r := &plugInRules{c: c, before: p.before, marked: map[*classicProc]float64{}, untold: map[*classicProc]bool{}}
	for i := range c.in.Instances {
		from := &c.in.Instances[i]
		if from.ID == p.leader {
			c.leader = i
		}
		if from.Leaving {
			r.put(c.procs[i], from.RemainingMs)
		}
	}
	return r
}

func (r *plugInRules) put(p *classicProc, remainingMs int64) {
	r.marked[p], r.untold[p] = -1, true
	if remainingMs >= 0 {
		r.marked[p] = float64(remainingMs)
	}
	r.c.rec.parties[p.party].leaving = true
}

// mark marks an instance as leaving. Its time counts from the round that sees
// the mark.
func (r *plugInRules) mark(l Leaving) (string, error) {
	p, err := r.c.proc(l.Instance)
	if err != nil {
		return "", err
	}
	r.put(p, r.c.set.scaleDownMs)
	if ms := r.c.set.scaleDownMs; ms >= 0 && !r.c.o.Rate.Known() {
		r.c.rec.note(NoteUnknown, "whether %s is enough for the drain of %s cannot be told without a restore rate; what has no ready learner by then restores cold", span(ms), p.name)
	}
	return p.name + " is marked as leaving", nil
}

// decide is one round: the target, spread over the threads.
func (r *plugInRules) decide(g *assign.Group) (*assign.Result, error) {
	in := &assign.PlugInGroup{Group: *g, Factor: model.FactorThousandths(r.c.set.factor), Marks: map[string]assign.PlugInMark{}, Before: r.before}
	for p, at := range r.marked {
		if p.gone {
			continue
		}
		if r.untold[p] && at >= 0 {
			r.marked[p] += r.c.now
		}
		delete(r.untold, p)
		m := assign.PlugInMark{RemainingMs: assign.LearnerNoDeadline}
		if at = r.marked[p]; at >= 0 {
			m.RemainingMs = int64(max(0, at-r.c.now))
			m.Expired = m.RemainingMs == 0
		}
		in.Marks[p.id] = m
	}
	told, err := assign.PlugInMembers(in)
	if err != nil {
		return nil, err
	}
	r.before = told.Before
	r.c.missing = told.Target.MissingStandbys
	return told.Result, nil
}

// next says when the next round comes where no hand-over is pending: while
// learners run, and when the time of a leaving instance that still has active
// tasks is up.
func (r *plugInRules) next(res *assign.Result) (trigger string, ms float64, due bool) {
	if res.Probing {
		trigger, ms, due = TriggerFollowUp, float64(r.c.set.followUpMs), true
	}
	for i := range r.c.in.Instances { // in an order that does not change
		p := r.c.procs[i]
		at, marked := r.marked[p]
		if !marked || p.gone || at < 0 || at <= r.c.now || !p.owns() {
			continue
		}
		if left := at - r.c.now; !due || left < ms {
			trigger, ms, due = "deadline of "+p.name, left, true
		}
	}
	return trigger, ms, due
}

// owns reports whether a process has an active task.
func (p *classicProc) owns() bool {
	return slices.ContainsFunc(p.members, func(m *classicMember) bool { return len(m.active) > 0 })
}

// restores reports whether copies come nearer to their ends until the next
// round, where no restore rate is given: all are taken as caught up with the
// next follow-up, none while a hand-over is pending.
func (r *plugInRules) restores() bool { return r.c.trigger == TriggerFollowUp }

// finish says what is left.
func (r *plugInRules) finish(bounded bool) {
	if r.c.missing > 0 {
		r.c.rec.note(NoteStandbys, "%s find no instance: there are fewer instances than copies wanted", count(r.c.missing, "standby"))
	}
	if bounded {
		r.c.rec.note(NoteUnfinished, "no fixed point after %s", count(r.c.rec.totals.Rounds, "round"))
	}
}

// plugInRemarks says what the plan of such a group rests on.
func (p *Plan) plugInRemarks(in *Input, o *Options, r *run) {
	if !o.Rate.Known() && p.Totals.Learners > 0 {
		p.find(NoteAssumed, "without a restore rate all learners are taken as caught up by the next follow-up round; those that take longer take over in a later one (--restore-rate gives times)")
	}
	for _, t := range r.set.taken {
		if t.Key == KeyFollowUp && t.Source == "default" {
			p.find(NoteAssumed, "the leader's streamctl.followup.interval.ms is not told: taken as %s ms (--set)", t.Value)
		}
	}
	if slices.ContainsFunc(o.Changes, func(c Change) bool { _, is := c.(Leaving); return is }) {
		p.find(NoteAssumed, "a mark takes effect with the next round, which mark-leaving asks for; times count from there")
	}
	if in.plug.leader == "" {
		p.find(NoteUnknown, "no leader has told of a round (no control topic before the first mark, or it cannot be seen): its settings are taken as listed, --set KEY=VALUE where yours differ")
	} else {
		p.find(NoteAssumed, "the next rounds are led by an instance with the plug-in and the settings of the last leader%s", p.lacking(in))
	}
	p.find(NoteAssumed, "positions are those of the last round%s; producers at rest", in.age())
}

// lacking names how many instances are not known to have the plug-in.
func (p *Plan) lacking(in *Input) string {
	if in.group == nil || len(in.group.PlugIn.Lacks) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s of %d not known to have it", count(len(in.group.PlugIn.Lacks), "instance"), len(in.Instances))
}
