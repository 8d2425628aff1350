package kclient

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// sizes is what is known of the bytes of changelogs.
type sizes struct {
	mu    sync.Mutex
	asked map[string]bool // topics
	codes map[int32]int16 // broker -> error code of its last answer
	rows  []snapshot.LogSize
}

// readLogSizes asks every broker that holds replicas of the topics for their
// bytes, each topic once. It needs DESCRIBE on the cluster, which hosted
// services refuse: that is no error but an option of the snapshot (field case
// 74).
func (r *run) readLogSizes(ctx context.Context, topics []*kmsg.MetadataResponseTopic) {
	z := &r.sizes
	holds := map[int32]map[string][]int32{} // broker -> topic -> partitions
	z.mu.Lock()
	for _, t := range topics {
		if z.asked[*t.Topic] {
			continue
		}
		z.asked[*t.Topic] = true
		for i := range t.Partitions {
			p := &t.Partitions[i]
			for _, b := range p.Replicas {
				if holds[b] == nil {
					holds[b] = map[string][]int32{}
				}
				holds[b][*t.Topic] = append(holds[b][*t.Topic], p.Partition)
			}
		}
	}
	z.mu.Unlock()
	var wg sync.WaitGroup
	for broker, parts := range holds {
		wg.Go(func() {
			rows, code, err := r.logSizesOf(ctx, broker, parts)
			if err != nil {
				code = codeOf(err)
			}
			z.mu.Lock()
			defer z.mu.Unlock()
			z.codes[broker] = code
			z.rows = append(z.rows, rows...)
		})
	}
	wg.Wait()
}

// earlyChangelogs are the changelogs that named groups have by their topics'
// names, known before anything else of the groups is.
func (r *run) earlyChangelogs() []*kmsg.MetadataResponseTopic {
	var out []*kmsg.MetadataResponseTopic
	wanted := map[string]bool{}
	for _, g := range r.groups {
		wanted[g.id] = g.listed == 0 || g.listed == partClassic
	}
	for name, t := range r.all {
		if strings.HasSuffix(name, groupmeta.ChangelogSuffix) && fitsGroup(name, wanted) {
			out = append(out, t)
		}
	}
	return out
}

// changelogs are the topics whose bytes are worth knowing.
func (r *run) changelogs() []*kmsg.MetadataResponseTopic {
	var out []*kmsg.MetadataResponseTopic
	for _, t := range r.topics {
		if t.sized && t.meta != nil && t.meta.ErrorCode == 0 {
			out = append(out, t.meta)
		}
	}
	return out
}

// recordLogSizes puts the sizes of the groups' topics into the snapshot, and
// says how the reading of them went.
func (r *run) recordLogSizes() {
	z := &r.sizes
	for _, row := range z.rows {
		if t := r.topics[row.Topic]; t != nil && t.meta != nil {
			r.s.LogSizes = append(r.s.LogSizes, row)
		}
	}
	refused, failed := 0, 0
	for _, code := range z.codes {
		switch {
		case isRefusal(code):
			refused++
		case code != 0:
			failed++
		}
	}
	switch {
	case refused > 0 && refused == len(z.codes):
		r.setOption(OptionLogDirs, OptionRefused)
	case refused > 0:
		r.setOption(OptionLogDirs, fmt.Sprintf("refused by %d of %d brokers", refused, len(z.codes)))
	case failed > 0:
		r.setOption(OptionLogDirs, OptionFailed)
	case len(z.codes) > 0:
		r.setOption(OptionLogDirs, OptionRead)
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
