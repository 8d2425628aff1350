package config

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPropertiesAsJava compares every value of a file of odd lines with what
// Java's Properties.load read (testdata/java/README.md).
func TestPropertiesAsJava(t *testing.T) {
	want := map[string]string{}
	data, err := os.ReadFile("testdata/java/odd.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	odd, err := os.ReadFile("testdata/java/odd.properties")
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseProperties(odd)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if v, ok := got[k]; !ok || v != want[k] {
			t.Errorf("%q: %q (there: %v), Java says %q", k, v, ok, want[k])
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			t.Errorf("%q = %q: Java has no such key", k, got[k])
		}
	}
}

func TestPropertiesErrorShowsNothing(t *testing.T) {
	_, err := parseProperties([]byte("sasl.jaas.config=s3cret\\u12"))
	if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "four hex digits") {
		t.Errorf("error %v", err)
	}
}

func FuzzProperties(f *testing.F) {
	odd, err := os.ReadFile("testdata/java/odd.properties")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(odd)
	for line := range strings.Lines(string(odd)) {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := parseProperties(data)
		second, again := parseProperties(data)
		if (err == nil) != (again == nil) || !maps.Equal(first, second) {
			t.Fatalf("read twice: %v %v, then %v %v", first, err, second, again)
		}
		misnamed("x", first)
		if p, err := newProviders(first, func(string) (string, bool) { return "", false }); err == nil {
			for _, v := range first {
				_, _ = p.resolve(v)
			}
		}
	})
}

// write makes a file for a test that only its owner may read.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// client reads the text of a client file with an environment.
func client(t *testing.T, text string, env map[string]string) (*clientFile, []Warning, error) {
	t.Helper()
	return readClientFile(write(t, "client.properties", text), lookup(env))
}

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := env[name]; return v, ok }
}

func TestNearMissesOfAClientFile(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"ssl.trustore.location=x", `"ssl.trustore.location" is no key of a Kafka client and is ignored: did you mean "ssl.truststore.location"?`},
		{"ssl.truststore.pasword=s3cret", `did you mean "ssl.truststore.password"?`},
		{"Security.Protocol=SSL", `did you mean "security.protocol"?`},
		{"security_protocol=SSL", `did you mean "security.protocol"?`},
		{"sasl.mechanisms=PLAIN", `did you mean "sasl.mechanism"?`},
		{"sasl.jass.config=s3cret", `did you mean "sasl.jaas.config"?`},
		{"sll.truststore.location=x", `did you mean "ssl.truststore.location"?`},
		{"boostrap.servers=x", `did you mean "bootstrap.servers"?`},
		{"bootstrap.server=x", `did you mean "bootstrap.servers"?`},
		{"tls.truststore.location=x", `did you mean "ssl.truststore.location"?`},
		{"ssl.wholly.unheard.of.thing=x", `"ssl.wholly.unheard.of.thing" is no key of a Kafka client and is ignored`},
		{"sasl.username=op", "put the login into sasl.jaas.config"},
		{"ssl.cipher.suites=X", "the cipher suites of this build are used"},
		{"ssl.engine.factory.class=a.B", "a Java class cannot be used here"},
		{"ssl.truststore.location=C:\\dir\\new", "control character in its path"},
		// none of our business
		{"key.serializer=a.B", ""},
		{"acks=all", ""},
		{"linger.ms=5", ""},
		{"schema.registry.url=http://x", ""},
		{"basic.auth.user.info=a:b", ""},
		{"sasl.login.callback.handler.class=a.B", ""},
		{"sasl.kerberos.service.name=kafka", ""},
		{"ssl.protocol=TLSv1.3", ""},
		{"ssl.cipher.suites=", ""},
	} {
		_, warnings, err := client(t, c.line, nil)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		switch {
		case c.want == "" && len(warnings) > 0:
			t.Errorf("%s: warns %q", c.line, warnings)
		case c.want != "" && (len(warnings) != 1 || !strings.Contains(string(warnings[0]), c.want)):
			t.Errorf("%s: warns %q, want %q", c.line, warnings, c.want)
		case strings.Contains(string(strings.Join(texts(warnings), "")), "s3cret"):
			t.Errorf("%s: the value is in %q", c.line, warnings)
		}
	}
}

