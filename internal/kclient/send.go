package kclient

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/clock"
)

const sendTries = 3

var errNoBroker = errors.New("no broker of the cluster is known")

// send asks one broker. A connection that broke is opened again; a broker that
// does not answer in time is not asked again.
func (c *Client) send(ctx context.Context, id int32, req kmsg.Request) (kmsg.Response, error) {
	return c.sendOn(ctx, c.handle(id), req)
}

// sendBeside asks one broker on a connection where it does not hold up the
// requests of send: a broker answers one connection in order. Where a
// connection costs a handshake or a login it is not worth another.
func (c *Client) sendBeside(ctx context.Context, id int32, req kmsg.Request) (kmsg.Response, error) {
	if c.conn.TLS != nil || c.conn.SASL != nil {
		return c.send(ctx, id, req)
	}
	return c.sendOn(ctx, c.cl.Broker(int(id)), req)
}

func (c *Client) sendOn(ctx context.Context, b *kgo.Broker, req kmsg.Request) (kmsg.Response, error) {
	for try := 1; ; try++ {
		resp, err := b.Request(ctx, req)
		if err == nil {
			return resp, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if try == sendTries || isTimeout(err) || !kgo.IsRetryableBrokerErr(err) {
			return nil, err
		}
		if clock.Sleep(ctx, time.Duration(try)*20*time.Millisecond) != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// sendAny asks the broker that answered first, and after a while, or when that
// one fails, others beside it. build makes the request, once for each.
func (c *Client) sendAny(ctx context.Context, build func() kmsg.Request) (kmsg.Response, error) {
	return c.sendHedged(ctx, build, hedgeAfter(ctx))
}

// sendOneByOne is sendAny for a request that is too much work to ask for twice:
// another broker is asked only when one fails.
func (c *Client) sendOneByOne(ctx context.Context, build func() kmsg.Request) (kmsg.Response, error) {
	return c.sendHedged(ctx, build, 0)
}

func (c *Client) sendHedged(ctx context.Context, build func() kmsg.Request, hedge time.Duration) (kmsg.Response, error) {
	order := c.anyOrder()
	return hedged(ctx, len(order), hedge, func(ctx context.Context, i int) (kmsg.Response, error) {
		return c.send(ctx, order[i], build())
	})
}

// hedged makes up to n attempts and takes the first that works. The next one
// starts when one fails, or, with a hedge, when none has answered for so long.
func hedged(ctx context.Context, n int, hedge time.Duration, attempt func(context.Context, int) (kmsg.Response, error)) (kmsg.Response, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		resp kmsg.Response
		err  error
	}
	answers := make(chan answer, n)
	last := errNoBroker
	started, running := 0, 0
	for {
		if started < n {
			i := started
			started++
			running++
			go func() {
				resp, err := attempt(ctx, i)
				answers <- answer{resp, err}
			}()
		}
		if running == 0 {
			return nil, last
		}
		var late <-chan time.Time
		if started < n && hedge > 0 {
			late = time.After(hedge)
		}
		select {
		case a := <-answers:
			if a.err == nil || isUnsupported(a.err) || ctx.Err() != nil {
				return a.resp, a.err
			}
			last = a.err
			running--
		case <-late:
		}
	}
}

// hedgeAfter is how long one broker may take before another is asked too.
func hedgeAfter(ctx context.Context) time.Duration {
	d := time.Second
	if end, ok := ctx.Deadline(); ok {
		d = min(d, time.Until(end)/4)
	}
	return d
}

// firstAttempts is how many attempts at the metadata of the brokers there may
// be: one of several brokers may hang where the others answer.
func (c *Client) firstAttempts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(len(c.conn.Bootstrap), min(sendTries, len(c.addr)))
}

func (c *Client) anyOrder() []int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []int32
	if c.home != 0 {
		ids = append(ids, c.home)
	}
	for id := range c.addr {
		if len(ids) < sendTries && id != c.home && c.same[id] == 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// stage is ctx with a deadline that leaves a share of the time that is left to
// what comes after, so that what has been read is worth something when the
// rest does not come.
func stage(ctx context.Context, share float64) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(share*float64(time.Until(end))))
}
