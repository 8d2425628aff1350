package kclient

import (
	"context"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// readLogSizes asks every broker that holds replicas of the topics for their
// bytes. It needs DESCRIBE on the cluster, which hosted services refuse: that
// is no error but an option of the snapshot (field case 74).
func (r *run) readLogSizes(ctx context.Context) {
	holds := map[int32]map[string][]int32{} // broker -> topic -> partitions
	for _, t := range r.topics {
		if t.meta == nil {
			continue
		}
		for i := range t.meta.Partitions {
			p := &t.meta.Partitions[i]
			for _, b := range p.Replicas {
				if holds[b] == nil {
					holds[b] = map[string][]int32{}
				}
				holds[b][t.name] = append(holds[b][t.name], p.Partition)
			}
		}
	}
	var refused, failed int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for broker, topics := range holds {
		wg.Go(func() {
			sizes, code, err := r.logSizesOf(ctx, broker, topics)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil, code != 0 && !isRefusal(code):
				failed++
			case code != 0:
				refused++
			}
			r.s.LogSizes = append(r.s.LogSizes, sizes...)
		})
	}
	wg.Wait()
	switch {
	case refused > 0 && refused == len(holds):
		r.setOption(OptionLogDirs, "refused")
	case refused > 0:
		r.setOption(OptionLogDirs, fmt.Sprintf("refused by %d of %d brokers", refused, len(holds)))
	case failed > 0:
		r.setOption(OptionLogDirs, "failed")
	case len(holds) > 0:
		r.setOption(OptionLogDirs, "read")
	}
}

func (r *run) logSizesOf(ctx context.Context, broker int32, topics map[string][]int32) ([]snapshot.LogSize, int16, error) {
	req := kmsg.NewPtrDescribeLogDirsRequest()
	for name, parts := range topics {
		t := kmsg.NewDescribeLogDirsRequestTopic()
		t.Topic, t.Partitions = name, parts
		req.Topics = append(req.Topics, t)
	}
	kresp, err := r.c.sendBeside(ctx, broker, req)
	if err != nil {
		return nil, 0, err
	}
	resp := kresp.(*kmsg.DescribeLogDirsResponse)
	code := resp.ErrorCode
	var out []snapshot.LogSize
	for i := range resp.Dirs {
		d := &resp.Dirs[i]
		if d.ErrorCode != 0 && code == 0 {
			code = d.ErrorCode
		}
		for j := range d.Topics {
			for _, p := range d.Topics[j].Partitions {
				if !p.IsFuture {
					out = append(out, snapshot.LogSize{Topic: d.Topics[j].Topic, Partition: p.Partition, Broker: broker, Bytes: p.Size})
				}
			}
		}
	}
	// Before v3 a refusal is an empty answer.
	if resp.Version < 3 && len(resp.Dirs) == 0 && code == 0 {
		code = kerr.ClusterAuthorizationFailed.Code
	}
	return out, code, nil
}
