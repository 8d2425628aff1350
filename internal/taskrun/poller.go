package taskrun

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// poller is the one goroutine that polls a client. What changes the client's
// partitions runs in it between two polls, so that no batch polled before such
// a change is handled after it.
type poller struct {
	cl *kgo.Client

	mu     sync.Mutex
	jobs   []func()
	cancel context.CancelFunc // of the poll under way
	woken  chan struct{}
}

func newPoller(cl *kgo.Client) *poller { return &poller{cl: cl, woken: make(chan struct{}, 1)} }

// do has f run in the poller's goroutine, soon.
func (p *poller) do(f func()) {
	p.mu.Lock()
	p.jobs = append(p.jobs, f)
	if p.cancel != nil {
		p.cancel()
	}
	p.mu.Unlock()
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

// call is do, and waits until f has run or ctx, which must end before the
// poller does, has.
func (p *poller) call(ctx context.Context, f func()) bool {
	done := make(chan struct{})
	p.do(func() {
		f()
		close(done)
	})
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// runJobs runs what do was given, in order.
func (p *poller) runJobs() {
	for {
		p.mu.Lock()
		jobs := p.jobs
		p.jobs = nil
		p.mu.Unlock()
		if len(jobs) == 0 {
			return
		}
		for _, f := range jobs {
			f()
		}
	}
}

// poll gives what came, at most limit records, or nothing after wait or when
// there is a job.
func (p *poller) poll(ctx context.Context, wait time.Duration, limit int) kgo.Fetches {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	p.mu.Lock()
	if len(p.jobs) > 0 {
		p.mu.Unlock()
		return nil
	}
	p.cancel = cancel
	p.mu.Unlock()
	fs := p.cl.PollRecords(ctx, limit)
	p.mu.Lock()
	p.cancel = nil
	p.mu.Unlock()
	return fs
}

// rest waits for d, a job, or the end of ctx.
func (p *poller) rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.woken:
	case <-ctx.Done():
	}
}
