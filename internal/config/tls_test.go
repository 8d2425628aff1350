package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/errs"
)

// inline puts PEM text into one line of a client file, with the given text
// where the line ends were.
func inline(pem []byte, end string) string {
	return strings.ReplaceAll(strings.TrimSpace(string(pem)), "\n", end)
}

const dir = "testdata/stores/"

func TestTrustStores(t *testing.T) {
	addr := tlsEcho(t, &tls.Config{Certificates: []tls.Certificate{storeAuthority(t).issue(t, "broker", nil)}})
	ca := stored(t, "ca.pem")
	for name, text := range map[string]string{
		"PEM file":                   "ssl.truststore.location=" + dir + "ca.pem\nssl.truststore.type=PEM",
		"PEM file without its type":  "ssl.truststore.location=" + dir + "ca.pem",
		"PEM file, needless pw":      "ssl.truststore.location=" + dir + "ca.pem\nssl.truststore.password=x",
		"PEM in line, \\n":           "ssl.truststore.type=PEM\nssl.truststore.certificates=" + inline(ca, "\\n"),
		"PEM in line, \\n\\ and \\n": "ssl.truststore.certificates=" + inline(ca, "\\n\\\n  "),
		"PEM in line, continued":     "ssl.truststore.certificates=" + inline(ca, " \\\n   "),
		"PEM in line, blanks":        "ssl.truststore.certificates=" + inline(ca, " "),
		"PKCS12 by keytool":          "ssl.truststore.location=" + dir + "trust-keytool.p12\nssl.truststore.type=PKCS12\nssl.truststore.password=changeit",
		"PKCS12 called JKS":          "ssl.truststore.location=" + dir + "trust-keytool.p12\nssl.truststore.type=JKS\nssl.truststore.password=changeit",
		"PKCS12 with old ciphers":    "ssl.truststore.location=" + dir + "trust-keytool-legacy.p12\nssl.truststore.password=changeit",
		"JKS":                        "ssl.truststore.location=" + dir + "trust.jks\nssl.truststore.password=changeit",
		"JKS called PKCS12":          "ssl.truststore.location=" + dir + "trust.jks\nssl.truststore.type=PKCS12\nssl.truststore.password=changeit",
		"JKS without password":       "ssl.truststore.location=" + dir + "trust.jks",
	} {
		t.Run(name, func(t *testing.T) {
			c := mustConnection(t, "security.protocol=ssl\n"+text)
			if err := exchange(t, c, addr); err != nil {
				t.Error(err)
			}
			if c.Protocol() != "SSL" || c.TrustStore == "" || !c.HostCheck || c.Describe() != "anonymous" {
				t.Errorf("%s, trust store %q, host check %v, %s", c.Protocol(), c.TrustStore, c.HostCheck, c.Describe())
			}
		})
	}
}

func TestKeyStores(t *testing.T) {
	ca := storeAuthority(t)
	addr := tlsEcho(t, &tls.Config{Certificates: []tls.Certificate{ca.issue(t, "broker", nil)}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.pool()})
	chain := "ssl.keystore.certificate.chain=" + inline(stored(t, "chain.pem"), "\\n")
	key := stored(t, "keystore.pem")
	key = key[:strings.Index(string(key), "-----BEGIN CERT")]
	for name, text := range map[string]string{
		"PKCS12 by openssl":             "ssl.keystore.location=" + dir + "key-openssl.p12\nssl.keystore.password=changeit\nssl.key.password=changeit",
		"PKCS12 by openssl -legacy":     "ssl.keystore.location=" + dir + "key-openssl-legacy.p12\nssl.keystore.password=changeit",
		"PKCS12 by keytool":             "ssl.keystore.location=" + dir + "key-keytool.p12\nssl.keystore.password=changeit\nssl.keystore.type=JKS",
		"JKS":                           "ssl.keystore.location=" + dir + "key.jks\nssl.keystore.password=changeit",
		"JKS, key with its own":         "ssl.keystore.location=" + dir + "key-other-password.jks\nssl.keystore.password=changeit\nssl.key.password=keypass",
		"PEM, PKCS#8":                   "ssl.keystore.location=" + dir + "keystore.pem\nssl.keystore.type=PEM",
		"PEM, PKCS#1":                   "ssl.keystore.location=" + dir + "keystore-pkcs1.pem\nssl.keystore.type=PEM",
		"PEM, encrypted":                "ssl.keystore.location=" + dir + "keystore-encrypted.pem\nssl.key.password=changeit",
		"in line":                       chain + "\nssl.keystore.key=" + inline(key, "\\n"),
		"in line, continued":            chain + "\nssl.keystore.key=" + inline(key, " \\\n "),
		"in line, encrypted":            chain + "\nssl.key.password=changeit\nssl.keystore.key=" + inline(stored(t, "key-encrypted.pem"), "\\n"),
		"in line, encrypted, in blanks": chain + "\nssl.key.password=changeit\nssl.keystore.key=" + inline(stored(t, "key-encrypted.pem"), " "),
	} {
		t.Run(name, func(t *testing.T) {
			c := mustConnection(t, "security.protocol=SSL\nssl.truststore.location="+dir+"ca.pem\n"+text)
			if err := exchange(t, c, addr); err != nil {
				t.Error(err)
			}
			if c.ClientCert == nil || c.ClientCert.Subject.CommonName != "op" || c.Describe() != `certificate "CN=op,O=streamctl test"` {
				t.Errorf("we are %s", c.Describe())
			}
		})
	}
}

