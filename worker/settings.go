package worker

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The names of the settings (docs/protocol/stream-protocol.md, Configuration).
const (
	SettingMode             = "stream.rebalancing.mode"
	SettingBalancingFactor  = "stream.worker.balancing.factor"
	SettingScaleDownTimeout = "scale.down.timeout.ms"
	SettingStandbyReplicas  = "num.standby.replicas"
	SettingAcceptableLag    = "acceptable.recovery.lag"
	SettingMaxLearners      = "max.learners"
	SettingRejoinPolicy     = "rejoin.policy"
)

// Mode is stream.rebalancing.mode.
type Mode string

// The modes. A record in the control topic counts more than the setting.
const (
	Upgrading   Mode = "upgrading"
	Incremental Mode = "incremental"
)

// RejoinPolicy is rejoin.policy: whether a worker asks for a round when all its
// learners are ready, or whenever one is.
type RejoinPolicy string

// The policies.
const (
	RejoinStable RejoinPolicy = "stable"
	RejoinEager  RejoinPolicy = "eager"
)

// Settings are the settings of the protocol.
type Settings struct {
	Mode             Mode
	BalancingFactor  int64         // r in thousandths, ≥ 1000
	ScaleDownTimeout time.Duration // whole milliseconds; NoTimeout: it waits for as long as it takes
	StandbyReplicas  int32         // per stateful task, learners not counted
	AcceptableLag    int64         // records
	MaxLearners      int64         // in the group; 0: unlimited
	RejoinPolicy     RejoinPolicy
}

// NoTimeout is a ScaleDownTimeout without end.
const NoTimeout time.Duration = -1

// DefaultSettings are the defaults of the protocol.
func DefaultSettings() Settings {
	return Settings{Mode: Incremental, BalancingFactor: 2000, ScaleDownTimeout: NoTimeout, AcceptableLag: 10000, RejoinPolicy: RejoinStable}
}

// SettingError is a value that a setting cannot have.
type SettingError struct {
	Key, Value string
	Allowed    string // what it can be, in words
}

// Error names the setting, the value and what is allowed.
func (e *SettingError) Error() string {
	return fmt.Sprintf("setting %q: %q is not allowed: %s", e.Key, e.Value, e.Allowed)
}

// ParseSettings reads settings by their names; what is not given has its
// default. An unknown name is a *SettingError too.
func ParseSettings(values map[string]string) (Settings, error) {
	s := DefaultSettings()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if allowed := s.set(key, strings.TrimSpace(values[key])); allowed != "" {
			return Settings{}, &SettingError{Key: key, Value: values[key], Allowed: allowed}
		}
	}
	return s, nil
}

// set sets one setting and returns what it can be when the value is none.
func (s *Settings) set(key, v string) (allowed string) {
	switch key {
	case SettingMode:
		s.Mode = Mode(v)
		return oneOf(v, string(Upgrading), string(Incremental))
	case SettingRejoinPolicy:
		s.RejoinPolicy = RejoinPolicy(v)
		return oneOf(v, string(RejoinStable), string(RejoinEager))
	case SettingBalancingFactor:
		return s.setFactor(v)
	case SettingScaleDownTimeout:
		if v == "infinity" || v == "-1" {
			s.ScaleDownTimeout = NoTimeout
			return ""
		}
		ms, allowed := number(v, 0, maxTimeoutMs)
		s.ScaleDownTimeout = time.Duration(ms) * time.Millisecond
		return allowed + orInfinity(allowed)
	case SettingStandbyReplicas:
		n, allowed := number(v, 0, maxReplicas)
		s.StandbyReplicas = int32(n)
		return allowed
	case SettingAcceptableLag:
		s.AcceptableLag, allowed = number(v, 0, math.MaxInt64)
		return allowed
	case SettingMaxLearners:
		if v == "unlimited" {
			s.MaxLearners = 0
			return ""
		}
		s.MaxLearners, allowed = number(v, 1, math.MaxInt32)
		if allowed != "" {
			allowed += ", or unlimited"
		}
		return allowed
	}
	return "no setting has this name; those of the protocol are " + strings.Join(settingNames(), ", ")
}

const (
	maxTimeoutMs = int64(10 * 365 * 24 * time.Hour / time.Millisecond)
	maxReplicas  = 1000
	maxFactor    = 1_000_000 // 1000 in thousandths
)

func orInfinity(allowed string) string {
	if allowed == "" {
		return ""
	}
	return " of milliseconds, or infinity"
}

func settingNames() []string {
	return []string{
		SettingMode, SettingBalancingFactor, SettingScaleDownTimeout, SettingStandbyReplicas, SettingAcceptableLag, SettingMaxLearners, SettingRejoinPolicy,
	}
}

// setFactor reads r, a number with at most three decimals.
func (s *Settings) setFactor(v string) string {
	const allowed = "a number from 1 to 1000 with at most three decimals"
	whole, decimals, _ := strings.Cut(v, ".")
	if len(decimals) > 3 || whole == "" {
		return allowed
	}
	n, err := strconv.ParseUint(whole+decimals+strings.Repeat("0", 3-len(decimals)), 10, 32)
	if err != nil || n < 1000 || n > maxFactor {
		return allowed
	}
	s.BalancingFactor = int64(n)
	return ""
}

func oneOf(v string, words ...string) string {
	if slices.Contains(words, v) {
		return ""
	}
	return "one of " + strings.Join(words, ", ")
}

func number(v string, low, high int64) (int64, string) {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < low || n > high {
		if high == math.MaxInt64 {
			return 0, fmt.Sprintf("a whole number, at least %d", low)
		}
		return 0, fmt.Sprintf("a whole number from %d to %d", low, high)
	}
	return n, ""
}

// check refuses settings that were not made by ParseSettings and are wrong.
func (s *Settings) check() error {
	bad := func(key string, v any, allowed string) error {
		return &SettingError{Key: key, Value: fmt.Sprint(v), Allowed: allowed}
	}
	switch {
	case s.Mode != Upgrading && s.Mode != Incremental:
		return bad(SettingMode, s.Mode, "one of upgrading, incremental")
	case s.RejoinPolicy != RejoinStable && s.RejoinPolicy != RejoinEager:
		return bad(SettingRejoinPolicy, s.RejoinPolicy, "one of stable, eager")
	case s.BalancingFactor < 1000 || s.BalancingFactor > maxFactor:
		return bad(SettingBalancingFactor, s.BalancingFactor, "1000 to 1000000 thousandths")
	case s.ScaleDownTimeout < 0 && s.ScaleDownTimeout != NoTimeout:
		return bad(SettingScaleDownTimeout, s.ScaleDownTimeout, "at least 0, or NoTimeout")
	case s.StandbyReplicas < 0 || s.StandbyReplicas > maxReplicas:
		return bad(SettingStandbyReplicas, s.StandbyReplicas, "a whole number from 0 to 1000")
	case s.AcceptableLag < 0:
		return bad(SettingAcceptableLag, s.AcceptableLag, "a whole number, at least 0")
	case s.MaxLearners < 0 || s.MaxLearners > math.MaxInt32:
		return bad(SettingMaxLearners, s.MaxLearners, "at least 1, or 0 for unlimited")
	}
	return nil
}
