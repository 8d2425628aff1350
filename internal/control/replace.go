package control

import (
	"math"
	"slices"
	"time"
)

const maxReplaced = 1000 // instances

// Replace is the record "replace": instances of the group are being replaced by
// new ones. It says which are the old ones, so that the command can go on after
// it was interrupted, whatever joined meanwhile.
type Replace struct {
	Mark   string   // id of the marks that the old instances get
	With   int32    // new instances that must be there before the old ones are marked; ≥ 1
	Old    []string // UUIDs of the instances to be replaced, sorted, each once
	At     time.Time
	Who    string
	Reason string // "" for none

	Offset int64 // of the record read; not part of the value
}

type replaceWire struct {
	schema
	Mark   *string  `json:"mark"`
	With   *int64   `json:"with"`
	Old    []string `json:"old"`
	At     *string  `json:"at"`
	Who    *string  `json:"who"`
	Reason *string  `json:"reason"`
}

// Record gives the record that says so.
func (r Replace) Record() (Record, error) {
	value, err := encode(replaceWire{
		ours(), &r.Mark, ref(int64(r.With)), slices.Sorted(slices.Values(orEmpty(r.Old))), written(r.At), &r.Who, orNull(r.Reason),
	}, DecodeReplace)
	return Record{Key: KeyReplace, Value: value}, err
}

// Replaced gives the tombstone that says that no replacement goes on.
func Replaced() Record { return Record{Key: KeyReplace} }

// DecodeReplace reads the value of a replace record; errors are *ValueError.
func DecodeReplace(value []byte) (Replace, error) {
	var w replaceWire
	if err := parse(value, &w); err != nil {
		return Replace{}, err
	}
	var f fields
	r := Replace{
		Mark:   f.id("mark", w.Mark),
		With:   int32(f.number("with", w.With, 1, math.MaxInt32)),
		Old:    f.ids("old", w.Old, maxReplaced),
		At:     f.time("at", w.At),
		Who:    f.text("who", w.Who),
		Reason: f.optionalText("reason", w.Reason),
	}
	for i := range r.Old {
		if !IsUUID(r.Old[i]) {
			f.wrong(at("old", i), "is not a UUID in lower case")
		}
	}
	if w.Old != nil && len(w.Old) == 0 {
		f.wrong("old", "is empty")
	}
	r.Old = slices.Clone(r.Old)
	slices.Sort(r.Old)
	r.Old = slices.Compact(r.Old)
	return r, f.result()
}
