package chaos

import (
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/lab"
)

// The walk-throughs and a mode switch are told on real brokers by
// internal/e2e; here the same on the embedded one.
func TestStories(t *testing.T) {
	t.Parallel()
	l := cluster(t, 6*time.Second)
	for _, s := range Stories() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			s.Tell(t, l.Cluster().ListenAddrs())
		})
	}
}

// Not parallel: the pause is measured.
func TestSwitchAndBack(t *testing.T) {
	l := cluster(t, 6*time.Second)
	t.Log(SwitchAndBack(t, "switch", l.Cluster().ListenAddrs(), 0, 5*time.Second))
}

// cluster starts an embedded cluster of three brokers whose empty groups may
// change their type.
func cluster(t *testing.T, session time.Duration) *lab.Lab {
	t.Helper()
	l, err := lab.Start(lab.Options{Brokers: 3, MinSession: session})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	l.LetTypesChange()
	l.LetMembersExpire()
	return l
}
