package lab

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// producer writes keyed records to the input of a job, to one partition after
// the other.
type producer struct {
	j    *Job
	next []int64 // by partition
	turn int
}

func newProducer(j *Job) *producer { return &producer{j: j, next: make([]int64, j.o.Tasks)} }

func (p *producer) record() *kgo.Record {
	part := int32(p.turn)
	at := p.next[part]
	p.next[part]++
	p.turn = (p.turn + 1) % len(p.next)
	return &kgo.Record{
		Topic: p.j.o.input(), Partition: part,
		Key: []byte(jobKey(part, at)), Value: strconv.AppendInt(nil, at, 10),
	}
}

func (p *producer) send(done func(error)) {
	p.j.client.Produce(p.j.ctx, p.record(), func(_ *kgo.Record, err error) {
		if err == nil {
			p.j.mu.Lock()
			p.j.produced++
			p.j.mu.Unlock()
		}
		done(err)
	})
}

// write writes n records and waits until all are there.
func (p *producer) write(ctx context.Context, n int64) error {
	failed := make(chan error, 1)
	for range n {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.send(func(err error) {
			if err != nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
	}
	if err := p.j.client.Flush(ctx); err != nil {
		return context.Cause(ctx)
	}
	select {
	case err := <-failed:
		return fmt.Errorf("write to %q: %w", p.j.o.input(), err)
	default:
		return nil
	}
}

// produceEvery is how often the producer writes its share of a second.
const produceEvery = 50 * time.Millisecond

// run writes at the job's rate until the context ends.
func (p *producer) run(ctx context.Context) {
	if p.j.o.Rate <= 0 {
		return
	}
	tick := time.NewTicker(produceEvery)
	defer tick.Stop()
	begun, sent := time.Now(), int64(0)
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			due := int64(now.Sub(begun).Seconds() * float64(p.j.o.Rate))
			for ; sent < due; sent++ {
				p.send(func(err error) {
					if err != nil && ctx.Err() == nil {
						p.j.say("producer: %v", err)
					}
				})
			}
		}
	}
}
