package groupmeta

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
)

// largeSubscription is a member that has n tasks in 20 subtopologies.
func largeSubscription(t testing.TB, format int32, n int, topology string) []byte {
	t.Helper()
	s := SubscriptionInfo{Version: format, LatestSupportedVersion: NewestFormat, UserEndPoint: "pod-17.orders.example:7070"}
	for i := range n {
		task := Task{Subtopology: int32(i % 20), Partition: int32(i / 20), Topology: topology}
		sum := int64(1_000_000 + 37*i)
		if i%2 == 0 {
			sum = SumRunning
		}
		s.TaskOffsetSums = append(s.TaskOffsetSums, TaskOffsetSum{task, sum})
		s.PrevTasks = append(s.PrevTasks, task)
	}
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// largeAssignment is the frame that gives a member n active tasks and n
// standbys of 20 topics, with hosts that list all of them.
func largeAssignment(t testing.TB, format int32, n int, topology string) []byte {
	t.Helper()
	a := AssignmentInfo{Version: format, CommonlySupportedVersion: NewestFormat, NextRebalanceMs: NoRebalance}
	host := HostPartitions{Host: "pod-17.orders.example", Port: 7070}
	var assigned []model.TopicPartition
	for topic := range 20 {
		for p := range n / 20 {
			task := Task{Subtopology: int32(topic), Partition: int32(p), Topology: topology}
			tp := model.TopicPartition{Topic: fmt.Sprintf("orders-by-region-repartition-%02d", topic), Partition: int32(p)}
			assigned = append(assigned, tp)
			a.ActiveTasks = append(a.ActiveTasks, task)
			a.StandbyTasks = append(a.StandbyTasks, TaskPartitions{task, []model.TopicPartition{tp}})
			host.Partitions = append(host.Partitions, tp)
		}
	}
	a.PartitionsByHost = []HostPartitions{host}
	a.StandbyPartitionsByHost = []HostPartitions{host}
	userData, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	frame := ConsumerAssignment{Version: newestFrame, Assigned: GroupByTopic(assigned), UserData: userData}
	b, err := frame.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decodeSubscriptionOnly(t testing.TB, b []byte) {
	s, err := DecodeSubscriptionInfo(b)
	if err != nil || s.Version == 0 {
		t.Fatal(err)
	}
}

// decodeAssignmentOnly decodes the frame and the assignment inside it.
func decodeAssignmentOnly(t testing.TB, b []byte) (ConsumerAssignment, AssignmentInfo) {
	frame, err := DecodeConsumerAssignment(b)
	if err != nil {
		t.Fatal(err)
	}
	a, err := DecodeAssignmentInfo(frame.UserData)
	if err != nil {
		t.Fatal(err)
	}
	return frame, a
}

// The number of allocations depends on topics, not on tasks.
func TestAllocationsDoNotGrowWithTasks(t *testing.T) {
	for _, c := range []struct {
		format   int32
		topology string
	}{{1, ""}, {2, ""}, {5, ""}, {6, ""}, {7, ""}, {9, ""}, {10, ""}, {11, ""}, {11, "billing"}} {
		allocs := func(n int) (subscription, assignment, pairing float64) {
			s, a := largeSubscription(t, c.format, n, c.topology), largeAssignment(t, c.format, n, c.topology)
			frame, info := decodeAssignmentOnly(t, a)
			subscription = testing.AllocsPerRun(20, func() { decodeSubscriptionOnly(t, s) })
			assignment = testing.AllocsPerRun(20, func() { decodeAssignmentOnly(t, a) })
			pairing = testing.AllocsPerRun(20, func() {
				if pairs, err := PairActive(frame.Assigned, info.ActiveTasks); err != nil || len(pairs) != n {
					t.Fatal(len(pairs), err)
				}
			})
			return subscription, assignment, pairing
		}
		s1, a1, p1 := allocs(200)
		s2, a2, p2 := allocs(2000)
		if s1 != s2 || a1 != a2 || p1 != p2 {
			t.Errorf("format %d, topology %q: 200 tasks cost %v, %v, %v allocations, 2000 tasks %v, %v, %v",
				c.format, c.topology, s1, a1, p1, s2, a2, p2)
		}
		if s2 > 10 || a2 > 80 || p2 > 5 {
			t.Errorf("format %d, topology %q: %v, %v, %v allocations", c.format, c.topology, s2, a2, p2)
		}
	}
}

func benchmarkFormats(b *testing.B, run func(b *testing.B, format int32, topology string)) {
	for _, format := range []int32{1, 6, 9, 11} {
		b.Run(fmt.Sprintf("format%d", format), func(b *testing.B) { run(b, format, "") })
	}
	b.Run("named", func(b *testing.B) { run(b, 11, "billing") })
}

// benchmarkBytes reports, besides the mean, the median speed of single runs: it
// holds on a machine that does other things too.
func benchmarkBytes(b *testing.B, size int, run func()) {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	spent := make([]time.Duration, 0, 1<<16)
	for b.Loop() {
		start := time.Now()
		run()
		if len(spent) < cap(spent) {
			spent = append(spent, time.Since(start))
		}
	}
	slices.Sort(spent)
	b.ReportMetric(float64(size)/1e6/spent[len(spent)/2].Seconds(), "median-MB/s")
}

func BenchmarkDecodeSubscriptionInfo2000Tasks(b *testing.B) {
	benchmarkFormats(b, func(b *testing.B, format int32, topology string) {
		raw := largeSubscription(b, format, 2000, topology)
		benchmarkBytes(b, len(raw), func() { decodeSubscriptionOnly(b, raw) })
	})
}

func BenchmarkDecodeAssignment2000Tasks(b *testing.B) {
	benchmarkFormats(b, func(b *testing.B, format int32, topology string) {
		raw := largeAssignment(b, format, 2000, topology)
		benchmarkBytes(b, len(raw), func() { decodeAssignmentOnly(b, raw) })
	})
}

func BenchmarkPairActive2000Tasks(b *testing.B) {
	frame, info := decodeAssignmentOnly(b, largeAssignment(b, 11, 2000, ""))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := PairActive(frame.Assigned, info.ActiveTasks); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeAssignment2000Tasks(b *testing.B) {
	_, info := decodeAssignmentOnly(b, largeAssignment(b, 11, 2000, ""))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := info.Encode(); err != nil {
			b.Fatal(err)
		}
	}
}
