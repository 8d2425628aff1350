package groupmeta

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/model"
)

// readControl folds the records of the group's control topic. They are never
// trusted more than the group itself (docs/protocol/control.md).
func (b *groupBuilder) readControl() {
	if b.in.ControlEnd == nil && len(b.in.Control) == 0 {
		return
	}
	records := make([]control.Record, 0, len(b.in.Control))
	for _, r := range b.in.Control {
		records = append(records, control.Record{Key: r.Key, Value: r.Value, Offset: r.Offset, TooLarge: r.TooLarge})
	}
	slices.SortStableFunc(records, func(x, y control.Record) int { return cmp.Compare(x.Offset, y.Offset) })
	state := control.Fold(records)
	b.control = &state
	c := &model.Control{Topic: control.TopicName(b.in.ID), End: state.Offset}
	if b.in.ControlEnd != nil {
		c.End = max(c.End, *b.in.ControlEnd)
	}
	if m := state.Mode; m != nil {
		c.Mode = &model.ModeRecord{
			Mode: string(m.Mode), Epoch: m.Epoch, AllowedMs: m.Allowed.Milliseconds(), At: m.At, Who: m.Who, Why: m.Reason, Offset: m.Offset,
		}
	}
	b.g.Control = c
}

// shownRecords is how many records of a control topic that do not decode and are
// about no instance that is there have a note of their own.
const shownRecords = 10

// undecodable notes the records that do not decode. Those about the group and
// about instances that are there are all told: somebody may count on them.
func (b *groupBuilder) undecodable(known map[string]*model.Instance) {
	others, topic := 0, b.g.Control.Topic
	for _, p := range b.control.Problems() {
		_, instance := control.ParseKey(p.Key)
		if instance != "" && known[instance] == nil {
			if others++; others > shownRecords {
				continue
			}
		}
		b.g.Notes = append(b.g.Notes, fmt.Sprintf("control topic %q: record %q at offset %d does not decode and counts as none: %v", topic, p.Key, p.Offset, p.Err))
	}
	if more := others - shownRecords; more > 0 {
		b.g.Notes = append(b.g.Notes, fmt.Sprintf("control topic %q: %s more, about instances that are not there, decode no better", topic, model.Count(more, "record")))
	}
}

// applyControl tells what the control topic says about the instances, once they
// are known.
func (b *groupBuilder) applyControl() {
	known := make(map[string]*model.Instance, len(b.g.Instances))
	for i := range b.g.Instances {
		known[b.g.Instances[i].ID] = &b.g.Instances[i]
	}
	if b.control == nil {
		for _, id := range slices.Sorted(maps.Keys(known)) {
			if m := known[id].Leaving; m != nil { // the members' own word
				b.g.Marks = append(b.g.Marks, *m)
			}
		}
		return
	}
	b.undecodable(known)
	identified := b.identified()
	for _, id := range slices.Sorted(maps.Keys(b.control.Leaving)) {
		l := b.control.Leaving[id]
		mark := model.Mark{Instance: id, ID: l.Mark, Name: l.Name, Who: l.Who, Why: l.Reason, At: &l.At, Deadline: l.Deadline}
		if l.Timeout != nil {
			ms := l.Timeout.Milliseconds()
			mark.TimeoutMs = &ms
		}
		in := known[id]
		mark.Stale = in == nil && identified
		if in != nil {
			b.honour(&mark, in)
		}
		b.g.Marks = append(b.g.Marks, mark)
	}
	b.statusOfInstances(known, identified)
	b.sessionOfWorkers(known)
	b.raisedStandbys(known, identified)
}

// identified reports whether it is known which instances the group has: each
// member says of which it is.
func (b *groupBuilder) identified() bool {
	if b.g.Unread || b.g.Kind == model.Streams && b.in.Streams == nil {
		return false
	}
	return !slices.ContainsFunc(b.members, func(m builtMember) bool { return !m.process })
}

// honour tells whether an instance that is there honours a mark: its status
// says so, or, where it wrote none, its members do.
func (b *groupBuilder) honour(mark *model.Mark, in *model.Instance) {
	own := in.Leaving
	if own != nil && own.ID == mark.ID {
		mark.Honoured, mark.RemainingMs, mark.Expired = true, own.RemainingMs, own.Expired
	}
	if b.g.PlugIn != nil { // its leader says it for all
		mark.Honoured = b.plugIn != nil && b.control.Honoured(in.ID, mark.ID)
		if s := b.control.Status[in.ID]; mark.Honoured && in.ID == b.g.PlugIn.Leader {
			mark.RemainingMs, mark.Expired = s.RemainingMs, s.Expired
		}
	} else if s, ok := b.control.Status[in.ID]; ok {
		mark.Honoured = s.Honours(mark.ID)
		if mark.Honoured {
			mark.RemainingMs, mark.Expired = s.RemainingMs, s.Expired
		}
	}
	if mark.Honoured || own != nil && own.ID == mark.ID {
		m := *mark
		in.Leaving = &m
	}
}

