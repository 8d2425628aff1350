package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/errs"
)

// setup is where the settings of one test come from.
type setup struct {
	flags map[string][]string
	env   map[string]string
	file  string // text of the configuration file, "" for none
	java  string // text of a client file that the configuration file can name
}

// load writes the files of s and loads everything; dir is where they are.
func (s setup) load(t *testing.T) (r *Resolved, warnings []Warning, dir string, err error) {
	t.Helper()
	dir = t.TempDir()
	env := maps.Clone(s.env)
	if env == nil {
		env = map[string]string{}
	}
	env["XDG_CONFIG_HOME"] = dir
	for name, text := range map[string]string{"streamctl/config.yaml": s.file, "streamctl/client.properties": s.java} {
		if text == "" {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flag := func(name string) ([]string, bool) { v, ok := s.flags[name]; return v, ok }
	r, warnings, err = Load(Sources{Flag: flag, Env: lookup(env), Now: func() time.Time { return time.Unix(1_700_000_000, 0) }})
	return r, warnings, dir, err
}

func (s setup) mustLoad(t *testing.T) *Resolved {
	t.Helper()
	r, warnings, _, err := s.load(t)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("load: %v, warnings %q", err, warnings)
	}
	return r
}

// Field case 23: the same key in all three places; the flag wins, and the view
// names it.
func TestFieldCase23FlagOverEnvironmentOverFile(t *testing.T) {
	file := "current-context: c\ncontexts:\n- name: c\n"
	values := map[Kind][4]string{
		Text: {"flag", "env", "file"}, List: {"flag:1", "env:1", "file:1"}, Switch: {"true", "FALSE", "True"},
		Duration: {"1s", "2s", "3s"}, Number: {"1", "2", "3"}, Millis: {"1", "2", "3"},
	}
	s := setup{flags: map[string][]string{}, env: map[string]string{}}
	for _, k := range Keys() {
		v, ok := values[k.Kind]
		if !ok || k.OneOf != nil {
			continue
		}
		file += fmt.Sprintf("  %s: %s\n", k.Name, v[2])
		s.flags[k.Name] = []string{v[0]}
		s.env[k.Env()] = v[1]
	}
	s.file = file
	check := func(want Source, place int) {
		t.Helper()
		r := s.mustLoad(t)
		for _, e := range r.View() {
			k, _ := LookupKey(e.Key)
			v, ok := values[k.Kind]
			if !ok || k.OneOf != nil {
				continue
			}
			if e.Source != want {
				t.Errorf("%s comes from %q (%s), want %q", e.Key, e.Source, e.Origin, want)
			}
			if got := r.secret(e.Key).Reveal(); got != v[place] {
				t.Errorf("%s is %q, want %q", e.Key, got, v[place])
			}
			if k.Secret != (e.Value == "") || !e.Set {
				t.Errorf("%s: secret %v shows %q, set %v", e.Key, k.Secret, e.Value, e.Set)
			}
		}
	}
	check(FromFlag, 0)
	s.flags = nil
	check(FromEnv, 1)
	s.env = nil
	check(FromFile, 2)
	s.file = ""
	for _, e := range s.mustLoad(t).View() {
		if e.Source != FromDefault || e.Origin != "" {
			t.Errorf("nothing set: %s comes from %q", e.Key, e.Source)
		}
	}
}

func TestEnvironmentNamesAreDistinct(t *testing.T) {
	seen := map[string]string{"STREAMCTL_CONFIG": "config", "STREAMCTL_CONTEXT": "context"}
	for _, k := range Keys() {
		names := []string{k.Env()}
		if k.Secret {
			names = append(names, k.Env()+"_FILE")
		}
		for _, n := range names {
			if other, twice := seen[n]; twice {
				t.Errorf("%s stands for %s and %s", n, other, k.Name)
			}
			seen[n] = k.Name
		}
		if k.Doc == "" {
			t.Errorf("%s has no words", k.Name)
		}
	}
	if EnvName("bootstrap-server") != "STREAMCTL_BOOTSTRAP_SERVER" || EnvName("sasl.jaas.config") != "STREAMCTL_SASL_JAAS_CONFIG" {
		t.Error(EnvName("bootstrap-server"), EnvName("sasl.jaas.config"))
	}
}

func TestValuesByKind(t *testing.T) {
	s := setup{flags: map[string][]string{KeyBootstrap: {"a:1,b:2", "c:3"}}, env: map[string]string{"STREAMCTL_TIMEOUT": "1m30s", "STREAMCTL_STANDBYS": "2", "STREAMCTL_READONLY": "true", "STREAMCTL_GROUP": ""}}
	r := s.mustLoad(t)
	if got := r.List(KeyBootstrap); !slices.Equal(got, []string{"a:1", "b:2", "c:3"}) {
		t.Errorf("brokers %q", got)
	}
	n, ok := r.Number(KeyStandbys)
	_, none := r.Number(KeyMaxLag)
	if r.Duration(KeyTimeout) != 90*time.Second || n != 2 || !ok || none || !r.Switch(KeyReadonly) || r.Setting(KeyGroup).IsSet() {
		t.Errorf("timeout %v, standbys %d %v, max-lag there %v, readonly %v", r.Duration(KeyTimeout), n, ok, none, r.Switch(KeyReadonly))
	}
	if r.Duration(KeyRequestTimeout) != 10*time.Second || r.Setting(KeyRequestTimeout).Source != FromDefault {
		t.Errorf("request timeout %v", r.Duration(KeyRequestTimeout))
	}
}

func TestBadValuesNameWhereTheyStand(t *testing.T) {
	for _, c := range []struct {
		name string
		s    setup
		want string
	}{
		{"flag", setup{flags: map[string][]string{KeyTimeout: {"soon"}}}, `--timeout: "soon" is not a duration such as 30s or 5m`},
		{"negative", setup{flags: map[string][]string{KeyTimeout: {"-1s"}}}, `--timeout: "-1s" is not a duration`},
		{"environment", setup{env: map[string]string{"STREAMCTL_STANDBYS": "two"}}, `STREAMCTL_STANDBYS: "two" is not a whole number`},
		{"file", setup{file: "current-context: c\ncontexts:\n- name: c\n  readonly: yes please\n"}, `config.yaml:4: "readonly": "yes please" is not true or false`},
		{"colour", setup{env: map[string]string{"STREAMCTL_COLOR": "red"}}, `STREAMCTL_COLOR: "red" is not one of auto, always, never`},
		{"client file", setup{file: "current-context: c\ncontexts:\n- name: c\n  command-config: client.properties\n", java: "request.timeout.ms=10s"}, `client.properties: "request.timeout.ms": "10s" is not a number of milliseconds`},
	} {
		_, _, _, err := c.s.load(t)
		if err == nil || !strings.Contains(err.Error(), c.want) || errs.ExitCode(err) != errs.Usage {
			t.Errorf("%s: %v (exit %d), want %q", c.name, err, errs.ExitCode(err), c.want)
		}
	}
}

func TestContextAndClientFile(t *testing.T) {
	s := setup{
		file: "current-context: prod\ncontexts:\n" +
			"- name: prod\n  bootstrap-server: [p1:9092, p2:9092]\n  command-config: client.properties\n  client.id: ctx\n  group: shop\n" +
			"- name: test\n  bootstrap.servers: t1:9092, t2:9092\n",
		java: "bootstrap.servers=j:9092\nclient.id=java\nsecurity.protocol=SSL\nrequest.timeout.ms=7000\ndefault.api.timeout.ms=70000\n",
	}
	r := s.mustLoad(t)
	if r.Text(KeyBootstrap) != "p1:9092,p2:9092" || r.Text("client.id") != "ctx" || r.Text("security.protocol") != "SSL" {
		t.Errorf("the context's own keys win over its client file: %+v", r.View())
	}
	if r.Duration(KeyRequestTimeout) != 7*time.Second || r.Duration(KeyTimeout) != 70*time.Second || r.Setting(KeyTimeout).Source != FromFile {
		t.Errorf("time-outs of the client file: %v %v", r.Duration(KeyRequestTimeout), r.Duration(KeyTimeout))
	}
	if r.Context != "prod" || !slices.Equal(r.Contexts, []string{"prod", "test"}) {
		t.Errorf("context %q of %q", r.Context, r.Contexts)
	}

	s.env = map[string]string{"STREAMCTL_CONTEXT": "test"}
	if r = s.mustLoad(t); r.Context != "test" || r.Text(KeyBootstrap) != "t1:9092,t2:9092" || r.Text(KeyGroup) != "" {
		t.Errorf("STREAMCTL_CONTEXT: %q %q", r.Context, r.Text(KeyBootstrap))
	}
	s.flags = map[string][]string{"context": {"prod"}, KeyRequestTimeout: {"1s"}}
	if r = s.mustLoad(t); r.Context != "prod" || r.Duration(KeyRequestTimeout) != time.Second {
		t.Errorf("--context: %q, request timeout %v", r.Context, r.Duration(KeyRequestTimeout))
	}

	// A client file named by a flag stands for all of the context's Kafka keys.
	s.flags = map[string][]string{"context": {"prod"}, KeyCommandConfig: {write(t, "other.properties", "security.protocol=PLAINTEXT")}}
	if r = s.mustLoad(t); r.Text("client.id") != "streamctl" || r.Text("security.protocol") != "PLAINTEXT" || r.Text(KeyBootstrap) != "p1:9092,p2:9092" || r.Text(KeyGroup) != "shop" {
		t.Errorf("--command-config: %+v", r.View())
	}
	s.flags[KeyCommandConfig] = []string{write(t, "other.properties", "bootstrap.servers=o:1")}
	if r = s.mustLoad(t); r.Text(KeyBootstrap) != "o:1" {
		t.Errorf("--command-config with brokers: %q", r.Text(KeyBootstrap))
	}
	s.env = map[string]string{"STREAMCTL_BOOTSTRAP_SERVER": "e:1"}
	if r = s.mustLoad(t); r.Text(KeyBootstrap) != "e:1" {
		t.Errorf("the environment wins over the client file: %q", r.Text(KeyBootstrap))
	}
}

func TestConfigFileIsFoundAndMissed(t *testing.T) {
	path := write(t, "mine.yaml", "current-context: a\ncontexts: [{name: a, group: g}]\n")
	for name, s := range map[string]setup{
		"flag":        {flags: map[string][]string{"config": {path}}, env: map[string]string{"STREAMCTL_CONFIG": "/nosuch"}},
		"environment": {env: map[string]string{"STREAMCTL_CONFIG": path}},
	} {
		if r := s.mustLoad(t); r.Path != path || r.Text(KeyGroup) != "g" {
			t.Errorf("%s: file %q, group %q", name, r.Path, r.Text(KeyGroup))
		}
	}
	if r := (setup{}).mustLoad(t); r.Path != "" || r.Context != "" {
		t.Errorf("no file: %q %q", r.Path, r.Context)
	}
	for want, s := range map[string]setup{
		"no such file or directory":                   {flags: map[string][]string{"config": {"/nosuch.yaml"}}},
		`context "x": there is no configuration file`: {flags: map[string][]string{"context": {"x"}}},
		`config.yaml" has none of that name`:          {file: "current-context: y\ncontexts: [{name: a}]\n"},
	} {
		_, _, _, err := s.load(t)
		if err == nil || !strings.Contains(err.Error(), want) || errs.ExitCode(err) != errs.Usage {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if got := DefaultPath(lookup(map[string]string{"HOME": "/h"})); got != "/h/.config/streamctl/config.yaml" {
		t.Errorf("default path %q", got)
	}
}

func TestSecretsFromElsewhere(t *testing.T) {
	s := setup{
		file: "current-context: c\ncontexts:\n- name: c\n  sasl.password-file: pw\n  ssl.key.password-env: KEY_PW\n- name: d\n  sasl.password-file: nosuch\n- name: e\n  sasl.password-env: NOSUCH\n",
		env:  map[string]string{"KEY_PW": "k3y"},
	}
	_, _, dir, err := s.load(t)
	if err == nil || !strings.Contains(err.Error(), `config.yaml:4: "sasl.password-file": open `) {
		t.Fatalf("no file yet: %v", err)
	}
	pw := filepath.Join(dir, "pw")
	if err := os.WriteFile(pw, []byte("f1le\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.file = strings.Replace(s.file, "-file: pw", "-file: "+pw, 1)
	r := s.mustLoad(t)
	if r.secret("sasl.password") != "f1le" || r.secret("ssl.key.password") != "k3y" || r.Text("sasl.password") != "" {
		t.Errorf("file %q, environment %q", r.secret("sasl.password").Reveal(), r.secret("ssl.key.password").Reveal())
	}
	s.env["STREAMCTL_SASL_PASSWORD_FILE"] = write(t, "other", "0ther")
	if r = s.mustLoad(t); r.secret("sasl.password") != "0ther" || r.Setting("sasl.password").Source != FromEnv {
		t.Errorf("STREAMCTL_SASL_PASSWORD_FILE: %q", r.secret("sasl.password").Reveal())
	}
	s.env = map[string]string{"STREAMCTL_CONTEXT": "e"}
	if _, _, _, err := s.load(t); err == nil || !strings.Contains(err.Error(), `"sasl.password-env": environment variable "NOSUCH" is not set`) {
		t.Errorf("variable not set: %v", err)
	}
	if dump := fmt.Sprintf("%v %+v %#v %+v %#v", r, *r, r.View(), r.Setting("sasl.password"), r.Setting("ssl.key.password")); strings.Contains(dump, "0ther") || strings.Contains(dump, "k3y") {
		t.Errorf("a secret is visible in %s", dump)
	}
}

func TestFilesThatOthersMayRead(t *testing.T) {
	const withSecret = "current-context: c\ncontexts:\n- name: c\n- name: d\n  sasl.password: s3cret\n"
	for _, c := range []struct {
		name, file, java string
		mode             os.FileMode
		want             int
	}{
		{"secret, for all", withSecret, "", 0o644, 1},
		{"secret, for the group", withSecret, "", 0o640, 1},
		{"secret, for the owner", withSecret, "", 0o600, 0},
		{"no secret", "current-context: c\ncontexts:\n- name: c\n  sasl.password-env: HOME\n", "", 0o644, 0},
		{"client file", "", "ssl.key.password=s3cret", 0o604, 1},
		{"client file without", "", "security.protocol=SSL", 0o644, 0},
	} {
		path, flag := write(t, "f", c.file+c.java), "config"
		if c.java != "" {
			flag = KeyCommandConfig
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		_, warnings, _, err := setup{flags: map[string][]string{flag: {path}}, env: map[string]string{"HOME": "x"}}.load(t)
		if err != nil || len(warnings) != c.want {
			t.Errorf("%s: %v, %q", c.name, err, warnings)
		}
		for _, w := range warnings {
			if strings.Contains(string(w), "s3cret") || !strings.Contains(string(w), path) {
				t.Errorf("%s: %q", c.name, w)
			}
		}
	}
}

func TestViewHidesUserOfAURL(t *testing.T) {
	r := setup{env: map[string]string{
		"STREAMCTL_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL": "https://id:x,s3cret@idp/token?a=s3cret&b=s3cret@x",
		"STREAMCTL_BOOTSTRAP_SERVER":                    "a:1,kafka://u:s3cret@b:1,u:s3cret@c:1",
	}}.mustLoad(t)
	for _, e := range r.View() {
		if strings.Contains(e.Value, "s3cret") {
			t.Errorf("%s shows %q", e.Key, e.Value)
		}
	}
	if _, _, err := r.Connection(); err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), `broker "kafka://…@b:1"`) {
		t.Errorf("brokers with a login: %v", err)
	}
}
