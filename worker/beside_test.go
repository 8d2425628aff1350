package worker_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/worker"
)

// place is where a record is in the input.
type place struct {
	partition int32
	offset    int64
}

// ledger notes who processed which record.
type ledger struct {
	mu sync.Mutex
	by map[place][]string
}

func (l *ledger) note(who string, partition int32, offset int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := place{partition, offset}
	l.by[at] = append(l.by[at], who)
}

// clerk processes for a worker: it notes the record, and counts.
type clerk struct {
	l    *ledger
	name string
	counter
}

func (c clerk) Process(rec worker.Record, s worker.Store) error {
	c.l.note(c.name, rec.Partition, rec.Offset)
	return c.counter.Process(rec, s)
}

// plain runs a plain consumer of the group, which commits all that it has
// processed before it lets a round begin. It says when it has processed
// something.
func (l *ledger) plain(r *rig, name string) (stop func()) {
	r.t.Helper()
	cl, err := kgo.NewClient(append(r.opts, kgo.ClientID(name), kgo.ConsumerGroup(group), kgo.ConsumeTopics(input), kgo.FetchMaxWait(50*time.Millisecond),
		kgo.Balancers(kgo.RangeBalancer()), kgo.HeartbeatInterval(100*time.Millisecond), kgo.SessionTimeout(6*time.Second), kgo.RebalanceTimeout(10*time.Second),
		kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll())...)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cl.CloseAllowingRebalance()
		for ctx.Err() == nil {
			got := cl.PollRecords(ctx, 20)
			got.EachRecord(func(rec *kgo.Record) { l.note(name, rec.Partition, rec.Offset) })
			if err := cl.CommitUncommittedOffsets(context.Background()); err != nil {
				r.t.Errorf("%s could not commit: %v", name, err)
			}
			cl.AllowRebalance()
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	r.t.Cleanup(stop)
	r.until(name+" processes", func() bool { return l.does(name, 20) })
	return stop
}

// does says whether somebody has processed so many records.
func (l *ledger) does(who string, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, list := range l.by {
		if slices.Contains(list, who) {
			n--
		}
	}
	return n <= 0
}

// exact waits until all records are processed, and checks that none is twice.
func (l *ledger) exact(r *rig) {
	r.t.Helper()
	all := 0
	for _, n := range r.sent {
		all += int(n)
	}
	r.until("all records are processed", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.by) == all
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	var twice []string
	for at, list := range l.by {
		if len(list) > 1 {
			twice = append(twice, fmt.Sprintf("%d/%d by %s", at.partition, at.offset, strings.Join(list, " and ")))
		}
	}
	slices.Sort(twice)
	if len(twice) > 0 {
		r.t.Errorf("%d of %d records were processed twice: %v\n%s", len(twice), all, twice, r.tail(200))
	}
}

// A rolling upgrade under traffic: plain consumers are replaced by workers one
// by one, and one comes back for a while after the learner protocol has won.
// Nothing crashes, so every record is processed once.
func TestRollingUpgradeIsExact(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6)
	l := &ledger{by: map[place][]string{}}
	up := func(name string) func(c *worker.Config) {
		return func(c *worker.Config) {
			c.Settings.Mode = worker.Upgrading
			c.NewProcessor = func(t worker.TaskID) worker.Processor { return clerk{l, name, counter{r, t}} }
		}
	}
	stop := r.traffic()
	one, two := l.plain(r, "one"), l.plain(r, "two")
	r.start("a", up("a"))
	r.until("a processes", func() bool { return l.does("a", 50) })
	one()
	r.start("b", up("b"))
	r.until("b processes", func() bool { return l.does("b", 50) })
	two()
	r.until("learner wins", func() bool { return r.count(worker.RoundLed) > 0 && r.runningTasks() == 6 })
	older := r.count(worker.OlderWon)
	three := l.plain(r, "three")
	if r.count(worker.OlderWon) == older {
		t.Error("the older protocol did not win again")
	}
	led := r.count(worker.RoundLed)
	three()
	r.until("learner wins again", func() bool { return r.count(worker.RoundLed) > led && r.runningTasks() == 6 })
	stop()
	l.exact(r)
	r.noTaskTwice()
	if n := r.count(worker.Trouble); n > 0 {
		t.Errorf("%d times trouble\n%s", n, r.tail(200))
	}
}
