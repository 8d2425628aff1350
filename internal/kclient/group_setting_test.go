package kclient

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/errs"
)

// settingsOf lets the fake hold settings of groups, which kfake does not. Each
// change is seen by so many descriptions only later.
type settingsOf struct {
	mu     sync.Mutex
	own    map[string]string // of group billing
	late   int
	seen   map[string]string
	refuse int16
	text   string
}

func (s *settingsOf) serve(f *fake) {
	f.ControlKey(int16(kmsg.DescribeConfigs), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.late--; s.late <= 0 {
			s.seen = map[string]string{}
			for k, v := range s.own {
				s.seen[k] = v
			}
		}
		resp := kreq.ResponseKind().(*kmsg.DescribeConfigsResponse)
		for _, rs := range kreq.(*kmsg.DescribeConfigsRequest).Resources {
			out := kmsg.NewDescribeConfigsResponseResource()
			out.ResourceType, out.ResourceName = rs.ResourceType, rs.ResourceName
			for _, key := range rs.ConfigNames {
				x := kmsg.NewDescribeConfigsResponseResourceConfig()
				value := "0"
				x.Name, x.Value, x.Source = key, &value, kmsg.ConfigSourceDefaultConfig
				if rs.ResourceType == kmsg.ConfigResourceTypeBroker {
					value = "2"
				} else if v, ok := s.seen[key]; ok {
					value, x.Source = v, kmsg.ConfigSourceGroupConfig
				}
				if key != "nosuch" {
					out.Configs = append(out.Configs, x)
				}
			}
			resp.Resources = append(resp.Resources, out)
		}
		return resp, nil, true
	})
	f.ControlKey(int16(kmsg.IncrementalAlterConfigs), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		s.mu.Lock()
		defer s.mu.Unlock()
		req := kreq.(*kmsg.IncrementalAlterConfigsRequest)
		resp := kreq.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
		out := kmsg.NewIncrementalAlterConfigsResponseResource()
		out.ResourceType, out.ResourceName = req.Resources[0].ResourceType, req.Resources[0].ResourceName
		if out.ErrorCode = s.refuse; s.refuse != 0 {
			out.ErrorMessage = &s.text
		} else {
			for _, x := range req.Resources[0].Configs {
				if x.Op == kmsg.IncrementalAlterConfigOpDelete {
					delete(s.own, x.Name)
				} else {
					s.own[x.Name] = *x.Value
				}
			}
		}
		resp.Resources = append(resp.Resources, out)
		return resp, nil, true
	})
}

// A setting is set, read back until it is seen, and taken away again.
func TestGroupSetting(t *testing.T) {
	f := newFake(t)
	s := &settingsOf{own: map[string]string{}}
	s.serve(f)
	c := dialTest(t, f.connection())
	ctx := within(t, 20*time.Second)
	if got, err := c.GroupSetting(ctx, "billing", KeyGroupStandbys); err != nil || got != (Setting{Value: "0"}) {
		t.Fatalf("default: %+v, %v", got, err)
	}
	s.late = 3
	one := "1"
	if err := c.SetGroupSetting(ctx, "billing", KeyGroupStandbys, &one); err != nil {
		t.Fatal(err)
	}
	if got, err := c.GroupSetting(ctx, "billing", KeyGroupStandbys); err != nil || got != (Setting{Value: "1", Own: true}) {
		t.Errorf("set: %+v, %v", got, err)
	}
	if n := len(f.requests(int16(kmsg.DescribeConfigs))); n < 4 {
		t.Errorf("read back after %d descriptions, though it was seen by the fourth", n)
	}
	if err := c.SetGroupSetting(ctx, "billing", KeyGroupStandbys, nil); err != nil {
		t.Fatal(err)
	}
	if len(s.own) != 0 {
		t.Errorf("left: %v", s.own)
	}
	if err := c.SetGroupSetting(ctx, "billing", KeyGroupStandbys, nil); err != nil {
		t.Errorf("taken away twice: %v", err)
	}
	if got := c.BrokerSettings(ctx, 0, KeyMostStandbys, "nosuch"); len(got) != 1 || got[KeyMostStandbys] != "2" {
		t.Errorf("broker: %v", got)
	}
	if _, err := c.GroupSetting(ctx, "billing", "nosuch"); err == nil {
		t.Error("no error for a setting that the broker does not know")
	}
}

func TestGroupSettingRefused(t *testing.T) {
	f := newFake(t)
	s := &settingsOf{own: map[string]string{}}
	s.serve(f)
	c := dialTest(t, f.connection())
	ctx := within(t, 20*time.Second)
	one := "1"
	s.refuse, s.text = kerr.GroupAuthorizationFailed.Code, "no"
	err := c.SetGroupSetting(ctx, "billing", KeyGroupStandbys, &one)
	if !errors.Is(err, kerr.GroupAuthorizationFailed) || !RefusedSetting(err) || !strings.Contains(strings.Join(errs.Hints(err), " "), `needs ALTER_CONFIGS on group "billing"`) {
		t.Errorf("not allowed: %v, hints %q", err, errs.Hints(err))
	}
	s.refuse, s.text = kerr.InvalidConfig.Code, "streams.num.standby.replicas must be at most 2"
	if err := c.SetGroupSetting(ctx, "billing", KeyGroupStandbys, &one); err == nil || !strings.Contains(err.Error(), "at most 2") || !RefusedSetting(err) {
		t.Errorf("too many: %v", err)
	}
	s.refuse, s.late = 0, 1_000_000
	short := within(t, 300*time.Millisecond)
	if err := c.SetGroupSetting(short, "billing", KeyGroupStandbys, &one); err == nil || RefusedSetting(err) {
		t.Errorf("never seen: %v, taken for refused: %t", err, RefusedSetting(err))
	}
}
