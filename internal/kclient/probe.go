package kclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
)

// Steps of a probe, in their order for one broker.
const (
	StepTCP      = "tcp"
	StepTLS      = "tls"
	StepVersions = "api-versions"
	StepLogin    = "login"
	StepMetadata = "metadata"
)

// ProbeStep is one step of testing a connection.
type ProbeStep struct {
	Step   string // tcp, tls, login, api-versions, metadata
	Object string // "bootstrap HOST:PORT" or "broker ID HOST:PORT"
	OK     bool
	Took   time.Duration // 0 where it is not known by itself
	Detail string        // for example the TLS version, or how many brokers; "" when there is nothing to say
	Error  string        // "" when OK
	Hint   string        // "" when there is none
}

// Probe is what a probe found, in the order in which it was done.
type Probe struct {
	ClusterID string
	Steps     []ProbeStep
}

// OK reports that no step failed.
func (p *Probe) OK() bool {
	return !slices.ContainsFunc(p.Steps, func(s ProbeStep) bool { return !s.OK })
}

// Probe tests the connection step by step, on connections of its own: every
// bootstrap server, then every broker that the cluster advertises.
func (c *Client) Probe(ctx context.Context) *Probe {
	p := &Probe{}
	var brokers []kmsg.MetadataResponseBroker
	via := ""
	for _, addr := range c.conn.Bootstrap {
		meta := c.probeOne(ctx, p, probeTarget{object: "bootstrap " + addr, addr: addr})
		if meta != nil && via == "" {
			via, brokers = addr, meta.Brokers
			if meta.ClusterID != nil {
				p.ClusterID = *meta.ClusterID
			}
		}
	}
	slices.SortFunc(brokers, func(a, b kmsg.MetadataResponseBroker) int { return int(a.NodeID) - int(b.NodeID) })
	for _, b := range brokers {
		addr := hostPort(b.Host, b.Port)
		t := probeTarget{object: fmt.Sprintf("broker %d %s", b.NodeID, addr), addr: addr, broker: b.NodeID}
		if addr != via {
			t.via = via
		}
		c.probeOne(ctx, p, t)
	}
	return p
}

// probeTarget is one address to probe.
type probeTarget struct {
	object, addr string
	via          string // what advertised it; "" for a bootstrap server
	broker       int32
}

// probeOne goes through the steps for one address, and returns its metadata.
func (c *Client) probeOne(ctx context.Context, p *Probe, t probeTarget) *kmsg.MetadataResponse {
	if !c.probeDial(ctx, p, t) {
		return nil
	}
	conn := c.conn
	conn.Bootstrap = []string{t.addr}
	one, err := Dial(ctx, conn, Options{Now: c.now, Version: c.soft})
	if err != nil {
		c.probeFailed(p, t, StepLogin, err)
		return nil
	}
	defer one.Close()
	ctx, cancel := context.WithTimeout(ctx, c.conn.RequestTimeout)
	defer cancel()
	start := time.Now()
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	kresp, err := one.cl.Broker(int(seedHandle(0))).Request(ctx, req)
	took := time.Since(start)
	reached := config.StepRequest
	if err != nil {
		a, _ := one.trace.settled(t.addr)
		reached = a.step
	}
	explained := err
	if err != nil {
		explained = one.explain(err, t.addr, t.via, t.broker)
	}
	steps := []struct {
		name string
		at   config.Step
	}{{StepVersions, config.StepVersions}, {StepLogin, config.StepLogin}, {StepMetadata, config.StepRequest}}
	for _, s := range steps {
		switch {
		case s.at == config.StepLogin && c.conn.SASL == nil:
		case err != nil && reached <= s.at:
			c.probeFailed(p, t, s.name, explained)
			return nil
		case s.at < config.StepRequest:
			p.Steps = append(p.Steps, ProbeStep{Step: s.name, Object: t.object, OK: true})
		}
	}
	resp := kresp.(*kmsg.MetadataResponse)
	detail := model.Count(len(resp.Brokers), "broker")
	p.Steps = append(p.Steps, ProbeStep{Step: StepMetadata, Object: t.object, OK: true, Took: took, Detail: detail})
	return resp
}

// probeDial is the TCP and the TLS step.
func (c *Client) probeDial(ctx context.Context, p *Probe, t probeTarget) bool {
	start := time.Now()
	nc, err := c.conn.Dial(ctx, "tcp", t.addr)
	took := time.Since(start)
	if err == nil {
		defer nc.Close() //nolint:errcheck // nothing was written to it
		if c.conn.TLS == nil {
			p.Steps = append(p.Steps, ProbeStep{Step: StepTCP, Object: t.object, OK: true, Took: took})
			return true
		}
		p.Steps = append(p.Steps, ProbeStep{Step: StepTCP, Object: t.object, OK: true},
			ProbeStep{Step: StepTLS, Object: t.object, OK: true, Took: took, Detail: tlsDetail(nc)})
		return true
	}
	name := StepTCP
	if se, ok := errors.AsType[*config.StepError](err); ok && se.Step == config.StepTLS {
		p.Steps = append(p.Steps, ProbeStep{Step: StepTCP, Object: t.object, OK: true})
		name = StepTLS
	}
	at := config.Attempt{Conn: &c.conn, Addr: t.addr, Waited: took, Now: c.now(), Via: t.via, Broker: t.broker}
	c.probeFailed(p, t, name, config.Explain(err, at))
	return false
}

func tlsDetail(nc net.Conn) string {
	tc, ok := nc.(*tls.Conn)
	if !ok {
		return ""
	}
	return tls.VersionName(tc.ConnectionState().Version)
}

func (c *Client) probeFailed(p *Probe, t probeTarget, step string, err error) {
	s := ProbeStep{Step: step, Object: t.object, Error: err.Error()}
	if hints := errs.Hints(err); len(hints) > 0 {
		s.Hint = hints[0]
	}
	p.Steps = append(p.Steps, s)
}
