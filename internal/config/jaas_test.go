package config

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestJaasAsJava compares each line with what the Java client made of it
// (testdata/java/README.md).
func TestJaasAsJava(t *testing.T) {
	data, err := os.ReadFile("testdata/java/jaas.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Line    string
		Module  string
		Options map[string]string
		Refused bool
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, c := range cases {
		got, err := parseJaas(c.Line)
		if c.Refused {
			refused++
			if err == nil {
				t.Errorf("%q: Java refuses it, we take it", c.Line)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: Java takes it, we say: %v", c.Line, err)
			continue
		}
		if got.module != c.Module || len(got.options) != len(c.Options) {
			t.Errorf("%q: module %q with %d options, want %q with %d", c.Line, got.module, len(got.options), c.Module, len(c.Options))
		}
		for name, want := range c.Options {
			if v := got.options[name].Reveal(); v != want {
				t.Errorf("%q: option %q is %q, Java says %q", c.Line, name, v, want)
			}
		}
	}
	if len(cases) < 80 || refused < 30 {
		t.Errorf("only %d cases, %d refused: the file is not whole", len(cases), refused)
	}
}

func TestJaasErrorsNameThePlaceOnly(t *testing.T) {
	const m = "a.B required "
	for _, c := range []struct{ line, want string }{
		{``, "no login module"},
		{`a.B password="s3cret";`, "at character 5: expected a control flag"},
		{m + `username=op password=s3cret`, "at character 41: the line must end with a semicolon"},
		{m + `username=op password=3s3cret;`, "at character 35: a value that starts with a digit"},
		{m + `username=op password=s3cret@x;`, "at character 41: expected the name of an option"},
		{m + `username=op, password=s3cret;`, "at character 25: expected the name of an option"},
		{m + `username="op" password="s3cret;`, "at character 37: the quote that opens here is not closed"},
		{m + `password=s3;cret`, "at character 26: more text after the semicolon at character 25"},
	} {
		_, err := parseJaas(c.line)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.line, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "s3") {
			t.Errorf("%q: the value is in %q", c.line, err)
		}
	}
}

func FuzzJaas(f *testing.F) {
	data, err := os.ReadFile("testdata/java/jaas.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		login, err := parseJaas(line)
		if (login == nil) == (err == nil) {
			t.Fatalf("%q: login %v, error %v", line, login, err)
		}
		if err != nil {
			return
		}
		// What was read, written with quotes, reads the same.
		quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`)
		again := `"` + quote.Replace(login.module) + `" required`
		for name, v := range login.options {
			again += ` "` + quote.Replace(name) + `"="` + quote.Replace(v.Reveal()) + `"`
		}
		back, err := parseJaas(again + ";")
		if err != nil || back.module != login.module || len(back.options) != len(login.options) {
			t.Fatalf("%q read back from %q: %v, %v", line, again, back, err)
		}
		for name, v := range login.options {
			if back.options[name] != v {
				t.Fatalf("%q: option %q read back as %q", line, name, back.options[name].Reveal())
			}
		}
	})
}
