package ui

import "fmt"

// Mode is the value of --color.
type Mode string

// The modes. The zero value is Auto.
const (
	Auto   Mode = "auto"
	Always Mode = "always"
	Never  Mode = "never"
)

// ParseMode reads a value of --color.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case Auto, Always, Never:
		return m, nil
	}
	return "", fmt.Errorf("color %q is not one of auto, always, never", s)
}

// Set reads a flag's value.
func (m *Mode) Set(s string) error {
	v, err := ParseMode(s)
	if err == nil {
		*m = v
	}
	return err
}

// String gives the mode, "auto" for the zero value.
func (m *Mode) String() string {
	if m == nil || *m == "" {
		return string(Auto)
	}
	return string(*m)
}

// Type names the flag's value in help texts.
func (m *Mode) Type() string { return "when" }

// UseColor decides about colour on Out. The first that speaks wins (field case
// 63): a machine format, --color, NO_COLOR (present and not empty), then
// whether Out is a terminal and TERM is not "dumb".
func (s *Streams) UseColor(machine bool) bool {
	if machine {
		return false
	}
	switch s.Color {
	case Always:
		return true
	case Never:
		return false
	}
	if v, _ := s.env("NO_COLOR"); v != "" {
		return false
	}
	if v, _ := s.env("TERM"); v == "dumb" {
		return false
	}
	return s.OutTTY
}
