package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// SweepKind is the kind of the document of a sweep.
const SweepKind = "PlanSweep"

// Sweep is one plan for each value of something.
type Sweep struct {
	Kind          string     `json:"kind"`
	SchemaVersion int        `json:"schema_version"`
	Group         string     `json:"group"`
	Items         []SweepRow `json:"items"` // in the order asked for
}

// SweepRow is one plan of a sweep.
type SweepRow struct {
	Set    map[string]string     `json:"set"`
	Totals Totals                `json:"totals"`
	Varies map[string][2]float64 `json:"varies"`
	Before Balance               `json:"before"`
	After  Balance               `json:"after"`
}

// SweepSpec is what to vary.
type SweepSpec struct {
	Key    string // balancing-factor, add, or the key of a setting
	Values []string
}

// maxSweep bounds the values of a sweep.
const maxSweep = 1000

// ParseSweep reads KEY=VALUE,VALUE… or KEY=FROM..TO, for example
// balancing-factor=1,1.5,2 and add=0..5.
func ParseSweep(text string) (SweepSpec, error) {
	key, list, ok := strings.Cut(text, "=")
	s := SweepSpec{Key: key}
	if !ok || list == "" || key != "add" && key != "balancing-factor" && !slices.Contains(SettingKeys(), key) {
		return s, fmt.Errorf("sweep %q is not KEY=VALUES of balancing-factor, add or a setting", text)
	}
	if from, to, ok := strings.Cut(list, ".."); ok {
		a, err := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || a < 0 || b < a || b-a >= maxSweep {
			return s, fmt.Errorf("sweep %q: %q is no range of whole numbers", text, list)
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

// options are those of one value. Adding 0 is no change at all.
func (s SweepSpec) options(o Options, value string) (Options, error) {
	switch s.Key {
	case "add":
		a, err := ParseAdd(value)
		if err != nil {
			return o, err
		}
		if a.Count > 0 {
			o.Changes = append(slices.Clone(o.Changes), a)
		}
	case "balancing-factor":
		r, err := strconv.ParseFloat(value, 64)
		if err != nil || !(r >= 1) {
			return o, &SettingError{s.Key, value, "is no number from 1 on"}
		}
		o.Factor = r
	default:
		set := map[string]string{s.Key: value}
		for k, v := range o.Set {
			if k != s.Key {
				set[k] = v
			}
		}
		o.Set = set
	}
	return o, nil
}

// MakeSweep makes one plan a value.
func MakeSweep(in *Input, o Options, s SweepSpec) (*Sweep, error) {
	out := &Sweep{Kind: SweepKind, SchemaVersion: SchemaVersion, Group: in.Group, Items: []SweepRow{}}
	for _, value := range s.Values {
		of, err := s.options(o, value)
		if err != nil {
			return nil, err
		}
		p, err := Make(in, of)
		if err != nil {
			return nil, fmt.Errorf("%s=%s: %w", s.Key, value, err)
		}
		out.Items = append(out.Items, SweepRow{Set: map[string]string{s.Key: value}, Totals: p.Totals, Varies: p.NewIDs.Varies, Before: p.Before, After: p.After})
	}
	return out, nil
}
