package config

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/errs"
)

const (
	linePlain = modulePlain + ` required username="op" password="s3cret";`
	lineScram = moduleScram + ` required username="op" password="s3cret";`
	lineOAuth = moduleOAuth + ` required `
)

func TestLogins(t *testing.T) {
	for _, c := range []struct{ name, text, mechanism, user, password, describe, warning string }{
		{name: "PLAIN", text: "sasl.mechanism=PLAIN\nsasl.jaas.config=" + linePlain, mechanism: "PLAIN", user: "op", password: "s3cret", describe: `PLAIN user "op"`},
		{name: "SCRAM 256", text: "sasl.mechanism=SCRAM-SHA-256\nsasl.jaas.config=" + lineScram, mechanism: "SCRAM-SHA-256", user: "op", password: "s3cret", describe: `SCRAM user "op"`},
		{name: "SCRAM 512, continued", text: "sasl.mechanism=scram-sha-512\nsasl.jaas.config=" + strings.ReplaceAll(lineScram, " ", " \\\n  "), mechanism: "SCRAM-SHA-512", user: "op", password: "s3cret", describe: `SCRAM user "op"`},
		{name: "inferred PLAIN", text: "sasl.jaas.config=" + linePlain, mechanism: "PLAIN", user: "op", password: "s3cret", describe: `PLAIN user "op"`, warning: "sasl.mechanism is not set, and a Java client would take GSSAPI: taken as PLAIN"},
		{name: "inferred SCRAM", text: "sasl.jaas.config=" + lineScram, mechanism: "SCRAM-SHA-512", user: "op", password: "s3cret", describe: `SCRAM user "op"`, warning: "taken as SCRAM-SHA-512 (SCRAM-SHA-256 is as likely)"},
		{name: "a module moved to another package", text: "sasl.mechanism=PLAIN\nsasl.jaas.config=shaded." + linePlain, mechanism: "PLAIN", user: "op", password: "s3cret", describe: `PLAIN user "op"`},
		{name: "another module", text: "sasl.mechanism=PLAIN\nsasl.jaas.config=" + lineScram, mechanism: "PLAIN", user: "op", password: "s3cret", describe: `PLAIN user "op"`, warning: "is not the one of PLAIN"},
		{name: "Latin-1", text: "sasl.mechanism=PLAIN\nsasl.jaas.config=" + modulePlain + " required username=op password=\"\xfc\\u20ac\";", mechanism: "PLAIN", user: "op", password: "ü€", describe: `PLAIN user "op"`},
		{name: "UTF-8 becomes what Java makes of it", text: "sasl.mechanism=PLAIN\nsasl.jaas.config=" + modulePlain + " required username=op password=\"ü\";", mechanism: "PLAIN", user: "op", password: "Ã¼", describe: `PLAIN user "op"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, warnings, err := connection(t, "security.protocol=SASL_PLAINTEXT\n"+c.text)
			if err != nil {
				t.Fatal(err)
			}
			s := conn.SASL
			if s.Mechanism != c.mechanism || s.User != c.user || s.Password.Reveal() != c.password || conn.Describe() != c.describe || conn.Protocol() != "SASL_PLAINTEXT" {
				t.Errorf("%s user %q, password %q, %s", s.Mechanism, s.User, s.Password.Reveal(), conn.Describe())
			}
			if got := strings.Join(texts(warnings), "\n"); (got == "") != (c.warning == "") || !strings.Contains(got, c.warning) {
				t.Errorf("warns %q, want %q", got, c.warning)
			}
			if dump := fmt.Sprintf("%v %+v %#v %+v", *conn, *conn, *conn, *s); strings.Contains(dump, c.password) {
				t.Errorf("the password is visible in %s", dump)
			}
		})
	}
}

func TestLoginsThatCannotWork(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"Kerberos", "sasl.mechanism=GSSAPI", "GSSAPI (Kerberos) is not supported"},
		{"unknown", "sasl.mechanism=SCRAM-SHA-1", `"SCRAM-SHA-1" is not one of PLAIN`},
		{"nothing", "", "sasl.mechanism is not set, and there is no sasl.jaas.config"},
		{"module of Kerberos", "sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required;", "Java would take GSSAPI, which is not supported"},
		{"no login", "sasl.mechanism=PLAIN", "PLAIN needs a login: set sasl.jaas.config, or sasl.username with sasl.password"},
		{"no password", "sasl.mechanism=PLAIN\nsasl.jaas.config=" + modulePlain + " required username=op;", `client.properties: "sasl.jaas.config": option "password" is missing`},
		{"no semicolon", "sasl.mechanism=PLAIN\nsasl.jaas.config=" + strings.TrimSuffix(linePlain, ";"), `"sasl.jaas.config": at character 97: the line must end with a semicolon`},
		{"password as module", "sasl.jaas.config=s3cret required a=b;", `login module "…" does not tell it`},
		{"OAuth with nothing", "sasl.mechanism=OAUTHBEARER", "OAUTHBEARER needs sasl.oauthbearer.token.endpoint.url"},
		{"OAuth with no claim", "sasl.mechanism=OAUTHBEARER\nsasl.jaas.config=" + lineOAuth + ";", `the option "unsecuredLoginStringClaim_sub"`},
		{"OAuth with no client", "sasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.token.endpoint.url=https://x/t\nsasl.jaas.config=" + lineOAuth + "clientId=a;", "a client id and a client secret are needed"},
		{"OAuth, no URL", "sasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.token.endpoint.url=ftp://u:s3cret@x/t", "is not a https, http or file URL"},
		{"protocol", "security.protocol=SASL", `"SASL" is not one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := connection(t, "security.protocol=SASL_PLAINTEXT\n"+c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) || errs.ExitCode(err) != errs.Usage {
				t.Fatalf("%v (exit %d), want %q", err, errs.ExitCode(err), c.want)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("a secret is in %q", err)
			}
		})
	}
}

