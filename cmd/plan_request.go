package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/assign"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/plan"
)

// planRequest is the change as the flags give it.
type planRequest struct {
	changes [][]string // by the flags of changeFlags
	set     []string

	factor      float64 // 0: not given
	assignor    string
	restoreRate string
	maxRounds   int // 0: not given
}

// changeFlags are the flags that change a group, each repeatable, with what
// they take.
func changeFlags() [][2]string {
	return [][2]string{
		{"add", "`instances` that join: N[xTHREADS][,id=UUID][,name=NAME][,rack=RACK][,state=all|TASKS]"},
		{"remove", "`instance` that goes: NAME[,how=stop|kill|leave]"},
		{"leaving", "`instance` that is marked as leaving (worker groups)"},
		{"bounce", "`instance` that is restarted: NAME[,threads=N][,static]"},
		{"threads", "`INSTANCE=N`: number of its threads"},
		{"partitions", "`TOPIC=N`: number of its partitions"},
	}
}

// given reports whether anything was asked for.
func (r *planRequest) given() bool {
	return slices.ContainsFunc(r.changes, func(l []string) bool { return len(l) > 0 }) || len(r.set) > 0 || r.factor != 0 ||
		r.assignor != "" || r.restoreRate != "" || r.maxRounds != 0
}

// options reads the request. The error is bad usage.
func (r *planRequest) options() (plan.Options, error) {
	o := plan.Options{Set: map[string]string{}, Factor: r.factor, Assignor: r.assignor, MaxRounds: r.maxRounds}
	for i, texts := range r.changes {
		flag := changeFlags()[i][0]
		for _, text := range texts {
			c, err := plan.ParseChange(flag, text)
			if err != nil {
				return o, usageErr(flag, err)
			}
			o.Changes = append(o.Changes, c)
		}
	}
	for _, s := range r.set {
		key, value, err := plan.ParseSet(s)
		if err == nil {
			err = plan.CheckSetting(key, value)
		}
		if err != nil {
			return o, settingUsage("--set", err)
		}
		if old, twice := o.Set[key]; twice && old != value {
			return o, errs.Usagef("--set: %q is given twice, as %q and as %q", key, old, value)
		}
		o.Set[key] = value
	}
	if r.factor != 0 && !(r.factor >= 1) {
		return o, errs.Usagef("--balancing-factor: %g is below 1", r.factor)
	}
	if names := assignorNames(); r.assignor != "" && !slices.Contains(names, r.assignor) {
		return o, unknownWord("--assignor", "assignor", r.assignor, names)
	}
	if r.restoreRate != "" {
		var err error
		if o.Rate, err = plan.ParseRate(r.restoreRate); err != nil {
			return o, usageErr("restore-rate", err)
		}
	}
	if r.maxRounds < 0 {
		return o, errs.Usagef("--max-rounds: %d is negative", r.maxRounds)
	}
	return o, nil
}

func assignorNames() []string { return assign.Names() }

// parseSweep reads --sweep. The error is bad usage, with the nearest key.
func parseSweep(text string) (*plan.SweepSpec, error) {
	s, err := plan.ParseSweep(text)
	if err == nil {
		for _, v := range s.Values {
			if err := checkSwept(s.Key, v); err != nil {
				return nil, usageErr("sweep", err)
			}
		}
		return &s, nil
	}
	known := append([]string{"add", "balancing-factor"}, plan.SettingKeys()...)
	if key, list, ok := strings.Cut(text, "="); ok && list != "" && !slices.Contains(known, key) {
		return nil, unknownWord("--sweep", "setting", key, known)
	}
	return nil, usageErr("sweep", err)
}

// checkSwept says what is wrong with one value of a sweep.
func checkSwept(key, value string) error {
	switch key {
	case "add":
		_, err := plan.ParseAdd(value)
		return err
	case "balancing-factor":
		key = plan.KeyFactor
	}
	return plan.CheckSetting(key, value)
}

// settingUsage makes a setting that a plan does not know, or a value that it
// cannot have, bad usage with the nearest key.
func settingUsage(flag string, err error) error {
	s, ok := errors.AsType[*plan.SettingError](err)
	if ok && !slices.Contains(plan.SettingKeys(), s.Key) && s.Key != "assignor" && s.Key != "balancing-factor" {
		return unknownWord(flag, "setting", s.Key, plan.SettingKeys())
	}
	return errs.Usagef("%s: %w", flag, err)
}

// unknownWord is bad usage: a word that is none of those known, with the
// nearest.
func unknownWord(flag, what, word string, known []string) error {
	err := errs.Usagef("%s: %q is no %s", flag, word, what)
	if near := nearestKey(word, known); near != "" {
		return errs.WithHint(err, fmt.Sprintf("did you mean %q?", near))
	}
	return errs.WithHint(err, "one of "+strings.Join(known, ", "))
}

// nearestKey is nearestWord, which also finds what a word is a part of.
func nearestKey(word string, known []string) string {
	word = strings.ToLower(strings.ReplaceAll(word, "_", "."))
	if near := nearestWord(word, known); near != "" {
		return near
	}
	for _, k := range known {
		if len(word) >= 4 && strings.Contains(k, word) {
			return k
		}
	}
	return ""
}
