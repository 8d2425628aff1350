package groupmeta

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// worker builds a group of our own protocol from its members' stream metadata
// and assignments: roles and tags are exact.
func (b *groupBuilder) worker() {
	b.g.Assignor = LearnerProtocol
	b.g.Mode = string(StreamIncremental)
	if b.g.ProtocolType == ProtocolTypeConsumer {
		b.g.Mode = string(StreamUpgrading)
	}
	w := workerBuild{b: b}
	if c := b.in.Classic; c != nil {
		b.members = make([]builtMember, 0, len(c.Members))
		for i := range c.Members {
			b.members = append(b.members, w.member(&c.Members[i]))
		}
	}
	b.classicBasis()
	b.summarizeMetadata()
	w.settings()
	b.readStatus(w.newest)
	b.countTasks()
	b.countSeen()
	b.finishTopology()
	b.placeTasks()
	b.listPartitions()
	b.handingOver = w.another || w.waiting
	if w.another && b.g.AssignmentBasis == model.AssignmentCurrent {
		b.g.NextRebalance = &model.NextRebalance{}
	}
	b.unowned()
}

// workerBuild gathers what the members of a worker group say about all.
type workerBuild struct {
	b       *groupBuilder
	leader  string // instance UUID of the leader, as the newest assignment names it
	newest  int32  // generation of that assignment
	another bool   // another round follows at once
	waiting bool   // a switch waits for instances to come back
	void    bool   // no instance stays: marks do not count
	said    map[string]StreamSettings
	named   map[string]bool // client ids that the statuses of processes have, once asked for
}

func (w *workerBuild) member(m *snapshot.ClassicMember) builtMember {
	out := plainMember(m.ID, m.ClientID, m.Host, m.InstanceID)
	w.metadata(&out, m.Metadata)
	w.assignment(&out, m.Assignment)
	return out
}

// protocolTypeFor is the form of some bytes: framed while upgrading, bare
// otherwise. In a rebalance the group may not say.
func (w *workerBuild) protocolTypeFor(raw []byte) string {
	if IsStreamData(raw) {
		return ProtocolTypeStream
	}
	return ProtocolTypeConsumer
}

func (w *workerBuild) metadata(out *builtMember, raw []byte) {
	if len(raw) == 0 {
		out.Metadata.Status = model.MetadataEmpty
		w.nameByStatus(out)
		return
	}
	meta, err := ParseWorkerMetadata(w.protocolTypeFor(raw), raw)
	if err != nil {
		out.badMetadata(raw, err)
		if newer, ok := errors.AsType[*StreamVersionError](err); ok {
			out.Metadata.Status = model.MetadataNewer
			out.Metadata.UsedVersion, out.Metadata.SupportedVersion = int32(newer.Major), int32(newer.Major)
		}
		return
	}
	out.Metadata.Status = model.MetadataOK
	out.Metadata.UsedVersion, out.Metadata.SupportedVersion = StreamMajor, StreamMajor
	out.Metadata.TrailingBytes = meta.TrailingBytes
	out.instance, out.process = meta.Instance, true
	out.base, out.Host = meta.ClientID, cmp.Or(meta.Host, out.Address)
	if n, err := strconv.Atoi(meta.Worker); err == nil && n > 0 {
		out.Thread = n
	} else {
		out.Name = meta.Worker
	}
	w.topology(meta)
	out.sums = make(map[model.TaskID]int64, len(meta.Tasks))
	for _, t := range meta.Tasks {
		if t.Tags.Has(TagReady) {
			out.ready = append(out.ready, t.ID)
		}
		switch {
		case t.Lag.Known:
			out.sums[t.ID] = t.Lag.N
		case t.Role == model.Active:
			out.sums[t.ID] = SumRunning
		}
	}
	if meta.Leaving {
		mark := &model.Mark{Instance: meta.Instance, Honoured: true}
		if len(meta.Marks) > 0 {
			mark.ID = meta.Marks[0]
		}
		if meta.RemainingMs.Known {
			mark.RemainingMs = &meta.RemainingMs.N
		}
		mark.Expired = meta.Expired
		out.leaving, out.stays = mark, false
	}
	if w.said == nil {
		w.said = make(map[string]StreamSettings)
	}
	w.said[meta.Instance] = meta.Settings
}

