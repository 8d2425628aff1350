package groupmeta

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
)

// A topic of 64 KiB that a hundred thousand partitions refer to would be
// gigabytes of text: names that Kafka does not take are refused, the longest
// that it takes are read.
func TestTopicNamesOfPartitions(t *testing.T) {
	numbers := make([]int32, 100_000)
	for i := range numbers {
		numbers[i] = int32(i)
	}
	for _, size := range []int{maxTopicName, maxTopicName + 1, 32_000} {
		topic := strings.Repeat("x", size)
		topics := []TopicPartitions{{Topic: topic, Partitions: numbers}}
		few := []model.TopicPartition{{Topic: topic, Partition: 1}}
		info := func(format int32, change func(*AssignmentInfo)) []byte {
			a := AssignmentInfo{Version: format, CommonlySupportedVersion: format}
			change(&a)
			return encoded(t, a.Encode)
		}
		owned := ConsumerSubscription{Version: 1, Owned: topics}
		assigned := ConsumerAssignment{Assigned: topics}
		host := []HostPartitions{{Host: "h", Port: 1, Partitions: few}}
		for field, b := range map[string][]byte{
			"ownedPartitions.topic":    encoded(t, owned.Encode),
			"assignedPartitions.topic": encoded(t, assigned.Encode),
			"standbyTasks.topic":       info(11, func(a *AssignmentInfo) { a.StandbyTasks = []TaskPartitions{{Partitions: few}} }),
			"topicDictionary.topic":    info(11, func(a *AssignmentInfo) { a.PartitionsByHost = host }),
			"partitionsByHost.topic":   info(4, func(a *AssignmentInfo) { a.PartitionsByHost = host }),
		} {
			kind := map[string]string{"ownedPartitions.topic": KindConsumerSubscription, "assignedPartitions.topic": KindConsumerAssignment}[field]
			if kind == "" {
				kind = KindAssignment
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d, err := Decode(kind, b)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
				t.Errorf("%s of %d bytes: %d MiB allocated", field, size, used>>20)
			}
			if size <= maxTopicName {
				if _, jsonErr := json.Marshal(d.Document); err != nil || jsonErr != nil {
					t.Errorf("%s of %d bytes: %v, %v", field, size, err, jsonErr)
				}
				continue
			}
			bad, ok := errors.AsType[*DecodeError](err)
			if !ok || bad.Field != field || !strings.Contains(bad.Problem, "at most 249") || d.Document != nil {
				t.Errorf("%s of %d bytes: %v", field, size, err)
			}
		}
	}
}

func encoded(t *testing.T, encode func() ([]byte, error)) []byte {
	t.Helper()
	b, err := encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}
