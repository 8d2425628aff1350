package worker

import (
	"testing"
	"time"
)

// A small group says at once what a round brought; a large one, or one with
// large statuses, does not flood the control topic.
func TestStatusGap(t *testing.T) {
	for _, c := range []struct {
		instances int32
		bytes     int
		gap       time.Duration
	}{
		{0, 500, 10 * time.Millisecond},
		{3, 1000, 30 * time.Millisecond},
		{3, 5000, 50 * time.Millisecond},
		{25, 1000, 250 * time.Millisecond},
		{1000, 1000, 250 * time.Millisecond},
		{1000, 1_000_000, 10 * time.Second},
	} {
		if got := statusGap(c.instances, c.bytes); got != c.gap {
			t.Errorf("%d instances, %d bytes: %v, want %v", c.instances, c.bytes, got, c.gap)
		}
	}
}