// topology takes over what a worker says about its topology. Workers of one
// job say the same, but for the partitions they last saw.
func (w *workerBuild) topology(meta *StreamMetadata) {
	yes, no := true, false
	for i := range meta.Topology {
		t := &meta.Topology[i]
		s := w.b.sub(subtopologyKey{id: strconv.Itoa(int(t.ID))})
		for _, topic := range t.SourceTopics {
			s.sources[topic] = true
		}
		for _, topic := range t.RepartitionSourceTopics {
			s.sources[topic], s.repartitions[topic] = true, true
		}
		s.sinks = sortedTopics(append(s.sinks, t.RepartitionSinkTopics...))
		s.changelogs = sortedTopics(append(s.changelogs, t.ChangelogTopics...))
		s.counted = max(s.counted, t.Partitions)
		s.complete = true
		if s.stateful == nil || t.Stateful {
			s.stateful = &no
			if t.Stateful {
				s.stateful = &yes
			}
		}
	}
	if len(meta.Topology) > 0 {
		w.b.g.Topology.Source = "metadata"
	}
}

func (w *workerBuild) assignment(out *builtMember, raw []byte) {
	if len(raw) == 0 {
		out.Assignment.Status, out.newcomer = model.MetadataEmpty, true
		return
	}
	a, err := ParseWorkerAssignment(w.protocolTypeFor(raw), raw)
	if err != nil {
		out.badAssignment(err)
		if newer, ok := errors.AsType[*StreamVersionError](err); ok {
			out.Assignment.Status, out.Assignment.UsedVersion = model.MetadataNewer, int32(newer.Major)
		}
		return
	}
	out.Assignment.Status, out.Assignment.UsedVersion = model.MetadataOK, StreamMajor
	out.Assignment.TrailingBytes = a.TrailingBytes
	if w.leader == "" || a.Generation > w.newest || a.Generation == w.newest && a.Leader < w.leader {
		w.leader, w.newest = a.Leader, a.Generation
	}
	w.another = w.another || a.AnotherRound
	w.waiting = w.waiting || a.SwitchWaiting
	w.void = w.void || a.MarksVoid
	if a.Mode != "" {
		w.b.g.Mode = string(a.Mode)
	}
	out.Tasks = make([]model.Task, 0, len(a.Tasks))
	for _, t := range a.Tasks {
		stateful := t.Tags.Has(TagStateful)
		task := model.Task{ID: t.ID, Role: t.Role, Tags: t.Tags.List(), Release: t.Release}
		if t.Role == model.Learner && slices.Contains(out.ready, t.ID) {
			addTag(&task, model.IsReady)
		}
		out.Tasks = append(out.Tasks, task)
		if s := w.b.sub(keyOf(t.ID)); s.stateful == nil {
			s.stateful = &stateful
		}
	}
}

// settings takes over the leader's settings: they decide.
func (w *workerBuild) settings() {
	b := w.b
	if w.void {
		for i := range b.members {
			b.members[i].stays = true
		}
	}
	s, ok := w.said[w.leader]
	if !ok {
		for _, id := range slices.Sorted(maps.Keys(w.said)) {
			s, ok = w.said[id], true
			break
		}
	}
	if !ok {
		return
	}
	b.factor = s.BalancingFactor
	b.g.Facts.Settings = workerSettings(&s)
	n := int(s.StandbyReplicas)
	b.g.Timing.Standbys, b.g.Timing.StandbysSource = &n, model.SourceWorkers
	if b.o.Standbys != nil {
		n = *b.o.Standbys
		b.g.Timing.StandbysSource = model.SourceUser
	}
}
