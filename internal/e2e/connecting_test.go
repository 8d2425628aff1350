//go:build realkafka

package e2e

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What goes wrong on the way to a real broker is said in words that help, soon,
// with exit code 1 and nothing on stdout.
func TestConnecting(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, "secure")
	other, err := newPKI(filepath.Join(t.TempDir(), "other"))
	if err != nil {
		t.Fatal(err)
	}
	tls := map[string]string{"ssl.truststore.type": "PEM", "ssl.truststore.location": c.pki.ca}
	scram := func(mechanism, user, secret string) map[string]string {
		return map[string]string{
			"sasl.mechanism":   mechanism,
			"sasl.jaas.config": fmt.Sprintf(`org.apache.kafka.common.security.scram.ScramLoginModule required username="%s" password="%s";`, user, secret),
		}
	}
	login := scram("SCRAM-SHA-512", userOps, password(userOps))
	for _, x := range []struct {
		name   string
		secure bool // the listener
		props  []map[string]string
		want   string
	}{
		{"plaintext client, TLS port", true, []map[string]string{{"security.protocol": "PLAINTEXT"}}, "speaks TLS"},
		{"SASL_PLAINTEXT client, TLS port", true, []map[string]string{{"security.protocol": "SASL_PLAINTEXT"}, login}, "speaks TLS"},
		{"TLS client, plaintext port", false, []map[string]string{{"security.protocol": "SSL"}, tls}, "does not speak TLS"},
		{"no login, port wants one", true, []map[string]string{{"security.protocol": "SSL"}, tls}, "wants a login"},
		{"login, port takes none", false, []map[string]string{{"security.protocol": "SASL_PLAINTEXT"}, login}, "takes no login"},
		{"wrong authority", true, []map[string]string{{"security.protocol": "SASL_SSL"}, login, {"ssl.truststore.type": "PEM", "ssl.truststore.location": other.ca}}, "rig CA"},
		{"unknown user", true, []map[string]string{{"security.protocol": "SASL_SSL"}, tls, scram("SCRAM-SHA-512", "noone", "x")}, `login refused for user "noone"`},
		{"mechanism not offered", true, []map[string]string{{"security.protocol": "SASL_SSL"}, tls, scram("SCRAM-SHA-256", userOps, password(userOps))}, "SCRAM-SHA-256"},
	} {
		t.Run(x.name, func(t *testing.T) {
			props := map[string]string{}
			for _, p := range x.props {
				maps.Copy(props, p)
			}
			file := filepath.Join(t.TempDir(), "client.properties")
			if err := writeProps(file, props); err != nil {
				t.Fatal(err)
			}
			addr := c.addrs[0]
			if x.secure {
				addr = c.secure[0]
			}
			res := runCmd(t, streamctlCmd(t.Context(), t, "get", "groups", "--bootstrap-server", addr, "--command-config", file, "--timeout", "6s"))
			if res.code != 1 || res.stdout != "" || !strings.Contains(res.stderr, x.want) || res.took > 7*time.Second {
				t.Errorf("want %q; exit %d after %v\nstdout: %s\nstderr: %s", x.want, res.code, res.took, res.stdout, res.stderr)
			}
		})
	}
}
