package lab

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// maxControlGap bounds the records that are written for those that a control
// topic had and that were overwritten.
const maxControlGap = 10_000

// control writes the control records of a group that has a control topic, at
// the offsets that they were recorded at: in the place of those that were
// overwritten meanwhile there are records of a key that nobody reads.
func (l *Lab) control(ctx context.Context, g *snapshot.Group) error {
	if g.ControlEnd == nil {
		return nil
	}
	topic := control.TopicName(g.ID)
	if l.cluster.TopicInfo(topic) == nil {
		if err := l.cluster.CreateTopic(topic, 1, map[string]string{"cleanup.policy": "compact", "retention.ms": "-1"}); err != nil {
			return fmt.Errorf("create topic %q: %w", topic, err)
		}
	}
	var next int64
	if i := l.cluster.PartitionInfo(topic, 0); i != nil {
		next = i.HighWatermark
	}
	var records []*kgo.Record
	gaps := 0
	upTo := func(offset int64) {
		for ; next < offset && gaps < maxControlGap; next++ {
			records = append(records, &kgo.Record{Topic: topic, Key: []byte("overwritten")})
			gaps++
		}
	}
	for _, r := range g.Control {
		upTo(r.Offset)
		records = append(records, &kgo.Record{Topic: topic, Key: []byte(r.Key), Value: r.Value})
		next++
	}
	upTo(*g.ControlEnd)
	if err := l.client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("write the control topic of group %q: %w", g.ID, err)
	}
	return nil
}
