package config

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"unicode/utf8"
)

// unsecured sets s up to make unsigned tokens of the claims in the login line,
// as test brokers take them.
func (b *builder) unsecured(s *SASL, login *jaasLogin) error {
	if login.module == "" {
		return b.errorf(keyMechanism, "OAUTHBEARER needs %s, or %s with claims", keyEndpoint, keyJaas)
	}
	claims := map[string]any{}
	for name, v := range withPrefix(login.options, "unsecuredLoginStringClaim_") {
		claims[name] = v
	}
	for name, v := range withPrefix(login.options, "unsecuredLoginNumberClaim_") {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return b.errorf(keyJaas, "option %q is not a number", "unsecuredLoginNumberClaim_"+name)
		}
		claims[name] = n
	}
	for name, v := range withPrefix(login.options, "unsecuredLoginListClaim_") {
		if _, n := utf8.DecodeRuneInString(v); n > 0 { // its first character separates the items
			claims[name] = strings.Split(v[n:], v[:n])
		}
	}
	principal := "sub"
	if v := login.options["unsecuredLoginPrincipalClaimName"].Reveal(); v != "" {
		principal = v
	}
	user, ok := claims[principal].(string)
	if !ok || user == "" {
		return b.errorf(keyJaas, "OAUTHBEARER needs %s, or the option %q for an unsecured token", keyEndpoint, "unsecuredLoginStringClaim_"+principal)
	}
	life := int64(3600)
	if v := login.options["unsecuredLoginLifetimeSeconds"].Reveal(); v != "" {
		n, err := strconv.ParseInt(v, 10, 32)
		if err != nil || n <= 0 {
			return b.errorf(keyJaas, "option %q is not a number of seconds", "unsecuredLoginLifetimeSeconds")
		}
		life = n
	}
	s.User = user
	extensions := withPrefix(login.options, "unsecuredLoginExtension_")
	now := b.now
	s.Token = func(context.Context) (string, map[string]string, error) {
		made := maps.Clone(claims)
		for name, at := range map[string]int64{"iat": now().Unix(), "exp": now().Unix() + life} {
			if _, given := made[name]; !given {
				made[name] = at
			}
		}
		body, err := json.Marshal(made)
		if err != nil {
			return "", nil, err
		}
		encode := base64.RawURLEncoding.EncodeToString
		return encode([]byte(`{"alg":"none"}`)) + "." + encode(body) + ".", maps.Clone(extensions), nil
	}
	issuer, _ := claims["iss"].(string)
	s.TokenIssuer = func() string { return issuer }
	return nil
}
