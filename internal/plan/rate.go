package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Rate is how fast one instance restores, all its tasks together. One of the
// two is 0.
type Rate struct {
	Records float64 `json:"records"` // a second
	Bytes   float64 `json:"bytes"`   // a second
}

// Known reports whether there is a rate.
func (r Rate) Known() bool { return r.Records > 0 || r.Bytes > 0 }

// String is the rate in the form that ParseRate reads; "" when there is none.
func (r Rate) String() string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case r.Records > 0:
		return number(r.Records) + " records/s"
	case r.Bytes > 0:
		return number(r.Bytes) + "B/s"
	}
	return ""
}

// ParseRate reads 5000 or 5000/s (records), 10MB/s or 64MiB (bytes), a second.
func ParseRate(text string) (Rate, error) {
	s := strings.TrimSuffix(strings.TrimSpace(text), "/s")
	s = strings.TrimSuffix(s, " records")
	n, bytes, ok := parseAmount(s)
	switch {
	case !ok || n == 0:
		return Rate{}, fmt.Errorf("restore rate %q is neither records a second, as 5000, nor bytes a second, as 10MB/s", text)
	case bytes:
		return Rate{Bytes: n}, nil
	}
	return Rate{Records: n}, nil
}

// parseAmount reads a number that is not negative: of records without a unit, of
// bytes with one.
func parseAmount(text string) (n float64, bytes, ok bool) {
	number, unit, factor := text, "", 1.0
	if i := strings.IndexFunc(text, func(c rune) bool { return (c < '0' || c > '9') && c != '.' }); i >= 0 {
		number, unit = text[:i], strings.TrimSpace(text[i:])
	}
	if unit != "" {
		var known bool
		if factor, known = byteUnit(unit); !known {
			return 0, false, false
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !(n >= 0) || math.IsInf(n*factor, 0) {
		return 0, false, false
	}
	return n * factor, unit != "", true
}

func byteUnit(unit string) (float64, bool) {
	switch strings.ToLower(unit) {
	case "b":
		return 1, true
	case "kb":
		return 1e3, true
	case "mb":
		return 1e6, true
	case "gb":
		return 1e9, true
	case "tb":
		return 1e12, true
	case "kib":
		return 1 << 10, true
	case "mib":
		return 1 << 20, true
	case "gib":
		return 1 << 30, true
	case "tib":
		return 1 << 40, true
	}
	return 0, false
}

// records is the rate for one task's log in records a second; 0 when it is not
// known.
func (r Rate) records(l Log) float64 {
	switch {
	case r.Records > 0:
		return r.Records
	case r.Bytes > 0 && l.BytesKnown && l.Bytes > 0 && l.End > 0:
		return r.Bytes * float64(l.End) / float64(l.Bytes)
	}
	return 0
}
