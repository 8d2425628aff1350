package archtest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs holds the headings of the texts below docs, by path and by file name. A
// bare name is that of a text in docs/reference, where there is one.
type docs map[string][]string

func readDocs(t *testing.T) docs {
	t.Helper()
	out := docs{}
	root := filepath.Join("..", "..", "docs")
	heading := regexp.MustCompile(`(?m)^#+ (.*)$|^\*\*([^*]+?)\.?\*\*`)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(p) != ".md" {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		name, in := filepath.Base(p), filepath.Base(filepath.Dir(p))
		titles := []string{}
		for _, m := range heading.FindAllStringSubmatch(string(b), -1) {
			titles = append(titles, m[1]+m[2])
		}
		if _, twice := out[name]; !twice || in == "reference" {
			out[name] = titles
		}
		out["docs/"+filepath.ToSlash(rel)] = titles
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// citation is a text that a comment names, with what follows: "section 2.1",
// "sections 6 and 10", "3.1", "Task tags".
type citation struct{ file, rest string }

func citations(comment string) []citation {
	re := regexp.MustCompile(`([\w./-]+\.md)((?:, (?:sections? )?[\d.]+(?: (?:and|to) [\d.]+)?)|(?:, [^).;:,]+))?`)
	var out []citation
	for _, m := range re.FindAllStringSubmatch(strings.Join(strings.Fields(comment), " "), -1) {
		out = append(out, citation{m[1], strings.TrimPrefix(m[2], ", ")})
	}
	return out
}

// wrong says what does not exist; "" if all does.
func (d docs) wrong(c citation) string {
	titles, ok := d[c.file]
	if !ok {
		if base := path.Base(c.file); base == "README.md" || strings.HasPrefix(c.file, "testdata/") {
			return "" // of a folder of test data, named beside it
		}
		return "no text " + c.file + " below docs"
	}
	if numbers := regexp.MustCompile(`^(?:sections? )?(\d[\d.]*)(?: (?:and|to) (\d[\d.]*))?`).FindStringSubmatch(c.rest); numbers != nil {
		for _, n := range numbers[1:] {
			n = strings.TrimRight(n, ".")
			if n != "" && !slices.ContainsFunc(titles, func(t string) bool { return strings.HasPrefix(t, n+" ") || strings.HasPrefix(t, n+". ") }) {
				return c.file + " has no section " + n
			}
		}
		return ""
	}
	if c.rest != "" && c.rest[0] >= 'A' && c.rest[0] <= 'Z' && !slices.Contains(titles, c.rest) {
		return c.file + " has no heading " + c.rest
	}
	return ""
}

func TestCitationsResolve(t *testing.T) {
	d := readDocs(t)
	found := 0
	for _, s := range sources(t) {
		for _, group := range s.comments {
			for _, c := range citations(group.Text()) {
				found++
				if msg := d.wrong(c); msg != "" {
					t.Errorf("%s: %s", s.file, msg)
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d citations found: not looking in the right place", found)
	}
}

func TestCitations(t *testing.T) {
	d := docs{"rules.md": {"The rules", "2. Lags", "3.1 Targets", "Task tags"}, "docs/rules.md": {"The rules"}}
	for text, bad := range map[string]bool{
		"see (rules.md).":                             false,
		"see (rules.md, section 2).":                  false,
		"see (rules.md, sections 2 and\n3.1).":        false,
		"see (rules.md, 3.1).":                        false,
		"see rules.md, Task tags; more":               false,
		"see rules.md, which says so":                 false,
		"(docs/rules.md)":                             false,
		"(testdata/java/README.md)":                   false,
		"see (ruled.md)":                              true,
		"see (rules.md, section 4).":                  true,
		"see (rules.md, sections 2 and 5).":           true,
		"see (rules.md, 3.2).":                        true,
		"see (rules.md, Tags).":                       true,
		"see (docs/other/rules.md)":                   true,
		"one (rules.md, 3.1), two (rules.md, 3.3)":    true,
		"(rules.md, section 3, of which no part is 3": true,
	} {
		got := ""
		for _, c := range citations(text) {
			got += d.wrong(c)
		}
		if (got != "") != bad {
			t.Errorf("%q: %q, want bad=%v", text, got, bad)
		}
	}
}

// The links of the texts lead somewhere.
func TestLinksResolve(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	root := filepath.Join("..", "..")
	texts := []string{filepath.Join(root, "README.md")}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(p string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(p) == ".md" {
			texts = append(texts, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range texts {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(p), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s links to %s, which is not there", p, m[1])
			}
		}
	}
}