func TestStoresThatCannotBeUsed(t *testing.T) {
	other := newAuthority(t, "other")
	mixed := pemFile(t, other.issue(t, "x", nil).Leaf, other.key)
	big := write(t, "random", "\xfe\xed\xfe\xed\x00\x00\x00\x02\xff\xff\xff\xff")
	for _, c := range []struct{ name, text, want, hint string }{
		{"PKCS12 without password", "ssl.truststore.location=" + dir + "trust-keytool.p12", `needs a password and ssl.truststore.password is not set`, ""},
		{"PKCS12, wrong password", "ssl.truststore.password=s3cret\nssl.truststore.location=" + dir + "trust-keytool.p12", `ssl.truststore.password is not its password`, ""},
		{"PKCS12 by openssl -nokeys", "ssl.truststore.password=changeit\nssl.truststore.location=" + dir + "trust-openssl.p12", "not marked as trusted", "import the certificate with keytool"},
		{"key store as trust store", "ssl.truststore.password=changeit\nssl.truststore.location=" + dir + "key-keytool.p12", "trust store", ""},
		{"JKS, wrong password", "ssl.truststore.password=s3cret\nssl.truststore.location=" + dir + "trust.jks", `ssl.truststore.password is not its password`, ""},
		{"JKS with keys only", "ssl.truststore.password=changeit\nssl.truststore.location=" + dir + "key.jks", "holds no trusted certificate", ""},
		{"JKS, damaged", "ssl.truststore.password=changeit\nssl.truststore.location=" + big, "store", ""},
		{"JCEKS", "ssl.truststore.password=changeit\nssl.truststore.location=" + dir + "trust.jceks", "is a JCEKS store, which is not supported", "keytool -importkeystore"},
		{"DER", "ssl.truststore.location=" + dir + "ca.der", "is a bare DER certificate", "openssl x509"},
		{"no store", "ssl.truststore.location=" + dir + "make.sh", "is neither PEM nor PKCS12 nor JKS", ""},
		{"no file", "ssl.truststore.location=/nosuch.p12", "no such file", ""},
		{"PEM cut off", "ssl.truststore.certificates=-----BEGIN CERTIFICATE----- AAAA", "no complete certificate", ""},
		{"PEM damaged", "ssl.truststore.certificates=-----BEGIN CERTIFICATE----- AAAA -----END CERTIFICATE-----", "certificate 1 of the PEM text cannot be read", ""},
		{"trust twice", "ssl.truststore.certificates=x\nssl.truststore.location=y", "are both set", ""},
		{"key store, wrong password", "ssl.keystore.password=s3cret\nssl.keystore.location=" + dir + "key-openssl.p12", "ssl.keystore.password is not its password", ""},
		{"key store without password", "ssl.keystore.location=" + dir + "key.jks", "ssl.keystore.password is not set", ""},
		{"JKS, wrong key password", "ssl.keystore.password=changeit\nssl.keystore.location=" + dir + "key-other-password.jks", "is ssl.key.password right?", ""},
		{"trust store as key store", "ssl.keystore.password=changeit\nssl.keystore.location=" + dir + "trust.jks", "holds no private key", ""},
		{"encrypted key without password", "ssl.keystore.location=" + dir + "keystore-encrypted.pem", "ssl.key.password is not set", ""},
		{"encrypted key, wrong password", "ssl.key.password=s3cret\nssl.keystore.location=" + dir + "keystore-encrypted.pem", "ssl.key.password does not open the private key", ""},
		{"old encryption", "ssl.key.password=changeit\nssl.keystore.location=" + dir + "keystore-proctype.pem", "Proc-Type: 4,ENCRYPTED", "openssl pkcs8 -topk8"},
		{"old encryption in line", "ssl.keystore.certificate.chain=x\nssl.keystore.key=" + inline(stored(t, "keystore-proctype.pem"), " "), "Proc-Type: 4,ENCRYPTED", ""},
		{"certificate of another key", "ssl.keystore.location=" + mixed, "none of the certificates belongs to the private key", ""},
		{"key without chain", "ssl.keystore.key=x", `"ssl.keystore.certificate.chain" is not`, ""},
		{"chain without key", "ssl.keystore.certificate.chain=x", `"ssl.keystore.key" is not`, ""},
		{"no key in the PEM", "ssl.keystore.location=" + dir + "ca.pem", "no complete private key", ""},
		{"protocol", "ssl.enabled.protocols=SSLv3", `"SSLv3" is not one of TLSv1`, ""},
		{"endpoint", "ssl.endpoint.identification.algorithm=LDAPS", `"LDAPS" is not https`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := connection(t, "security.protocol=SSL\n"+c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) || errs.ExitCode(err) != errs.Usage || !strings.Contains(err.Error(), "client.properties: ") {
				t.Fatalf("%v (exit %d), want %q", err, errs.ExitCode(err), c.want)
			}
			all := err.Error() + fmt.Sprint(errs.Hints(err))
			if strings.Contains(all, "s3cret") || strings.Contains(all, "changeit") || !strings.Contains(all, c.hint) {
				t.Errorf("%s", all)
			}
		})
	}
}

