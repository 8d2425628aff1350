package groupmeta

import (
	"math"
	"slices"
	"strconv"

	"pgregory.net/rapid"

	"github.com/streamctl/streamctl/internal/model"
)

// Generators of sound values in the form in which decoders give them.

const testInstance = "7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001"

func genOptional(t *rapid.T, low int64, name string) OptionalInt {
	if !rapid.Bool().Draw(t, name+" known") {
		return OptionalInt{}
	}
	return SomeInt(rapid.Int64Range(low, math.MaxInt64).Draw(t, name))
}

func genTexts(t *rapid.T, name string) []string {
	list := rapid.SliceOfNDistinct(rapid.StringN(1, 12, 60), 0, 4, rapid.ID[string]).Draw(t, name)
	slices.Sort(list)
	if len(list) == 0 {
		return nil
	}
	return list
}

func genInstance(t *rapid.T) string {
	return formatInstance(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "uuid"))
}

func genMode(t *rapid.T) StreamMode {
	return rapid.SampledFrom([]StreamMode{StreamUpgrading, StreamIncremental}).Draw(t, "mode")
}

// soundTags are all nine sound pairs of role and tags, spelled out from the
// draft's table.
func soundTags() map[model.Role][]StreamTags {
	return map[model.Role][]StreamTags{
		model.Active: {
			0, TagStateful, TagStateful | TagBeingLearned, TagStateful | TagLeaving, TagStateful | TagBeingLearned | TagLeaving,
		},
		model.Standby: {0, TagStateful},
		model.Learner: {TagStateful | TagLearner, TagStateful | TagLearner | TagReady},
	}
}

func genTaskIDs(t *rapid.T) []model.TaskID {
	type key struct{ sub, partition int32 }
	one := rapid.Custom(func(t *rapid.T) key {
		number := rapid.OneOf(rapid.Int32Range(0, 4), rapid.Int32Range(0, 300), rapid.Int32Range(0, math.MaxInt32))
		return key{number.Draw(t, "subtopology"), number.Draw(t, "partition")}
	})
	var ids []model.TaskID
	for _, k := range rapid.SliceOfNDistinct(one, 0, 40, rapid.ID[key]).Draw(t, "tasks") {
		ids = append(ids, model.TaskID{Subtopology: strconv.Itoa(int(k.sub)), Partition: k.partition})
	}
	slices.SortFunc(ids, model.TaskID.Compare)
	return ids
}

func genRoleAndTags(t *rapid.T) (model.Role, StreamTags) {
	role := rapid.SampledFrom([]model.Role{model.Active, model.Standby, model.Learner}).Draw(t, "role")
	return role, rapid.SampledFrom(soundTags()[role]).Draw(t, "tags")
}

