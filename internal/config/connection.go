package config

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"
)

// Connection is how to reach a cluster, in neutral values that any Kafka
// client library can be set up with. It holds secrets: print Describe, never
// the value.
type Connection struct {
	Bootstrap []string    // host:port each, at least one, in the order given
	ClientID  string      // what a broker's log calls us; "streamctl" unless set
	TLS       *tls.Config // nil: plaintext. Clone it and set ServerName for each broker, or use Dial
	SASL      *SASL       // nil: no login

	RequestTimeout time.Duration // one request
	DialTimeout    time.Duration // TCP connect and TLS handshake of one broker

	// What Explain needs to name the cause of a failure.
	TrustStore string            // words for the store in use, "" for plaintext
	ClientCert *x509.Certificate // the certificate we present; nil: none
	HostCheck  bool              // the broker's certificate must name its host
}

// The login mechanisms.
const (
	MechPlain    = "PLAIN"
	MechScram256 = "SCRAM-SHA-256"
	MechScram512 = "SCRAM-SHA-512"
	MechOAuth    = "OAUTHBEARER"
)

// SASL is the login.
type SASL struct {
	Mechanism       string // one of the Mech… names
	User            string // of PLAIN and SCRAM; of OAUTHBEARER the client id or the claimed name
	Password        Secret // of PLAIN and SCRAM
	DelegationToken bool   // of SCRAM: User and Password are a delegation token

	// Token gives an OAUTHBEARER token and the SASL extensions to send with
	// it; a token is fetched again when it is about to end. Nil for the other
	// mechanisms. Its errors are *TokenError.
	Token func(ctx context.Context) (token string, extensions map[string]string, err error)

	TokenEndpoint string        // URL without user and query; "" for a token we make ourselves
	TokenIssuer   func() string // "iss" of the last token fetched, "" if unknown; nil without Token
}

// Protocol returns Kafka's name of the security protocol: PLAINTEXT, SSL,
// SASL_PLAINTEXT or SASL_SSL.
func (c *Connection) Protocol() string {
	switch {
	case c.SASL != nil && c.TLS != nil:
		return "SASL_SSL"
	case c.SASL != nil:
		return "SASL_PLAINTEXT"
	case c.TLS != nil:
		return "SSL"
	}
	return "PLAINTEXT"
}

// Describe says who we are on this connection, from the configuration alone
// (nothing on the wire tells): `SCRAM user "op"`, `certificate "CN=op"`,
// "anonymous".
func (c *Connection) Describe() string {
	switch {
	case c.SASL != nil && c.SASL.Mechanism == MechOAuth && c.SASL.TokenEndpoint != "":
		return fmt.Sprintf("OAuth client %q", c.SASL.User)
	case c.SASL != nil && c.SASL.Mechanism == MechOAuth:
		return fmt.Sprintf("OAuth user %q", c.SASL.User)
	case c.SASL != nil && c.SASL.Mechanism == MechPlain:
		return fmt.Sprintf("PLAIN user %q", c.SASL.User)
	case c.SASL != nil:
		return fmt.Sprintf("SCRAM user %q", c.SASL.User)
	case c.ClientCert != nil:
		return fmt.Sprintf("certificate %q", c.ClientCert.Subject.String())
	}
	return "anonymous"
}
