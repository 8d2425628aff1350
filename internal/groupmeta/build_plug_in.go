package groupmeta

import (
	"fmt"
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
	var newest *control.Status
	if b.control != nil {
		p.Leader, newest = b.control.PlugInRound()
	}
	has := map[string]bool{}
	for i := range b.members {
		m := &b.members[i]
		if m.instance == "" {
			continue
		}
		_, tagged := m.tags[plugInTag]
		has[m.instance] = has[m.instance] || tagged || b.hasPlugIn(m.instance, newest)
	}
	for _, id := range sortedKeys(has) {
		if has[id] {
			p.Has = append(p.Has, id)
		} else {
			p.Lacks = append(p.Lacks, id)
		}
	}
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
	r := &plugInRound{Round: newest.Round, tasks: map[string]map[model.TaskID]*control.Task{}}
	r.index(p)
	if p.Stale = b.disagrees(r); p.Stale == "" {
		p.Fresh = true
		b.usePlugIn(r, newest)
	}
}

// hasPlugIn reports whether a status tells that an instance has it: its own, or
// the newest round.
func (b *groupBuilder) hasPlugIn(instance string, newest *control.Status) bool {
	if b.control != nil {
		if s, ok := b.control.Status[instance]; ok && s.Source == control.SourcePlugIn {
			return true
		}
	}
	if newest == nil {
		return false
	}
	in := newest.Round.Of(instance)
	return in != nil && in.PlugIn
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
	b.g.Facts.Settings = plugInSettings(&r.Settings)
	for i := range b.members {
		in := r.Of(b.members[i].instance)
		b.members[i].stays = r.MarksVoid || !in.Leaving
	}
}

// plugInSettings are the leader's settings by their names.
func plugInSettings(s *control.Settings) []model.Setting {
	const source = model.SourceGroupConfig
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
	slices.SortFunc(out, func(x, y model.Setting) int { return strings.Compare(x.Key, y.Key) })
	return out
}
