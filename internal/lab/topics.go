package lab

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// seedTopics creates the topics of a snapshot and fills each partition up to
// its recorded log end with small records; what lay before the recorded log
// start is deleted again.
func (l *Lab) seedTopics(ctx context.Context, s *snapshot.Snapshot) error {
	known := map[model.TopicPartition]bool{}
	for _, t := range withAssigned(s) {
		if t.ErrorCode != 0 || len(t.Partitions) == 0 {
			continue
		}
		if l.cluster.TopicInfo(t.Name) == nil {
			if err := l.cluster.CreateTopic(t.Name, int32(len(t.Partitions)), nil); err != nil {
				return fmt.Errorf("create topic %q: %w", t.Name, err)
			}
		}
		for _, p := range t.Partitions {
			known[model.TopicPartition{Topic: t.Name, Partition: p.Partition}] = true
		}
	}
	ends := map[model.TopicPartition]int64{}
	starts := map[model.TopicPartition]int64{}
	for _, g := range s.Logs {
		tp := model.TopicPartition{Topic: g.Topic, Partition: g.Partition}
		if known[tp] && g.End != nil {
			ends[tp] = *g.End
			if g.Start != nil && *g.Start > 0 {
				starts[tp] = *g.Start
			}
		}
	}
	if err := l.fill(ctx, ends); err != nil {
		return err
	}
	for tp, start := range starts {
		if err := l.cluster.DeleteRecords(tp.Topic, tp.Partition, start); err != nil {
			return fmt.Errorf("delete records of %s: %w", tp, err)
		}
	}
	return nil
}

// fill produces until each partition ends at the offset given.
func (l *Lab) fill(ctx context.Context, ends map[model.TopicPartition]int64) error {
	var (
		mu    sync.Mutex
		first error
	)
	done := func(r *kgo.Record, err error) {
		if err != nil {
			mu.Lock()
			if first == nil {
				first = fmt.Errorf("produce to %s-%d: %w", r.Topic, r.Partition, err)
			}
			mu.Unlock()
		}
	}
	for tp, end := range ends {
		var have int64
		if i := l.cluster.PartitionInfo(tp.Topic, tp.Partition); i != nil {
			have = i.HighWatermark
		}
		for ; have < end; have++ {
			l.client.Produce(ctx, &kgo.Record{Topic: tp.Topic, Partition: tp.Partition, Value: []byte{'x'}}, done)
		}
	}
	if err := l.client.Flush(ctx); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	return first
}

// withAssigned gives the topics of a snapshot and those that only the members'
// assignments name, with as many partitions as are assigned.
func withAssigned(s *snapshot.Snapshot) []snapshot.Topic {
	partitions := map[string]int{}
	for _, g := range s.Groups {
		if g.Classic == nil {
			continue
		}
		for _, m := range g.Classic.Members {
			frame, err := groupmeta.DecodeConsumerAssignment(m.Assignment)
			if err != nil {
				continue // not a consumer's: nothing to create
			}
			for _, t := range frame.Assigned {
				for _, p := range t.Partitions {
					if p >= 0 && p < maxPartitions {
						partitions[t.Topic] = max(partitions[t.Topic], int(p)+1)
					}
				}
			}
		}
	}
	for _, t := range s.Topics {
		delete(partitions, t.Name)
	}
	for _, t := range s.Missing {
		delete(partitions, t.Name)
	}
	out := slices.Clone(s.Topics)
	for _, name := range slices.Sorted(maps.Keys(partitions)) {
		out = append(out, topic(name, partitions[name]))
	}
	return out
}

// maxPartitions bounds what an assignment may make the lab create.
const maxPartitions = 1 << 17
