package groupmeta

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// topologyFromStatus takes the topology over from the leader's word: which
// changelogs there are and what has state is certain then. How many tasks there
// are the topics tell.
func (b *groupBuilder) topologyFromStatus() {
	b.g.Topology.Source = "status"
	for i := range b.plugIn.Topology {
		t := &b.plugIn.Topology[i]
		s := b.sub(subtopologyKey{id: strconv.Itoa(int(t.ID))})
		for _, topic := range t.SourceTopics {
			s.sources[topic] = true
		}
		for _, topic := range t.RepartitionSourceTopics {
			s.sources[topic], s.repartitions[topic] = true, true
		}
		s.sinks = sortedTopics(t.RepartitionSinkTopics)
		s.changelogs = sortedTopics(t.ChangelogTopics)
		s.stores = sortedTopics(t.Stores)
		stateful := t.Stateful
		s.stateful, s.complete, s.inferred = &stateful, true, false
	}
}

// plugInRoles gives the members' tasks the roles and tags that the leader gave
// them; a learner looks like any standby on the wire.
func (b *groupBuilder) plugInRoles() {
	handing := slices.ContainsFunc(b.members, func(m builtMember) bool { return m.next != nil && *m.next == 0 })
	n := int(b.plugIn.Settings.StandbyReplicas)
	source := model.SourcePlugIn
	if b.o.Standbys != nil {
		n, source = *b.o.Standbys, model.SourceUser
	}
	b.g.Timing.Standbys, b.g.Timing.StandbysSource = &n, source
	b.standbys = &standbyEstimate{wanted: n, known: true, handing: handing}
	for i := range b.members {
		m := &b.members[i]
		for j := range m.Tasks {
			t := &m.Tasks[j]
			told := b.plugIn.tasks[m.instance][t.ID]
			switch {
			case t.Role == model.Active:
			case told.Role == model.Active: // its new owner, which waits for it
				t.Parked = true
				continue
			case told.Role == model.Learner:
				t.Role, t.Reason = model.Learner, told.Reason
				if b.plugIn.caughtUp(told) {
					addTag(t, model.IsReady)
				}
			}
			for _, tag := range told.Tags {
				addTag(t, tag)
			}
		}
	}
}

func (r *plugInRound) caughtUp(t *control.Task) bool {
	return t.Lag != nil && *t.Lag <= r.Settings.AcceptableRecoveryLag
}

// restoreFromPlugIn completes what the member's own offset sum tells: an active
// has to restore what the leader reckoned when it gave it the task, not what has
// been written since.
func (b *groupBuilder) restoreFromPlugIn(m *builtMember, t *model.Task, s *taskState) {
	if b.plugIn == nil {
		return
	}
	told := b.plugIn.tasks[m.instance][t.ID]
	if told == nil || told.Lag == nil {
		return
	}
	r := &t.Restore
	r.Basis, r.Reported = model.RestoreStatus, true
	switch {
	case t.Role != model.Active:
		if r.RemainingRecords == nil && s.end == nil {
			lag := *told.Lag
			r.RemainingRecords, r.State = &lag, model.Restoring
		}
	case m.sums[t.ID] == SumRunning:
	default:
		lag := *told.Lag
		r.RemainingRecords, r.State = &lag, model.Restoring
		if b.plugIn.caughtUp(told) {
			r.State = model.Running
		}
	}
}

// plugInFindings report a group in which some instances have our assignor and
// the one that led the last round, as far as can be told, has not.
func (b *groupBuilder) plugInFindings() {
	p := b.g.PlugIn
	if p == nil || p.Fresh || b.o.SkipOffsets && b.control == nil || b.g.AssignmentBasis != model.AssignmentCurrent {
		return
	}
	has, lacks := b.namesOf(p.Has), b.namesOf(p.Lacks)
	switch {
	case len(p.Lacks) > 0:
		why := "no leader has told of a round"
		if p.Stale != "" {
			why = "the last round was not led by one of these: " + b.shortIDs(p.Stale)
		}
		b.find(model.FindingMixedPlugIn, b.group(), "%s the plug-in (%s), %s not known to have it (%s); %s; while one without it leads, marks do nothing",
			subject(len(has), "instance", "has", "have"), someNames(has, len(has)), subject(len(lacks), "instance", "is", "are"), someNames(lacks, len(lacks)), why)
	case p.Stale != "":
		b.g.Notes = append(b.g.Notes, fmt.Sprintf("the status of the plug-in is not that of the present round (%s): roles and positions are inferred", b.shortIDs(p.Stale)))
	}
}

// namesOf are the short names of instances.
func (b *groupBuilder) namesOf(ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		if out[i] = b.instanceName(id); out[i] == "" {
			out[i] = id
		}
	}
	slices.Sort(out)
	return out
}

// shortIDs writes the names of instances for their ids in a text.
func (b *groupBuilder) shortIDs(text string) string {
	for i := range b.g.Instances {
		text = strings.ReplaceAll(text, b.g.Instances[i].ID, b.g.Instances[i].Name)
	}
	return text
}
