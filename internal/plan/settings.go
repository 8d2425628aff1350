package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/model"
)

// Keys of settings that a plan goes by.
const (
	KeyStandbys      = "num.standby.replicas"
	KeyWarmups       = "max.warmup.replicas"
	KeyAcceptableLag = "acceptable.recovery.lag"
	KeyProbing       = "probing.rebalance.interval.ms"
	KeyRackStrategy  = "rack.aware.assignment.strategy"
	KeyRackTags      = "rack.aware.assignment.tags"
	KeyRackTraffic   = "rack.aware.assignment.traffic_cost"
	KeyRackOverlap   = "rack.aware.assignment.non_overlap_cost"
	KeySession       = "session.timeout.ms"
	KeyHeartbeat     = "heartbeat.interval.ms"
	KeyMaxLearners   = "max.learners"
	KeyRejoin        = "rejoin.policy"
	KeyFactor        = "stream.worker.balancing.factor"
	KeyScaleDown     = "scale.down.timeout.ms"
	KeyFollowUp      = "streamctl.followup.interval.ms"
)

// longestMs bounds settings that are times: a year. What is longer says "never",
// and adding it up over some hundred rounds would not fit a time.
const longestMs = 365 * 24 * 3600 * 1000

// settingSpec is one setting: who reads it, its default and the least value.
type settingSpec struct {
	key       string
	assignors string // letters: h, s, l, and p for learner as the plug-in of classic groups
	preset    string
	numeric   bool
	least     int64
	read      func(*settings, string, int64)
}

// settings are all that the simulations go by.
type settings struct {
	assign.Settings
	probingMs, sessionMs, heartbeatMs int64
	factor                            float64
	maxLearners                       int
	eager                             bool
	scaleDownMs                       int64 // negative: no deadline
	followUpMs                        int64

	taken        []Setting // by key
	sessionTaken bool      // the session timeout is a default
}

func settingSpecs() []settingSpec {
	return []settingSpec{
		{KeyAcceptableLag, "hlp", "10000", true, 0, func(s *settings, _ string, n int64) { s.AcceptableLag = n }},
		{KeyHeartbeat, "hslp", "3000", true, 1, func(s *settings, _ string, n int64) { s.heartbeatMs = n }},
		{KeyMaxLearners, "l", "unlimited", true, 1, func(s *settings, _ string, n int64) { s.maxLearners = int(min(n, math.MaxInt32)) }},
		{KeyWarmups, "hp", "2", true, 1, func(s *settings, _ string, n int64) { s.MaxWarmups = int(min(n, math.MaxInt32)) }},
		{KeyStandbys, "hslp", "0", true, 0, func(s *settings, _ string, n int64) { s.Standbys = int(min(n, math.MaxInt16)) }},
		{KeyProbing, "h", "600000", true, 60000, func(s *settings, _ string, n int64) { s.probingMs = n }},
		{KeyRackOverlap, "h", "", true, 0, func(s *settings, _ string, n int64) { s.RackNonOverlapCost = int(min(n, math.MaxInt32)) }},
		{KeyRackStrategy, "h", "none", false, 0, func(s *settings, v string, _ int64) { s.RackStrategy = assign.RackStrategy(v) }},
		{KeyRackTags, "h", "", false, 0, func(s *settings, v string, _ int64) { s.StandbyTags = splitList(v) }},
		{KeyRackTraffic, "h", "", true, 0, func(s *settings, _ string, n int64) { s.RackTrafficCost = int(min(n, math.MaxInt32)) }},
		{KeyRejoin, "l", "stable", false, 0, func(s *settings, v string, _ int64) { s.eager = v == "eager" }},
		{KeyScaleDown, "lp", "", true, 0, func(s *settings, _ string, n int64) { s.scaleDownMs = n }},
		{KeySession, "hslp", "45000", true, 1, func(s *settings, _ string, n int64) { s.sessionMs = n }},
		{KeyFactor, "hslp", "2", false, 0, nil},
		{KeyFollowUp, "p", "5000", true, 100, func(s *settings, _ string, n int64) { s.followUpMs = n }},
	}
}

