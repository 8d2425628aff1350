//go:build realkafka

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// Users of a secure cluster: name is also the password's first part.
const (
	userOps    = "ops"    // gets the ACLs that a test grants
	userNobody = "nobody" // gets none
	userLeast  = "least"  // as userOps, for a test of its own
	userApp    = "app"    // what a Streams app needs
)

func password(user string) string { return user + "-secret" }

// scramArgs are the arguments of the storage tool that make the users.
func scramArgs() []string {
	var args []string
	for _, u := range []string{userOps, userNobody, userLeast, userApp} {
		args = append(args, "--add-scram", fmt.Sprintf("SCRAM-SHA-512=[name=%s,password=%s]", u, password(u)))
	}
	return args
}

// pki is the certificates of one secure cluster, as files.
type pki struct {
	ca   string // PEM: certificate of the authority
	node string // PEM: key and certificate of the brokers, for 127.0.0.1
}

func newPKI(dir string) (*pki, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "rig CA"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "broker"},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), caKey)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	p := &pki{ca: filepath.Join(dir, "ca.pem"), node: filepath.Join(dir, "node.pem")}
	caPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})
	nodePEM := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leafDER})...)
	if err := os.WriteFile(p.ca, caPEM, 0o600); err != nil {
		return nil, err
	}
	return p, os.WriteFile(p.node, append(nodePEM, caPEM...), 0o600)
}

// brokerProps turn on the SASL_SSL listener and the authorizer; whoever comes
// over the plaintext listener may do everything.
func (p *pki) brokerProps() map[string]string {
	return map[string]string{
		"ssl.keystore.type":              "PEM",
		"ssl.keystore.location":          p.node,
		"sasl.enabled.mechanisms":        "SCRAM-SHA-512",
		"authorizer.class.name":          "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users":                    "User:ANONYMOUS",
		"allow.everyone.if.no.acl.found": "false",
		"listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
	}
}

// clientFile writes the Java client properties of a user and gives its path.
func (c *cluster) clientFile(t testing.TB, user string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), user+".properties")
	if err := writeProps(file, c.login(user)); err != nil {
		t.Fatal(err)
	}
	return file
}

// login is the Java client properties of a user.
func (c *cluster) login(user string) map[string]string {
	return map[string]string{
		"security.protocol":       "SASL_SSL",
		"sasl.mechanism":          "SCRAM-SHA-512",
		"sasl.jaas.config":        fmt.Sprintf(`org.apache.kafka.common.security.scram.ScramLoginModule required username="%s" password="%s";`, user, password(user)),
		"ssl.truststore.type":     "PEM",
		"ssl.truststore.location": c.pki.ca,
	}
}

// allow grants operations to a user; add the resources to acls before.
func (c *cluster) allow(t testing.TB, user string, acls *kadm.ACLBuilder) {
	t.Helper()
	res, err := c.admin.CreateACLs(t.Context(), acls.Allow("User:"+user).AllowHosts("*"))
	if err != nil {
		t.Fatalf("create ACLs: %v", err)
	}
	for _, r := range res {
		if r.Err != nil {
			t.Fatalf("create ACL %+v: %v", r, r.Err)
		}
	}
}

// replaceInFile changes a text in a file that the test wrote.
func replaceInFile(t testing.TB, file, from, to string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(b), from, to)
	if text == string(b) {
		t.Fatalf("%s does not contain %q", file, from)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
