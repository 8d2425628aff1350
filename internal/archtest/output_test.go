package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
)

func outputText(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "output.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// jsonNames gives the names of a file's JSON fields.
func jsonNames(f *ast.File) []string {
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok || field.Tag == nil {
			return true
		}
		tag, err := strconv.Unquote(field.Tag.Value)
		if err != nil {
			return true
		}
		if name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ","); name != "" && name != "-" {
			out = append(out, name)
		}
		return true
	})
	return out
}

// Scripts rely on output.md: every field of a report stands in it.
func TestEveryFieldIsInTheContract(t *testing.T) {
	text, found := outputText(t), 0
	for _, s := range sources(t) {
		if s.pkg != "internal/report" || s.test {
			continue
		}
		for _, name := range jsonNames(s.ast) {
			found++
			if !strings.Contains(text, "`"+name+"`") {
				t.Errorf("%s: field %q is not in docs/output.md", s.file, name)
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d fields found: not looking in the right place", found)
	}
}

func TestEveryFindingIsInTheContract(t *testing.T) {
	inRow := map[string]string{} // code -> severity
	for _, m := range regexp.MustCompile("(?m)^\\| `(bad|warn|info)` \\| (.*) \\|$").FindAllStringSubmatch(outputText(t), -1) {
		for _, code := range strings.Fields(m[2]) {
			inRow[strings.Trim(code, "`")] = m[1]
		}
	}
	for _, code := range model.FindingCodes() {
		if want := string(model.SeverityOf(code)); inRow[code] != want {
			t.Errorf("docs/output.md has %q as %q, want %q", code, inRow[code], want)
		}
		delete(inRow, code)
	}
	for code := range inRow {
		t.Errorf("docs/output.md has a finding %q that does not exist", code)
	}
}
