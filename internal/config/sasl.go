package config

import (
	"net/url"
	"strings"
)

// Login modules of the Java client.
const (
	modulePackage = "org.apache.kafka.common.security."
	modulePlain   = modulePackage + "plain.PlainLoginModule"
	moduleScram   = modulePackage + "scram.ScramLoginModule"
	moduleOAuth   = modulePackage + "oauthbearer.OAuthBearerLoginModule"
)

const (
	keyJaas      = "sasl.jaas.config"
	keyMechanism = "sasl.mechanism"
	keyUser      = "sasl.username"
	keyPassword  = "sasl.password"
	keyEndpoint  = "sasl.oauthbearer.token.endpoint.url"
	keyClientID  = "sasl.oauthbearer.client.credentials.client.id"
	keyClientKey = "sasl.oauthbearer.client.credentials.client.secret"
	keyScope     = "sasl.oauthbearer.scope"
	keyEscape    = "sasl.oauthbearer.header.urlencode"
)

// sasl reads the login.
func (b *builder) sasl() (*SASL, error) {
	login := &jaasLogin{options: map[string]Secret{}}
	if line := b.secret(keyJaas); line != "" {
		var err error
		if login, err = parseJaas(line.Reveal()); err != nil {
			return nil, b.errorf(keyJaas, "%w", err)
		}
	}
	mechanism, err := b.mechanism(login.module)
	if err != nil {
		return nil, err
	}
	if want := moduleOf(mechanism); login.module != "" && !strings.HasSuffix(login.module, want) {
		b.warn("%s: login module %q is not the one of %s, %s; its options are taken as if it were", keyJaas, printable(login.module), mechanism, want)
	}
	if mechanism == MechOAuth {
		return b.oauth(login)
	}
	s := &SASL{
		Mechanism: mechanism,
		User:      login.options["username"].Reveal(),
		Password:  login.options["password"],
	}
	s.DelegationToken = mechanism != MechPlain && strings.EqualFold(login.options["tokenauth"].Reveal(), "true")
	if b.stronger(keyUser) {
		s.User = b.Text(keyUser)
	}
	if b.stronger(keyPassword) {
		s.Password = b.secret(keyPassword)
	}
	for _, part := range []struct{ what, value, key string }{
		{"username", s.User, keyUser}, {"password", s.Password.Reveal(), keyPassword},
	} {
		switch {
		case part.value != "":
		case login.module != "":
			return nil, b.errorf(keyJaas, "option %q is missing", part.what)
		default:
			return nil, b.errorf(keyMechanism, "%s needs a login: set %s, or %s with %s", mechanism, keyJaas, keyUser, keyPassword)
		}
	}
	return s, nil
}

// stronger tells whether a key of our own decides over sasl.jaas.config: it is
// set, and not by a weaker source.
func (b *builder) stronger(key string) bool {
	rank := map[Source]int{FromFlag: 3, FromEnv: 2, FromFile: 1}
	own, jaas := b.settings[key], b.settings[keyJaas]
	return own.IsSet() && own.text() != "" && rank[own.Source] >= rank[jaas.Source]
}

// mechanism reads sasl.mechanism, or works it out of the login module with a
// warning.
func (b *builder) mechanism(module string) (string, error) {
	given := b.Text(keyMechanism)
	switch m := strings.ToUpper(given); m {
	case MechPlain, MechScram256, MechScram512, MechOAuth:
		return m, nil
	case "GSSAPI":
		return "", b.errorf(keyMechanism, "GSSAPI (Kerberos) is not supported: use PLAIN, SCRAM or OAUTHBEARER")
	case "":
	default:
		return "", b.errorf(keyMechanism, "%q is not one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER", given)
	}
	guess := ""
	switch module {
	case modulePlain:
		guess = MechPlain
	case moduleScram:
		guess = MechScram512
	case moduleOAuth:
		guess = MechOAuth
	case "":
		return "", b.errorf(keyMechanism, "%s is not set, and there is no %s to tell it from", keyMechanism, keyJaas)
	default:
		return "", b.errorf(keyMechanism, "%s is not set (Java would take GSSAPI, which is not supported), and login module %q does not tell it", keyMechanism, printable(module))
	}
	other := ""
	if guess == MechScram512 {
		other = " (SCRAM-SHA-256 is as likely)"
	}
	b.warn("%s is not set, and a Java client would take GSSAPI: taken as %s%s by the login module", keyMechanism, guess, other)
	return guess, nil
}

func moduleOf(mechanism string) string {
	switch mechanism {
	case MechPlain:
		return modulePlain
	case MechOAuth:
		return moduleOAuth
	}
	return moduleScram
}

// printable keeps of a login module's name what a class name may hold, in case
// a password stands in its place.
func printable(module string) string {
	for _, r := range module {
		if r > '~' || r <= ' ' {
			return "…"
		}
	}
	if !strings.Contains(module, ".") {
		return "…"
	}
	return module
}

// oauth reads the two ways to an OAUTHBEARER token.
func (b *builder) oauth(login *jaasLogin) (*SASL, error) {
	first := func(key, option string) string {
		if v := b.secret(key).Reveal(); v != "" {
			return v
		}
		return login.options[option].Reveal()
	}
	s := &SASL{Mechanism: MechOAuth}
	endpoint := b.Text(keyEndpoint)
	if endpoint == "" {
		return s, b.unsecured(s, login)
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, b.errorf(keyEndpoint, "not a URL")
	}
	extensions := withPrefix(login.options, "extension_")
	switch {
	case u.Scheme == "file" && u.Path != "":
		s.TokenEndpoint = "file://" + u.Path
		fileToken(s, u.Path, extensions)
		return s, nil
	case (u.Scheme != "https" && u.Scheme != "http") || u.Host == "":
		return nil, b.errorf(keyEndpoint, "%q is not a https, http or file URL", withoutUser(endpoint))
	}
	f := &fetcher{
		endpoint:   endpoint,
		id:         first(keyClientID, "clientId"),
		secret:     Secret(first(keyClientKey, "clientSecret")),
		scope:      first(keyScope, "scope"),
		escape:     b.Switch(keyEscape),
		extensions: extensions,
		now:        b.now,
	}
	if f.id == "" || f.secret == "" {
		return nil, b.errorf(keyEndpoint, "a client id and a client secret are needed: set %s and %s, or clientId and clientSecret in %s", keyClientID, keyClientKey, keyJaas)
	}
	s.User = f.id
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	s.TokenEndpoint = u.String()
	f.shown = s.TokenEndpoint
	s.Token, s.TokenIssuer = f.token, f.issuer
	return s, nil
}

// withPrefix returns the options whose names start with prefix, without it;
// nil when there are none.
func withPrefix(options map[string]Secret, prefix string) map[string]string {
	var out map[string]string
	for name, v := range options {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			if out == nil {
				out = map[string]string{}
			}
			out[rest] = v.Reveal()
		}
	}
	return out
}
