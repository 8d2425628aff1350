package control

import (
	"maps"
	"slices"
	"strings"
)

// State is what the records of a control topic add up to. The zero value is
// that of an empty topic. It depends on the last record of each key only.
type State struct {
	Mode     *Mode              // nil: no record, or none that decodes
	Standbys *Standbys          // likewise
	Replace  *Replace           // likewise
	Leaving  map[string]Leaving // marks by instance UUID
	Status   map[string]Status  // by instance UUID
	Offset   int64              // one above the highest offset applied; 0: none yet
	Orders   int64              // the same of records that say what to do, which is all but status; 0: none yet

	problems map[string]Problem
}

// Problem is a record that does not decode, for display.
type Problem struct {
	Key    string // not escaped
	Offset int64
	Err    error // a *ValueError
}

// Fold gives the state that records add up to, in their order.
func Fold(records []Record) State {
	var s State
	for _, r := range records {
		s.Apply(r)
	}
	return s
}

// Apply takes one more record: the last one of a key is the truth. A tombstone,
// and a value that does not decode, leave nothing of the key.
func (s *State) Apply(r Record) {
	s.Offset = max(s.Offset, r.Offset+1)
	kind, instance := ParseKey(r.Key)
	if kind == KindOther {
		return
	}
	if kind != KindStatus {
		s.Orders = max(s.Orders, r.Offset+1)
	}
	delete(s.problems, r.Key)
	var err error
	switch kind {
	case KindMode:
		s.Mode, err = held(r, DecodeMode)
		if s.Mode != nil {
			s.Mode.Offset = r.Offset
		}
	case KindStandbys:
		s.Standbys, err = held(r, DecodeStandbys)
		if s.Standbys != nil {
			s.Standbys.Offset = r.Offset
		}
	case KindReplace:
		s.Replace, err = held(r, DecodeReplace)
		if s.Replace != nil {
			s.Replace.Offset = r.Offset
		}
	case KindLeaving:
		var l *Leaving
		if l, err = held(r, DecodeLeaving); l != nil {
			l.Offset = r.Offset
		}
		s.Leaving = put(s.Leaving, instance, l)
	case KindStatus:
		var st *Status
		if st, err = held(r, DecodeStatus); st != nil {
			st.Offset = r.Offset
		}
		s.Status = put(s.Status, instance, st)
	}
	if err != nil {
		s.problems = put(s.problems, r.Key, &Problem{r.Key, r.Offset, err})
	}
}

// held gives what a record holds, nil for nothing.
func held[T any](r Record, decode func([]byte) (T, error)) (*T, error) {
	if r.TooLarge > 0 {
		return nil, tooLarge(r.TooLarge)
	}
	if len(r.Value) == 0 {
		return nil, nil
	}
	v, err := decode(r.Value)
	if err != nil {
		return nil, err
	}
	return &v, nil
}

// put sets or, for nil, deletes an entry.
func put[V any](m map[string]V, key string, v *V) map[string]V {
	if v == nil {
		delete(m, key)
		return m
	}
	if m == nil {
		m = map[string]V{}
	}
	m[key] = *v
	return m
}

// Problems lists the keys whose last record does not decode, by key.
func (s *State) Problems() []Problem {
	return slices.SortedFunc(maps.Values(s.problems), func(a, b Problem) int { return strings.Compare(a.Key, b.Key) })
}
