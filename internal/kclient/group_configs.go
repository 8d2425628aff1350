package kclient

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// askConfigs reads the settings that the brokers hold for the groups. They
// count for streams groups only, so a refusal is an option of the snapshot and
// no error; brokers before 3.8 do not know the resource.
func (r *run) askConfigs(ctx context.Context, b batch) error {
	req := kmsg.NewPtrDescribeConfigsRequest()
	for _, g := range b.groups {
		rs := kmsg.NewDescribeConfigsRequestResource()
		rs.ResourceType, rs.ResourceName = kmsg.ConfigResourceTypeGroupConfig, g.id
		req.Resources = append(req.Resources, rs)
	}
	kresp, err := r.c.send(ctx, b.node, req)
	if err != nil {
		return err
	}
	resp := kresp.(*kmsg.DescribeConfigsResponse)
	option := "read"
	r.each(b, len(resp.Resources), func(i int) string { return resp.Resources[i].ResourceName }, func(g *group, i int) int16 {
		w := &resp.Resources[i]
		switch {
		case w.ErrorCode == 0:
			g.g.Configs = configsFromWire(w.Configs)
		case w.ErrorCode == kerr.InvalidRequest.Code:
			option = "unsupported"
		case isRefusal(w.ErrorCode):
			option = "refused"
		default:
			option = "failed"
		}
		return 0
	})
	r.setOption(OptionGroupConfigs, option)
	return nil
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
