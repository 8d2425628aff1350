//go:build unix

package worker_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/lab"
	"github.com/streamctl/streamctl/worker"
)

// BenchmarkSettle starts instances of one worker all at once, with ten stateful
// tasks for each, and reports how long it takes until every task runs where it
// stays, how many rounds that takes, how many requests each instance sends, and
// how much of a processor all that takes, the broker included. On a busy machine
// only the last one tells how it grows.
func BenchmarkSettle(b *testing.B) {
	for _, workers := range []int{20, 200} {
		b.Run(fmt.Sprintf("workers=%d/tasks=%d", workers, 10*workers), func(b *testing.B) {
			for range b.N {
				c := newCrowd(b, int32(10*workers))
				b.ResetTimer()
				began, used := time.Now(), cpu(b)
				c.start(workers)
				c.settle(5 * time.Minute)
				b.ReportMetric(time.Since(began).Seconds(), "s")
				b.ReportMetric((cpu(b) - used).Seconds(), "cpu-s")
				b.ReportMetric(float64(c.rounds.Load()), "rounds")
				b.ReportMetric(float64(c.requests.Load())/float64(workers), "requests/worker")
				b.StopTimer()
				b.Log(c.busiest())
				c.stop()
			}
		})
	}
}

// cpu is the processor time of this process.
func cpu(t testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// crowd is many instances on one embedded broker.
type crowd struct {
	t        testing.TB
	lab      *lab.Lab
	tasks    int32
	live     []*worker.Instance
	rounds   atomic.Int64
	requests atomic.Int64
	byKey    [128]atomic.Int64

	mu      sync.Mutex
	trouble map[string]int // texts of what went wrong, with how often
}

func newCrowd(t testing.TB, tasks int32) *crowd {
	t.Helper()
	l, err := lab.Start(lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{t: t, lab: l, tasks: tasks, trouble: map[string]int{}}
	t.Cleanup(l.Close)
	if err := l.Cluster().CreateTopic(input, tasks, nil); err != nil {
		t.Fatal(err)
	}
	l.Cluster().Control(func(r kmsg.Request) (kmsg.Response, error, bool) {
		l.Cluster().KeepControl()
		c.requests.Add(1)
		if k := int(r.Key()); k < len(c.byKey) {
			c.byKey[k].Add(1)
		}
		return nil, nil, false
	})
	return c
}

// start starts instances, all at once.
func (c *crowd) start(n int) {
	c.live = make([]*worker.Instance, n)
	errs := make(chan error, n)
	for k := range n {
		go func() {
			in, err := worker.Start(context.Background(), worker.Config{
				Group: group, Topology: []worker.Subtopology{{ID: 0, Sources: []string{input}, Changelog: changelog}},
				NewProcessor: func(worker.TaskID) worker.Processor { return nowhere{} },
				Client:       []kgo.Opt{kgo.SeedBrokers(c.lab.Bootstrap())}, ClientID: fmt.Sprintf("w%03d", k),
				Observer: func(e worker.Event) {
					switch {
					case e.Kind == worker.RoundLed:
						c.rounds.Add(1)
					case e.Err != nil:
						c.mu.Lock()
						c.trouble[string(e.Kind)+": "+e.Err.Error()]++
						c.mu.Unlock()
					}
				},
			})
			c.live[k] = in
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			c.t.Fatal(err)
		}
	}
}

// settle waits until all tasks run, none is about to move, and that has been so
// for a moment.
func (c *crowd) settle(most time.Duration) {
	c.t.Helper()
	for end, calm := time.Now().Add(most), 0; calm < 3; time.Sleep(100 * time.Millisecond) {
		run, other, gens := int32(0), 0, map[int32]bool{}
		for _, in := range c.live {
			s := in.Stats()
			gens[s.Generation] = true
			for _, t := range s.Tasks {
				if t.Processing {
					run++
				}
				if t.Role != "active" || len(t.Tags) > 1 {
					other++
				}
			}
		}
		calm++
		if run != c.tasks || other > 0 || len(gens) > 1 {
			calm = 0
		}
		if time.Now().After(end) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.t.Fatalf("not settled after %v: %d of %d tasks run, %d others, %d rounds, generations %v, trouble %v", most, run, c.tasks, other, c.rounds.Load(), gens, c.trouble)
		}
	}
}

// busiest lists the requests by kind, most first.
func (c *crowd) busiest() string {
	type kind struct {
		name string
		n    int64
	}
	var list []kind
	for k := range c.byKey {
		if n := c.byKey[k].Load(); n > 0 {
			list = append(list, kind{kmsg.NameForKey(int16(k)), n})
		}
	}
	slices.SortFunc(list, func(a, b kind) int { return int(b.n - a.n) })
	var out []string
	for _, k := range list {
		out = append(out, fmt.Sprintf("%s %d", k.name, k.n))
	}
	return strings.Join(out, ", ")
}

func (c *crowd) stop() {
	done := make(chan struct{}, len(c.live))
	for _, in := range c.live {
		go func() {
			in.Kill()
			done <- struct{}{}
		}()
	}
	for range c.live {
		<-done
	}
	c.lab.Close()
}