func TestLoginOfAContext(t *testing.T) {
	s := setup{file: "current-context: c\ncontexts:\n- name: c\n  bootstrap-server: a\n  security.protocol: SASL_PLAINTEXT\n  sasl.mechanism: SCRAM-SHA-512\n  sasl.username: op\n  sasl.password: from-file\n"}
	s.env = map[string]string{"STREAMCTL_SASL_PASSWORD": "from-env"}
	c, warnings, err := s.mustLoad(t).Connection()
	if err != nil || len(warnings) > 0 || c.SASL.User != "op" || c.SASL.Password != "from-env" || c.Bootstrap[0] != "a:9092" {
		t.Errorf("%+v, %v, %q", c, err, warnings)
	}
	// A login line from a stronger source is not mixed with weaker parts.
	s.env = map[string]string{"STREAMCTL_SASL_JAAS_CONFIG": strings.Replace(lineScram, "op", "other", 1)}
	if c, _, err = s.mustLoad(t).Connection(); err != nil || c.SASL.User != "other" || c.SASL.Password != "s3cret" {
		t.Errorf("%+v, %v", c.SASL, err)
	}
}

// tokenServer is a token endpoint that knows the client "cli" with the secret
// "a+b/c="; it counts its calls and keeps the form it was sent.
func tokenServer(t *testing.T, escaped bool) (url string, calls *atomic.Int32, form *atomic.Value) {
	t.Helper()
	calls, form = new(atomic.Int32), new(atomic.Value)
	body := base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"https://issuer.example","sub":"x"}`))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		_ = r.ParseForm()
		form.Store(r.PostForm)
		w.Header().Set("Content-Type", "application/json")
		gotID, gotSecret, _ := r.BasicAuth()
		want := "a+b/c="
		if escaped {
			want = "a%2Bb%2Fc%3D"
		}
		if gotID != "cli" || gotSecret != want {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":"invalid_client","error_description":"got %s"}`, gotSecret)
			return
		}
		fmt.Fprintf(w, `{"access_token":"e30.%s.sig","token_type":"Bearer","expires_in":3600}`, body)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, calls, form
}

func TestClientCredentials(t *testing.T) {
	const head = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
	jaas := "sasl.jaas.config=" + lineOAuth + `clientId="cli" clientSecret="a+b/c=" scope="kafka ops" extension_cluster="c1";` + "\n"
	newer := "sasl.jaas.config=" + lineOAuth + `extension_cluster="c1";` + "\nsasl.oauthbearer.client.credentials.client.id=cli\nsasl.oauthbearer.client.credentials.client.secret=a+b/c=\nsasl.oauthbearer.scope=kafka ops\n"
	for _, c := range []struct {
		name, text string
		escaped    bool
	}{
		{"login line", jaas, false},
		{"keys", newer, false},
		{"escaped", jaas + "sasl.oauthbearer.header.urlencode=true\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, calls, form := tokenServer(t, c.escaped)
			conn := mustConnection(t, head+c.text+"sasl.oauthbearer.token.endpoint.url="+url+"/token?x=1")
			for range 2 {
				token, ext, err := conn.SASL.Token(t.Context())
				if err != nil || !strings.HasPrefix(token, "e30.") || ext["cluster"] != "c1" {
					t.Fatalf("token %q, extensions %v, %v", token, ext, err)
				}
			}
			if calls.Load() != 1 {
				t.Errorf("%d calls for one token that lasts", calls.Load())
			}
			if got := fmt.Sprint(form.Load()); got != "map[grant_type:[client_credentials] scope:[kafka ops]]" {
				t.Errorf("asked with %s", got)
			}
			if conn.SASL.TokenIssuer() != "https://issuer.example" || conn.SASL.TokenEndpoint != url+"/token" || conn.Describe() != `OAuth client "cli"` {
				t.Errorf("issuer %q, endpoint %q, %s", conn.SASL.TokenIssuer(), conn.SASL.TokenEndpoint, conn.Describe())
			}
		})
	}
}

