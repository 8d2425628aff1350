package kclient

import (
	"context"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// readConfigs reads the settings that the brokers hold for the streams groups;
// for groups of other kinds they mean nothing. Any broker knows them. A refusal
// is an option of the snapshot and no error.
func (r *run) readConfigs(ctx context.Context) {
	byNode := map[int32][]*group{}
	for _, g := range r.groups {
		if g.g.Streams != nil && g.g.Streams.ErrorCode == 0 {
			byNode[g.node] = append(byNode[g.node], g)
		}
	}
	var wg sync.WaitGroup
	for node, groups := range byNode {
		for chunk := range slices.Chunk(groups, groupChunk) {
			wg.Go(func() { r.askConfigs(ctx, node, chunk) })
		}
	}
	wg.Wait()
}

func (r *run) askConfigs(ctx context.Context, node int32, groups []*group) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	byID := map[string]*group{}
	for _, g := range groups {
		byID[g.id] = g
		rs := kmsg.NewDescribeConfigsRequestResource()
		rs.ResourceType, rs.ResourceName = kmsg.ConfigResourceTypeGroupConfig, g.id
		req.Resources = append(req.Resources, rs)
	}
	kresp, err := r.c.sendBeside(ctx, node, req)
	if err != nil {
		r.setOption(OptionGroupConfigs, OptionFailed)
		return
	}
	resp := kresp.(*kmsg.DescribeConfigsResponse)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range resp.Resources {
		w := &resp.Resources[i]
		g := byID[w.ResourceName]
		if g == nil {
			continue
		}
		option := OptionFailed
		switch {
		case w.ErrorCode == 0:
			option = OptionRead
			g.g.Configs = configsFromWire(w.Configs)
		case w.ErrorCode == kerr.InvalidRequest.Code:
			option = OptionUnsupported
		case isRefusal(w.ErrorCode):
			option = OptionRefused
		}
		r.setOptionLocked(OptionGroupConfigs, option)
	}
}

func configsFromWire(w []kmsg.DescribeConfigsResponseResourceConfig) []snapshot.Config {
	out := make([]snapshot.Config, 0, len(w))
	for i := range w {
		c := snapshot.Config{Key: w[i].Name, Value: w[i].Value, Source: w[i].Source.String()}
		if w[i].IsSensitive {
			c.Value = nil
		}
		out = append(out, c)
	}
	return out
}
