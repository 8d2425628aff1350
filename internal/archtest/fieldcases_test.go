package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// inspectCases are the field cases that the reading half of streamctl must
// show, by number.
func inspectCases() []int {
	return []int{
		1, 2, 4, 5, 7, 9, 13, 14, 15, 16, 17, 18, 19, 23, 24, 26, 28, 30, 31, 34, 35, 36, 38, 39, 40, 41, 42, 43, 45, 46, 48, 49, 50,
		52, 53, 55, 57, 58, 59, 60, 61, 63, 64, 69, 70, 72, 73, 76, 77,
	}
}

// predictCases are those that planning must show. A number that stands in both
// lists has a part in each, so those of planning are looked for in its package.
func predictCases() []int {
	return []int{2, 3, 6, 12, 13, 20, 25, 26, 34, 60, 65, 66, 67, 74}
}

// controlCases are those that changing a group must show.
func controlCases() []int { return []int{8, 21, 22, 29, 32, 33} }

// caseOfFunc gives the number in TestFieldCaseNN…, caseOfFile that in
// caseNN-….txtar; 0 for any other name.
func caseOfFunc(name string) int {
	return caseOf(regexp.MustCompile(`^TestFieldCase(\d+)(?:\D|$)`), name)
}
func caseOfFile(name string) int { return caseOf(regexp.MustCompile(`^case(\d+)-.*\.txtar$`), name) }

func caseOf(re *regexp.Regexp, name string) int {
	m := re.FindStringSubmatch(name)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	return n
}

func TestEveryFieldCaseHasATest(t *testing.T) {
	have := map[int]bool{}
	for _, s := range sources(t) {
		if !s.test {
			continue
		}
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				have[caseOfFunc(f.Name.Name)] = true
			}
		}
	}
	scripts, err := os.ReadDir(filepath.Join("..", "..", "testdata", "script"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range scripts {
		have[caseOfFile(f.Name())] = true
	}
	var missing []int
	wanted := append(inspectCases(), controlCases()...)
	for _, n := range wanted {
		if !have[n] {
			missing = append(missing, n)
		}
	}
	if len(missing) > 0 {
		t.Errorf("%d of %d field cases have no test (TestFieldCaseNN… or testdata/script/caseNN-….txtar): %v", len(missing), len(wanted), missing)
	}
}

// What is done about a case is written down for every one that a test must show.
func TestEveryFieldCaseHasARow(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "field-cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[int]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \| \S`).FindAllStringSubmatch(string(text), -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil || rows[n] {
			t.Errorf("row %q: %v, or there are two", m[1], err)
		}
		rows[n] = true
	}
	for _, n := range slices.Concat(inspectCases(), predictCases(), controlCases()) {
		if !rows[n] {
			t.Errorf("field case %d: no row in docs/reference/field-cases.md", n)
		}
	}
}

func TestNamesOfFieldCases(t *testing.T) {
	for name, want := range map[string]int{
		"TestFieldCase7": 7, "TestFieldCase57RightToLeft": 57, "TestFieldCase57_Hex": 57, "TestFieldCases": 0, "TestField57": 0,
	} {
		if got := caseOfFunc(name); got != want {
			t.Errorf("%s: case %d, want %d", name, got, want)
		}
	}
	for name, want := range map[string]int{"case57-names.txtar": 57, "case5-reason.txtar": 5, "case57.txtar": 0, "showcase57-a.txtar": 0} {
		if got := caseOfFile(name); got != want {
			t.Errorf("%s: case %d, want %d", name, got, want)
		}
	}
}

func TestEveryFieldCaseOfPlanningHasATest(t *testing.T) {
	have := map[int]bool{}
	for _, s := range sources(t) {
		if !s.test || s.pkg != "internal/plan" {
			continue
		}
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				have[caseOfFunc(f.Name.Name)] = true
			}
		}
	}
	for _, n := range predictCases() {
		if !have[n] {
			t.Errorf("field case %d: no TestFieldCase%d… in internal/plan", n, n)
		}
	}
}
