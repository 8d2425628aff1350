package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/streamctl/streamctl/internal/errs"
)

// Attempt is what was tried when an error came, for Explain.
type Attempt struct {
	Conn   *Connection
	Addr   string        // host:port of the broker that was tried
	Step   Step          // the last step begun; a *StepError in the error knows better
	Waited time.Duration // how long we waited for an answer
	Now    time.Time     // to judge our own certificate; zero: not judged

	// Answered says that Addr has answered a request of this client before, so
	// that neither the protocol nor the login can be at fault.
	Answered bool

	// Via is the address that answered and advertised Addr, when Addr came
	// out of metadata; "" for a bootstrap server. Broker is its id then.
	Via    string
	Broker int32
}

// explained is an error in better words; the one underneath is for errors.As
// only.
type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text }
func (e *explained) Unwrap() error { return e.err }

// because makes the better error. The hint may be empty.
func because(err error, hint, format string, args ...any) error {
	return errs.WithHint(&explained{fmt.Sprintf(format, args...), err}, hint)
}

// Explain turns an error of connecting, logging in or waiting for an answer
// into one that names the cause and has a hint. It is pure, and errors.As
// still finds what is underneath. What it does not know, and
// context.Canceled, it returns as it is.
//
// Errors of this package, of net, x509 and tls are known by their types. This
// package imports no Kafka client, so Kafka's own codes are known by their
// names in the text (SASL_AUTHENTICATION_FAILED), and the client's guesses
// about a closed connection by its words; what remains is judged by Step.
func Explain(err error, a Attempt) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if a.Conn == nil {
		a.Conn = &Connection{}
	}
	var at *StepError
	if errors.As(err, &at) {
		a.Step = at.Step
		if a.Addr == "" {
			a.Addr = at.Addr
		}
	}
	if a.Addr == "" {
		a.Addr = "the broker"
		if len(a.Conn.Bootstrap) == 1 {
			a.Addr = a.Conn.Bootstrap[0]
		}
	}
	for _, look := range []func(error, Attempt) error{explainLogin, explainTLS, explainReach, explainSpeech, explainClosed, explainSilence} {
		if better := look(err, a); better != nil {
			return better
		}
	}
	return err
}

// explainLogin knows the answers to a login.
func explainLogin(err error, a Attempt) error {
	var token *TokenError
	if errors.As(err, &token) {
		hint := "check " + keyEndpoint
		if token.Code != "" || token.Status != 0 {
			hint = "check client id, client secret and scope"
		}
		return because(err, hint, "%s", token.Error())
	}
	text, sasl := err.Error(), a.Conn.SASL
	switch {
	case strings.Contains(text, "ILLEGAL_SASL_STATE"):
		return because(err, "set security.protocol=PLAINTEXT or SSL, or take the port that wants a login",
			"%s: this listener takes no login: drop sasl.* or use the SASL port", a.Addr)
	case strings.Contains(text, "UNSUPPORTED_SASL_MECHANISM") && sasl != nil:
		return because(err, "set sasl.mechanism to one that the listener has turned on",
			"%s does not offer %s on this listener", a.Addr, sasl.Mechanism)
	case !strings.Contains(text, "SASL_AUTHENTICATION_FAILED") || sasl == nil:
		return nil
	case sasl.Mechanism == MechOAuth:
		return explainToken(err, sasl)
	}
	return because(err, "", "login refused for user %q (%s): wrong password, unknown user, or no such credential for this mechanism", sasl.User, sasl.Mechanism)
}

// explainToken is for a token that the broker does not take.
func explainToken(err error, sasl *SASL) error {
	status := ""
	if m := regexp.MustCompile(`"status":\s*"([a-z_]{1,40})"`).FindStringSubmatch(err.Error()); m != nil {
		status = ": " + m[1]
	}
	if sasl.TokenEndpoint == "" {
		return because(err, "unsecured tokens are for test brokers: set "+keyEndpoint,
			"the broker refused the unsecured token of user %q%s", sasl.User, status)
	}
	issuer := "issuer not known"
	if sasl.TokenIssuer != nil && sasl.TokenIssuer() != "" {
		issuer = fmt.Sprintf("issuer %q", sasl.TokenIssuer())
	}
	return because(err, "compare issuer, audience and scope with what the broker expects",
		"the broker refused the token from %q (%s)%s", sasl.TokenEndpoint, issuer, status)
}

// explainReach knows the failures before anything was sent: name, route, port.
func explainReach(err error, a Attempt) error {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		if a.Via != "" {
			return advertised(err, a, "which is not known here")
		}
		return because(err, "check the name, or the resolver of this machine", "host %q is not known (DNS)", dns.Name)
	case errors.As(err, &dns):
		return because(err, "check the resolver of this machine", "host %q cannot be looked up (DNS)", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		if a.Via != "" {
			return advertised(err, a, "where nothing listens")
		}
		return because(err, "check host and port, and that the broker is up", "nothing listens on %s", a.Addr)
	case errors.As(err, &op) && op.Op == "dial" && !op.Timeout():
		if a.Via != "" {
			return advertised(err, a, "which cannot be reached from here")
		}
		return because(err, "", "%s cannot be reached: %s", a.Addr, printableText(op.Err.Error()))
	}
	return nil
}

// advertised is for a broker that a cluster names and that we cannot reach.
func advertised(err error, a Attempt, why string) error {
	return because(err, fmt.Sprintf("set advertised.listeners of broker %d to a name and port that hold here, or run where it does", a.Broker),
		"reached %s, but it advertises broker %d as %s, %s", a.Via, a.Broker, a.Addr, why)
}

