//go:build realkafka

package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path"
	"strings"
	"testing"
)

// The jar goes into other people's apps: it is small, runs on Java 11, has no
// class outside its own package, and the licence of what it contains.
func TestPluginJar(t *testing.T) {
	t.Parallel()
	jar, err := env.plugin()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(jar); err != nil || info.Size() >= 300_000 {
		t.Errorf("%v, %v: not below 300,000 bytes", info, err)
	}
	r, err := zip.OpenReader(jar)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	texts := map[string]string{}
	classes := 0
	for _, f := range r.File {
		if f.FileInfo().IsDir() {
			continue
		}
		body := unzipped(t, f)
		switch {
		case strings.HasPrefix(f.Name, "META-INF/") && path.Ext(f.Name) != ".class":
			texts[f.Name] = string(body)
		case strings.HasPrefix(f.Name, "io/github/streamctl/streams/") && path.Ext(f.Name) == ".class":
			classes++
			if major := binary.BigEndian.Uint16(body[6:]); major > 55 {
				t.Errorf("%s is of Java %d", f.Name, major-44)
			}
			if bytes.Contains(body, []byte("com/grack")) {
				t.Errorf("%s looks for nanojson under its own name", f.Name)
			}
		default:
			t.Errorf("%s may clash in an app", f.Name)
		}
	}
	if classes < 30 {
		t.Errorf("only %d classes", classes)
	}
	for name, want := range map[string]string{
		"META-INF/MANIFEST.MF":                      "Automatic-Module-Name: io.github.streamctl.streams",
		"META-INF/NOTICE":                           "META-INF/licenses/nanojson-Apache-2.0.txt",
		"META-INF/licenses/nanojson-Apache-2.0.txt": "Apache License",
	} {
		if !strings.Contains(texts[name], want) {
			t.Errorf("%s lacks %q", name, want)
		}
	}
}

func unzipped(t *testing.T, f *zip.File) []byte {
	t.Helper()
	in, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	body, err := io.ReadAll(in)
	if err != nil || len(body) < 8 {
		t.Fatalf("%s has %d bytes: %v", f.Name, len(body), err)
	}
	return body
}
