package groupmeta

import (
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// streams builds a KIP-1071 group: the broker tells all of it.
func (b *groupBuilder) streams() {
	b.streamsTiming()
	d := b.in.Streams
	if d == nil || d.ErrorCode != codeNone {
		b.unknown = true
		b.placeTasks()
		return
	}
	epoch, assignmentEpoch := d.Epoch, d.AssignmentEpoch
	b.g.Epoch, b.g.AssignmentEpoch = &epoch, &assignmentEpoch
	if d.AssignorName != nil {
		b.g.Assignor = *d.AssignorName
	}
	b.streamsTopology(d)
	b.readTargets(d)
	b.members = make([]builtMember, 0, len(d.Members))
	for i := range d.Members {
		b.members = append(b.members, b.streamsMember(&d.Members[i], assignmentEpoch))
	}
	if len(d.Members) > 0 {
		b.g.AssignmentBasis = model.AssignmentCurrent
	}
	b.countSeen()
	b.finishTopology()
	b.reportingMembers()
	b.placeTasks()
	b.listPartitions()
	for _, id := range b.taskIDs {
		if p := b.tasks[id]; slices.ContainsFunc(p.copies, func(c place) bool { return b.at(c).Role == model.Learner }) {
			b.tagLearned(id, false)
		}
	}
	b.unowned()
}

// countSeen notes the tasks that members have, for topologies whose topics are
// not visible.
func (b *groupBuilder) countSeen() {
	for i := range b.members {
		for j := range b.members[i].Tasks {
			id := b.members[i].Tasks[j].ID
			b.sub(keyOf(id)).seen[id.Partition] = true
		}
	}
}

// streamsTopology takes over the broker's topology: nothing is worked out but
// the number of tasks, from the topics.
func (b *groupBuilder) streamsTopology(d *snapshot.StreamsGroup) {
	t := &b.g.Topology
	if d.Version >= 1 {
		t.TreeStatus = treeStatus(d.DescriptionStatus)
		if d.Description != nil {
			t.Tree = &model.TopologyTree{Subtopologies: treeParts(d.Description.Subtopologies), GlobalStores: treeParts(d.Description.GlobalStores)}
		}
	}
	if d.Topology == nil {
		return
	}
	epoch := d.Topology.Epoch
	t.Source, t.Epoch = "broker", &epoch
	for i := range d.Topology.Subtopologies {
		in := &d.Topology.Subtopologies[i]
		s := b.sub(subtopologyKey{id: in.ID})
		for _, topic := range in.SourceTopics {
			s.sources[topic] = true
		}
		for _, r := range in.RepartitionSources {
			s.sources[r.Name], s.repartitions[r.Name] = true, true
		}
		for _, c := range in.Changelogs {
			s.changelogs = append(s.changelogs, c.Name)
		}
		s.sinks = in.RepartitionSinks
		stateful := len(in.Changelogs) > 0
		s.stateful, s.complete = &stateful, true
	}
	b.countTasks()
}

// treeStatus is the name of a topology description status (API 89 v1).
func treeStatus(n int8) string {
	switch n {
	case 0:
		return "NOT_REQUESTED"
	case 1:
		return "NOT_STORED"
	case 2:
		return "ERROR"
	case 3:
		return "AVAILABLE"
	}
	return "unknown (" + strconv.Itoa(int(n)) + ")"
}

func treeParts(in []snapshot.TopologyPart) []model.TopologyTreePart {
	out := make([]model.TopologyTreePart, 0, len(in))
	for _, p := range in {
		part := model.TopologyTreePart{ID: p.ID}
		for _, n := range p.Nodes {
			part.Nodes = append(part.Nodes, model.TopologyNode{
				Name: n.Name, Kind: n.Kind, Topics: slices.Clone(n.Topics),
				Stores: slices.Clone(n.Stores), Successors: slices.Clone(n.Successors),
			})
		}
		out = append(out, part)
	}
	slices.SortStableFunc(out, func(x, y model.TopologyTreePart) int { return model.CompareSubtopologies(x.ID, y.ID) })
	return out
}

// readTargets notes which member the target gives each active task to, and how
// many standbys it has of each.
func (b *groupBuilder) readTargets(d *snapshot.StreamsGroup) {
	b.targets = make(map[model.TaskID]string)
	b.targetStandbys = make(map[model.TaskID]int)
	for i := range d.Members {
		m := &d.Members[i]
		eachTask(m.Target.Active, func(id model.TaskID) {
			if o, ok := b.targets[id]; !ok || m.ID < o {
				b.targets[id] = m.ID
			}
		})
		eachTask(m.Target.Standby, func(id model.TaskID) { b.targetStandbys[id]++ })
	}
}

func eachTask(list []snapshot.StreamsTaskIDs, f func(model.TaskID)) {
	for _, s := range list {
		for _, p := range s.Partitions {
			f(model.TaskID{Subtopology: s.Subtopology, Partition: p})
		}
	}
}

// streamsMember takes over one member with its current tasks, and those that
// the target gives it and it does not have yet.
func (b *groupBuilder) streamsMember(m *snapshot.StreamsMember, targetEpoch int32) builtMember {
	out := plainMember(m.ID, m.ClientID, m.ClientHost, m.InstanceID)
	epoch := m.Epoch
	out.Epoch, out.TargetEpoch, out.IsClassic = &epoch, &targetEpoch, m.IsClassic
	out.Metadata.Status, out.Assignment.Status = model.MetadataOK, model.MetadataOK
	if out.instance = strings.ToLower(m.ProcessID); out.instance != "" {
		out.process = true
	}
	if m.Endpoint != nil {
		out.endpoint = *m.Endpoint
	}
	if m.RackID != nil {
		out.rack = *m.RackID
	}
	out.tags = m.ClientTags
	out.sums = offsetMap(m.TaskOffsets)
	out.ends = offsetMap(m.TaskEnds)
	b.addStreamsTasks(&out, m)
	out.Place = len(b.members)
	return out
}

func offsetMap(list []snapshot.TaskOffset) map[model.TaskID]int64 {
	if len(list) == 0 {
		return nil
	}
	out := make(map[model.TaskID]int64, len(list))
	for _, o := range list {
		out[model.TaskID{Subtopology: o.Subtopology, Partition: o.Partition}] = o.Offset
	}
	return out
}

type taskRole struct {
	id   model.TaskID
	role model.Role
}

func (b *groupBuilder) addStreamsTasks(out *builtMember, m *snapshot.StreamsMember) {
	has := make(map[taskRole]bool)
	add := func(role model.Role, targetOnly bool) func(model.TaskID) {
		return func(id model.TaskID) {
			if has[taskRole{id, role}] {
				return
			}
			has[taskRole{id, role}] = true
			t := model.Task{ID: id, Role: role, TargetOnly: targetOnly}
			if role == model.Learner {
				t.Tags = []model.Tag{model.IsLearner}
			}
			if owner := b.targets[id]; role == model.Active && !targetOnly && owner != "" && owner != m.ID {
				t.LeavesTo = owner
			}
			out.Tasks = append(out.Tasks, t)
		}
	}
	eachTask(m.Assignment.Active, add(model.Active, false))
	eachTask(m.Assignment.Standby, add(model.Standby, false))
	eachTask(m.Assignment.Warmup, add(model.Learner, false))
	eachTask(m.Target.Active, add(model.Active, true))
	eachTask(m.Target.Standby, add(model.Standby, true))
	eachTask(m.Target.Warmup, add(model.Learner, true))
}

// listPartitions gives each task its input partitions out of the topology.
func (b *groupBuilder) listPartitions() {
	for i := range b.members {
		for j := range b.members[i].Tasks {
			t := &b.members[i].Tasks[j]
			t.Partitions = b.partitionsOf(t.ID)
		}
	}
}

// partitionsOf are the input partitions of a task: those with its number of
// all topics that its sub-topology reads, as far as they have that many. They
// are listed up to maxCounted in all: a topology is as long as its sender likes.
func (b *groupBuilder) partitionsOf(id model.TaskID) []model.TopicPartition {
	s := b.subs[keyOf(id)]
	if s == nil || b.listed+len(s.sources) > maxCounted {
		return nil
	}
	b.listed += len(s.sources)
	var out []model.TopicPartition
	for topic := range s.sources {
		if n := b.x.partitions(topic); n == 0 || id.Partition < n {
			out = append(out, model.TopicPartition{Topic: topic, Partition: id.Partition})
		}
	}
	slices.SortFunc(out, model.TopicPartition.Compare)
	return out
}

// reportingMembers says which members send task offsets. Where nobody does it
// cannot be told: the broker may not know them, or have lost them when the
// coordinator moved (field cases 13 and 14).
func (b *groupBuilder) reportingMembers() {
	someone := slices.ContainsFunc(b.members, func(m builtMember) bool { return len(m.sums) > 0 })
	if !someone {
		return
	}
	b.g.Positions.Basis = model.PositionsHeartbeat
	for i := range b.members {
		m := &b.members[i]
		yes, no := true, false
		switch {
		case len(m.sums) > 0:
			m.ReportsOffsets = &yes
		case slices.ContainsFunc(m.Tasks, func(t model.Task) bool { return !t.TargetOnly && t.Stateful != nil && *t.Stateful }):
			m.ReportsOffsets = &no
		}
	}
}
