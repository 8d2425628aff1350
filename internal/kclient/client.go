package kclient

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
)

const (
	defaultClientID       = "streamctl"
	defaultRequestTimeout = 10 * time.Second
	defaultDialTimeout    = 10 * time.Second
	defaultTimeout        = 30 * time.Second
	keyOffsetFetch        = 9
	keyAPIVersions        = 18
	keyStreamsDescribe    = 89
)

// Options of a client.
type Options struct {
	Now     func() time.Time // for TakenAt and messages; nil: the system's clock
	Version string           // of this build, told to brokers; "" is "0"
}

// Client reads one cluster. It is safe for use by several goroutines.
type Client struct {
	conn  config.Connection
	opts  []kgo.Opt // of cl, for clients that write
	cl    *kgo.Client
	trace *trace
	now   func() time.Time
	soft  string

	mu   sync.Mutex
	home int32           // handle that answered first: a bootstrap server or a broker id
	same map[int32]int32 // broker id -> bootstrap handle of the same host and port
	addr map[int32]string
}

// softwareVersion is a version in the letters that brokers take in ApiVersions;
// they refuse the whole request for others, such as the "+" of "1.2.0+dirty".
func softwareVersion(v string) string {
	v = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, v)
	if v = strings.Trim(v, "-."); v == "" {
		return "0"
	}
	return v
}

// Dial makes a client for the connection. It sends nothing: the first Snapshot
// or Probe connects, so that several requests can share the first round trip.
// The error says what is wrong with the connection's values (exit code 2).
func Dial(_ context.Context, conn config.Connection, o Options) (*Client, error) {
	c := &Client{conn: conn, now: o.Now, soft: softwareVersion(o.Version), same: map[int32]int32{}, addr: map[int32]string{}}
	if c.now == nil {
		c.now = time.Now
	}
	if c.conn.ClientID == "" {
		c.conn.ClientID = defaultClientID
	}
	if c.conn.RequestTimeout <= 0 {
		c.conn.RequestTimeout = defaultRequestTimeout
	}
	if c.conn.DialTimeout <= 0 {
		c.conn.DialTimeout = min(defaultDialTimeout, c.conn.RequestTimeout)
	}
	c.trace = newTrace(&c.conn, c.now)
	opts := []kgo.Opt{
		kgo.SeedBrokers(conn.Bootstrap...),
		kgo.ClientID(c.conn.ClientID),
		kgo.SoftwareNameAndVersion(defaultClientID, c.soft),
		kgo.Dialer(c.trace.dial),
		kgo.WithHooks(c.trace),
		kgo.MaxVersions(versions()),
		kgo.RequestTimeoutOverhead(max(c.conn.RequestTimeout, 100*time.Millisecond)),
		kgo.RetryBackoffFn(func(n int) time.Duration { return min(time.Duration(n)*25*time.Millisecond, time.Second) }),
		kgo.RequestRetries(3),
		kgo.RetryTimeout(5 * time.Second),
		kgo.DisableIdempotentWrite(), // no InitProducerID: it would need a permission
		kgo.DisableClientMetrics(),
	}
	if conn.SASL != nil {
		m, err := mechanism(conn.SASL)
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.SASL(m))
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, errs.WithCode(fmt.Errorf("connection: %w", err), errs.Usage)
	}
	c.cl, c.opts = cl, opts
	seeds := cl.SeedBrokers()
	if len(seeds) == 1 {
		c.home = seedHandle(0)
	}
	return c, nil
}

// Close ends every connection.
func (c *Client) Close() { c.cl.Close() }

// Describe says who we are on this connection, from the configuration.
func (c *Client) Describe() string { return c.conn.Describe() }

// versions is every version that kmsg knows, but for OffsetFetch, which from
// v10 on names topics by ids that a deleted topic no longer resolves, and
// ApiVersions, whose v5 costs most brokers of today a second round trip.
func versions() *kversion.Versions {
	v := new(kversion.Versions)
	for key := int16(0); key <= kmsg.MaxKey; key++ {
		if r := kmsg.RequestForKey(key); r != nil {
			v.SetMaxKeyVersion(key, r.MaxVersion())
		}
	}
	v.SetMaxKeyVersion(keyOffsetFetch, 9)
	v.SetMaxKeyVersion(keyAPIVersions, 4)
	return v
}

func mechanism(s *config.SASL) (sasl.Mechanism, error) {
	user, pass := s.User, s.Password.Reveal()
	scramAuth := func(context.Context) (scram.Auth, error) {
		return scram.Auth{User: user, Pass: pass, IsToken: s.DelegationToken}, nil
	}
	switch s.Mechanism {
	case config.MechPlain:
		return plain.Plain(func(context.Context) (plain.Auth, error) { return plain.Auth{User: user, Pass: pass}, nil }), nil
	case config.MechScram256:
		return scram.Sha256(scramAuth), nil
	case config.MechScram512:
		return scram.Sha512(scramAuth), nil
	case config.MechOAuth:
		return oauth.Oauth(func(ctx context.Context) (oauth.Auth, error) {
			token, ext, err := s.Token(ctx)
			return oauth.Auth{Token: token, Extensions: ext}, err
		}), nil
	}
	return nil, errs.Usagef("login mechanism %q is not supported", s.Mechanism)
}

// seedHandle is the number kgo gives to a bootstrap server.
func seedHandle(i int) int32 { return -1<<31 + int32(i) }

// handle gives the connection to a broker, sharing the one to a bootstrap
// server of the same address.
func (c *Client) handle(id int32) *kgo.Broker {
	c.mu.Lock()
	defer c.mu.Unlock()
	if seed, ok := c.same[id]; ok {
		id = seed
	}
	return c.cl.Broker(int(id))
}

// learn takes the brokers of a metadata answer.
func (c *Client) learn(m *kmsg.MetadataResponse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seed, at, ok := c.trace.firstSeed()
	if ok {
		c.home = seed
	} else if c.home == 0 && len(m.Brokers) > 0 {
		c.home = m.Brokers[0].NodeID
	}
	clear(c.same)
	clear(c.addr)
	for _, b := range m.Brokers {
		a := hostPort(b.Host, b.Port)
		c.addr[b.NodeID] = a
		if ok && a == at {
			c.same[b.NodeID] = seed
		}
	}
}

func (c *Client) homeHandle() (int32, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.home, c.home != 0
}

// addrOf is the address of a broker as it is advertised, "" when not known.
func (c *Client) addrOf(id int32) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.addr[id]
}

func hostPort(host string, port int32) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }
