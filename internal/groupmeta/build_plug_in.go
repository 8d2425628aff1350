package groupmeta

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// plugInTag is the client tag with which an instance says that it has our
// assignor (docs/protocol/plug-in.md, Status).
const plugInTag = "streamctl"

// plugInRound is the round of a classic group as the leader told it, where it is
// the one of the assignments.
type plugInRound struct {
	*control.Round
	tasks map[string]map[model.TaskID]*control.Task // by instance
}

// readPlugIn finds out which instances have our assignor, and whether the newest
// round that one of them told of is that of the members' assignments. No time is
// looked at: a round is fresh while its tasks are those that the members have.
func (b *groupBuilder) readPlugIn() {
	p := &model.PlugIn{}
	var r *plugInRound
	var newest *control.Status
	if b.control != nil {
		p.Leader, newest = b.control.PlugInRound()
	}
	if newest != nil {
		r = &plugInRound{Round: newest.Round, tasks: map[string]map[model.TaskID]*control.Task{}}
		r.index(p)
		p.Stale = b.disagrees(r)
		if p.Stale == "" && b.startedAnew(p.Leader) {
			p.Stale = "instance " + p.Leader + ", which led it, was started anew"
		}
		p.Fresh = p.Stale == ""
	}
	b.whoHasPlugIn(p)
	if len(p.Has) == 0 {
		return
	}
	b.g.PlugIn = p
	if newest == nil {
		return
	}
	at := newest.At
	p.Version, p.At, p.Offset = newest.Version, &at, newest.Offset
	for i := range newest.Round.Instances {
		if in := &newest.Round.Instances[i]; in.Leaving {
			p.Leaving = append(p.Leaving, in.ID)
		}
	}
	if p.Fresh {
		b.usePlugIn(r, newest)
	}
}

// whoHasPlugIn tells the instances that have our assignor from those that are not
// known to: by a client tag, by a status of what runs there now, or as the leader
// of the present round.
func (b *groupBuilder) whoHasPlugIn(p *model.PlugIn) {
	has := map[string]bool{}
	for i := range b.members {
		m := &b.members[i]
		if m.instance == "" {
			continue
		}
		_, tagged := m.tags[plugInTag]
		has[m.instance] = has[m.instance] || tagged || b.toldBy(m) || p.Fresh && m.instance == p.Leader
	}
	for _, id := range slices.Sorted(maps.Keys(has)) {
		if has[id] {
			p.Has = append(p.Has, id)
		} else {
			p.Lacks = append(p.Lacks, id)
		}
	}
}

// toldBy reports whether the status of its instance is by this member, or by one
// that was there with it: then that instance has our assignor. One whose members
// are all others by now was started anew, maybe without it.
func (b *groupBuilder) toldBy(m *builtMember) bool {
	if b.control == nil {
		return false
	}
	s, ok := b.control.Status[m.instance]
	return ok && s.Source == control.SourcePlugIn && slices.Contains(s.Members, m.ID)
}

// startedAnew reports whether no member of an instance is one that its status
// names, so that rounds came after it that it did not lead. Static members come
// back under other ids without a round.
func (b *groupBuilder) startedAnew(instance string) bool {
	return len(b.control.Status[instance].Members) > 0 && !slices.ContainsFunc(b.members, func(m builtMember) bool {
		return m.instance == instance && (m.InstanceID != "" || b.toldBy(&m))
	})
}

// index finds the tasks by instance, and lists the learners.
func (r *plugInRound) index(p *model.PlugIn) {
	owner := map[model.TaskID]string{}
	for i := range r.Instances {
		in := &r.Instances[i]
		r.tasks[in.ID] = make(map[model.TaskID]*control.Task, len(in.Tasks))
		for k := range in.Tasks {
			t := &in.Tasks[k]
			r.tasks[in.ID][t.ID] = t
			switch t.Role {
			case model.Active:
				owner[t.ID] = in.ID
			case model.Learner:
				p.Learners = append(p.Learners, model.PlugInLearner{Task: t.ID, By: in.ID})
			}
		}
	}
	for i := range p.Learners {
		p.Learners[i].Owner = owner[p.Learners[i].Task]
	}
	slices.SortFunc(p.Learners, func(x, y model.PlugInLearner) int {
		if c := x.Task.Compare(y.Task); c != 0 {
			return c
		}
		return strings.Compare(x.By, y.By)
	})
}

