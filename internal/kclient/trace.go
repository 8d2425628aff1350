package kclient

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/config"
)

// trace follows the connections of a client, so that a bare "deadline
// exceeded" can say which step it was that never ended.
type trace struct {
	conn *config.Connection
	now  func() time.Time

	mu     sync.Mutex
	at     map[string]*attempt // by host:port
	seed   int32               // bootstrap handle that answered first; 0: none
	seedAt string
}

// attempt is the last connection attempt to one address.
type attempt struct {
	step    config.Step
	since   time.Time // of the step
	dialing int
	err     error // why it failed; nil while it runs or when it is connected
	read    bool  // something was answered

	before lasted // of the last attempt before that was connected; zero where something was answered

	answered bool // on any connection, and more than the opening of one
}

// lasted is how far an attempt came, and for how long nothing came then.
type lasted struct {
	step   config.Step
	waited time.Duration
}

// held says which step held the client up: one that has only just begun is at
// fault for less than the one before it.
func (a *attempt) held(now time.Time) (config.Step, time.Duration) {
	waited := now.Sub(a.since)
	if a.step == config.StepDial && a.err == nil && a.before.waited > waited {
		return a.before.step, a.before.waited
	}
	return a.step, waited
}

func newTrace(conn *config.Connection, now func() time.Time) *trace {
	return &trace{conn: conn, now: now, at: map[string]*attempt{}}
}

func (t *trace) of(addr string) *attempt {
	a := t.at[addr]
	if a == nil {
		a = &attempt{}
		t.at[addr] = a
	}
	return a
}

// dial is the dialer of the kgo client.
func (t *trace) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	t.mu.Lock()
	a := t.of(addr)
	if now := t.now(); a.step > config.StepDial && !a.read {
		a.before = lasted{a.step, now.Sub(a.since)}
	} else if a.read {
		a.before = lasted{}
	}
	a.step, a.since, a.err, a.read = config.StepDial, t.now(), nil, false
	a.dialing++
	t.mu.Unlock()
	conn, err := t.conn.Dial(ctx, network, addr)
	t.mu.Lock()
	defer t.mu.Unlock()
	a.dialing--
	if err != nil {
		a.err = err
		if se, ok := errors.AsType[*config.StepError](err); ok {
			a.step = se.Step
		}
	}
	return conn, err
}

// OnBrokerConnect is kgo's hook: a connection is ready to use, or failed.
func (t *trace) OnBrokerConnect(m kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of(hostPort(m.Host, m.Port)).err = err
}

// OnBrokerWrite is kgo's hook: a request has been sent.
func (t *trace) OnBrokerWrite(m kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, _ error) {
	step := stepOf(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.of(hostPort(m.Host, m.Port))
	if a.step != step {
		a.step, a.since = step, t.now()
	}
}

// stepOf is the step that a request belongs to.
func stepOf(key int16) config.Step {
	switch key {
	case keyAPIVersions:
		return config.StepVersions
	case 17, 36: // SaslHandshake, SaslAuthenticate
		return config.StepLogin
	}
	return config.StepRequest
}

// OnBrokerRead is kgo's hook: an answer has come, or will not.
func (t *trace) OnBrokerRead(m kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.of(hostPort(m.Host, m.Port))
	a.read = true
	if stepOf(key) == config.StepRequest {
		a.answered = true
	}
	if t.seed == 0 && m.NodeID < -1 && key == 3 {
		t.seed, t.seedAt = m.NodeID, hostPort(m.Host, m.Port)
	}
}

// firstSeed is the bootstrap server that answered first.
func (t *trace) firstSeed() (handle int32, addr string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seed, t.seedAt, t.seed != 0
}

// settled is the last attempt to an address. A dial that ends with the context
// ends a moment after the request that waited for it, so wait for that moment.
func (t *trace) settled(addr string) (attempt, bool) {
	for try := 0; ; try++ {
		t.mu.Lock()
		var out attempt
		a, ok := t.at[addr]
		if ok {
			out = *a
		}
		t.mu.Unlock()
		if out.dialing == 0 || try == 20 {
			return out, ok
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// explain names the cause of a failure to reach addr. via is the address that
// advertised it as broker, "" for a bootstrap server.
func (c *Client) explain(err error, addr, via string, broker int32) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	at := config.Attempt{Conn: &c.conn, Addr: addr, Now: c.now(), Via: via, Broker: broker}
	if a, ok := c.trace.settled(addr); ok {
		at.Step, at.Waited = a.held(at.Now)
		at.Answered = a.answered
		if errors.Is(err, context.DeadlineExceeded) && a.err != nil {
			err = a.err
		}
	}
	return config.Explain(err, at)
}

// explainBroker names the cause of a failure to reach an advertised broker.
func (c *Client) explainBroker(err error, id int32) error {
	addr := c.addrOf(id)
	if addr == "" {
		return err
	}
	_, via, _ := c.trace.firstSeed()
	if via == addr {
		via, id = "", 0
	}
	return c.explain(err, addr, via, id)
}

// explainBootstrap names the cause of a failure to reach any bootstrap server:
// one error for each that was tried.
func (c *Client) explainBootstrap(err error) error {
	var all []error
	for _, addr := range c.conn.Bootstrap {
		a, ok := c.trace.settled(addr)
		if !ok {
			continue
		}
		cause := err
		if a.err != nil {
			cause = a.err
		}
		all = append(all, c.explain(cause, addr, "", 0))
	}
	if len(all) == 0 {
		return err
	}
	return errors.Join(all...)
}
