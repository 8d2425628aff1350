package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/errs"
)

// Field case 76: a mistyped key in a context is exit 2 with the nearest known
// key, and the place where it stands.
func TestFieldCase76UnknownKeyOfAContext(t *testing.T) {
	const head = "current-context: c\ncontexts:\n- name: c\n  bootstrap-server: a:1\n"
	for _, c := range []struct{ text, want string }{
		{head + "  tls.key: s3cret\n", `config.yaml:5: unknown key "tls.key" in context "c": did you mean "ssl.keystore.location"?`},
		{head + "  tls.truststore.location: x\n", `config.yaml:5: unknown key "tls.truststore.location" in context "c": did you mean "ssl.truststore.location"?`},
		{head + "  ssl.trustore.location: x\n", `did you mean "ssl.truststore.location"?`},
		{head + "  ssl_keystore_password: s3cret\n", `did you mean "ssl.keystore.password"?`},
		{head + "  sasl.pasword-file: x\n", `did you mean "sasl.password-file"?`},
		{head + "  read-only: true\n", `did you mean "readonly"?`},
		{head + "  brokers: a:1\n", `did you mean "bootstrap-server"?`},
		{head + "  Timeout: 3s\n", `did you mean "timeout"?`},
		{head + "  password: s3cret\n", `did you mean "sasl.password"?`},
		{head + "  zzzzzzzz: s3cret\n", `config.yaml:5: unknown key "zzzzzzzz" in context "c"`},
		{head + "  group-file: x\n", `unknown key "group-file" in context "c"`},
		{head + "- nam: d\n", `config.yaml:5: a context has no name`},
		{head + "  group: a\n  group: b\n", `config.yaml:6: "group" is there twice, first in line 5`},
		{head + "  sasl.password: a\n  sasl.password-env: b\n", `config.yaml:6: "sasl.password" is set twice, also in line 5`},
		{head + "  group: [a]\n", `config.yaml:5: "group" must be one value`},
		{head + "  ssl.key.password: {s3cret: x}\n", `config.yaml:5: "ssl.key.password" must be one value`},
		{head + "- name: c\n", `config.yaml:5: context "c" is there twice, first in line 3`},
		{"curent-context: c\n", `config.yaml:1: unknown key "curent-context": did you mean "current-context"?`},
		{"contexts: {c: {}}\n", `config.yaml:1: "contexts" must be a list`},
		{head + "  sasl.password: *s3cret\n", `config.yaml: not valid YAML`},
		{head + "  sasl.password: \"s3cret\n", `not valid YAML`},
		{head + "  sasl.password: @s3cret\n", `config.yaml:5: not valid YAML`},
		{"s3cret", `config.yaml:1: the file must be keys with values`},
	} {
		_, _, _, err := setup{file: c.text}.load(t)
		switch {
		case err == nil || !strings.Contains(err.Error(), c.want):
			t.Errorf("%v, want %q", err, c.want)
		case errs.ExitCode(err) != errs.Usage:
			t.Errorf("%v: exit %d", err, errs.ExitCode(err))
		case strings.Contains(err.Error(), "s3cret"):
			t.Errorf("a value is in %q", err)
		}
	}
}

func TestUnknownContextListsTheOthers(t *testing.T) {
	_, _, _, err := setup{file: "contexts: [{name: prod}, {name: test}]", env: map[string]string{"STREAMCTL_CONTEXT": "prd"}}.load(t)
	hints := strings.Join(errs.Hints(err), " ")
	if err == nil || !strings.Contains(err.Error(), `context "prd"`) || !strings.Contains(hints, "prod, test") || !strings.Contains(hints, `did you mean "prod"?`) {
		t.Errorf("%v; hints %q", err, hints)
	}
}

func TestEmptyFiles(t *testing.T) {
	for _, text := range []string{"\n", "# nothing\n", "contexts:\n", "contexts: []\ncurrent-context:\n", "current-context: \"\"\n"} {
		if r := (setup{file: text}).mustLoad(t); r.Context != "" || len(r.Contexts) != 0 {
			t.Errorf("%q: context %q of %q", text, r.Context, r.Contexts)
		}
	}
}

func TestUseChangesOneLine(t *testing.T) {
	const contexts = "# mine\ncontexts:\n- name: a # first\n- name: b c\n- name: \"on\"\n"
	for _, c := range []struct{ before, name, after string }{
		{contexts, "a", "current-context: a\n" + contexts},
		{"current-context: a   # now\n" + contexts, "b c", "current-context: \"b c\" # now\n" + contexts},
		{contexts + "current-context: a\r\n# end", "on", contexts + "current-context: \"on\"\r\n# end"},
		{contexts + "current-context:\n  a\n", "b c", ""},
	} {
		path := write(t, "config.yaml", c.before)
		link := filepath.Join(t.TempDir(), "link.yaml")
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		err := Use(link, c.name)
		got, readErr := os.ReadFile(path)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if c.after == "" {
			if err == nil || string(got) != c.before {
				t.Errorf("use %q: error %v, file %q", c.name, err, got)
			}
			continue
		}
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || string(got) != c.after || info.Mode().Perm() != 0o640 {
			t.Errorf("use %q: %v, mode %v, file %q", c.name, err, info.Mode(), got)
		}
		if f, err := ReadFile(path, false); err != nil || f.Current != c.name {
			t.Errorf("use %q: read back %q, %v", c.name, f.Current, err)
		}
	}
	path := write(t, "config.yaml", contexts)
	if err := Use(path, "nosuch"); err == nil || !strings.Contains(err.Error(), `context "nosuch"`) {
		t.Errorf("a context that is not there: %v", err)
	}
}

func TestEveryKeyIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/connecting.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Keys() {
		if !strings.Contains(string(doc), "`"+k.Name+"`") {
			t.Errorf("docs/connecting.md does not name %q", k.Name)
		}
		if k.Default != "" && !k.Kafka() && !strings.Contains(string(doc), "`"+k.Default+"`") {
			t.Errorf("docs/connecting.md does not give the default %s of %q", k.Default, k.Name)
		}
	}
}

// The contexts shown in the documentation are taken as they stand.
func TestDocumentedContextsWork(t *testing.T) {
	doc, err := os.ReadFile("../../docs/connecting.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(doc), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	f, err := parseFile("connecting.md", []byte(text))
	if err != nil || f.Current != "prod" || len(f.Contexts) != 2 || f.Contexts[0].settings["sasl.password"].fromFile != "/run/secrets/kafka" {
		t.Errorf("%+v, %v", f, err)
	}
}
