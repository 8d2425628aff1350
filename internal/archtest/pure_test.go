package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// Reading or waiting for the clock; all arithmetic of times is fine.
func clock(name string) bool {
	return slices.Contains([]string{"Now", "Since", "Until", "Sleep"}, name)
}

// Writing to standard output behind the caller's back.
func prints(name string) bool { return slices.Contains([]string{"Print", "Println", "Printf"}, name) }

// Everything of net but what only joins and splits text.
func network(name string) bool { return name != "JoinHostPort" && name != "SplitHostPort" }

// uses finds the selectors PKG.NAME of a file whose name matches.
func uses(f *ast.File, pkg string, match func(string) bool) []string {
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == pkg && match(sel.Sel.Name) {
			out = append(out, pkg+"."+sel.Sel.Name)
		}
		return true
	})
	return out
}

func TestPurePackages(t *testing.T) {
	pure := map[string]bool{}
	for _, r := range layout() {
		pure[r.pkg] = r.pure
	}
	seen := 0
	for _, s := range sources(t) {
		if s.test || !pure[s.pkg] {
			continue
		}
		seen++
		for _, c := range slices.Concat(uses(s.ast, "time", clock), uses(s.ast, "fmt", prints), uses(s.ast, "net", network)) {
			t.Errorf("%s uses %s; %q is pure", s.file, c, s.pkg)
		}
	}
	if seen == 0 {
		t.Fatal("no file of a pure package was seen")
	}
}

func TestNoInit(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has an init function", s.file)
			}
		}
	}
}

func TestUses(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
import ("net"; "time")
var a, b, c = time.Now(), time.Second, net.JoinHostPort("a", "1")
var d, e = net.Dial("tcp", "a:1")`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Concat(uses(f, "time", clock), uses(f, "net", network)); !slices.Equal(got, []string{"time.Now", "net.Dial"}) {
		t.Errorf("found %v", got)
	}
}
