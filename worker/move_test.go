package worker_test

import (
	"context"
	"testing"

	"github.com/streamctl/streamctl/worker"
)

// A task moves end to end while records come in: learned first, then handed
// over, with nothing lost and committed offsets that go on where they were.
func TestTaskMovesUnderTraffic(t *testing.T) {
	r := newRig(t, 4)
	r.produce(50)
	r.start("a")
	r.becomes("a[T1,T2,T3,T4]")
	r.running()
	r.counted()
	r.open()
	r.start("b")
	r.becomes("a[T1,T2,T3,T4] b[] learns T1")
	r.produce(50)
	r.openAll()
	r.becomes("a[T2,T3,T4] b[T1]")
	r.produce(50)
	r.running()
	if extra := r.counted(); extra > 0 {
		t.Errorf("%d records were counted twice, though nobody crashed", extra)
	}
	r.until("committed to the end", func() bool {
		l, err := r.adm.Lag(context.Background(), group)
		return err == nil && l[group].Lag.Total() == 0
	})
	r.noTaskTwice()
	if n := r.count(worker.MembershipLost); n > 0 {
		t.Errorf("%d memberships lost", n)
	}
}
