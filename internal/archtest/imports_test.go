package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/streamctl/streamctl"

// source is one Go file of the module.
type source struct {
	file string // from the top of the repository, with slashes
	pkg  string // the folder it is in, "" at the top
	test bool
	ast  *ast.File

	comments []*ast.CommentGroup
}

// sources parses every Go file of the module.
func sources(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	var out []source
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if name := d.Name(); rel != "." && (name == "testdata" || name == "bin" || name == "dist" || strings.HasPrefix(name, ".")) {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil && rel != "." {
				return fs.SkipDir // a module of its own
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		pkg := path.Dir(rel)
		if pkg == "." {
			pkg = ""
		}
		out = append(out, source{file: rel, pkg: pkg, test: strings.HasSuffix(rel, "_test.go"), ast: parsed, comments: parsed.Comments})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("found only %d Go files: not looking in the right place", len(out))
	}
	return out
}

func (s source) imports() []string {
	var out []string
	for _, spec := range s.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			p = spec.Path.Value
		}
		out = append(out, p)
	}
	return out
}

// forbidden says what is wrong with an import of a package; "" if nothing is.
func forbidden(rows []row, pkg, imported string) string {
	i := slices.IndexFunc(rows, func(r row) bool { return r.pkg == pkg })
	if i < 0 {
		return fmt.Sprintf("package %q has no line in the layout table", pkg)
	}
	r := rows[i]
	first, _, _ := strings.Cut(imported, "/")
	switch ours, isOurs := strings.CutPrefix(imported, module+"/"); {
	case r.tests:
		return ""
	case isOurs:
		if !slices.Contains(r.ours, ours) {
			return fmt.Sprintf("%q may not import our %q", pkg, ours)
		}
	case strings.Contains(first, "."):
		if !slices.ContainsFunc(r.others, func(o string) bool { return imported == o || strings.HasPrefix(imported, o+"/") }) {
			return fmt.Sprintf("%q may not import %q of others", pkg, imported)
		}
	case r.pure && impure(imported):
		return fmt.Sprintf("%q is pure and may not import %q", pkg, imported)
	}
	return ""
}

// impure names the packages of the standard library that reach outside. net is
// looked at name by name: two of its functions only deal with text.
func impure(imported string) bool {
	switch imported {
	case "os", "os/exec", "os/signal", "os/user", "net/http", "syscall", "math/rand", "math/rand/v2", "crypto/rand", "log", "log/slog", "io/ioutil":
		return true
	}
	return false
}

func TestImportsGoDownOnly(t *testing.T) {
	rows := layout()
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, imported := range append(s.imports(), "fmt") { // fmt: a file without imports still needs its line
			if msg := forbidden(rows, s.pkg, imported); msg != "" {
				t.Errorf("%s: %s", s.file, msg)
			}
		}
	}
}

func TestForbidden(t *testing.T) {
	rows := layout()
	for _, c := range []struct {
		pkg, imported string
		bad           bool
	}{
		{"internal/model", module + "/internal/snapshot", true},
		{"internal/groupmeta", module + "/internal/snapshot", false},
		{"internal/groupmeta", "github.com/twmb/franz-go/pkg/kgo", true},
		{"internal/groupmeta", "github.com/twmb/franz-go/pkg/kmsg", false},
		{"internal/groupmeta", "os", true},
		{"internal/kclient", "os", false},
		{"internal/kclient", "github.com/twmb/franz-go/pkg/sasl/scram", false},
		{"internal/ui", "github.com/spf13/cobra", true},
		{"cmd", module + "/worker", true},
		{"internal/util", "fmt", true},
		{"", module + "/internal/model", true},
	} {
		if got := forbidden(rows, c.pkg, c.imported); (got != "") != c.bad {
			t.Errorf("%s imports %s: %q, want bad=%v", c.pkg, c.imported, got, c.bad)
		}
	}
}

// A row that may import a row above it would let imports go in a circle.
func TestTableGoesDown(t *testing.T) {
	rows := layout()
	at := map[string]int{}
	for i, r := range rows {
		at[r.pkg] = i
	}
	for i, r := range rows {
		for _, o := range r.ours {
			if j, ok := at[o]; !ok {
				t.Errorf("%q may import %q, which has no line", r.pkg, o)
			} else if j <= i {
				t.Errorf("%q may import %q, which stands above it", r.pkg, o)
			}
		}
	}
}

// docs/layout.md tells newcomers what each package is for.
func TestEveryPackageIsInLayout(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "layout.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources(t) {
		if s.pkg != "" && !strings.Contains(string(text), "| `"+s.pkg+"` |") {
			t.Errorf("docs/layout.md has no row for %q", s.pkg)
		}
	}
}
