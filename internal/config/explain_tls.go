package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// explainTLS knows what goes wrong with certificates, theirs and ours.
func explainTLS(err error, a Attempt) error {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var host x509.HostnameError
	var record tls.RecordHeaderError
	var remote *net.OpError
	switch {
	case errors.As(err, &unknown):
		return explainUnknownCA(err, a, unknown.Cert)
	case errors.As(err, &invalid):
		subject := ""
		if invalid.Cert != nil {
			subject = fmt.Sprintf(" (subject %q)", invalid.Cert.Subject.String())
		}
		return because(err, "the broker needs a new certificate; or the clock of this machine is wrong",
			"certificate of %s%s: %s", a.Addr, subject, strings.TrimPrefix(printableText(invalid.Error()), "x509: "))
	case errors.As(err, &host):
		return explainHost(err, a, host)
	case errors.As(err, &record):
		return notTLS(err, a)
	case errors.As(err, &remote) && remote.Op == "remote error":
		return explainAlert(err, a, remote.Err.Error())
	case strings.Contains(err.Error(), "tls: server selected unsupported protocol version"):
		return noVersion(err, a)
	}
	return nil
}

// explainUnknownCA names who signed the broker's certificate and where we
// looked for him.
func explainUnknownCA(err error, a Attempt, cert *x509.Certificate) error {
	var unverified *tls.CertificateVerificationError
	if errors.As(err, &unverified) && len(unverified.UnverifiedCertificates) > 0 {
		cert = unverified.UnverifiedCertificates[0]
	}
	issuer, self := "unknown", ""
	if cert != nil {
		issuer = cert.Issuer.String()
		if cert.Issuer.String() == cert.Subject.String() {
			self = " (it signed itself)"
		}
	}
	store := a.Conn.TrustStore
	if store == "" {
		store = "the trust store"
	}
	return because(err, "set ssl.truststore.location to the certificate of that issuer",
		"certificate of %s is not trusted: its issuer %q%s is not in %s", a.Addr, issuer, self, store)
}

// explainHost lists the names that the certificate has.
func explainHost(err error, a Attempt, e x509.HostnameError) error {
	const most = 10
	var names []string
	if c := e.Certificate; c != nil {
		for _, n := range c.DNSNames {
			names = append(names, fmt.Sprintf("%q", n))
		}
		for _, ip := range c.IPAddresses {
			names = append(names, ip.String())
		}
	}
	list := "no host at all"
	switch {
	case len(names) > most:
		list = fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	case len(names) > 0:
		list = strings.Join(names, ", ")
	case e.Certificate != nil:
		list = fmt.Sprintf("no host at all, only the subject %q", e.Certificate.Subject.String())
	}
	return because(err, "use a name of the certificate; ssl.endpoint.identification.algorithm= (empty) accepts any name, the chain is checked all the same",
		"certificate of %s names %s, not %q", a.Addr, list, e.Host)
}

// explainAlert knows what the broker says of our certificate. The alert comes
// with the first read, after a handshake that looks done (TLS 1.3).
func explainAlert(err error, a Attempt, alert string) error {
	switch strings.TrimPrefix(alert, "tls: ") {
	case "bad certificate", "unsupported certificate", "revoked certificate", "expired certificate",
		"unknown certificate", "unknown certificate authority", "certificate required", "access denied":
		return explainOwnCert(err, a)
	case "protocol version not supported", "insufficient security level":
		return noVersion(err, a)
	case "handshake failure":
		if a.Conn.ClientCert == nil {
			return because(err, "set ssl.keystore.location if it wants a client certificate; else compare ssl.enabled.protocols",
				"%s broke off the TLS handshake: it wants a client certificate, or has no cipher in common with us", a.Addr)
		}
		return because(err, "compare ssl.enabled.protocols and the kind of key with what the broker allows",
			"%s broke off the TLS handshake: no cipher in common", a.Addr)
	case "unrecognized name":
		return because(err, "use the name that the broker's certificate is for", "%s knows no certificate for the name that was asked for", a.Addr)
	}
	return nil
}

// explainOwnCert looks at our own certificate, whatever the broker calls it.
func explainOwnCert(err error, a Attempt) error {
	c := a.Conn.ClientCert
	const day = time.DateOnly
	switch {
	case c == nil:
		return because(err, "set ssl.keystore.location, or ssl.keystore.key and ssl.keystore.certificate.chain",
			"%s: the broker wants a client certificate", a.Addr)
	case !a.Now.IsZero() && a.Now.After(c.NotAfter):
		return because(err, "get a new one from whoever signed it: "+fmt.Sprintf("%q", c.Issuer.String()),
			"your certificate expired on %s (subject %q)", c.NotAfter.UTC().Format(day), c.Subject.String())
	case !a.Now.IsZero() && a.Now.Before(c.NotBefore):
		return because(err, "check the clock of this machine", "your certificate %q is valid only from %s", c.Subject.String(), c.NotBefore.UTC().Format(day))
	}
	return because(err, "the broker's trust store must have that issuer",
		"%s: the broker does not accept this client certificate (subject %q, issuer %q)", a.Addr, c.Subject.String(), c.Issuer.String())
}

func noVersion(err error, a Attempt) error {
	return because(err, "compare ssl.enabled.protocols with what the broker allows", "%s has no TLS version in common with us", a.Addr)
}
