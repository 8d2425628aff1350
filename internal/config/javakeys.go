package config

import (
	"fmt"
	"slices"
	"strings"
)

// unusedJavaKeys are the keys of Kafka's Java clients about security and
// connecting that streamctl has no use for (clients 4.3.1). The value says why
// a key that is set may matter; "" needs no word.
func unusedJavaKeys() map[string]string {
	const (
		class     = "a Java class cannot be used here"
		assertion = "assertions are not supported: use client credentials"
	)
	return map[string]string{
		"bootstrap.controllers":                               "ask brokers: set bootstrap.servers",
		"sasl.client.callback.handler.class":                  class,
		"sasl.kerberos.kinit.cmd":                             "",
		"sasl.kerberos.min.time.before.relogin":               "",
		"sasl.kerberos.service.name":                          "",
		"sasl.kerberos.ticket.renew.jitter":                   "",
		"sasl.kerberos.ticket.renew.window.factor":            "",
		"sasl.login.callback.handler.class":                   "", // the usual way to turn the token endpoint on
		"sasl.login.class":                                    class,
		"sasl.login.connect.timeout.ms":                       "",
		"sasl.login.read.timeout.ms":                          "",
		"sasl.login.refresh.buffer.seconds":                   "",
		"sasl.login.refresh.min.period.seconds":               "",
		"sasl.login.refresh.window.factor":                    "",
		"sasl.login.refresh.window.jitter":                    "",
		"sasl.login.retry.backoff.max.ms":                     "",
		"sasl.login.retry.backoff.ms":                         "",
		"sasl.oauthbearer.assertion.algorithm":                assertion,
		"sasl.oauthbearer.assertion.claim.aud":                assertion,
		"sasl.oauthbearer.assertion.claim.exp.seconds":        assertion,
		"sasl.oauthbearer.assertion.claim.iss":                assertion,
		"sasl.oauthbearer.assertion.claim.jti.include":        assertion,
		"sasl.oauthbearer.assertion.claim.nbf.seconds":        assertion,
		"sasl.oauthbearer.assertion.claim.sub":                assertion,
		"sasl.oauthbearer.assertion.file":                     assertion,
		"sasl.oauthbearer.assertion.private.key.file":         assertion,
		"sasl.oauthbearer.assertion.private.key.passphrase":   assertion,
		"sasl.oauthbearer.assertion.template.file":            assertion,
		"sasl.oauthbearer.clock.skew.seconds":                 "",
		"sasl.oauthbearer.expected.audience":                  "",
		"sasl.oauthbearer.expected.issuer":                    "",
		"sasl.oauthbearer.jwks.endpoint.refresh.ms":           "",
		"sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": "",
		"sasl.oauthbearer.jwks.endpoint.retry.backoff.ms":     "",
		"sasl.oauthbearer.jwks.endpoint.url":                  "",
		"sasl.oauthbearer.jwt.retriever.class":                "",
		"sasl.oauthbearer.jwt.validator.class":                "",
		"sasl.oauthbearer.scope.claim.name":                   "",
		"sasl.oauthbearer.sub.claim.name":                     "",
		"security.providers":                                  class,
		"ssl.cipher.suites":                                   "the cipher suites of this build are used",
		"ssl.engine.factory.class":                            class,
		"ssl.keymanager.algorithm":                            "",
		"ssl.protocol":                                        "",
		"ssl.provider":                                        "",
		"ssl.secure.random.implementation":                    "",
		"ssl.trustmanager.algorithm":                          "",
		"socket.connection.setup.timeout.max.ms":              "",
	}
}

// misnamed warns of keys in a client file that are close to one that counts,
// and of those that a Java client would act on and streamctl does not. Other
// unknown keys are none of our business. Sorted by key.
func misnamed(path string, all map[string]string) []Warning {
	unused := unusedJavaKeys()
	known := []string{bootstrapServers, "config.providers"}
	for _, k := range Keys() {
		if k.Kafka() && !k.Own {
			known = append(known, k.Name)
		}
	}
	for name := range unused {
		known = append(known, name)
	}
	slices.Sort(known)
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)

	var out []Warning
	for _, name := range names {
		if why, ok := unused[name]; ok {
			if why != "" && strings.TrimSpace(all[name]) != "" {
				out = append(out, Warning(fmt.Sprintf("client file %q: %q is ignored: %s", path, name, why)))
			}
			continue
		}
		if slices.Contains(known, name) {
			continue
		}
		if name == "sasl.username" || name == "sasl.password" {
			out = append(out, Warning(fmt.Sprintf("client file %q: %q is ignored: Java clients have no such key, put the login into sasl.jaas.config", path, name)))
			continue
		}
		if meant, ok := nearMiss(name, known); ok {
			text := fmt.Sprintf("client file %q: %q is no key of a Kafka client and is ignored", path, name)
			if meant != "" {
				text += fmt.Sprintf(": did you mean %q?", meant)
			}
			out = append(out, Warning(text))
		}
	}
	return out
}

// nearMiss tells whether an unknown key of a client file looks like one about
// connecting, and which one.
func nearMiss(name string, known []string) (meant string, ok bool) {
	lower := strings.NewReplacer("_", ".", "-", ".").Replace(strings.ToLower(name))
	family := ""
	for _, f := range []string{"ssl.", "sasl.", "security.", "tls.", "bootstrap."} {
		if strings.HasPrefix(lower, f) {
			family = f
		}
	}
	meant = nearest(name, known)
	if family != "" {
		return meant, true
	}
	// A slip in the first letters themselves: "sll.truststore.location". A
	// short word such as "acks" is near too much to say anything.
	head, _, dotted := strings.Cut(lower, ".")
	for _, f := range []string{"ssl", "sasl", "security", "bootstrap"} {
		if dotted && meant != "" && strings.HasPrefix(meant, f+".") && Distance(head, f) <= 1+len(f)/4 {
			return meant, true
		}
	}
	return "", false
}