func TestHostNameOffStillChecksTheChain(t *testing.T) {
	ca := storeAuthority(t)
	elsewhere := func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"broker.example"} }
	named := tlsEcho(t, &tls.Config{Certificates: []tls.Certificate{ca.issue(t, "broker", elsewhere)}})
	foreign := tlsEcho(t, &tls.Config{Certificates: []tls.Certificate{newAuthority(t, "evil").issue(t, "broker", nil)}})
	old := tlsEcho(t, &tls.Config{Certificates: []tls.Certificate{ca.issue(t, "broker", func(c *x509.Certificate) { c.NotAfter = c.NotBefore.Add(1) })}})

	const trust = "security.protocol=SSL\nssl.truststore.location=" + dir + "ca.pem\n"
	strict, loose := mustConnection(t, trust), mustConnection(t, trust+"ssl.endpoint.identification.algorithm=\n")
	if strict.HostCheck == loose.HostCheck {
		t.Error("HostCheck does not tell them apart")
	}
	var host x509.HostnameError
	if err := exchange(t, strict, named); !errors.As(err, &host) {
		t.Errorf("host check on, another name: %v", err)
	}
	if err := exchange(t, loose, named); err != nil {
		t.Errorf("host check off, another name: %v", err)
	}
	var unknown x509.UnknownAuthorityError
	if err := exchange(t, loose, foreign); !errors.As(err, &unknown) {
		t.Errorf("host check off, another authority: %v", err)
	}
	var invalid x509.CertificateInvalidError
	if err := exchange(t, loose, old); !errors.As(err, &invalid) {
		t.Errorf("host check off, expired: %v", err)
	}
}

func TestProtocolVersions(t *testing.T) {
	cert := []tls.Certificate{storeAuthority(t).issue(t, "broker", nil)}
	only12 := tlsEcho(t, &tls.Config{Certificates: cert, MaxVersion: tls.VersionTLS12})
	only13 := tlsEcho(t, &tls.Config{Certificates: cert, MinVersion: tls.VersionTLS13})
	for _, c := range []struct {
		value      string
		tls12, t13 bool
	}{{"TLSv1.2,TLSv1.3", true, true}, {"TLSv1.2", true, false}, {"TLSv1.3", false, true}, {"", true, true}} {
		conn := mustConnection(t, "security.protocol=SSL\nssl.truststore.location="+dir+"ca.pem\nssl.enabled.protocols="+c.value)
		if err := exchange(t, conn, only12); (err == nil) != c.tls12 {
			t.Errorf("%q to TLS 1.2: %v", c.value, err)
		}
		if err := exchange(t, conn, only13); (err == nil) != c.t13 {
			t.Errorf("%q to TLS 1.3: %v", c.value, err)
		}
	}
}

func TestPlaintextIgnoresStoresWithAWarning(t *testing.T) {
	c, warnings, err := connection(t, "ssl.truststore.location=/nosuch\nsasl.mechanism=PLAIN")
	if err != nil || c.TLS != nil || c.SASL != nil || c.Protocol() != "PLAINTEXT" {
		t.Errorf("%v %v", c, err)
	}
	if len(warnings) != 2 || !strings.Contains(string(warnings[0]), `"ssl.truststore.location" is set but has no effect: security.protocol is PLAINTEXT`) {
		t.Errorf("warnings %q", warnings)
	}
	addr := listen(t, func(c net.Conn) { _, _ = c.Write([]byte("ok")) })
	if err := exchange(t, c, addr); err != nil {
		t.Error(err)
	}
}

func TestBrokerAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"a:1": "a:1", "a": "a:9092", "[::1]:9": "[::1]:9", "::1": "[::1]:9092", "[::1]": "[::1]:9092", "SASL_SSL://a:9093": "a:9093", "10.0.0.1:65535": "10.0.0.1:65535",
		"a:": "", ":9092": "", "a:0": "", "a:65536": "", "a:x": "", "a b:1": "", "http://a:1/x": "",
	} {
		got, err := brokerAddr(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	r := setup{file: "contexts: [{name: a}, {name: b}]"}.mustLoad(t)
	_, _, err := r.Connection()
	if err == nil || errs.ExitCode(err) != errs.Usage || !strings.Contains(strings.Join(errs.Hints(err), ""), "one of a, b") {
		t.Errorf("no broker: %v, hints %q", err, errs.Hints(err))
	}
}
