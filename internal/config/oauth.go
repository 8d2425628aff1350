package config

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// TokenError says that no token could be got. Its text holds neither the
// secret nor what the endpoint answered beyond its error code.
type TokenError struct {
	Endpoint string // URL without user and query, or a file
	Client   string // client id, "" where there is none
	Code     string // OAuth error code such as "invalid_client", "" if none was given
	Status   int    // of the HTTP answer, 0: none came
	Err      error
}

func (e *TokenError) Error() string {
	switch {
	case e.Code != "":
		return fmt.Sprintf("token endpoint %q refused client %q: %s", e.Endpoint, e.Client, e.Code)
	case e.Status != 0:
		return fmt.Sprintf("token endpoint %q answered client %q with HTTP status %d and no token", e.Endpoint, e.Client, e.Status)
	}
	return fmt.Sprintf("token endpoint %q gave no token: %s", e.Endpoint, tokenTrouble(e.Err))
}

// Unwrap gives the error underneath, whose text is not for showing.
func (e *TokenError) Unwrap() error { return e.Err }

// tokenTrouble says in words of our own why an endpoint could not be asked;
// the texts of HTTP clients show URLs and answers.
func tokenTrouble(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	var file *fs.PathError
	switch {
	case errors.As(err, &dns):
		return fmt.Sprintf("host %q is not known (DNS)", dns.Name)
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.As(err, &op):
		return op.Err.Error()
	case errors.As(err, &file):
		return file.Err.Error()
	}
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err.Error()
	}
	return "the answer is not a token"
}

// fetcher gets tokens from an endpoint by client credentials and keeps the
// last one until it is about to end.
type fetcher struct {
	endpoint, shown string
	id              string
	secret          Secret
	scope           string
	escape          bool // escape id and secret in the header, as RFC 6749 wants
	extensions      map[string]string
	now             func() time.Time

	mu   sync.Mutex
	last *oauth2.Token
	iss  string
}

// early is how long before its end a token is fetched anew.
const early = 30 * time.Second

func (f *fetcher) token(ctx context.Context) (string, map[string]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil || !f.last.Expiry.IsZero() && f.now().Add(early).After(f.last.Expiry) {
		cfg := clientcredentials.Config{
			ClientID: f.id, ClientSecret: f.secret.Reveal(), TokenURL: f.endpoint,
			Scopes: strings.Fields(f.scope), AuthStyle: oauth2.AuthStyleInHeader,
		}
		client := &http.Client{Timeout: 30 * time.Second, CheckRedirect: noRedirect}
		if !f.escape {
			client.Transport = rawHeader{f.id, f.secret}
		}
		got, err := cfg.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
		if err != nil {
			return "", nil, f.failed(err)
		}
		f.last, f.iss = got, issuerOf(got.AccessToken)
	}
	return f.last.AccessToken, maps.Clone(f.extensions), nil
}

func (f *fetcher) issuer() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.iss
}

func (f *fetcher) failed(err error) error {
	e := &TokenError{Endpoint: f.shown, Client: f.id, Err: err}
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		e.Code = errorCode(refused.ErrorCode)
		if refused.Response != nil {
			e.Status = refused.Response.StatusCode
		}
	}
	return e
}

// errorCode passes on what looks like an OAuth error code, a short word, and
// nothing else that an endpoint may have written there.
func errorCode(s string) string {
	if len(s) > 40 || strings.ContainsFunc(s, func(r rune) bool { return r != '_' && r != '-' && (r < 'a' || r > 'z') }) {
		return ""
	}
	return s
}

// noRedirect keeps the credentials at the endpoint that was configured.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// rawHeader sends id and secret as they are, which is what Java clients do
// unless told otherwise; the OAuth library would escape them.
type rawHeader struct {
	id     string
	secret Secret
}

// RoundTrip sends the request with the header of its own.
func (r rawHeader) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.SetBasicAuth(r.id, r.secret.Reveal())
	return http.DefaultTransport.RoundTrip(req)
}

// issuerOf reads "iss" out of a JWT without checking anything; "" when the
// token is none.
func issuerOf(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		Issuer string `json:"iss"`
	}
	if json.Unmarshal(body, &claims) != nil {
		return ""
	}
	return claims.Issuer
}

// fileToken sets s up to read the token from a file, anew for each login.
func fileToken(s *SASL, path string, extensions map[string]string) {
	var mu sync.Mutex
	issuer := ""
	s.Token = func(context.Context) (string, map[string]string, error) {
		data, err := readFile(path)
		if err != nil {
			return "", nil, &TokenError{Endpoint: s.TokenEndpoint, Err: err}
		}
		token := strings.TrimSpace(string(data))
		mu.Lock()
		defer mu.Unlock()
		issuer = issuerOf(token)
		return token, maps.Clone(extensions), nil
	}
	s.TokenIssuer = func() string {
		mu.Lock()
		defer mu.Unlock()
		return issuer
	}
}
