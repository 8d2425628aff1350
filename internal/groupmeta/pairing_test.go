package groupmeta

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
	"pgregory.net/rapid"
)

// pairsText prints a pairing, one task a word.
func pairsText(pairs []TaskPartitions) string {
	words := make([]string, 0, len(pairs))
	for _, p := range pairs {
		words = append(words, fmt.Sprintf("%s:%v", p.ID(), p.Partitions))
	}
	return strings.Join(words, " ")
}

// Partitions are sorted before they are paired, wherever the frame lists them;
// a task that reads two topics has two entries.
func TestPairActive(t *testing.T) {
	assigned := []TopicPartitions{{"zebra", []int32{10, 2}}, {"a_b", []int32{0}}, {"a-b", []int32{0}}, {"zebra", []int32{1}}, {"A", nil}}
	active := []Task{{Subtopology: 7}, {Subtopology: 3}, {Topology: "t", Subtopology: 0}, {Subtopology: 10}, {Subtopology: 3}}
	pairs, err := PairActive(assigned, active)
	want := "3_0:[a_b-0 zebra-10] 7_0:[a-b-0] 10_0:[zebra-2] t__0_0:[zebra-1]"
	if got := pairsText(pairs); err != nil || got != want {
		t.Errorf("got  %s (%v)\nwant %s", got, err, want)
	}
	if pairs, err = PairActive(nil, nil); err != nil || len(pairs) != 0 {
		t.Errorf("nothing paired gives %v, %v", pairs, err)
	}
}

// Numbers that differ are an error; the distinct tasks are still listed.
func TestPairActiveMismatch(t *testing.T) {
	assigned := []TopicPartitions{{"orders", []int32{0, 1}}}
	active := []Task{{Subtopology: 1, Partition: 1}, {Subtopology: 0, Partition: 1}, {Subtopology: 1, Partition: 1}}
	pairs, err := PairActive(assigned, active)
	mismatch, ok := errors.AsType[*PairingError](err)
	if !ok || mismatch.Partitions != 2 || mismatch.Entries != 3 {
		t.Errorf("error %v", err)
	}
	if got := pairsText(pairs); got != "0_1:[] 1_1:[]" {
		t.Errorf("tasks %s", got)
	}
	// Decode by hand says the same at the count of the tasks.
	info := AssignmentInfo{Version: 11, CommonlySupportedVersion: 11, ActiveTasks: active}
	userData, err := info.Encode()
	if err != nil {
		t.Fatal(err)
	}
	frame := ConsumerAssignment{Version: 3, Assigned: assigned, UserData: userData}
	b, err := frame.Encode()
	if err != nil {
		t.Fatal(err)
	}
	d, err := Decode(KindConsumerAssignment, b)
	if d.Document == nil || err == nil || err.Error() != `assignment: field "activeTasks" at offset 8: 2 assigned partitions but 3 entries of active tasks` {
		t.Errorf("got %+v, %v", d, err)
	}
}

func TestPairActiveProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		assigned := genTopics().Draw(r, "assigned")
		n := len(SortedPartitions(assigned))
		if rapid.Bool().Draw(r, "mismatch") {
			n = rapid.IntRange(0, 12).Draw(r, "n")
		}
		checkPairing(t, assigned, rapid.SliceOfN(genTask(true), n, n).Draw(r, "active"))
	})
}

// The frame lists topics in no particular order: any order of its topics and
// numbers pairs the same way.
func TestPairingIgnoresWireOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		assigned := GroupByTopic(rapid.SliceOfDistinct(genPartition(), rapid.ID[model.TopicPartition]).Draw(r, "partitions"))
		n := len(SortedPartitions(assigned))
		active := rapid.SliceOfN(genTask(true), n, n).Draw(r, "active")
		want, err := PairActive(assigned, active)
		if err != nil {
			r.Fatal(err)
		}
		var shuffled []TopicPartitions // every number a topic of its own
		for _, t := range assigned {
			for _, p := range t.Partitions {
				shuffled = append(shuffled, TopicPartitions{t.Topic, []int32{p}})
			}
		}
		got, err := PairActive(rapid.Permutation(shuffled).Draw(r, "order"), active)
		if err != nil || pairsText(got) != pairsText(want) {
			r.Fatalf("got  %s (%v)\nwant %s", pairsText(got), err, pairsText(want))
		}
	})
}
