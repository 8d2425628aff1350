// Package render writes reports: tables and text for people, JSON, YAML, CSV,
// TSV and bare names for machines. It knows bytes, durations, colour, widths
// and how to show text that comes from a broker without trusting it; it knows
// nothing about groups.
package render

import (
	"fmt"
	"slices"
	"strings"
)

// Format is the value of -o.
type Format string

// The formats. The zero value is Table.
const (
	Table Format = "table"
	Wide  Format = "wide"
	JSON  Format = "json"
	YAML  Format = "yaml"
	CSV   Format = "csv"
	TSV   Format = "tsv"
	Name  Format = "name"
)

// Formats lists every format, as help texts name them.
func Formats() []Format { return []Format{Table, Wide, JSON, YAML, CSV, TSV, Name} }

// ParseFormat reads a value of -o; "" is Table.
func ParseFormat(s string) (Format, error) {
	f := Format(strings.ToLower(s))
	if f == "" {
		return Table, nil
	}
	if !slices.Contains(Formats(), f) {
		names := make([]string, 0, len(Formats()))
		for _, f := range Formats() {
			names = append(names, string(f))
		}
		return "", fmt.Errorf("output format %q is not one of %s", s, strings.Join(names, ", "))
	}
	return f, nil
}

// Set reads a flag's value.
func (f *Format) Set(s string) error {
	v, err := ParseFormat(s)
	if err == nil {
		*f = v
	}
	return err
}

// String gives the format, "table" for the zero value.
func (f *Format) String() string {
	if f == nil || *f == "" {
		return string(Table)
	}
	return string(*f)
}

// Type names the flag's value in help texts.
func (f *Format) Type() string { return "format" }

// Machine reports whether programs read the format: no colour, no shortening,
// no rounding.
func (f Format) Machine() bool { return f != Table && f != Wide && f != "" }

// Document reports whether the format writes the whole document, with all
// that was read.
func (f Format) Document() bool { return f == JSON || f == YAML }
