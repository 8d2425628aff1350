package groupmeta

import (
	"reflect"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
	"pgregory.net/rapid"
)

// Generators of values of every format and frame version.

func genTask(named bool) *rapid.Generator[Task] {
	return rapid.Custom(func(t *rapid.T) Task {
		task := Task{Subtopology: rapid.Int32Range(0, 4).Draw(t, "subtopology"), Partition: rapid.Int32().Draw(t, "partition")}
		if named {
			task.Topology = rapid.SampledFrom([]string{"", "billing", "fraud_", "東\U0001f600"}).Draw(t, "topology")
		}
		return task
	})
}

func genPartition() *rapid.Generator[model.TopicPartition] {
	return rapid.Custom(func(t *rapid.T) model.TopicPartition {
		topic := rapid.SampledFrom([]string{"orders", "customers", "a.b-c_d", "nul\x00", "\U0001f600"}).Draw(t, "topic")
		return model.TopicPartition{Topic: topic, Partition: rapid.Int32().Draw(t, "number")}
	})
}

func genTopics() *rapid.Generator[[]TopicPartitions] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) TopicPartitions {
		return TopicPartitions{Topic: rapid.StringN(-1, -1, maxTopicName).Draw(t, "topic"), Partitions: rapid.SliceOfN(rapid.Int32(), 0, 5).Draw(t, "numbers")}
	}), 0, 5)
}

func genSubscriptionInfo() *rapid.Generator[SubscriptionInfo] {
	return rapid.Custom(func(t *rapid.T) SubscriptionInfo {
		s := SubscriptionInfo{Version: rapid.Int32Range(1, NewestFormat).Draw(t, "version"), LatestSupportedVersion: -1}
		copy(s.ProcessID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "process"))
		if s.Version >= 3 {
			s.LatestSupportedVersion = s.Version + rapid.Int32Range(0, 3).Draw(t, "latest")
		}
		if s.Version < 7 {
			s.PrevTasks = rapid.SliceOfN(genTask(false), 0, 6).Draw(t, "previous")
			s.StandbyTasks = rapid.SliceOfN(genTask(false), 0, 6).Draw(t, "standby")
		}
		if s.Version >= 2 {
			s.UserEndPoint = rapid.String().Draw(t, "endpoint")
		}
		if s.Version >= 7 {
			s.TaskOffsetSums = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) TaskOffsetSum {
				return TaskOffsetSum{genTask(s.Version >= 10).Draw(t, "task"), rapid.Int64().Draw(t, "sum")}
			}), 0, 10).Draw(t, "sums")
		}
		if s.Version >= 8 {
			s.UniqueField = rapid.Int8().Draw(t, "unique")
		}
		if s.Version >= 9 {
			s.ErrorCode = ErrorCode(rapid.Int32().Draw(t, "error"))
		}
		if s.Version >= 11 {
			s.ClientTags = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ClientTag {
				return ClientTag{rapid.String().Draw(t, "key"), rapid.String().Draw(t, "value")}
			}), 0, 4).Draw(t, "tags")
		}
		return s
	})
}

func genHosts() *rapid.Generator[[]HostPartitions] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) HostPartitions {
		return HostPartitions{
			Host: rapid.String().Draw(t, "host"), Port: rapid.Int32().Draw(t, "port"),
			Partitions: rapid.SliceOfN(genPartition(), 0, 4).Draw(t, "partitions"),
		}
	}), 0, 4)
}

func genAssignmentInfo() *rapid.Generator[AssignmentInfo] {
	return rapid.Custom(func(t *rapid.T) AssignmentInfo {
		a := AssignmentInfo{Version: rapid.Int32Range(1, NewestFormat).Draw(t, "version"), CommonlySupportedVersion: -1, NextRebalanceMs: NoRebalance}
		named := a.Version >= 10
		if a.Version >= 3 {
			a.CommonlySupportedVersion = rapid.Int32().Draw(t, "common")
		}
		a.ActiveTasks = rapid.SliceOfN(genTask(named), 0, 8).Draw(t, "active")
		a.StandbyTasks = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) TaskPartitions {
			return TaskPartitions{genTask(named).Draw(t, "task"), rapid.SliceOfN(genPartition(), 0, 3).Draw(t, "partitions")}
		}), 0, 6).Draw(t, "standby")
		if a.Version >= 2 {
			a.PartitionsByHost = genHosts().Draw(t, "hosts")
		}
		if a.Version >= 6 {
			a.StandbyPartitionsByHost = genHosts().Draw(t, "standby hosts")
		}
		if a.Version >= 4 {
			a.ErrorCode = ErrorCode(rapid.Int32().Draw(t, "error"))
		}
		if a.Version >= 7 {
			a.NextRebalanceMs = rapid.Int64().Draw(t, "next")
		}
		return a
	})
}

