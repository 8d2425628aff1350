package control

import (
	"cmp"
	"time"
)

// MaxTimeout is the longest time that a mark can give an instance.
const MaxTimeout = 3650 * 24 * time.Hour

// Leaving is the record "leaving/<instance>": the mark that asks an instance to
// hand its tasks over and go.
type Leaving struct {
	Mark     string         // id of the mark
	Timeout  *time.Duration // from when the instance first sees this mark, by its own clock, whole milliseconds; nil: its own setting holds
	Deadline *time.Time     // by the clock of the tool, for people only
	At       time.Time      // by the clock of the tool, for people only
	Who      string
	Reason   string // "" for none
	Name     string // what the tool called the instance, for people; "" where it does not say

	Offset int64 // of the record read; not part of the value
}

type leavingWire struct {
	schema
	Mark      *string `json:"mark"`
	TimeoutMs *int64  `json:"timeout_ms"`
	Deadline  *string `json:"deadline"`
	At        *string `json:"at"`
	Who       *string `json:"who"`
	Reason    *string `json:"reason"`
	Name      *string `json:"name,omitempty"`
}

// Record gives the record that marks an instance, by its UUID.
func (l Leaving) Record(instance string) (Record, error) {
	if !IsUUID(instance) {
		return Record{}, notUUID(instance)
	}
	w := leavingWire{schema: ours(), Mark: &l.Mark, At: written(l.At), Who: &l.Who, Reason: orNull(l.Reason), Name: orNull(cut(l.Name))}
	if l.Timeout != nil {
		w.TimeoutMs = ref(l.Timeout.Milliseconds())
	}
	if l.Deadline != nil {
		w.Deadline = written(*l.Deadline)
	}
	value, err := encode(w, DecodeLeaving)
	return Record{Key: KeyLeaving(instance), Value: value}, err
}

// SetBy says who set the mark, when and why, for people: "by ops@desk at
// 2026-03-01T12:00:00Z (node drain)".
func (l Leaving) SetBy() string {
	text := "by " + cmp.Or(l.Who, "somebody") + " at " + l.At.UTC().Format(time.RFC3339)
	if l.Reason != "" {
		text += " (" + l.Reason + ")"
	}
	return text
}

// Withdrawal gives the tombstone that withdraws the mark of an instance.
func Withdrawal(instance string) Record { return Record{Key: KeyLeaving(instance)} }

// DecodeLeaving reads the value of a mark; errors are *ValueError.
func DecodeLeaving(value []byte) (Leaving, error) {
	var w leavingWire
	if err := parse(value, &w); err != nil {
		return Leaving{}, err
	}
	var f fields
	l := Leaving{
		Mark:   f.id("mark", w.Mark),
		At:     f.time("at", w.At),
		Who:    f.text("who", w.Who),
		Reason: f.optionalText("reason", w.Reason),
		Name:   f.optionalText("name", w.Name),
	}
	if w.TimeoutMs != nil {
		l.Timeout = ref(time.Duration(f.number("timeout_ms", w.TimeoutMs, 0, MaxTimeout.Milliseconds())) * time.Millisecond)
	}
	if w.Deadline != nil {
		l.Deadline = ref(f.time("deadline", w.Deadline))
	}
	return l, f.result()
}