// disagrees says in what the members' assignments are not those of the round; ""
// when they are. A task that the round gives to another owner is withheld until
// the one before has given it up: it is nobody's then, or a copy of its new
// owner.
func (b *groupBuilder) disagrees(r *plugInRound) string {
	if b.g.AssignmentBasis == model.AssignmentNone {
		return "the group tells no tasks at the moment"
	}
	active, copies := map[string]map[model.TaskID]bool{}, map[string]map[model.TaskID]bool{}
	handing := r.AnotherRound
	for i := range b.members {
		m := &b.members[i]
		if !m.process {
			return "member " + m.ID + " does not say of which instance it is"
		}
		if r.tasks[m.instance] == nil {
			return "instance " + m.instance + " was not in it"
		}
		handing = handing || m.next != nil && *m.next == 0
		if active[m.instance] == nil {
			active[m.instance], copies[m.instance] = map[model.TaskID]bool{}, map[model.TaskID]bool{}
		}
		for _, t := range m.Tasks {
			if t.Role == model.Active {
				active[m.instance][t.ID] = true
			} else {
				copies[m.instance][t.ID] = true
			}
		}
	}
	for i := range r.Instances {
		id := r.Instances[i].ID
		if active[id] == nil {
			return "instance " + id + " is gone"
		}
		if t := r.differs(id, active[id], copies[id], handing); t != nil {
			return fmt.Sprintf("task %s of instance %s is not as that round gave it", t, id)
		}
	}
	return ""
}

// differs is the first task of an instance that is not as the round gave it; nil
// when there is none. handing: tasks may be on their way.
func (r *plugInRound) differs(instance string, active, copies map[model.TaskID]bool, handing bool) *model.TaskID {
	told := r.tasks[instance]
	var first *model.TaskID
	wrong := func(id model.TaskID) {
		if first == nil || id.Compare(*first) < 0 {
			first = &id
		}
	}
	for id := range active {
		if t := told[id]; t == nil || t.Role != model.Active {
			wrong(id)
		}
	}
	for id := range copies {
		if t := told[id]; t == nil || t.Role == model.Active && (active[id] || !handing) {
			wrong(id)
		}
	}
	for id, t := range told {
		if t.Role == model.Active && !active[id] && !handing || t.Role != model.Active && !copies[id] {
			wrong(id)
		}
	}
	return first
}

// usePlugIn takes over what the leader knows of the whole group.
func (b *groupBuilder) usePlugIn(r *plugInRound, s *control.Status) {
	b.plugIn = r
	at := s.At
	b.g.Positions = model.Positions{Basis: model.PositionsStatus, AsOf: &at}
	b.g.Assignor = LearnerProtocol
	b.factor = r.Settings.BalancingFactor
	b.g.Facts.Settings = plugInSettings(r.Round)
	for i := range b.members {
		in := r.Of(b.members[i].instance)
		b.members[i].stays = r.MarksVoid || !in.Leaving
	}
}

// plugInSettings are the leader's settings by their names.
func plugInSettings(r *control.Round) []model.Setting {
	const source = model.SourcePlugIn
	s := &r.Settings
	out := []model.Setting{
		{Key: "acceptable.recovery.lag", Value: strconv.FormatInt(s.AcceptableRecoveryLag, 10), Source: source},
		{Key: "num.standby.replicas", Value: strconv.Itoa(int(s.StandbyReplicas)), Source: source},
		{Key: "stream.worker.balancing.factor", Value: strconv.FormatFloat(float64(s.BalancingFactor)/1000, 'f', -1, 64), Source: source},
	}
	if s.MaxLearners != nil {
		out = append(out, model.Setting{Key: "max.warmup.replicas", Value: strconv.FormatInt(*s.MaxLearners, 10), Source: source})
	}
	if s.ScaleDownTimeoutMs != nil {
		out = append(out, model.Setting{Key: "scale.down.timeout.ms", Value: strconv.FormatInt(*s.ScaleDownTimeoutMs, 10), Source: source})
	}
	if r.FollowUpMs != nil {
		out = append(out, model.Setting{Key: "streamctl.followup.interval.ms", Value: strconv.FormatInt(*r.FollowUpMs, 10), Source: source})
	}
	slices.SortFunc(out, func(x, y model.Setting) int { return strings.Compare(x.Key, y.Key) })
	return out
}
