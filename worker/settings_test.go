package worker

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
)

func TestParseSettings(t *testing.T) {
	got, err := ParseSettings(map[string]string{
		SettingMode: "upgrading", SettingBalancingFactor: "1.25", SettingScaleDownTimeout: "1500", SettingStandbyReplicas: "2",
		SettingAcceptableLag: "0", SettingMaxLearners: "3", SettingRejoinPolicy: "eager",
	})
	want := Settings{Upgrading, 1250, 1500 * time.Millisecond, 2, 0, 3, RejoinEager}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	got, err = ParseSettings(nil)
	if err != nil || got != (Settings{Incremental, 2000, NoTimeout, 0, 10000, 0, RejoinStable}) {
		t.Errorf("defaults %+v, %v", got, err)
	}
	got, err = ParseSettings(map[string]string{SettingScaleDownTimeout: "infinity", SettingMaxLearners: "unlimited", SettingBalancingFactor: "3"})
	if err != nil || got != (Settings{Incremental, 3000, NoTimeout, 0, 10000, 0, RejoinStable}) {
		t.Errorf("words %+v, %v", got, err)
	}
}

func TestBadSettings(t *testing.T) {
	for _, c := range []struct{ key, value, says string }{
		{SettingMode, "eager", "upgrading, incremental"},
		{SettingRejoinPolicy, "", "stable, eager"},
		{SettingBalancingFactor, "0.999", "from 1 to 1000"},
		{SettingBalancingFactor, "1.2345", "three decimals"},
		{SettingBalancingFactor, "-2", "from 1 to 1000"},
		{SettingBalancingFactor, ".5", "from 1 to 1000"},
		{SettingScaleDownTimeout, "-5", "milliseconds, or infinity"},
		{SettingScaleDownTimeout, "9223372036854775807", "milliseconds, or infinity"},
		{SettingStandbyReplicas, "-1", "from 0 to 1000"},
		{SettingAcceptableLag, "1e4", "at least 0"},
		{SettingMaxLearners, "0", "or unlimited"},
		{"max.learner", "1", "no setting has this name"},
	} {
		_, err := ParseSettings(map[string]string{c.key: c.value})
		e, ok := errors.AsType[*SettingError](err)
		if !ok || e.Key != c.key || e.Value != c.value || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s=%s: %v", c.key, c.value, err)
		}
	}
}

func TestCheckSettings(t *testing.T) {
	for name, spoil := range map[string]func(*Settings){
		SettingMode:             func(s *Settings) { s.Mode = "" },
		SettingRejoinPolicy:     func(s *Settings) { s.RejoinPolicy = "never" },
		SettingBalancingFactor:  func(s *Settings) { s.BalancingFactor = 999 },
		SettingScaleDownTimeout: func(s *Settings) { s.ScaleDownTimeout = -2 },
		SettingStandbyReplicas:  func(s *Settings) { s.StandbyReplicas = -1 },
		SettingAcceptableLag:    func(s *Settings) { s.AcceptableLag = -1 },
		SettingMaxLearners:      func(s *Settings) { s.MaxLearners = math.MaxInt64 },
	} {
		s := DefaultSettings()
		spoil(&s)
		if err := s.check(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := DefaultSettings()
	if err := s.check(); err != nil {
		t.Error(err)
	}
}

func TestUUID(t *testing.T) {
	a, b := newUUID(), newUUID()
	if !control.IsUUID(a) || a == b || a[14] != '4' {
		t.Errorf("%s, %s", a, b)
	}
}

func TestIdentityStays(t *testing.T) {
	dir := t.TempDir() + "/new"
	a, err := identity(dir)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := identity(dir); err != nil || b != a {
		t.Errorf("%s became %s, %v", a, b, err)
	}
}
