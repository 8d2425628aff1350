package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
)

// hidden is what every way of printing a Secret shows instead of its value.
const hidden = "[secret]"

// Secret is a text that must not be printed: a password, a key, a login line.
// Every verb of fmt, JSON, text encoders and slog show "[secret]", or nothing
// when it is empty. Reveal gives the value to the code that logs in.
type Secret string

// Reveal returns the value itself; never pass it to anything that prints.
func (s Secret) Reveal() string { return string(s) }

// String hides the value.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString hides the value from %#v.
func (s Secret) GoString() string { return fmt.Sprintf("%q", s.String()) }

// Format hides the value from every other verb, so that %x and %d do not
// print it as bytes.
func (s Secret) Format(f fmt.State, verb rune) {
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		fmt.Fprint(f, s.GoString())
		return
	}
	fmt.Fprint(f, s.String())
}

// MarshalText hides the value from encoders of text and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON hides the value from JSON.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// MarshalYAML hides the value from YAML.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// LogValue hides the value from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
