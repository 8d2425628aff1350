package config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
)

// tls reads trust store, key store and the other ssl. keys into c.
func (b *builder) tls(c *Connection) error {
	c.TLS = &tls.Config{}
	if err := b.versions(c.TLS); err != nil {
		return err
	}
	if err := b.trust(c); err != nil {
		return err
	}
	if err := b.present(c); err != nil {
		return err
	}
	const hostKey = "ssl.endpoint.identification.algorithm"
	switch how := b.Text(hostKey); {
	case strings.EqualFold(how, "https"):
		c.HostCheck = true
	case how == "":
		chainOnly(c.TLS)
	default:
		return b.errorf(hostKey, "%q is not https; leave it empty to accept a certificate without the host's name", how)
	}
	return nil
}

// chainOnly makes cfg accept any host name, but still only certificates that
// the roots of cfg vouch for.
func chainOnly(cfg *tls.Config) {
	roots := cfg.RootCAs
	cfg.InsecureSkipVerify = true // VerifyConnection checks the chain instead
	cfg.VerifyConnection = func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return fmt.Errorf("the broker sent no certificate")
		}
		rest := x509.NewCertPool()
		for _, c := range s.PeerCertificates[1:] {
			rest.AddCert(c)
		}
		_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: rest})
		if err != nil {
			return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: err}
		}
		return nil
	}
}

// versions reads ssl.enabled.protocols.
func (b *builder) versions(cfg *tls.Config) error {
	const key = "ssl.enabled.protocols"
	var versions []uint16
	for _, name := range b.List(key) {
		switch name {
		case "TLSv1.3":
			versions = append(versions, tls.VersionTLS13)
		case "TLSv1.2":
			versions = append(versions, tls.VersionTLS12)
		case "TLSv1.1":
			versions = append(versions, tls.VersionTLS11)
		case "TLSv1":
			versions = append(versions, tls.VersionTLS10)
		default:
			return b.errorf(key, "%q is not one of TLSv1, TLSv1.1, TLSv1.2, TLSv1.3", name)
		}
	}
	if len(versions) == 0 {
		versions = []uint16{tls.VersionTLS12, tls.VersionTLS13}
	}
	cfg.MinVersion, cfg.MaxVersion = slices.Min(versions), slices.Max(versions)
	return nil
}

// trust reads whom to trust; nothing given is the system's roots.
func (b *builder) trust(c *Connection) error {
	const inline, location = "ssl.truststore.certificates", "ssl.truststore.location"
	text, path := b.Text(inline), b.Text(location)
	var certs []*x509.Certificate
	switch {
	case text != "" && path != "":
		return b.errorf(inline, "%q and %q are both set: one of them must go", inline, location)
	case text != "":
		var err error
		if certs, err = pemCerts([]byte(text)); err != nil {
			return b.errorf(inline, "%w", err)
		}
		c.TrustStore = inline
	case path != "":
		data, err := readFile(path)
		if err != nil {
			return b.errorf(location, "%w", err)
		}
		var kind storeKind
		if certs, kind, err = trustedCerts(path, data, b.secret("ssl.truststore.password")); err != nil {
			return b.errorf(location, "%w", err)
		}
		c.TrustStore = fmt.Sprintf("%s file %q", kind, path)
	default:
		c.TrustStore = "the system's roots"
		return nil
	}
	c.TLS.RootCAs = x509.NewCertPool()
	for _, cert := range certs {
		c.TLS.RootCAs.AddCert(cert)
	}
	return nil
}

// present reads the client certificate, if any.
func (b *builder) present(c *Connection) error {
	const key, chain, location = "ssl.keystore.key", "ssl.keystore.certificate.chain", "ssl.keystore.location"
	keyText, chainText, path := b.secret(key), b.Text(chain), b.Text(location)
	var id identity
	var err error
	switch {
	case keyText == "" && chainText == "" && path == "":
		return nil
	case path != "" && (keyText != "" || chainText != ""):
		return b.errorf(location, "%q and PEM text in line are both set: one of them must go", location)
	case path != "":
		data, err := readFile(path)
		if err != nil {
			return b.errorf(location, "%w", err)
		}
		if id, err = keyIdentity(path, data, b.secret("ssl.keystore.password"), b.secret("ssl.key.password")); err != nil {
			return b.errorf(location, "%w", err)
		}
	case keyText == "":
		return b.errorf(chain, "%q is set and %q is not", chain, key)
	case chainText == "":
		return b.errorf(key, "%q is set and %q is not", key, chain)
	default:
		if id, err = pemIdentity([]byte(keyText.Reveal()), []byte(chainText), b.secret("ssl.key.password")); err != nil {
			return b.errorf(key, "%w", err)
		}
	}
	cert := tls.Certificate{PrivateKey: id.key, Leaf: id.chain[0]}
	for _, link := range id.chain {
		cert.Certificate = append(cert.Certificate, link.Raw)
	}
	c.TLS.Certificates = []tls.Certificate{cert}
	c.ClientCert = id.chain[0]
	return nil
}
