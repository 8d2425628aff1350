package control

import "time"

// RebalanceMode is stream.rebalancing.mode (stream-protocol.md, Modes).
type RebalanceMode string

// The modes.
const (
	Upgrading   RebalanceMode = "upgrading"
	Incremental RebalanceMode = "incremental"
)

// Bounds of how long a switch may take.
const (
	MinAllowed = time.Millisecond
	MaxAllowed = 24 * time.Hour
)

// MaxEpoch is the highest epoch that is read. What is above it was never counted
// up to, and would leave no room for the next one (docs/protocol/control.md,
// mode).
const MaxEpoch = 1 << 53

// Mode is the record "mode": the rebalancing mode that all workers follow.
type Mode struct {
	Mode    RebalanceMode
	Epoch   int64         // 1 to MaxEpoch; that of the record before + 1
	Allowed time.Duration // how long the switch may take; whole milliseconds
	At      time.Time     // by the writer's clock, for people
	Who     string
	Reason  string // "" for none

	Offset int64 // of the record read; not part of the value
}

type modeWire struct {
	schema
	Mode      *string `json:"mode"`
	Epoch     *int64  `json:"epoch"`
	AllowedMs *int64  `json:"allowed_ms"`
	At        *string `json:"at"`
	Who       *string `json:"who"`
	Reason    *string `json:"reason"`
}

// Record gives the record that says so.
func (m Mode) Record() (Record, error) {
	value, err := encode(modeWire{
		ours(), ref(string(m.Mode)), &m.Epoch, ref(m.Allowed.Milliseconds()), written(m.At), &m.Who, orNull(m.Reason),
	}, DecodeMode)
	return Record{Key: KeyMode, Value: value}, err
}

// DecodeMode reads the value of a mode record; errors are *ValueError.
func DecodeMode(value []byte) (Mode, error) {
	var w modeWire
	if err := parse(value, &w); err != nil {
		return Mode{}, err
	}
	var f fields
	m := Mode{
		Mode:    f.mode("mode", w.Mode),
		Epoch:   f.number("epoch", w.Epoch, 1, MaxEpoch),
		Allowed: time.Duration(f.number("allowed_ms", w.AllowedMs, MinAllowed.Milliseconds(), MaxAllowed.Milliseconds())) * time.Millisecond,
		At:      f.time("at", w.At),
		Who:     f.text("who", w.Who),
		Reason:  f.optionalText("reason", w.Reason),
	}
	return m, f.result()
}

func (f *fields) mode(field string, p *string) RebalanceMode {
	m := RebalanceMode(need(f, field, p))
	if p != nil && m != Upgrading && m != Incremental {
		f.wrong(field, "is neither %s nor %s", Upgrading, Incremental)
	}
	return m
}
