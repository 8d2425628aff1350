package ui

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, p := range pairs {
			if k, v, _ := strings.Cut(p, "="); k == name {
				return v, true
			}
		}
		return "", false
	}
}

// The order is machine format, --color, NO_COLOR, terminal and TERM.
func TestFieldCase63Colour(t *testing.T) {
	for _, c := range []struct {
		name    string
		mode    Mode
		tty     bool
		env     []string
		machine bool
		want    bool
	}{
		{"file", Auto, false, nil, false, false},
		{"pty", Auto, true, []string{"TERM=xterm"}, false, true},
		{"zero mode is auto", "", true, nil, false, true},
		{"NO_COLOR=1", Auto, true, []string{"NO_COLOR=1"}, false, false},
		{"NO_COLOR empty", Auto, true, []string{"NO_COLOR="}, false, true},
		{"TERM=dumb", Auto, true, []string{"TERM=dumb"}, false, false},
		{"always beats NO_COLOR and a pipe", Always, false, []string{"NO_COLOR=1", "TERM=dumb"}, false, true},
		{"never beats a terminal", Never, true, nil, false, false},
		{"json beats always", Always, true, nil, true, false},
	} {
		s := &Streams{OutTTY: c.tty, Color: c.mode, Env: env(c.env...)}
		if got := s.UseColor(c.machine); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestWidth(t *testing.T) {
	size := func(n int) func() int { return func() int { return n } }
	for _, c := range []struct {
		name string
		s    Streams
		want int
	}{
		{"pipe", Streams{Size: size(100), Env: env("COLUMNS=70")}, 0},
		{"terminal", Streams{OutTTY: true, Size: size(100)}, 100},
		{"COLUMNS", Streams{OutTTY: true, Size: size(100), Env: env("COLUMNS=70")}, 70},
		{"COLUMNS is nonsense", Streams{OutTTY: true, Size: size(100), Env: env("COLUMNS=-3")}, 100},
		{"size unknown", Streams{OutTTY: true, Size: size(0)}, DefaultWidth},
		{"nothing known", Streams{OutTTY: true}, DefaultWidth},
	} {
		if got := c.s.Width(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// Lines on stderr break by the terminal behind it, whatever stdout is.
func TestErrWidth(t *testing.T) {
	size := func(n int) func() int { return func() int { return n } }
	for _, c := range []struct {
		name string
		s    Streams
		want int
	}{
		{"pipe", Streams{OutTTY: true, Size: size(100), ErrSize: size(90)}, 0},
		{"its own", Streams{ErrTTY: true, Size: size(0), ErrSize: size(90)}, 90},
		{"that of stdout", Streams{ErrTTY: true, Size: size(100)}, 100},
		{"COLUMNS", Streams{ErrTTY: true, ErrSize: size(90), Env: env("COLUMNS=70")}, 70},
		{"size unknown", Streams{ErrTTY: true, ErrSize: size(0)}, DefaultWidth},
	} {
		if got := c.s.ErrWidth(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestConfirm(t *testing.T) {
	for in, want := range map[string]bool{"y\n": true, "YES\n": true, " y ": true, "n\n": false, "\n": false, "": false, "yep\n": false} {
		var out bytes.Buffer
		s := &Streams{In: strings.NewReader(in), Err: &out, InTTY: true, ErrTTY: true}
		got, err := s.Confirm("Go on?")
		if err != nil || got != want || out.String() != "Go on? [y/N] " {
			t.Errorf("answer %q is %v, %v; asked %q", in, got, err, out.String())
		}
	}
	var out bytes.Buffer
	if _, err := (&Streams{In: strings.NewReader("y\n"), Err: &out, ErrTTY: true}).Confirm("Go on?"); !errors.Is(err, ErrNoTerminal) || out.Len() > 0 {
		t.Errorf("without a terminal: %v, asked %q", err, out.String())
	}
}

func TestModeFlag(t *testing.T) {
	var m Mode
	if err := m.Set("never"); err != nil || m != Never {
		t.Errorf("never: %q, %v", m, err)
	}
	if err := m.Set("green"); err == nil || m != Never {
		t.Errorf("green: %q, %v", m, err)
	}
}

// System must not panic whatever the streams of the test are.
func TestSystem(t *testing.T) {
	s := System()
	if s.In == nil || s.Out == nil || s.Err == nil || s.Env == nil || s.Width() < 0 {
		t.Errorf("%+v", s)
	}
}