func splitList(v string) []string {
	var out []string
	for _, p := range strings.Split(v, ",") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// SettingError says what is wrong with a setting that a person gave.
type SettingError struct{ Key, Value, Why string }

func (e *SettingError) Error() string {
	return fmt.Sprintf("setting %q: %q %s", e.Key, e.Value, e.Why)
}

// SettingKeys are the keys that can be set, sorted.
func SettingKeys() []string {
	var out []string
	for _, s := range settingSpecs() {
		out = append(out, s.key)
	}
	slices.Sort(out)
	return out
}

// CheckSetting says what is wrong with a setting that a person gives, before
// there is a group: a *SettingError, or nil.
func CheckSetting(key, value string) error {
	for _, spec := range settingSpecs() {
		switch {
		case spec.key != key:
			continue
		case spec.numeric && value == "":
			return &SettingError{key, value, "is no whole number"}
		}
		return (&settings{}).take(spec, value, "user")
	}
	return unknownSetting(key, value)
}

func unknownSetting(key, value string) *SettingError {
	return &SettingError{key, value, "is given for a setting that a plan does not know; it knows " + strings.Join(SettingKeys(), ", ")}
}

// resolve gathers the settings: what the user gave, else what the group is
// known to have, else the default.
func resolve(in *Input, assignor string, o *Options) (*settings, error) {
	for key, value := range o.Set {
		if !slices.Contains(SettingKeys(), key) {
			return nil, unknownSetting(key, value)
		}
	}
	s := &settings{Settings: assign.DefaultSettings(), scaleDownMs: -1}
	letter := map[string]string{assign.NameHighAvailability: "h", assign.NameStreamsSticky: "s", NameLearner: "l"}[assignor]
	if letter == "l" && in.plug != nil {
		letter = "p"
	}
	for _, spec := range settingSpecs() {
		value, source := spec.preset, "default"
		if spec.key == KeyHeartbeat && in.Kind == model.Streams {
			value = "5000"
		}
		for _, known := range in.Settings {
			if known.Key == spec.key {
				value, source = known.Value, known.Source
			}
		}
		if v, ok := o.Set[spec.key]; ok {
			value, source = v, "user"
		}
		if spec.key == KeyFactor && o.Factor != 0 {
			value, source = strconv.FormatFloat(o.Factor, 'f', -1, 64), "user"
		}
		if err := s.take(spec, value, source); err != nil {
			return nil, err
		}
		if strings.Contains(spec.assignors, letter) && (source != "default" || spec.preset != "") && spec.key != KeyFactor && !(spec.key == KeyRackStrategy && source == "default") {
			s.taken = append(s.taken, Setting{spec.key, value, source})
		}
	}
	return s, nil
}

func (s *settings) take(spec settingSpec, value, source string) error {
	switch spec.key {
	case KeyRackStrategy:
		if !slices.Contains([]string{"none", "min_traffic", "balance_subtopology"}, value) {
			return &SettingError{spec.key, value, "is none of none, min_traffic, balance_subtopology"}
		}
	case KeyRejoin:
		if value != "stable" && value != "eager" {
			return &SettingError{spec.key, value, "is neither stable nor eager"}
		}
	case KeyFactor:
		r, err := ParseFactor(value)
		if err != nil {
			return err
		}
		s.factor = r
		return nil
	case KeySession:
		s.sessionTaken = source == "default"
	}
	n := int64(0)
	if spec.numeric {
		if value == "" || value == spec.preset && value == "unlimited" {
			return nil
		}
		var err error
		if n, err = strconv.ParseInt(value, 10, 64); err != nil || n < spec.least {
			return &SettingError{spec.key, value, fmt.Sprintf("is no whole number from %d on", spec.least)}
		}
		if strings.HasSuffix(spec.key, ".ms") && n > longestMs {
			if source == "user" {
				return &SettingError{spec.key, value, fmt.Sprintf("is more than a year (%d): a plan cannot wait that long", int64(longestMs))}
			}
			n = longestMs
		}
	}
	spec.read(s, value, n)
	return nil
}

// ParseFactor reads a balancing factor: a number from 1 to 1,000,000. The error
// is a *SettingError.
func ParseFactor(text string) (float64, error) {
	r, err := strconv.ParseFloat(text, 64)
	if err != nil || !(r >= 1) || r > 1e6 {
		return 0, &SettingError{KeyFactor, text, "is no number from 1 to 1000000"}
	}
	return r, nil
}
