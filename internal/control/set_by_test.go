package control_test

import (
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/control"
)

func TestSetBy(t *testing.T) {
	at := time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("CET", 3600))
	for want, l := range map[string]control.Leaving{
		"by ops@desk at 2026-03-01T12:00:00Z (node drain)": {Who: "ops@desk", At: at, Reason: "node drain"},
		"by ops@desk at 2026-03-01T12:00:00Z":              {Who: "ops@desk", At: at},
		"by somebody at 2026-03-01T12:00:00Z":              {At: at},
	} {
		if got := l.SetBy(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
