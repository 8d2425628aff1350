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

// planRequest is the change as the flags give it; "" and 0 are what is not
// given.
type planRequest struct {
	changes []changeFlag
	set     []string

	factor      string
	assignor    string
	restoreRate string
	maxRounds   int
}

// changeFlag is a flag that changes a group, repeatable, with what it takes.
type changeFlag struct {
	name, usage string
	values      []string
}

func changeFlags() []changeFlag {
	return []changeFlag{
		{name: "add", usage: "`instances` that join: N or NxTHREADS, with options as above"},
		{name: "remove", usage: "`instance` that goes: NAME[,how=stop|kill|leave]"},
		{name: "leaving", usage: "`instance` that is marked as leaving (not classic groups without the plug-in)"},
		{name: "bounce", usage: "`instance` that is restarted: NAME[,threads=N][,static]"},
		{name: "threads", usage: "`INSTANCE=N`: number of its threads"},
		{name: "partitions", usage: "`TOPIC=N`: number of its partitions"},
	}
}

// given reports whether anything was asked for.
func (r *planRequest) given() bool {
	return slices.ContainsFunc(r.changes, func(f changeFlag) bool { return len(f.values) > 0 }) || len(r.set) > 0 || r.factor != "" ||
		r.assignor != "" || r.restoreRate != "" || r.maxRounds != 0
}

// readChanges reads the flags that change the group, each thing once.
func (r *planRequest) readChanges() ([]plan.Change, error) {
	var out []plan.Change
	for _, f := range r.changes {
		seen := map[string]bool{}
		for _, text := range f.values {
			c, err := plan.ParseChange(f.name, text)
			if err != nil {
				return nil, usageErr(f.name, err)
			}
			what := ""
			switch x := c.(type) {
			case plan.Threads:
				what = x.Instance
			case plan.Partitions:
				what = x.Topic
			}
			if what != "" && seen[what] {
				return nil, errs.Usagef("--%s: %q is given twice", f.name, what)
			}
			seen[what] = true
			out = append(out, c)
		}
	}
	return out, nil
}

// options reads the request. The error is bad usage.
func (r *planRequest) options() (plan.Options, error) {
	o := plan.Options{Set: map[string]string{}, Assignor: r.assignor, MaxRounds: r.maxRounds}
	var err error
	if o.Changes, err = r.readChanges(); err != nil {
		return o, err
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
	if r.factor != "" {
		if o.Factor, err = plan.ParseFactor(r.factor); err != nil {
			return o, errs.Usagef("--balancing-factor: %q is no number from 1 to 1000000", r.factor)
		}
	}
	if names := assign.Names(); r.assignor != "" && !slices.Contains(names, r.assignor) {
		return o, unknownWord("--assignor", "assignor", r.assignor, names)
	}
	if r.restoreRate != "" {
		if o.Rate, err = plan.ParseRate(r.restoreRate); err != nil {
			return o, usageErr("restore-rate", err)
		}
	}
	if r.maxRounds < 0 {
		return o, errs.Usagef("--max-rounds: %d is negative", r.maxRounds)
	}
	return o, nil
}

// parseSweep reads --sweep. The error is bad usage, with the nearest key.
func parseSweep(text string) (*plan.SweepSpec, error) {
	s, err := plan.ParseSweep(text)
	if key, list, ok := strings.Cut(text, "="); err != nil && ok && list != "" && !slices.Contains(plan.SweepKeys(), key) {
		return nil, unknownWord("--sweep", "setting", key, plan.SweepKeys())
	}
	if err == nil {
		err = s.Check()
	}
	if bad, ok := errors.AsType[*plan.SettingError](err); ok && s.Key == plan.SweepFactor {
		err = fmt.Errorf("%s: %q %s", s.Key, bad.Value, bad.Why)
	}
	if err != nil {
		return nil, usageErr("sweep", err)
	}
	return &s, nil
}

// settingUsage makes a setting that a plan does not know, or a value that it
// cannot have, bad usage with the nearest key.
func settingUsage(flag string, err error) error {
	s, ok := errors.AsType[*plan.SettingError](err)
	if ok && !slices.Contains(plan.SettingKeys(), s.Key) && s.Key != "assignor" {
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
