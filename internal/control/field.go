package control

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Bounds of single fields (docs/protocol/control.md, Values).
const (
	MaxText = 1024 // bytes
	MaxID   = 255  // bytes
)

// timeLayout is how times are written; fractions of any length are read.
const timeLayout = "2006-01-02T15:04:05.000Z"

// fields checks the fields of one value and keeps the first thing that is
// wrong.
type fields struct{ err *ValueError }

func (f *fields) wrong(field, format string, args ...any) {
	if f.err == nil {
		f.err = &ValueError{Field: field, Text: fmt.Sprintf(format, args...)}
	}
}

// result gives the first thing that was wrong as an error.
func (f *fields) result() error {
	if f.err == nil {
		return nil
	}
	return f.err
}

// need gives a field that may not be null.
func need[T any](f *fields, field string, p *T) T {
	if p == nil {
		f.wrong(field, "is missing")
		var zero T
		return zero
	}
	return *p
}

func (f *fields) text(field string, p *string) string {
	s := need(f, field, p)
	if len(s) > MaxText {
		f.wrong(field, "has %d bytes, at most %d are read", len(s), MaxText)
	}
	return s
}

// optionalText gives "" for null.
func (f *fields) optionalText(field string, p *string) string {
	if p == nil {
		return ""
	}
	return f.text(field, p)
}

func (f *fields) id(field string, p *string) string {
	s := need(f, field, p)
	if p != nil && (s == "" || len(s) > MaxID) {
		f.wrong(field, "has %d bytes, an id has 1 to %d", len(s), MaxID)
	}
	return s
}

// number gives a number within low…high.
func (f *fields) number(field string, p *int64, low, high int64) int64 {
	n := need(f, field, p)
	if p != nil && (n < low || n > high) {
		f.wrong(field, "is %d, which is not within %d and %d", n, low, high)
	}
	return n
}

func (f *fields) count(field string, p *int64) int32 {
	n := f.number(field, p, 0, math.MaxInt32)
	return int32(n) // checked; what is wrong is never used
}

// optionalNumber gives nil for null.
func (f *fields) optionalNumber(field string, p *int64) *int64 {
	if p == nil {
		return nil
	}
	n := f.number(field, p, 0, math.MaxInt64)
	return &n
}

func (f *fields) optionalCount(field string, p *int64) *int32 {
	if p == nil {
		return nil
	}
	n := f.count(field, p)
	return &n
}

func (f *fields) time(field string, p *string) time.Time {
	s := need(f, field, p)
	t, err := time.Parse("2006-01-02T15:04:05Z", s)
	if p != nil && (err != nil || len(s) > len(timeLayout)+6 || strings.Contains(s, ",")) {
		f.wrong(field, "is not a time like %s", timeLayout)
	}
	return t
}

// ids gives a list of at most limit ids.
func (f *fields) ids(field string, list []string, limit int) []string {
	f.list(field, list == nil, len(list), limit)
	for i := range list {
		if list[i] == "" || len(list[i]) > MaxID {
			f.id(at(field, i), &list[i])
		}
	}
	return list
}

// list checks that a list is there and not too long.
func (f *fields) list(field string, missing bool, n, limit int) {
	if missing {
		f.wrong(field, "is missing")
	}
	if n > limit {
		f.wrong(field, "has %d entries, at most %d are read", n, limit)
	}
}

// take takes over what is wrong with one entry of a list, if anything.
func (f *fields) take(list string, i int, one *fields) bool {
	if one.err == nil {
		return false
	}
	f.wrong(at(list, i)+"."+one.err.Field, "%s", one.err.Text)
	return true
}

func at(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

// What follows makes wire fields of values.

func ref[T any](v T) *T { return &v }

// orNull makes null of "".
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// cut makes a text that is only shown fit.
func cut(s string) string {
	if len(s) <= MaxText {
		return s
	}
	return strings.ToValidUTF8(s[:MaxText-len("…")], "") + "…"
}

func written(t time.Time) *string { return ref(t.UTC().Format(timeLayout)) }

func optional64(n *int32) *int64 {
	if n == nil {
		return nil
	}
	return ref(int64(*n))
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
