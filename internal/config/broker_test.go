package config

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority signs the certificates of one test.
type authority struct {
	cert *x509.Certificate
	key  any
}

// storeAuthority is the one that signed the stores in testdata.
func storeAuthority(t *testing.T) authority {
	t.Helper()
	certs, err := pemCerts(stored(t, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := pemKey(stored(t, "ca-key.pem"), "")
	if err != nil {
		t.Fatal(err)
	}
	return authority{certs[0], key}
}

func newAuthority(t *testing.T, name string) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := authority{key: key}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return a
}

// issue signs a certificate; change may alter it before.
func (a authority) issue(t *testing.T, name string, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	if change != nil {
		change(c)
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func (a authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// pemFile writes a certificate, and a key if there is one, as PEM.
func pemFile(t *testing.T, cert *x509.Certificate, key any) string {
	t.Helper()
	var b bytes.Buffer
	if key != nil {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := pem.Encode(&b, &pem.Block{Type: "PRIVATE KEY", Bytes: der}); err != nil {
			t.Fatal(err)
		}
	}
	if err := pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}); err != nil {
		t.Fatal(err)
	}
	return write(t, "store.pem", b.String())
}

func stored(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "stores", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// listen starts a server that handles each connection with serve and closes
// it; it is stopped when the test ends.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(10 * time.Second))
				serve(c)
			}()
		}
	}()
	return l.Addr().String()
}

// tlsEcho starts a TLS server that answers each connection with "ok".
func tlsEcho(t *testing.T, cfg *tls.Config) string {
	return listen(t, func(c net.Conn) {
		s := tls.Server(c, cfg)
		if s.Handshake() == nil {
			_, _ = s.Write([]byte("ok"))
		}
		// wait for the other side, so that an alert is not lost in a reset
		_, _ = s.Read(make([]byte, 1))
	})
}

// connection makes a Connection of a client file and settings in front of it.
func connection(t *testing.T, java string) (*Connection, []Warning, error) {
	t.Helper()
	r, warnings, _, err := setup{flags: map[string][]string{KeyCommandConfig: {write(t, "client.properties", "bootstrap.servers=127.0.0.1:9\n"+java)}}}.load(t)
	if err != nil {
		return nil, warnings, err
	}
	c, more, err := r.Connection()
	return c, append(warnings, more...), err
}

func mustConnection(t *testing.T, java string) *Connection {
	t.Helper()
	c, warnings, err := connection(t, java)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v, warnings %q", err, warnings)
	}
	return c
}

// exchange dials addr and reads what the server says.
func exchange(t *testing.T, c *Connection, addr string) error {
	t.Helper()
	conn, err := c.Dial(t.Context(), "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Read(make([]byte, 2))
	return err
}