func TestTokenIsFetchedAgainBeforeItEnds(t *testing.T) {
	url, calls, _ := tokenServer(t, false)
	now := time.Now()
	f := &fetcher{endpoint: url, id: "cli", secret: "a+b/c=", now: func() time.Time { return now }}
	for i, c := range []struct {
		later time.Duration
		calls int32
	}{{0, 1}, {time.Minute, 1}, {time.Hour - time.Second, 2}, {3 * time.Hour, 3}} {
		now = time.Now().Add(c.later)
		if _, _, err := f.token(t.Context()); err != nil || calls.Load() != c.calls {
			t.Errorf("%d: after %v %d calls, %v", i, c.later, calls.Load(), err)
		}
	}
}

func TestTokenEndpointRefuses(t *testing.T) {
	url, _, _ := tokenServer(t, false)
	conn := mustConnection(t, "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\nsasl.jaas.config="+lineOAuth+`clientId="cli" clientSecret="s3cret";`+"\nsasl.oauthbearer.token.endpoint.url="+url)
	_, _, err := conn.SASL.Token(t.Context())
	err = Explain(err, Attempt{Conn: conn, Addr: "a:1"})
	if want := fmt.Sprintf(`token endpoint %q refused client "cli": invalid_client`, url); err == nil || err.Error() != want || len(errs.Hints(err)) != 1 {
		t.Errorf("%v, want %s; hints %q", err, want, errs.Hints(err))
	}
	var te *TokenError
	if !errors.As(err, &te) || te.Status != http.StatusUnauthorized {
		t.Errorf("underneath is %+v", te)
	}

	gone := httptest.NewServer(nil)
	gone.Close()
	conn.SASL = mustConnection(t, "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\nsasl.jaas.config="+lineOAuth+`clientId="cli" clientSecret="s3cret";`+"\nsasl.oauthbearer.token.endpoint.url="+gone.URL+"/t").SASL
	_, _, err = conn.SASL.Token(t.Context())
	err = Explain(err, Attempt{Conn: conn, Addr: "a:1"})
	if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("token endpoint %q gave no token: ", gone.URL+"/t")) || !strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("nothing listens there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err = conn.SASL.Token(ctx); !errors.Is(Explain(err, Attempt{Conn: conn}), context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestTokenEndpointThatRedirectsGetsNoSecretElsewhere(t *testing.T) {
	var asked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	t.Cleanup(other.Close)
	srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(srv.Close)
	conn := mustConnection(t, "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\nsasl.jaas.config="+lineOAuth+"clientId=a clientSecret=b;\nsasl.oauthbearer.token.endpoint.url="+srv.URL)
	_, _, err := conn.SASL.Token(t.Context())
	if err == nil || !strings.Contains(err.Error(), "HTTP status 307") || asked.Load() {
		t.Errorf("%v, the other was asked: %v", err, asked.Load())
	}
}

func TestUnsecuredToken(t *testing.T) {
	conn := mustConnection(t, "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\nsasl.jaas.config="+lineOAuth+`unsecuredLoginStringClaim_sub="alice" unsecuredLoginNumberClaim_level="3" unsecuredLoginListClaim_scope=",a,b" unsecuredLoginLifetimeSeconds="60" unsecuredLoginExtension_traceId="7";`)
	token, ext, err := conn.SASL.Token(t.Context())
	if err != nil || ext["traceId"] != "7" || conn.Describe() != `OAuth user "alice"` {
		t.Fatalf("%v, extensions %v, %s", err, ext, conn.Describe())
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 || parts[2] != "" {
		t.Fatalf("token %q", token)
	}
	var decoded [2]string
	for i := range decoded {
		b, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		decoded[i] = string(b)
	}
	var claims map[string]any
	if err := json.Unmarshal([]byte(decoded[1]), &claims); err != nil {
		t.Fatal(err)
	}
	if decoded[0] != `{"alg":"none"}` || fmt.Sprint(claims) != "map[exp:1.70000006e+09 iat:1.7e+09 level:3 scope:[a b] sub:alice]" {
		t.Errorf("header %s, claims %v", decoded[0], claims)
	}
}

func TestTokenFromAFile(t *testing.T) {
	path := write(t, "token", "a.b.c\n")
	conn := mustConnection(t, "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.token.endpoint.url=file://"+path)
	token, _, err := conn.SASL.Token(t.Context())
	if err != nil || token != "a.b.c" {
		t.Errorf("%q, %v", token, err)
	}
	conn = mustConnection(t, "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.token.endpoint.url=file:///nosuch/token")
	if _, _, err = conn.SASL.Token(t.Context()); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("%v", err)
	}
}
