package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Sweep is one plan for each value of something.
type Sweep struct {
	Group, Assignor string
	Taken           []Setting  // what every plan goes by, by key
	Findings        []Finding  // that every plan has
	Items           []SweepRow // in the order asked for
}

// SweepRow is one plan of a sweep.
type SweepRow struct {
	Set    map[string]string
	Totals Totals
	Varies map[Figure][2]float64
	Before Balance
	After  Balance
}

// Keys that a sweep varies besides settings.
const (
	SweepAdd    = "add"
	SweepFactor = "balancing-factor"
)

// SweepKeys are all that a sweep may vary.
func SweepKeys() []string { return append([]string{SweepAdd, SweepFactor}, SettingKeys()...) }

// SweepSpec is what to vary.
type SweepSpec struct {
	Key    string // one of SweepKeys
	Values []string
}

// maxSweep bounds the values of a sweep.
const maxSweep = 1000

// ParseSweep reads KEY=VALUE,VALUE… or KEY=FROM..TO, for example
// balancing-factor=1,1.5,2 and add=0..5.
func ParseSweep(text string) (SweepSpec, error) {
	key, list, ok := strings.Cut(text, "=")
	s := SweepSpec{Key: key}
	if !ok || list == "" || !slices.Contains(SweepKeys(), key) {
		return s, fmt.Errorf("sweep %q is not KEY=VALUES of balancing-factor, add or a setting", text)
	}
	if from, to, ok := strings.Cut(list, ".."); ok {
		a, err := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		switch {
		case err != nil || err2 != nil || a < 0 || b < 0:
			return s, fmt.Errorf("sweep %q: %q is no range of whole numbers", text, list)
		case b < a:
			return s, fmt.Errorf("sweep %q: the range %q runs backwards", text, list)
		case b-a >= maxSweep:
			return s, fmt.Errorf("sweep %q: the range %q has more than %d values", text, list, maxSweep)
		}
		for n := a; n <= b; n++ {
			s.Values = append(s.Values, strconv.Itoa(n))
		}
		return s, nil
	}
	s.Values = strings.Split(list, ",")
	if len(s.Values) > maxSweep {
		return s, fmt.Errorf("sweep %q has more than %d values", text, maxSweep)
	}
	return s, nil
}

// Check says what is wrong with the values, before there is a group: a
// *ChangeError or a *SettingError, or nil.
func (s SweepSpec) Check() error {
	for _, value := range s.Values {
		var err error
		switch s.Key {
		case SweepAdd:
			_, err = ParseAdd(value)
		case SweepFactor:
			_, err = ParseFactor(value)
		default:
			err = CheckSetting(s.Key, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// options are those of one value. Adding 0 is no change at all.
func (s SweepSpec) options(o Options, value string) (Options, error) {
	switch s.Key {
	case SweepAdd:
		a, err := ParseAdd(value)
		if err != nil {
			return o, err
		}
		if a.Count > 0 {
			o.Changes = append(slices.Clone(o.Changes), a)
		}
	case SweepFactor:
		r, err := ParseFactor(value)
		if err != nil {
			return o, err
		}
		o.Factor = r
	default:
		o.Set = maps.Clone(o.Set)
		if o.Set == nil {
			o.Set = map[string]string{}
		}
		o.Set[s.Key] = value
	}
	return o, nil
}

// MakeSweep makes one plan a value.
func MakeSweep(in *Input, o Options, s SweepSpec) (*Sweep, error) {
	out := &Sweep{Group: in.Group, Items: []SweepRow{}}
	for i, value := range s.Values {
		of, err := s.options(o, value)
		if err != nil {
			return nil, err
		}
		p, err := Make(in, of)
		if err != nil {
			return nil, fmt.Errorf("%s=%s: %w", s.Key, value, err)
		}
		if i == 0 {
			out.Assignor, out.Taken, out.Findings = p.Assignor, slices.Clone(p.Taken), slices.Clone(p.Findings)
		}
		out.Taken = slices.DeleteFunc(out.Taken, func(x Setting) bool { return !slices.Contains(p.Taken, x) })
		out.Findings = slices.DeleteFunc(out.Findings, func(x Finding) bool { return !slices.Contains(p.Findings, x) })
		out.Items = append(out.Items, SweepRow{Set: map[string]string{s.Key: value}, Totals: p.Totals, Varies: p.NewIDs.Varies, Before: p.Before, After: p.After})
	}
	return out, nil
}
