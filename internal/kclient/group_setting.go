package kclient

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/clock"
	"github.com/streamctl/streamctl/internal/errs"
)

// Keys of settings that commands change or go by.
const (
	KeyGroupStandbys    = "streams.num.standby.replicas"          // of a group
	KeyMostStandbys     = "group.streams.max.standby.replicas"    // of the brokers: the most that a group may have
	KeyTaskOffsetsEvery = "group.streams.task.offset.interval.ms" // of the brokers, 4.4 and later
)

// Bounds of the reading back of a setting: brokers learn of it one after the
// other.
const (
	settingEvery   = 50 * time.Millisecond
	settingPatient = 10 * time.Second
)

// Setting is one setting as the brokers have it.
type Setting struct {
	Value string
	Own   bool // set for this very thing; else a default of the brokers
}

// GroupSetting reads one setting of a group. Brokers tell the same of groups
// that do not exist: it is no test for one (docs/reference/broker-facts.md,
// section 5).
func (c *Client) GroupSetting(ctx context.Context, group, key string) (Setting, error) {
	s, found, err := c.describeSetting(ctx, kmsg.ConfigResourceTypeGroupConfig, group, key)
	if err == nil && !found {
		err = errors.New("the broker knows no such setting of a group")
	}
	if err != nil {
		return Setting{}, groupSettingError(ctx, "read", "DESCRIBE_CONFIGS", group, key, err)
	}
	return s, nil
}

// BrokerSettings reads settings of one broker: what it does not know, and where
// one may not ask all of them, is left out.
func (c *Client) BrokerSettings(ctx context.Context, broker int32, keys ...string) map[string]string {
	out := map[string]string{}
	resp, err := c.askSettings(ctx, kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(broker)), keys, &broker)
	if err != nil || resp.ErrorCode != 0 {
		return out
	}
	for _, x := range resp.Configs {
		if x.Value != nil {
			out[x.Name] = *x.Value
		}
	}
	return out
}

// SetGroupSetting sets one setting of a group, or with nil takes the group's own
// value away, and reads it back until the brokers have it. An error that is an
// UnseenSettingError says that it was set and not seen yet.
func (c *Client) SetGroupSetting(ctx context.Context, group, key string, value *string) error {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	rs := kmsg.NewIncrementalAlterConfigsRequestResource()
	rs.ResourceType, rs.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	x := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	x.Name, x.Value, x.Op = key, value, kmsg.IncrementalAlterConfigOpSet
	if value == nil {
		x.Op = kmsg.IncrementalAlterConfigOpDelete
	}
	rs.Configs = append(rs.Configs, x)
	req.Resources = append(req.Resources, rs)
	resp, err := req.RequestWith(ctx, c.cl)
	if err == nil && len(resp.Resources) != 1 {
		err = fmt.Errorf("the broker answered for %d groups", len(resp.Resources))
	}
	if err == nil {
		err = withMessage(resp.Resources[0].ErrorCode, resp.Resources[0].ErrorMessage)
	}
	if err != nil {
		return groupSettingError(ctx, "set", "ALTER_CONFIGS", group, key, err)
	}
	return c.awaitSetting(ctx, group, key, value)
}

// UnseenSettingError says that a setting was changed, and that reading it back
// showed another value.
type UnseenSettingError struct {
	Group, Key string
	Seen       Setting
}

func (e *UnseenSettingError) Error() string {
	return fmt.Sprintf("%s of group %q was set, and still reads %q", e.Key, e.Group, e.Seen.Value)
}

// unreadSettingError says that a setting was changed and could not be read back.
type unreadSettingError struct{ err error } // not unwrapped: it is no answer to the change

func (e *unreadSettingError) Error() string {
	return "it was set, but reading it back failed: " + e.err.Error()
}

// RefusedSetting reports whether an error says that a broker has answered and
// did not change the setting.
func RefusedSetting(err error) bool {
	_, unseen := errors.AsType[*UnseenSettingError](err)
	_, answered := errors.AsType[*kerr.Error](err)
	return answered && !unseen && !errors.Is(err, kerr.RequestTimedOut) && !errors.Is(err, kerr.NotController)
}

func (c *Client) awaitSetting(ctx context.Context, group, key string, value *string) error {
	ctx, cancel := context.WithTimeout(ctx, settingPatient)
	defer cancel()
	for {
		s, err := c.GroupSetting(ctx, group, key)
		if err != nil {
			return &unreadSettingError{err}
		}
		if value == nil && !s.Own || value != nil && s.Own && s.Value == *value {
			return nil
		}
		if clock.Sleep(ctx, settingEvery) != nil {
			return &UnseenSettingError{group, key, s}
		}
	}
}

func (c *Client) describeSetting(ctx context.Context, kind kmsg.ConfigResourceType, name, key string) (Setting, bool, error) {
	resp, err := c.askSettings(ctx, kind, name, []string{key}, nil)
	if err == nil {
		err = withMessage(resp.ErrorCode, resp.ErrorMessage)
	}
	if err != nil {
		return Setting{}, false, err
	}
	for _, x := range resp.Configs {
		if x.Name == key && x.Value != nil {
			return Setting{Value: *x.Value, Own: x.Source == kmsg.ConfigSourceGroupConfig}, true, nil
		}
	}
	return Setting{}, false, nil
}

// askSettings describes settings of one resource, by a broker of our choice or
// of any.
func (c *Client) askSettings(ctx context.Context, kind kmsg.ConfigResourceType, name string, keys []string, broker *int32) (*kmsg.DescribeConfigsResponseResource, error) {
	build := func() kmsg.Request {
		req := kmsg.NewPtrDescribeConfigsRequest()
		rs := kmsg.NewDescribeConfigsRequestResource()
		rs.ResourceType, rs.ResourceName, rs.ConfigNames = kind, name, keys
		req.Resources = append(req.Resources, rs)
		return req
	}
	var resp kmsg.Response
	var err error
	if broker != nil {
		resp, err = c.send(ctx, *broker, build())
	} else if resp, err = c.sendAny(ctx, build); errors.Is(err, errNoBroker) { // nothing was asked yet
		resp, err = c.cl.Request(ctx, build())
	}
	if err != nil {
		return nil, err
	}
	d, ok := resp.(*kmsg.DescribeConfigsResponse)
	if !ok || len(d.Resources) != 1 {
		return nil, errors.New("the broker's answer is not about what was asked")
	}
	return &d.Resources[0], nil
}

// withMessage is the error of a code with what the broker says about it; nil
// for none.
func withMessage(code int16, message *string) error {
	err := codeError(code)
	if err == nil || message == nil || *message == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, *message)
}

func groupSettingError(ctx context.Context, verb, operation, group, key string, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	hint := ""
	switch {
	case errors.Is(err, kerr.GroupAuthorizationFailed):
		hint = fmt.Sprintf("needs %s on group %q", operation, group)
	case errors.Is(err, kerr.InvalidRequest):
		hint = "brokers before 4.0 hold no settings of groups"
	}
	return errs.WithHint(fmt.Errorf("%s %s of group %q: %w", verb, key, group, err), hint)
}