func texts(ws []Warning) []string {
	var out []string
	for _, w := range ws {
		out = append(out, string(w))
	}
	return out
}

func TestConfigProviders(t *testing.T) {
	dir := t.TempDir()
	secrets := filepath.Join(dir, "secrets.properties")
	for path, text := range map[string]string{secrets: "pw=f\u00fc\n", filepath.Join(dir, "pw"): "from-dir\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const p = "config.providers."
	class := func(name, c string) string { return p + name + ".class=" + providerPackage + c + "\n" }
	all := "config.providers=env, file,dir\n" + class("env", "EnvVarConfigProvider") + class("file", "FileConfigProvider") + class("dir", "DirectoryConfigProvider")
	for _, c := range []struct {
		name, head, value, want, fail string
	}{
		{name: "no providers: text stays", value: "${env:PW}", want: "${env:PW}"},
		{name: "environment", head: all, value: "a${env:PW}b${env:PW}", want: "ahunter2bhunter2"},
		{name: "not looked at again", head: all, value: "${env:NESTED}", want: "${env:PW}"},
		{name: "unset is an error", head: all, value: "x${env:NOSUCH}", fail: `environment variable "NOSUCH" is not set`},
		{name: "file, as UTF-8", head: all, value: "${file:" + secrets + ":pw}", want: "f\u00fc"},
		{name: "file without the key", head: all, value: "${file:" + secrets + ":nosuch}", fail: `has no key "nosuch"`},
		{name: "file not there", head: all, value: "${file:/nosuch/x:pw}", fail: "no such file"},
		{name: "directory", head: all, value: "${dir:" + dir + ":pw}", want: "from-dir"},
		{name: "directory left", head: all, value: "${dir:" + dir + "/x:../pw}", fail: "is not the name of a file"},
		{name: "another provider stays", head: all, value: "${vault:x:y} ${env", want: "${vault:x:y} ${env"},
		{name: "own name", head: "config.providers=e\n" + class("e", "EnvVarConfigProvider"), value: "${e:PW}${env:PW}", want: "hunter2${env:PW}"},
		{name: "allowlist", head: "config.providers=env\n" + class("env", "EnvVarConfigProvider") + p + "env.param.allowlist.pattern=STREAM.*\n", value: "${env:PW}", fail: "not in the allowlist"},
		{name: "allowed paths", head: "config.providers=dir\n" + class("dir", "DirectoryConfigProvider") + p + "dir.param.allowed.paths=/nosuch\n", value: "${dir:" + dir + ":pw}", fail: "not in allowed.paths"},
		{name: "no class", head: "config.providers=env\n", value: "x", fail: `has no "config.providers.env.class" line`},
		{name: "unknown class", head: "config.providers=v\n" + p + "v.class=com.example.Vault\n", value: "x", fail: "is not supported"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, _, err := client(t, c.head+"ssl.keystore.password="+c.value+"\nvalue.serializer=${env:NOSUCH}\n", map[string]string{"PW": "hunter2", "NESTED": "${env:PW}"})
			switch {
			case c.fail != "":
				if err == nil || !strings.Contains(err.Error(), c.fail) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("error %v, want %q", err, c.fail)
				}
			case err != nil:
				t.Error(err)
			case f.values["ssl.keystore.password"] != c.want:
				t.Errorf("%q, want %q", f.values["ssl.keystore.password"], c.want)
			}
		})
	}
}

func TestValuesAreTrimmed(t *testing.T) {
	f, _, err := client(t, "security.protocol=SSL  \nssl.keystore.password = pw\\u0020\\t \nbootstrap.servers = a:1 , b:2 \n", nil)
	if err != nil || f.values["security.protocol"] != "SSL" || f.values["ssl.keystore.password"] != "pw" || f.values[KeyBootstrap] != "a:1 , b:2" {
		t.Errorf("%q, %v", f.values, err)
	}
}
