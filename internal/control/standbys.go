package control

import "time"

const maxStandbysFor = 1000 // instances

// Standbys is the record "standbys": num.standby.replicas of a group was raised
// for a drain.
type Standbys struct {
	Before    string   // the value before; "" when not known
	BeforeOwn bool     // that was the group's own setting, not the broker's default
	Set       string   // the value set
	Earlier   []string // values set before it for the same instances, in order
	Instances []string // what it was raised for
	At        time.Time
	Who       string
	Reason    string // "" for none

	Offset int64 // of the record read; not part of the value
}

type standbysWire struct {
	schema
	Before    *string  `json:"before"`
	BeforeOwn *bool    `json:"before_own"`
	Set       *string  `json:"set"`
	Instances []string `json:"instances"`
	At        *string  `json:"at"`
	Who       *string  `json:"who"`
	Reason    *string  `json:"reason"`
	Earlier   []string `json:"earlier,omitempty"`
}

// Record gives the record that says so.
func (s Standbys) Record() (Record, error) {
	value, err := encode(standbysWire{
		ours(), orNull(s.Before), &s.BeforeOwn, &s.Set, orEmpty(s.Instances), written(s.At), &s.Who, orNull(s.Reason), s.Earlier,
	}, DecodeStandbys)
	return Record{Key: KeyStandbys, Value: value}, err
}

// StandbysRestored gives the tombstone that says that the setting is as it was
// before.
func StandbysRestored() Record { return Record{Key: KeyStandbys} }

// DecodeStandbys reads the value of a standbys record; errors are *ValueError.
func DecodeStandbys(value []byte) (Standbys, error) {
	var w standbysWire
	if err := parse(value, &w); err != nil {
		return Standbys{}, err
	}
	var f fields
	s := Standbys{
		BeforeOwn: need(&f, "before_own", w.BeforeOwn),
		Set:       f.id("set", w.Set),
		Instances: f.ids("instances", w.Instances, maxStandbysFor),
		At:        f.time("at", w.At),
		Who:       f.text("who", w.Who),
		Reason:    f.optionalText("reason", w.Reason),
	}
	if w.Earlier != nil {
		s.Earlier = f.ids("earlier", w.Earlier, maxStandbysFor)
	}
	if w.Before != nil {
		s.Before = f.id("before", w.Before)
	}
	if w.Instances != nil && len(w.Instances) == 0 {
		f.wrong("instances", "is empty")
	}
	return s, f.result()
}
