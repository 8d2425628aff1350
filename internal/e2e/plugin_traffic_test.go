//go:build realkafka

package e2e

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// traffic is a producer that writes all the while, and what it wrote so far.
type traffic struct {
	p    *pluginApp
	stop context.CancelFunc
	done sync.WaitGroup
	sent int // records, those of before included
}

// write300 starts to write 300 records a second behind those that are there.
func (p *pluginApp) write300(t testing.TB, before int) *traffic {
	ctx, stop := context.WithCancel(t.Context())
	w := &traffic{p: p, stop: stop, sent: before}
	w.done.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			for range 30 {
				w.p.c.client.Produce(context.WithoutCancel(ctx), &kgo.Record{
					Topic: p.group + "-in", Key: []byte("k" + strconv.Itoa(w.sent%600)), Value: []byte("v" + strconv.Itoa(w.sent%480)),
				}, func(_ *kgo.Record, err error) {
					if err != nil {
						t.Errorf("produce: %v", err)
					}
				})
				w.sent++
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
	t.Cleanup(func() { stop(); w.done.Wait() })
	return w
}

// check ends the writing and holds the app's last counts against what was
// written: no record was lost or counted twice.
func (w *traffic) check(t testing.TB) {
	t.Helper()
	if sum := w.counted(t); sum != w.sent {
		t.Errorf("%d records were written, %d counted", w.sent, sum)
	}
}

// checkNoneLost is check for an app of which a process died: what that one had
// counted since its last commit is counted again.
func (w *traffic) checkNoneLost(t testing.TB) {
	t.Helper()
	t.Logf("%d records were written, %d counted", w.sent, w.counted(t))
}

// counted ends the writing and waits until as much is counted as was written.
func (w *traffic) counted(t testing.TB) int {
	t.Helper()
	w.stop()
	w.done.Wait()
	if err := w.p.c.client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	out := w.p.group + "-in-out"
	cl, err := kgo.NewClient(kgo.SeedBrokers(w.p.c.addrs...), kgo.ConsumeTopics(out))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	counts, sum := map[string]int{}, 0
	eventually(t, time.Minute, "the counts add up to what was written", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		cl.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
			n, err := strconv.Atoi(string(r.Value))
			if err != nil {
				t.Fatalf("%s: %q", out, r.Value)
			}
			sum += n - counts[string(r.Key)]
			counts[string(r.Key)] = n
		})
		return sum >= w.sent
	})
	return sum
}