// statusOfInstances says what each instance wrote about itself last.
func (b *groupBuilder) statusOfInstances(known map[string]*model.Instance, identified bool) {
	for _, id := range slices.Sorted(maps.Keys(b.control.Status)) {
		s := b.control.Status[id]
		b.g.Control.Status = append(b.g.Control.Status, model.InstanceStatus{
			Instance: id, Gone: identified && known[id] == nil, Source: string(s.Source), Software: s.Software, Version: s.Version, At: s.At,
			Generation: s.Generation, Mode: string(s.Mode), Epoch: s.Epoch, ControlOffset: s.ControlOffset, ControlError: s.ControlError,
			Marks: slices.Sorted(slices.Values(s.Marks)), Leads: s.Round != nil,
			ClientID: s.ClientID, Host: s.Host, Tasks: len(s.Tasks), Leaving: s.Leaving, Left: string(s.Left), Offset: s.Offset,
		})
	}
}

// markFindings report instances under a mark, and marks of instances that are
// gone.
func (b *groupBuilder) markFindings() {
	for i := range b.g.Instances {
		if in := &b.g.Instances[i]; in.Leaving != nil {
			b.find(model.FindingLeaving, "instance "+in.Name, "%s is leaving and runs %s%s", in.Name, model.Count(in.Active, "task"), markedBy(in.Leaving))
		}
	}
	for i := range b.g.Marks {
		m := &b.g.Marks[i]
		name := b.instanceName(m.Instance)
		switch {
		case m.Stale:
			b.find(model.FindingStaleMark, "instance "+m.Instance, "the leaving mark of %s is stale: the instance is gone%s; unmark takes it away", m.Instance, markedBy(m))
		case b.g.Kind == model.Streams && !m.Honoured: // the broker assigns: nobody honours marks
			b.find(model.FindingLeaving, "instance "+name, "%s is marked leaving: check stop tells when it may stop%s", name, markedBy(m))
		case !m.Honoured && b.g.Control != nil:
			b.find(model.FindingLeaving, "instance "+name, "%s is marked leaving and does not say that it honours the mark%s", name, markedBy(m))
		}
	}
	if b.marksVoid() {
		b.find(model.FindingStaleMark, b.group(), "the marks of all instances are void: nobody stays that could take the tasks; start another instance, or unmark one")
	}
	b.standbysFinding()
}

// marksVoid reports whether every instance of a group in which marks are
// honoured has one, so that none counts (docs/protocol/stream-protocol.md).
func (b *groupBuilder) marksVoid() bool {
	if b.g.Kind != model.Worker && b.g.PlugIn == nil || len(b.g.Instances) == 0 {
		return false
	}
	marked := map[string]bool{}
	for i := range b.g.Marks {
		marked[b.g.Marks[i].Instance] = true
	}
	return !slices.ContainsFunc(b.g.Instances, func(in model.Instance) bool { return !marked[in.ID] })
}

// raisedStandbys says that num.standby.replicas is raised for a drain
// (docs/protocol/control.md, standbys).
func (b *groupBuilder) raisedStandbys(known map[string]*model.Instance, identified bool) {
	s := b.control.Standbys
	if s == nil || b.g.Kind != model.Streams {
		return
	}
	there := slices.ContainsFunc(s.Instances, func(id string) bool { return known[id] != nil })
	b.g.Control.Standbys = &model.RaisedStandbys{
		Before: s.Before, BeforeOwn: s.BeforeOwn, Set: s.Set, Instances: slices.Sorted(slices.Values(s.Instances)),
		Gone: identified && !there, At: s.At, Who: s.Who, Why: s.Reason,
	}
}

// standbysFinding reports standbys that are raised, and how they come back.
func (b *groupBuilder) standbysFinding() {
	if b.g.Control == nil || b.g.Control.Standbys == nil {
		return
	}
	s := b.g.Control.Standbys
	names := make([]string, len(s.Instances))
	for i, id := range s.Instances {
		names[i] = cmp.Or(b.instanceName(id), id)
	}
	text := fmt.Sprintf("num.standby.replicas is raised from %s to %s for the drain of %s, by %s", cmp.Or(s.Before, "an unknown number"), s.Set, someNames(names, len(names)), cmp.Or(s.Who, "somebody"))
	if s.Why != "" {
		text += " (" + s.Why + ")"
	}
	back := "unmark puts it back"
	if s.Gone {
		back = "gone by now: mark-leaving, unmark or any other changing command puts it back"
	}
	b.find(model.FindingRaisedStandbys, b.group(), "%s; %s", text, back)
}

// markedBy says who set a mark, why, and how long the instance still waits; ""
// when nothing is known.
func markedBy(m *model.Mark) string {
	var parts []string
	if m.Who != "" {
		text := "marked by " + m.Who
		if m.Why != "" {
			text += ": " + m.Why
		}
		parts = append(parts, text)
	}
	switch {
	case m.Expired:
		parts = append(parts, "its time is up")
	case m.RemainingMs != nil:
		parts = append(parts, "waits "+shortSpan(time.Duration(min(*m.RemainingMs, control.MaxTimeout.Milliseconds()))*time.Millisecond)+" more")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}
