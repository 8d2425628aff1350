package kclient

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// delayKey is how long a broker waits for more members before the first round
// of a group that was empty; it is extended while members arrive, to twice that.
const delayKey = "group.initial.rebalance.delay.ms"

// RebalanceDelay reads group.initial.rebalance.delay.ms of one broker.
func (c *Client) RebalanceDelay(ctx context.Context, broker int32) (time.Duration, error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	rs := kmsg.NewDescribeConfigsRequestResource()
	rs.ResourceType, rs.ResourceName = kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(broker))
	rs.ConfigNames = []string{delayKey}
	req.Resources = append(req.Resources, rs)
	kresp, err := c.send(ctx, broker, req)
	if err != nil {
		return 0, err
	}
	for _, r := range kresp.(*kmsg.DescribeConfigsResponse).Resources {
		if err := codeError(r.ErrorCode); err != nil {
			return 0, fmt.Errorf("read %s of broker %d: %w", delayKey, broker, err)
		}
		for _, k := range r.Configs {
			if k.Name != delayKey || k.Value == nil {
				continue
			}
			ms, err := strconv.ParseInt(*k.Value, 10, 64)
			if err != nil || ms < 0 || ms > (24*time.Hour).Milliseconds() {
				return 0, fmt.Errorf("%s of broker %d is %q", delayKey, broker, *k.Value)
			}
			return time.Duration(ms) * time.Millisecond, nil
		}
	}
	return 0, errors.New(delayKey + " is not among the broker's settings")
}