// explainSpeech knows answers that are no Kafka, by the words of the client.
func explainSpeech(err error, a Attempt) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "tls alert record"):
		hint := "SSL where it wants no login, SASL_SSL where it does"
		if a.Conn.SASL != nil {
			hint = "SASL_SSL keeps the login that is set"
		}
		return because(err, hint, "%s: the port speaks TLS: set security.protocol=SSL or SASL_SSL", a.Addr)
	case strings.Contains(text, "'HTTP' in ascii"):
		return because(err, "check the port", "%s speaks HTTP, not Kafka", a.Addr)
	case strings.Contains(text, "invalid large response size"), strings.Contains(text, "invalid negative response size"),
		strings.Contains(text, "short response from ApiVersions"):
		return because(err, "check the port", "%s answered with something that is not Kafka", a.Addr)
	case strings.Contains(text, "did not contain enough data to be valid"), strings.Contains(text, "correlation ID mismatch"):
		return because(err, "a proxy in between may be at fault", "%s sent an answer that cannot be read (%s)", a.Addr, text)
	}
	return explainVersions(err, a)
}

// explainVersions knows brokers that have no version of a request in common
// with us.
func explainVersions(err error, a Attempt) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "broker is too old"), strings.Contains(text, "request key is unknown"):
		return because(err, "brokers of Kafka 0.11 and later do", "%s does not know a request that is needed: the broker is too old", a.Addr)
	case strings.Contains(text, "contained no ApiKeys"):
		return because(err, "check the port", "%s names no request that it knows", a.Addr)
	}
	return nil
}

// explainClosed knows what a connection means that the other side closed, by
// how far we had come.
func explainClosed(err error, a Attempt) error {
	text := err.Error()
	closed := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	switch {
	case strings.Contains(text, "immediately after a dial"):
		closed, a.Step = true, StepTLS
	case strings.Contains(text, "during api versions negotiation"):
		closed, a.Step = true, StepVersions
	case strings.Contains(text, "broker connection has died"):
		closed = true
	case strings.Contains(text, "is SASL missing"):
		closed = true
		if a.Step == StepUnknown {
			a.Step = StepRequest
		}
	}
	if !closed {
		return nil
	}
	c := a.Conn
	switch {
	case a.Answered:
	case c.TLS != nil && a.Step == StepTLS:
		return notTLS(err, a)
	case c.SASL == nil && strings.Contains(text, "is SASL missing"):
		return because(err, "set security.protocol=SASL_SSL or SASL_PLAINTEXT, with sasl.mechanism and sasl.jaas.config",
			"%s: the broker closed the connection before answering: it wants a login (SASL)", a.Addr)
	case c.TLS != nil && c.ClientCert == nil && a.Step == StepVersions:
		return because(err, "it may want a client certificate: set ssl.keystore.location",
			"%s closed the encrypted connection before its first answer", a.Addr)
	case a.Step == StepVersions:
		hint := "check the port"
		if c.TLS == nil {
			hint = "it may want TLS: set security.protocol=SSL or SASL_SSL"
		}
		return because(err, hint, "%s closed the connection before its first answer", a.Addr)
	case c.SASL != nil && a.Step == StepLogin:
		return because(err, "some brokers refuse a login this way; their log says why", "%s closed the connection during the login of %s", a.Addr, c.Describe())
	}
	return because(err, "the broker may have stopped: try again", "%s closed the connection", a.Addr)
}

// notTLS is for a TLS client on a port without TLS.
func notTLS(err error, a Attempt) error {
	hint := "set security.protocol=PLAINTEXT, or use the TLS port"
	if a.Conn.SASL != nil {
		hint = "set security.protocol=SASL_PLAINTEXT, or use the TLS port"
	}
	return because(err, hint, "%s: the port does not speak TLS: security.protocol=PLAINTEXT or SASL_PLAINTEXT", a.Addr)
}

// explainSilence is for an answer that never came.
func explainSilence(err error, a Attempt) error {
	var timeout interface{ Timeout() bool }
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, os.ErrDeadlineExceeded) && (!errors.As(err, &timeout) || !timeout.Timeout()) {
		return nil
	}
	waited := "too long"
	if a.Waited > 0 {
		waited = roundWait(a.Waited).String()
	}
	if a.Answered && (a.Step == StepTLS || a.Step == StepVersions) {
		a.Step = StepRequest
	}
	switch a.Step {
	case StepDial:
		if a.Via != "" {
			return advertised(err, a, "which does not answer from here")
		}
		return because(err, "a firewall may drop it, or the host is down", "%s did not accept a connection for %s", a.Addr, waited)
	case StepTLS, StepVersions:
		return because(err, "check the port", "%s accepted the connection and said nothing for %s: not Kafka, or a proxy with no backend", a.Addr, waited)
	case StepLogin:
		return because(err, "raise --timeout or look into the broker's log", "%s did not answer the login of %s for %s", a.Addr, a.Conn.Describe(), waited)
	case StepRequest:
		return because(err, "raise --timeout or check that the broker is up", "%s did not answer for %s", a.Addr, waited)
	case StepUnknown:
	}
	return because(err, "raise --timeout or check that the broker is up", "no answer from %s for %s", a.Addr, waited)
}

// roundWait drops the digits of a waiting time that nobody reads.
func roundWait(d time.Duration) time.Duration {
	if d >= time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

// printableText drops control characters of a text from elsewhere.
func printableText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}
