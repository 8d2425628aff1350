package lab

import (
	"fmt"
	"slices"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// WorkerGroup is the name of the built-in group of kind worker.
const WorkerGroup = "clicks"

// workerTask is one task that a worker of the built-in group has.
type workerTask struct {
	id   string
	role model.Role
	tags []model.Tag
	lag  int64 // records to restore; copies only
}

// The built-in worker group in the middle of a scale-down: pod-c is leaving,
// its four tasks are learned by pod-a and pod-b, one of them is ready.
func workerPods() map[string][]workerTask {
	active := func(id string, tags ...model.Tag) workerTask {
		return workerTask{id: id, role: model.Active, tags: append([]model.Tag{model.IsStateful}, tags...)}
	}
	learner := func(id string, lag int64, tags ...model.Tag) workerTask {
		return workerTask{id: id, role: model.Learner, tags: append([]model.Tag{model.IsStateful, model.IsLearner}, tags...), lag: lag}
	}
	return map[string][]workerTask{
		"pod-a": {active("0_0"), active("0_1"), active("1_0"), active("1_1"), learner("0_2", 0, model.IsReady), learner("1_2", 812)},
		"pod-b": {active("0_3"), active("0_4"), active("1_3"), active("1_4"), learner("0_5", 2044), learner("1_5", 1377)},
		"pod-c": {
			active("0_2", model.BeingLearned, model.IsLeaving), active("0_5", model.BeingLearned, model.IsLeaving),
			active("1_2", model.BeingLearned, model.IsLeaving), active("1_5", model.BeingLearned, model.IsLeaving),
		},
	}
}

const (
	workerPartitions   = 6
	workerGeneration   = 41
	workerChangelogEnd = 4000
)

// workerSnapshot is what a broker answers about the built-in worker group.
func workerSnapshot() (*snapshot.Snapshot, error) {
	topology := []groupmeta.StreamSubtopology{
		{ID: 0, Stateful: true, Partitions: workerPartitions, SourceTopics: []string{"page-views"}, RepartitionSinkTopics: []string{"clicks-byuser-repartition"}, ChangelogTopics: []string{"clicks-bypage-changelog"}},
		{ID: 1, Stateful: true, Partitions: workerPartitions, RepartitionSourceTopics: []string{"clicks-byuser-repartition"}, ChangelogTopics: []string{"clicks-byuser-changelog"}},
	}
	pods := workerPods()
	names := []string{"pod-a", "pod-b", "pod-c"}
	g := snapshot.Group{ID: WorkerGroup, CommitsRead: true, Classic: &snapshot.ClassicGroup{
		State: model.StateStable, ProtocolType: groupmeta.ProtocolTypeStream, Protocol: groupmeta.LearnerProtocol,
	}}
	for i, name := range names {
		meta, assigned, err := workerBytes(i, name, topology, pods[name])
		if err != nil {
			return nil, fmt.Errorf("worker %s: %w", name, err)
		}
		g.Classic.Members = append(g.Classic.Members, snapshot.ClassicMember{ID: name, ClientID: name, Metadata: meta, Assignment: assigned})
	}
	s := snapshot.New()
	for _, t := range []string{"page-views", "clicks-byuser-repartition", "clicks-bypage-changelog", "clicks-byuser-changelog"} {
		s.Topics = append(s.Topics, topic(t, workerPartitions))
		for p := range int32(workerPartitions) {
			start, end := int64(0), int64(workerChangelogEnd)
			s.Logs = append(s.Logs, snapshot.Log{Topic: t, Partition: p, Start: &start, End: &end})
		}
	}
	for _, t := range []string{"page-views", "clicks-byuser-repartition"} {
		for p := range int32(workerPartitions) {
			g.Commits = append(g.Commits, snapshot.Commit{Topic: t, Partition: p, Offset: workerChangelogEnd - int64(p)*7})
		}
	}
	s.Groups = []snapshot.Group{g}
	return s, nil
}

// workerBytes encodes what worker n said at its join, and what it was told.
func workerBytes(n int, name string, topology []groupmeta.StreamSubtopology, tasks []workerTask) (meta, assigned []byte, err error) {
	m := &groupmeta.StreamMetadata{
		StreamIdentity:  groupmeta.StreamIdentity{Instance: processID(0x900 + n).String(), Workers: 1, Worker: "1", Host: name, ClientID: name},
		StreamRound:     groupmeta.StreamRound{Generation: workerGeneration - 1, LastInstances: 3},
		StreamModeState: groupmeta.StreamModeState{Mode: groupmeta.StreamIncremental},
		Settings:        groupmeta.DefaultStreamSettings(),
		Topology:        topology,
	}
	a := &groupmeta.StreamAssignment{
		Generation: workerGeneration, Instances: 3, Workers: 3, Leader: processID(0x900).String(), Mode: groupmeta.StreamIncremental,
	}
	for _, t := range tasks {
		id, err := model.ParseTaskID(t.id)
		if err != nil {
			return nil, nil, err
		}
		tags, err := groupmeta.StreamTagsOf(t.tags...)
		if err != nil {
			return nil, nil, err
		}
		mine, given := groupmeta.StreamTask{ID: id, Role: t.role, Tags: tags}, groupmeta.AssignedTask{ID: id, Role: t.role, Tags: tags}
		if t.role != model.Active {
			mine.Lag = groupmeta.SomeInt(t.lag)
		}
		if t.role == model.Learner {
			given.Reason = groupmeta.ReasonEvacuation
		}
		if slices.Contains(t.tags, model.IsLeaving) {
			m.Leaving, m.Marks = true, []string{"drain-1"}
		}
		m.Tasks, a.Tasks = append(m.Tasks, mine), append(a.Tasks, given)
	}
	if meta, err = groupmeta.EncodeWorkerMetadata(groupmeta.ProtocolTypeStream, m); err != nil {
		return nil, nil, err
	}
	assigned, err = groupmeta.EncodeWorkerAssignment(groupmeta.ProtocolTypeStream, a, nil)
	return meta, assigned, err
}
