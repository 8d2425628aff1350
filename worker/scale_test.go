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
// how much of a processor all that takes, the broker included; in the end how
// each of these grows. Ten times is linear, and so is once for what is by worker.
// On a busy machine times say little.
func BenchmarkSettle(b *testing.B) {
	var small settled
	for _, workers := range []int{20, 200} {
		b.Run(fmt.Sprintf("workers=%d/tasks=%d", workers, 10*workers), func(b *testing.B) {
			for range b.N {
				b.StopTimer() // the clock counts on from one to the next: b.N goes by it
				c := newCrowd(b, int32(10*workers))
				b.StartTimer()
				s := c.measure(workers)
				b.StopTimer()
				b.ReportMetric(s.took, "s")
				b.ReportMetric(s.cpu, "cpu-s")
				b.ReportMetric(s.rounds, "rounds")
				b.ReportMetric(s.requests, "requests/worker")
				b.Log(c.busiest())
				if workers == 20 {
					small = s
				} else if small.took > 0 {
					b.ReportMetric(s.took/small.took, "times-as-long")
					b.Logf("20 to %d workers: time %.1fx, cpu %.1fx, requests per worker %.2fx, rounds %.0f and %.0f",
						workers, s.took/small.took, s.cpu/small.cpu, s.requests/small.requests, small.rounds, s.rounds)
				}
				c.stop()
			}
		})
	}
}

// What an instance asks of the brokers before it settles does not grow with the
// group: neither the number of its questions, nor how often it has whole topics
// described to it, whose answers grow. Left out is of what there is more the longer
// it takes: fetches, heartbeats, looks at the ends of changelogs.
func TestInstancesOfALargeGroupAskNoMore(t *testing.T) {
	const most, whole = 25.0, 10.0 // by worker; it was 13 and 3 when this was written
	var asked []float64
	for _, workers := range []int{10, 40} {
		c := newCrowd(t, int32(10*workers))
		s := c.measure(workers)
		t.Logf("%d workers: %.1f questions by worker, %.1f of them for whole topics, %.0f rounds, %.1f s: %s", workers, s.asked, s.whole, s.rounds, s.took, c.busiest())
		if s.asked > most || s.whole > whole {
			t.Errorf("%d workers: %.1f questions by worker, %.1f of them for whole topics; at the most %.0f and %.0f", workers, s.asked, s.whole, most, whole)
		}
		asked = append(asked, s.asked)
		c.stop()
	}
	if asked[1] > 1.5*asked[0] {
		t.Errorf("a worker of 10 asked %.1f questions, one of 40 %.1f", asked[0], asked[1])
	}
}

// settled is what it took a crowd to settle.
type settled struct {
	took, cpu       float64 // seconds
	rounds          float64
	requests, asked float64 // by worker; asked: without what goes on for ever
	whole           float64 // by worker: looks at the topics of the tasks, with all their partitions
}

// measure starts instances and waits until they have settled.
func (c *crowd) measure(workers int) settled {
	c.t.Helper()
	began, used := time.Now(), cpu(c.t)
	c.start(workers)
	c.settle(5 * time.Minute)
	s := settled{took: time.Since(began).Seconds(), cpu: (cpu(c.t) - used).Seconds(), rounds: float64(c.rounds.Load())}
	by := func(n int64) float64 { return float64(n) / float64(workers) }
	s.requests, s.whole = by(c.requests.Load()), by(c.whole.Load())
	for _, key := range []kmsg.Key{
		kmsg.Metadata, kmsg.OffsetFetch, kmsg.FindCoordinator, kmsg.DescribeConfigs, kmsg.CreateTopics, kmsg.CreatePartitions,
	} {
		s.asked += by(c.byKey[key].Load())
	}
	return s
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
	whole    atomic.Int64 // looks at whole topics
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
		if m, ok := r.(*kmsg.MetadataRequest); ok && asksForAll(m) {
			c.whole.Add(1)
		}
		if k := int(r.Key()); k < len(c.byKey) {
			c.byKey[k].Add(1)
		}
		return nil, nil, false
	})
	return c
}

// asksForAll says whether a look is at topics with as many partitions as there
// are tasks, or at all topics of the cluster.
func asksForAll(m *kmsg.MetadataRequest) bool {
	return m.Topics == nil || slices.ContainsFunc(m.Topics, func(t kmsg.MetadataRequestTopic) bool {
		return t.Topic == nil || *t.Topic == input || *t.Topic == changelog
	})
}

// gather has the first round begin when so many members are there. A real broker
// waits for them too, for group.initial.rebalance.delay.ms and longer as long as
// some come; kfake begins at once, and then it is chance how many tasks run
// before the last instance is there, which only learners can bring to it.
func (c *crowd) gather(n int) {
	seen, all := map[string]bool{}, make(chan struct{})
	c.lab.Cluster().ControlKey(kmsg.JoinGroup.Int16(), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.lab.Cluster().KeepControl()
		req := r.(*kmsg.JoinGroupRequest)
		if req.MemberID == "" || len(seen) >= n {
			return nil, nil, false
		}
		if seen[req.MemberID] = true; len(seen) == n {
			close(all)
		}
		c.lab.Cluster().SleepControl(func() {
			select {
			case <-all:
			case <-time.After(initialDelay):
			}
		})
		return nil, nil, false
	})
}

// initialDelay is the default of group.initial.rebalance.delay.ms.
const initialDelay = 3 * time.Second

// start starts instances, all at once.
func (c *crowd) start(n int) {
	c.gather(n)
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
