package config

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
)

// Step is how far a connection attempt had come when it failed: the last step
// that was begun.
type Step int

// The steps in their order.
const (
	StepUnknown  Step = iota // not known; Explain then judges by the error alone
	StepDial                 // name lookup and TCP connect
	StepTLS                  // TLS handshake
	StepVersions             // the first request, ApiVersions, has been sent
	StepLogin                // the SASL exchange
	StepRequest              // logged in; a request has been sent
)

func (s Step) String() string {
	switch s {
	case StepDial:
		return "tcp"
	case StepTLS:
		return "tls"
	case StepVersions:
		return "api-versions"
	case StepLogin:
		return "login"
	case StepRequest:
		return "request"
	case StepUnknown:
	}
	return "unknown"
}

// StepError is an error of Dial that says how far it came.
type StepError struct {
	Step Step
	Addr string // host:port
	Err  error
}

func (e *StepError) Error() string { return fmt.Sprintf("%s %s: %v", e.Step, e.Addr, e.Err) }

// Unwrap gives the error of the step.
func (e *StepError) Unwrap() error { return e.Err }

// Dial connects to one broker as the configuration says: TCP, and TLS where
// asked for, within DialTimeout. It fits the dial option of Kafka clients
// (network is "tcp"); the client must not add TLS itself. Its errors are
// *StepError, so that Explain knows whether the port was open.
func (c *Connection) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if c.DialTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.DialTimeout)
		defer cancel()
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, &StepError{StepDial, addr, err}
	}
	if c.TLS == nil {
		return conn, nil
	}
	cfg := c.TLS.Clone()
	if cfg.ServerName == "" {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			host = addr
		}
		cfg.ServerName = host
	}
	secure := tls.Client(conn, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, &StepError{StepTLS, addr, err}
	}
	return secure, nil
}