func genMetadata(t *rapid.T) *StreamMetadata {
	n31, n63 := rapid.Int32Range(0, math.MaxInt32), rapid.Int64Range(0, math.MaxInt64)
	m := &StreamMetadata{
		StreamIdentity: StreamIdentity{
			Instance: genInstance(t), Workers: rapid.Int32Range(1, math.MaxInt32).Draw(t, "workers"),
			Worker: rapid.String().Draw(t, "worker"), Host: rapid.String().Draw(t, "host"), ClientID: rapid.String().Draw(t, "client id"),
		},
		StreamRound: StreamRound{
			Generation: n31.Draw(t, "generation"), GenerationEpoch: n63.Draw(t, "generation epoch"),
			LastInstances: n31.Draw(t, "last instances"), Carried: rapid.Bool().Draw(t, "carried"), Request: n63.Draw(t, "request"),
		},
		StreamModeState: StreamModeState{Mode: genMode(t), Epoch: n63.Draw(t, "epoch"), SwitchRemainingMs: genOptional(t, 0, "switch")},
		Settings: StreamSettings{
			BalancingFactor: rapid.Int64Range(1000, math.MaxInt64).Draw(t, "r"), StandbyReplicas: n31.Draw(t, "standbys"),
			AcceptableRecoveryLag: n63.Draw(t, "acceptable"), MaxLearners: genOptional(t, 1, "max learners"),
			RejoinPolicy:       rapid.SampledFrom([]RejoinPolicy{RejoinStable, RejoinEager}).Draw(t, "policy"),
			ScaleDownTimeoutMs: genOptional(t, 0, "scale down"),
		},
	}
	if rapid.Bool().Draw(t, "leaving") {
		m.StreamLeaving = StreamLeaving{
			Leaving: true, Expired: rapid.Bool().Draw(t, "expired"), RemainingMs: genOptional(t, 0, "remaining"), Marks: genTexts(t, "marks"),
		}
	}
	ids := rapid.SliceOfNDistinct(n31, 0, 4, rapid.ID[int32]).Draw(t, "subtopologies")
	slices.Sort(ids)
	for _, id := range ids {
		m.Topology = append(m.Topology, StreamSubtopology{
			ID: id, Stateful: rapid.Bool().Draw(t, "stateful"), Partitions: n31.Draw(t, "partitions"), SourceTopics: genTexts(t, "sources"),
			RepartitionSourceTopics: genTexts(t, "repartition sources"), RepartitionSinkTopics: genTexts(t, "sinks"), ChangelogTopics: genTexts(t, "changelogs"),
		})
	}
	for _, id := range genTaskIDs(t) {
		role, tags := genRoleAndTags(t)
		m.Tasks = append(m.Tasks, StreamTask{ID: id, Role: role, Tags: tags, Lag: genOptional(t, 0, "lag")})
	}
	return m
}

func genAssignment(t *rapid.T) *StreamAssignment {
	some := rapid.Int32Range(1, math.MaxInt32)
	a := &StreamAssignment{
		Generation: rapid.Int32Range(0, math.MaxInt32).Draw(t, "generation"), Instances: some.Draw(t, "instances"), Workers: some.Draw(t, "workers"),
		Leader: genInstance(t), AnotherRound: rapid.Bool().Draw(t, "another"), SwitchWaiting: rapid.Bool().Draw(t, "waiting"),
		MarksVoid: rapid.Bool().Draw(t, "void"), Mode: genMode(t), Epoch: rapid.Int64Range(0, math.MaxInt64).Draw(t, "epoch"),
	}
	for _, id := range genTaskIDs(t) {
		task := AssignedTask{ID: id}
		task.Role, task.Tags = genRoleAndTags(t)
		task.Release = task.Role == model.Active && task.Tags == 0 && rapid.Bool().Draw(t, "release")
		if task.Role == model.Learner {
			task.Reason = rapid.SampledFrom([]LearnerReason{ReasonUnknown, ReasonEvacuation, ReasonBalance}).Draw(t, "reason")
		}
		a.Tasks = append(a.Tasks, task)
	}
	return a
}

// largeMetadata is a worker with n tasks of all roles in four subtopologies,
// with lags as a group that restores has them.
func largeMetadata(n int) *StreamMetadata {
	m := &StreamMetadata{
		StreamIdentity:  StreamIdentity{Instance: testInstance, Workers: 1, Worker: "worker-1", Host: "pod-a", ClientID: "clicks-pod-a"},
		StreamRound:     StreamRound{Generation: 41, LastInstances: 3, Request: 7},
		StreamModeState: StreamModeState{Mode: StreamIncremental, Epoch: 3},
		Settings:        DefaultStreamSettings(),
	}
	seed := uint64(42)
	for i := range n {
		seed = seed*6364136223846793005 + 1442695040888963407
		task := StreamTask{ID: model.ClassicTask("", int32(i*4/n), int32(i%(n/4+1)*3)), Role: model.Active, Tags: TagStateful | TagLeaving}
		switch i % 3 {
		case 1:
			task.Role, task.Tags, task.Lag = model.Standby, TagStateful, SomeInt(int64(seed>>30)) // up to 17 billion
		case 2:
			task.Role, task.Tags, task.Lag = model.Learner, TagStateful|TagLearner, SomeInt(int64(seed>>30))
		}
		m.Tasks = append(m.Tasks, task)
	}
	slices.SortFunc(m.Tasks, func(a, b StreamTask) int { return a.ID.Compare(b.ID) })
	return m
}
