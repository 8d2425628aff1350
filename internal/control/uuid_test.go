package control_test

import (
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/control"
)

func TestUUID(t *testing.T) {
	for _, c := range []struct {
		random byte // each of the sixteen
		want   string
	}{
		{0x00, "00000000-0000-4000-8000-000000000000"},
		{0xff, "ffffffff-ffff-4fff-bfff-ffffffffffff"},
		{0x5a, "5a5a5a5a-5a5a-4a5a-9a5a-5a5a5a5a5a5a"},
	} {
		var b [16]byte
		for i := range b {
			b[i] = c.random
		}
		got := control.UUID(b)
		if got != c.want || !control.IsUUID(got) {
			t.Errorf("%#x: %s, want %s", c.random, got, c.want)
		}
	}
}

func TestIsUUID(t *testing.T) {
	const good = "0d8b7a50-6f0e-4a8c-9a3e-1f2a3b4c5d6e"
	if !control.IsUUID(good) {
		t.Errorf("%s is none", good)
	}
	for name, bad := range map[string]string{
		"nothing":     "",
		"upper case":  strings.ToUpper(good),
		"too short":   good[:35],
		"too long":    good + "0",
		"a dash less": strings.Replace(good, "-", "0", 1),
		"a dash more": good[:1] + "-" + good[2:],
		"dashes only": strings.Repeat("-", 36),
		"no digit":    "g" + good[1:],
		"in braces":   "{" + good[:34] + "}",
	} {
		if control.IsUUID(bad) {
			t.Errorf("%s: %q counts as a UUID", name, bad)
		}
	}
}
