package config

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/streamctl/streamctl/internal/errs"
)

// The tests of this file use the Kafka client that streamctl uses, so that
// the words Explain looks for are the client's own.

// steps notes how far the client came: by its dialer and its hook.
type steps struct {
	conn    *Connection
	mu      sync.Mutex
	at      Step
	err     error // of the last dial
	dialing int   // dials that run: one ends a moment after the request that waited for it
	idle    *sync.Cond
}

func (s *steps) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	s.mu.Lock()
	s.dialing++
	s.mu.Unlock()
	conn, err := s.conn.Dial(ctx, network, addr)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dialing--
	s.err = err
	s.idle.Broadcast()
	return conn, err
}

func (s *steps) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch kmsg.Key(key) {
	case kmsg.ApiVersions:
		s.at = StepVersions
	case kmsg.SASLHandshake, kmsg.SASLAuthenticate:
		s.at = StepLogin
	default:
		s.at = StepRequest
	}
}

// ask connects to addr as c says, asks for metadata and returns the explained
// error.
func ask(t *testing.T, c *Connection, addr string, wait time.Duration) error {
	t.Helper()
	at := &steps{conn: c}
	at.idle = sync.NewCond(&at.mu)
	opts := []kgo.Opt{kgo.SeedBrokers(addr), kgo.Dialer(at.dial), kgo.WithHooks(at), kgo.RequestRetries(0), kgo.RetryTimeout(wait)}
	if s := c.SASL; s != nil {
		opts = append(opts, kgo.SASL(clientMechanism(s)))
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	start := time.Now()
	_, err = kmsg.NewPtrMetadataRequest().RequestWith(ctx, cl)
	waited := time.Since(start)
	at.mu.Lock()
	defer at.mu.Unlock()
	for at.dialing > 0 {
		at.idle.Wait()
	}
	if errors.Is(err, context.DeadlineExceeded) && at.err != nil {
		err = at.err
	}
	return Explain(err, Attempt{Conn: c, Addr: addr, Step: at.at, Waited: waited, Now: time.Now()})
}

func clientMechanism(s *SASL) sasl.Mechanism {
	switch s.Mechanism {
	case MechPlain:
		return plain.Auth{User: s.User, Pass: s.Password.Reveal()}.AsMechanism()
	case MechScram256:
		return scram.Auth{User: s.User, Pass: s.Password.Reveal()}.AsSha256Mechanism()
	case MechScram512:
		return scram.Auth{User: s.User, Pass: s.Password.Reveal()}.AsSha512Mechanism()
	}
	return oauth.Oauth(func(ctx context.Context) (oauth.Auth, error) {
		token, ext, err := s.Token(ctx)
		return oauth.Auth{Token: token, Extensions: ext}, err
	})
}

// broker starts an embedded broker and returns its address.
func broker(t *testing.T, opts ...kfake.Opt) string {
	t.Helper()
	c, err := kfake.NewCluster(append(opts, kfake.NumBrokers(1))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.ListenAddrs()[0]
}

// loginBroker is a broker that answers ApiVersions, and a login with these
// codes of the handshake and of the authentication.
func loginBroker(t *testing.T, handshake, authenticate int16, message string) string {
	return listen(t, func(c net.Conn) {
		for {
			head := make([]byte, 12)
			if _, err := io.ReadFull(c, head); err != nil {
				return
			}
			size, key := binary.BigEndian.Uint32(head), int16(binary.BigEndian.Uint16(head[4:]))
			if _, err := io.CopyN(io.Discard, c, int64(size)-8); err != nil {
				return
			}
			var resp kmsg.Response
			switch kmsg.Key(key) {
			case kmsg.ApiVersions:
				r := kmsg.NewPtrApiVersionsResponse()
				r.ErrorCode = 35 // "ask again with version 0", as brokers do that do not know the version
				if binary.BigEndian.Uint16(head[6:]) == 0 {
					r.ErrorCode = 0
				}
				for _, k := range []int16{3, 17, 18, 36} {
					r.ApiKeys = append(r.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: k, MaxVersion: 1})
				}
				resp = r
			case kmsg.SASLHandshake:
				r := kmsg.NewPtrSASLHandshakeResponse()
				r.ErrorCode, r.SupportedMechanisms = handshake, []string{"PLAIN"}
				r.SetVersion(1)
				resp = r
			case kmsg.SASLAuthenticate:
				r := kmsg.NewPtrSASLAuthenticateResponse()
				r.ErrorCode, r.ErrorMessage = authenticate, &message
				r.SetVersion(1)
				resp = r
			default:
				return
			}
			body := resp.AppendTo(binary.BigEndian.AppendUint32(nil, binary.BigEndian.Uint32(head[8:])))
			if _, err := c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)); err != nil {
				return
			}
		}
	})
}