func genConsumerSubscription() *rapid.Generator[ConsumerSubscription] {
	return rapid.Custom(func(t *rapid.T) ConsumerSubscription {
		s := ConsumerSubscription{Version: rapid.Int16Range(0, 5).Draw(t, "version"), Generation: NoGeneration}
		s.Topics = rapid.SliceOfN(rapid.String(), 0, 5).Draw(t, "topics")
		if rapid.Bool().Draw(t, "user data") {
			s.UserData = rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		}
		if s.Version >= 1 {
			s.Owned = genTopics().Draw(t, "owned")
		}
		if s.Version >= 2 {
			s.Generation = rapid.Int32().Draw(t, "generation")
		}
		if s.Version >= 3 {
			s.Rack = rapid.String().Draw(t, "rack")
		}
		return s
	})
}

func genConsumerAssignment() *rapid.Generator[ConsumerAssignment] {
	return rapid.Custom(func(t *rapid.T) ConsumerAssignment {
		a := ConsumerAssignment{Version: rapid.Int16Range(0, 5).Draw(t, "version"), Assigned: genTopics().Draw(t, "assigned")}
		if rapid.Bool().Draw(t, "user data") {
			a.UserData = rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		}
		return a
	})
}

// checkRoundTrip wants decode(encode(x)) to be x.
func checkRoundTrip[T any](t *testing.T, g *rapid.Generator[T], encode func(*T) ([]byte, error), decode func([]byte) (T, error), normal func(*T)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		want := g.Draw(t, "value")
		b, err := encode(&want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(b)
		if err != nil {
			t.Fatalf("%x: %v", b, err)
		}
		normal(&got)
		normal(&want)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%x\ngot  %+v\nwant %+v", b, got, want)
		}
	})
}

func TestRoundTripSubscriptionInfo(t *testing.T) {
	checkRoundTrip(t, genSubscriptionInfo(), (*SubscriptionInfo).Encode, DecodeSubscriptionInfo, func(s *SubscriptionInfo) {
		s.PrevTasks, s.StandbyTasks = append([]Task{}, s.PrevTasks...), append([]Task{}, s.StandbyTasks...)
		s.TaskOffsetSums, s.ClientTags = append([]TaskOffsetSum{}, s.TaskOffsetSums...), append([]ClientTag{}, s.ClientTags...)
		if s.Version >= 7 && s.Version <= 9 { // on the wire grouped by subtopology
			grouped := []TaskOffsetSum{}
			for len(s.TaskOffsetSums) > 0 {
				first := s.TaskOffsetSums[0].Subtopology
				var rest []TaskOffsetSum
				for _, t := range s.TaskOffsetSums {
					if t.Subtopology == first {
						grouped = append(grouped, t)
					} else {
						rest = append(rest, t)
					}
				}
				s.TaskOffsetSums = rest
			}
			s.TaskOffsetSums = grouped
		}
	})
}

func TestRoundTripAssignmentInfo(t *testing.T) {
	checkRoundTrip(t, genAssignmentInfo(), (*AssignmentInfo).Encode, DecodeAssignmentInfo, func(a *AssignmentInfo) {
		a.TopicDictionary = nil
		if a.Version < 2 {
			a.PartitionsByHost = nil
		}
		if a.Version < 6 {
			a.StandbyPartitionsByHost = nil
		}
	})
}

func TestRoundTripConsumerSubscription(t *testing.T) {
	checkRoundTrip(t, genConsumerSubscription(), (*ConsumerSubscription).Encode, DecodeConsumerSubscription, func(*ConsumerSubscription) {})
}

func TestRoundTripConsumerAssignment(t *testing.T) {
	checkRoundTrip(t, genConsumerAssignment(), (*ConsumerAssignment).Encode, DecodeConsumerAssignment, func(*ConsumerAssignment) {})
}