const withPlain = "sasl.mechanism=PLAIN\nsasl.jaas.config=" + modulePlain + ` required username="op" password="s3cret";` + "\n"
const withScram = "sasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config=" + moduleScram + ` required username="op" password="s3cret";` + "\n"
const trustCA = "ssl.truststore.location=" + dir + "ca.pem\n"

// silent accepts and says nothing.
func silent(t *testing.T) string {
	return listen(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1<<20)); time.Sleep(3 * time.Second) })
}

// Field case 76, second part: each way in which a connection can fail has its
// own message; so has each row of what was measured on real brokers.
func TestFieldCase76ConnectionErrorsNameTheCause(t *testing.T) {
	ca, other := storeAuthority(t), newAuthority(t, "another CA")
	cert := func(change func(*x509.Certificate)) []tls.Certificate {
		return []tls.Certificate{ca.issue(t, "broker", change)}
	}
	tlsBroker := broker(t, kfake.TLS(&tls.Config{Certificates: cert(nil)}))
	plainBroker := broker(t)
	saslBroker := broker(t, kfake.EnableSASL(), kfake.Superuser("PLAIN", "admin", "x"), kfake.Superuser("SCRAM-SHA-512", "admin", "x"))
	saslTLS := broker(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "admin", "x"), kfake.TLS(&tls.Config{Certificates: cert(nil)}))
	oldCert := tlsEcho(t, &tls.Config{Certificates: cert(func(c *x509.Certificate) {
		c.NotAfter = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
		c.NotBefore = c.NotAfter.Add(-1)
	})})
	hostCert := tlsEcho(t, &tls.Config{Certificates: cert(func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"b1.example", "b2.example"} })})
	namelessCert := tlsEcho(t, &tls.Config{Certificates: cert(func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, nil })})
	selfSigned := tlsEcho(t, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{other.cert.Raw}, PrivateKey: other.key}}})
	mutual := broker(t, kfake.TLS(&tls.Config{Certificates: cert(nil), ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.pool()}))
	old13 := broker(t, kfake.TLS(&tls.Config{Certificates: cert(nil), MinVersion: tls.VersionTLS13}))
	// What Java brokers do: a TLS port answers anything else with an alert, a
	// plaintext port closes at once on a TLS greeting.
	javaTLS := listen(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1000))
		_, _ = c.Write([]byte{21, 3, 3, 0, 2, 2, 80})
		_, _ = c.Read(make([]byte, 1))
	})
	javaPlain := listen(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 10000)) })
	noLogin := loginBroker(t, 34, 0, "")
	refusing := loginBroker(t, 0, 58, "Authentication failed during authentication due to invalid credentials")
	noMechanism := loginBroker(t, 33, 0, "")
	http := listen(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1000))
		_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
		_, _ = c.Read(make([]byte, 1))
	})
	empty := listen(t, func(c net.Conn) {
		req := make([]byte, 1000)
		_, _ = c.Read(req)
		_, _ = c.Write(append([]byte{0, 0, 0, 4}, req[8:12]...)) // only the number of the request
		_, _ = c.Read(make([]byte, 1))
	})
	foreign := other.issue(t, "stranger", nil)
	foreignFile := pemFile(t, foreign.Leaf, foreign.PrivateKey)
	expired := ca.issue(t, "late", func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC)
	})
	expiredFile := pemFile(t, expired.Leaf, expired.PrivateKey)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := free.Addr().String()
	_ = free.Close()
	quiet := silent(t)

	for _, c := range []struct {
		name, addr, text string
		wait             time.Duration
		want             string // %s is the address
		hint             string
	}{
		{name: "nothing listens", addr: dead, want: "nothing listens on %s"},
		{name: "name unknown", addr: "nosuch.invalid:9092", want: `host "nosuch.invalid" is not known (DNS)`},
		{name: "silent port", addr: quiet, wait: 300 * time.Millisecond, want: "%s accepted the connection and said nothing for ", hint: "check the port"},
		{name: "silent port, TLS", addr: quiet, text: "security.protocol=SSL", wait: 300 * time.Millisecond, want: "%s accepted the connection and said nothing for "},
		{name: "plaintext to TLS", addr: javaTLS, want: "%s: the port speaks TLS: set security.protocol=SSL or SASL_SSL"},
		{name: "SASL_PLAINTEXT to SASL_SSL", addr: javaTLS, text: "security.protocol=SASL_PLAINTEXT\n" + withPlain, want: "%s: the port speaks TLS: set security.protocol=SSL or SASL_SSL", hint: "SASL_SSL keeps the login"},
		{name: "plaintext to a TLS port that only closes", addr: tlsBroker, want: "%s closed the connection before its first answer", hint: "it may want TLS"},
		{name: "TLS to plaintext", addr: javaPlain, text: "security.protocol=SSL", want: "%s: the port does not speak TLS: security.protocol=PLAINTEXT or SASL_PLAINTEXT"},
		{name: "no login where one is wanted", addr: saslBroker, want: "%s: the broker closed the connection before answering: it wants a login (SASL)", hint: "sasl.mechanism"},
		{name: "login where none is wanted", addr: noLogin, text: "security.protocol=SASL_PLAINTEXT\n" + withPlain, want: "%s: this listener takes no login: drop sasl.* or use the SASL port"},
		{name: "mechanism not offered", addr: noMechanism, text: "security.protocol=SASL_PLAINTEXT\n" + withScram, want: "%s does not offer SCRAM-SHA-512 on this listener"},
		{name: "login refused by closing", addr: saslBroker, text: "security.protocol=SASL_PLAINTEXT\n" + withPlain, want: `%s closed the connection during the login of PLAIN user "op"`},
		{name: "login refused, PLAIN", addr: refusing, text: "security.protocol=SASL_PLAINTEXT\n" + withPlain, want: `login refused for user "op" (PLAIN): wrong password, unknown user, or no such credential for this mechanism`},
		{name: "login refused, SCRAM", addr: refusing, text: "security.protocol=SASL_PLAINTEXT\n" + withScram, want: `login refused for user "op" (SCRAM-SHA-512): wrong password, unknown user, or no such credential for this mechanism`},
		{name: "wrong CA", addr: tlsBroker, text: "security.protocol=SSL\nssl.truststore.location=" + pemFile(t, other.cert, nil), want: `certificate of %s is not trusted: its issuer "CN=streamctl test ca" is not in PEM file "`, hint: "ssl.truststore.location"},
		{name: "no CA", addr: tlsBroker, text: "security.protocol=SSL", want: `certificate of %s is not trusted: its issuer "CN=streamctl test ca" is not in the system's roots`},
		{name: "self-signed", addr: selfSigned, text: "security.protocol=SSL\n" + trustCA, want: `its issuer "CN=another CA" (it signed itself) is not in`},
		{name: "wrong CA, host check off", addr: tlsBroker, text: "security.protocol=SSL\nssl.endpoint.identification.algorithm=\nssl.truststore.location=" + pemFile(t, other.cert, nil), want: `certificate of %s is not trusted: its issuer "CN=streamctl test ca"`},
		{name: "server certificate expired", addr: oldCert, text: "security.protocol=SSL\n" + trustCA, want: `certificate of %s (subject "CN=broker"): certificate has expired or is not yet valid: current time `, hint: "clock"},
		{name: "wrong host", addr: hostCert, text: "security.protocol=SSL\n" + trustCA, want: `certificate of %s names "b1.example", "b2.example", not "127.0.0.1"`, hint: "ssl.endpoint.identification.algorithm= (empty)"},
		{name: "no host in the certificate", addr: namelessCert, text: "security.protocol=SSL\n" + trustCA, want: `certificate of %s names no host at all, only the subject "CN=broker", not "127.0.0.1"`},
		{name: "mTLS, none sent", addr: mutual, text: "security.protocol=SSL\n" + trustCA, want: "%s: the broker wants a client certificate", hint: "ssl.keystore.location"},
		{name: "mTLS, another CA", addr: mutual, text: "security.protocol=SSL\n" + trustCA + "ssl.keystore.location=" + foreignFile, want: `%s: the broker does not accept this client certificate (subject "CN=stranger", issuer "CN=another CA")`},
		{name: "mTLS, expired", addr: mutual, text: "security.protocol=SSL\n" + trustCA + "ssl.keystore.location=" + expiredFile, want: `your certificate expired on 2020-01-02 (subject "CN=late")`, hint: "CN=streamctl test ca"},
		{name: "TLS versions", addr: old13, text: "security.protocol=SSL\n" + trustCA + "ssl.enabled.protocols=TLSv1.2", want: "%s has no TLS version in common with us"},
		{name: "HTTP", addr: http, want: "%s speaks HTTP, not Kafka"},
		{name: "an answer without content", addr: empty, want: "%s answered with something that is not Kafka", hint: "check the port"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.wait == 0 {
				c.wait = 5 * time.Second
			}
			conn := mustConnection(t, c.text)
			start := time.Now()
			err := ask(t, conn, c.addr, c.wait)
			if err == nil {
				t.Fatal("no error")
			}
			if want := strings.ReplaceAll(c.want, "%s", c.addr); !strings.Contains(err.Error(), want) {
				t.Errorf("%v\nwant %s\nunderneath %#v", err, want, errors.Unwrap(err))
			}
			hints := strings.Join(errs.Hints(err), "\n")
			if !strings.Contains(hints, c.hint) || errs.ExitCode(err) != errs.Failed {
				t.Errorf("hints %q (exit %d), want %q", hints, errs.ExitCode(err), c.hint)
			}
			if strings.Contains(err.Error()+hints, "s3cret") {
				t.Errorf("a secret is in %q", err)
			}
			if took := time.Since(start); took > c.wait+2*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
	for name, c := range map[string]struct{ addr, text string }{
		"plaintext": {plainBroker, ""},
		"TLS":       {tlsBroker, "security.protocol=SSL\n" + trustCA},
		"mTLS":      {mutual, "security.protocol=SSL\n" + trustCA + "ssl.keystore.password=changeit\nssl.keystore.location=" + dir + "key-keytool.p12"},
		"PLAIN":     {saslBroker, "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config=" + modulePlain + " required username=admin password=x;"},
		"SASL_SSL":  {saslTLS, "security.protocol=SASL_SSL\n" + trustCA + "sasl.mechanism=SCRAM-SHA-256\nsasl.jaas.config=" + moduleScram + " required username=admin password=x;"},
		"SCRAM":     {saslBroker, "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config=" + moduleScram + " required username=admin password=x;"},
	} {
		if err := ask(t, mustConnection(t, c.text), c.addr, 5*time.Second); err != nil {
			t.Errorf("%s that is right: %v", name, err)
		}
	}
}

// The rows that the embedded broker cannot show, by the errors that were
// measured on real ones.
func TestExplainMeasuredErrors(t *testing.T) {
	oauthConn := &Connection{SASL: &SASL{Mechanism: MechOAuth, User: "cli", TokenEndpoint: "https://idp/token", TokenIssuer: func() string { return "https://idp" }}}
	unsecured := &Connection{SASL: &SASL{Mechanism: MechOAuth, User: "alice"}}
	withCert := &Connection{TLS: &tls.Config{}, ClientCert: newAuthority(t, "me").cert}
	alert := func(text string) error {
		return fmt.Errorf("read: %w", &net.OpError{Op: "remote error", Err: errors.New("tls: " + text)})
	}
	notFound := &net.DNSError{Name: "broker-7.invalid", IsNotFound: true}
	refused := errors.New(`SASL_AUTHENTICATION_FAILED: SASL Authentication failed.: {"status":"invalid_token"}`)
	at := Attempt{Addr: "b:9092"}
	with := func(change func(*Attempt)) Attempt { a := at; change(&a); return a }
	for _, c := range []struct {
		name string
		err  error
		at   Attempt
		want string
	}{
		{"bad token", refused, with(func(a *Attempt) { a.Conn = oauthConn }), `the broker refused the token from "https://idp/token" (issuer "https://idp"): invalid_token`},
		{"bad unsecured token", refused, with(func(a *Attempt) { a.Conn = unsecured }), `the broker refused the unsecured token of user "alice": invalid_token`},
		{"mechanism not offered", errors.New("UNSUPPORTED_SASL_MECHANISM: x"), with(func(a *Attempt) { a.Conn = unsecured }), "b:9092 does not offer OAUTHBEARER on this listener"},
		{"advertised name unknown", fmt.Errorf("unable to dial: %w", &StepError{StepDial, "broker-7.invalid:29099", &net.OpError{Op: "dial", Err: notFound}}), Attempt{Via: "127.0.0.1:29099", Broker: 1}, "reached 127.0.0.1:29099, but it advertises broker 1 as broker-7.invalid:29099, which is not known here"},
		{"advertised port silent", &StepError{StepDial, "10.0.0.9:9092", context.DeadlineExceeded}, Attempt{Via: "a:1", Broker: 2}, "reached a:1, but it advertises broker 2 as 10.0.0.9:9092, which does not answer from here"},
		{"Java: no client certificate", alert("bad certificate"), at, "b:9092: the broker wants a client certificate"},
		{"Java: expired, not judged", alert("unknown certificate"), with(func(a *Attempt) { a.Conn = withCert }), `b:9092: the broker does not accept this client certificate (subject "CN=me", issuer "CN=me")`},
		{"Java: expired", alert("unknown certificate"), with(func(a *Attempt) { a.Conn = withCert; a.Now = time.Now().Add(24 * time.Hour) }), "your certificate expired on "},
		{"not yet valid", alert("unknown certificate"), with(func(a *Attempt) { a.Conn = withCert; a.Now = time.Now().Add(-24 * time.Hour) }), `your certificate "CN=me" is valid only from `},
		{"handshake failure", alert("handshake failure"), at, "b:9092 broke off the TLS handshake: it wants a client certificate, or has no cipher in common with us"},
		{"TCP never answers", &StepError{StepDial, "b:9092", context.DeadlineExceeded}, Attempt{Waited: 6 * time.Second}, "b:9092 did not accept a connection for 6s"},
		{"deadline, step unknown", context.DeadlineExceeded, with(func(a *Attempt) { a.Waited = 6001 * time.Millisecond }), "no answer from b:9092 for 6s"},
		{"deadline in a request", context.DeadlineExceeded, with(func(a *Attempt) { a.Step, a.Waited = StepRequest, 1234*time.Millisecond }), "b:9092 did not answer for 1.2s"},
		{"deadline in the login", context.DeadlineExceeded, with(func(a *Attempt) { a.Step, a.Conn = StepLogin, unsecured }), `b:9092 did not answer the login of OAuth user "alice" for too long`},
		{"cut answer", errors.New("response did not contain enough data to be valid"), at, "b:9092 sent an answer that cannot be read (response did not contain enough data to be valid)"},
		{"answer to another question", errors.New("correlation ID mismatch"), at, "b:9092 sent an answer that cannot be read (correlation ID mismatch)"},
		{"closed, never answered", errors.New("closed the connection: is SASL missing?"), at, "b:9092: the broker closed the connection before answering: it wants a login (SASL)"},
		{"closed, answered before", errors.New("closed the connection: is SASL missing?"), with(func(a *Attempt) { a.Answered = true }), "b:9092 closed the connection"},
		{"too old", errors.New("broker is too old; the broker has already indicated it will not know how to handle the request"), at, "b:9092 does not know a request that is needed: the broker is too old"},
		{"knows nothing", errors.New("ApiVersions response invalidly contained no ApiKeys"), at, "b:9092 names no request that it knows"},
		{"died", errors.New("the broker connection has died and the request will be retried"), with(func(a *Attempt) { a.Answered = true }), "b:9092 closed the connection"},
		{"silent on a second connection", context.DeadlineExceeded, with(func(a *Attempt) { a.Step, a.Waited, a.Answered = StepVersions, 2*time.Second, true }), "b:9092 did not answer for 2s"},
		{"nothing known at all", context.DeadlineExceeded, Attempt{}, "no answer from the broker for too long"},
	} {
		got := Explain(c.err, c.at)
		if !strings.HasPrefix(got.Error(), c.want) || !errors.Is(got, c.err) {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
	for _, err := range []error{nil, context.Canceled, errors.New("GROUP_AUTHORIZATION_FAILED: x"), errors.New("something else")} {
		if got := Explain(err, at); got != err { //nolint:errorlint // the very same value
			t.Errorf("%v became %v", err, got)
		}
	}
	evil := Explain(&net.DNSError{Name: "a\x1b[31m", IsNotFound: true}, at)
	if strings.ContainsRune(evil.Error(), '\x1b') {
		t.Errorf("%q has an escape", evil)
	}
}
