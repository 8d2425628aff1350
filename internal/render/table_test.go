package render

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type report struct{ grid *Grid }

func (r report) Text(p *Page) { p.Rows(r.grid) }
func (r report) Grid() *Grid  { return r.grid }

// textOnly has no rows to list.
type textOnly struct{}

func (textOnly) Text(p *Page) { p.Line(0, "hello") }

func grid(rows int) *Grid {
	g := NewGrid(Column{Head: "NAME", Cap: 10}, Column{Head: "LAG", Right: true, Drop: 1}, Column{Head: "TO RESTORE", Right: true, Drop: 2},
		Column{Head: "HIDDEN", In: InMachine}, Column{Head: "LONG", In: InWide}, Column{Head: "NOTE"})
	for i := range rows {
		n := int64(i * 1000)
		note := Text("")
		if i%3 == 1 {
			note = Text("päivää 世界").In(Warning)
		}
		g.Row(Text(fmt.Sprintf("row-%d", i)), Num(n), OptNum(&n).Prefix("≤"), Text("x"), Text("long"), note)
	}
	return g
}

func write(t *testing.T, o Options, r Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, o, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var update = flag.Bool("update", false, "rewrite the golden files") //nolint:gochecknoglobals // a test flag

// page has every kind of block in the text form of a report.
type page struct{}

func (page) Text(p *Page) {
	p.Head("cluster right", Span{Text: p.Name("name\x1b"), Style: Strong}, Span{Text: "kind"}, Span{Text: "Stable", Style: Good})
	p.Blank()
	p.Styled(0, Warning, "2 findings")
	p.Codes(2, []Fact{
		{Label: "learning", Text: strings.Repeat("words that need more than one line ", 4), Style: Warning},
		{Label: "x", Text: "short", Style: Problem},
	})
	p.Blank()
	p.Facts(0, []Fact{{Label: "Label", Text: "text", Style: Note}, {Label: "Longer label", Text: strings.Repeat("n", 90)}})
	p.Blank()
	g := grid(3)
	g.Footer(Text("total"), Num(3000), Blank(), Blank(), Blank(), Dash())
	p.Table(g)
	p.Line(2, strings.Repeat("a line that is broken ", 6))
	p.Log(strings.Repeat("an entry of a log ", 6))
}

func TestGolden(t *testing.T) {
	for name, o := range map[string]Options{
		"pipe": {}, "terminal": {Width: 80}, "narrow": {Width: 46}, "wide": {Format: Wide}, "colour": {Width: 80, Color: true}, "no-headers": {NoHeaders: true},
	} {
		path := filepath.Join("testdata", "page-"+name+".golden")
		got := write(t, o, page{})
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs (rewrite with -update):\n%s\nwant:\n%s", path, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	want := `NAME     LAG  TO RESTORE  NOTE
row-0      0          ≤0  -
row-1  1,000      ≤1,000  päivää 世界
`
	if got := write(t, Options{}, report{grid(2)}); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := write(t, Options{NoHeaders: true}, report{grid(1)}); got != "row-0    0          ≤0  -\n" {
		t.Errorf("without headings: %q", got)
	}
	if got := write(t, Options{}, report{grid(0)}); got != "NAME  LAG  TO RESTORE  NOTE\n" {
		t.Errorf("without rows: %q", got)
	}
	if got := write(t, Options{NoHeaders: true}, report{grid(0)}); got != "" {
		t.Errorf("without rows and headings: %q", got)
	}
}

// Tables beyond libraryRows do not go through the library and look the same.
func TestBothWaysWriteTheSameBytes(t *testing.T) {
	g := grid(40)
	g.Footer(Text("total"), Blank(), Num(5), Blank(), Blank(), Blank())
	for _, f := range []fit{{form: InDefault}, {form: InWide}, {form: InDefault, width: 25}} {
		for _, colour := range []bool{false, true} {
			for _, headings := range []bool{false, true} {
				rows := append(slices.Clone(g.rows), g.footer)
				var library, direct bytes.Buffer
				r := newLineRenderer(g, g.arrange(f), &library, colour)
				if err := r.throughLibrary(rows, headings); err != nil {
					t.Fatal(err)
				}
				r = newLineRenderer(g, g.arrange(f), &direct, colour)
				r.direct(rows, headings)
				if library.String() != direct.String() {
					t.Fatalf("library:\n%sdirect:\n%s", library.String(), direct.String())
				}
			}
		}
	}
}

func TestLinesHaveNoTrailingBlanks(t *testing.T) {
	g := grid(3)
	g.Row(Text("last"), Blank(), Blank(), Blank(), Blank(), Blank())
	for line := range strings.Lines(write(t, Options{}, report{g})) {
		if strings.HasSuffix(strings.TrimSuffix(line, "\n"), " ") {
			t.Errorf("trailing blanks in %q", line)
		}
	}
}

// A narrow terminal drops the columns with the highest number first, then
// shortens names, and never wraps.
func TestNarrowTerminal(t *testing.T) {
	g := NewGrid(Column{Head: "NAME", Cap: 10}, Column{Head: "A", Drop: 1}, Column{Head: "B", Drop: 2}, Column{Head: "C"})
	g.Row(Text(strings.Repeat("n", 30)), Text("aaaaaaaa"), Text("bbbbbbbb"), Text("cccc"))
	for _, c := range []struct {
		width int
		heads string
	}{{0, "NAME A B C"}, {80, "NAME A B C"}, {40, "NAME A B C"}, {30, "NAME A C"}, {20, "NAME C"}} {
		out := write(t, Options{Width: c.width}, report{g})
		head, _, _ := strings.Cut(out, "\n")
		if got := strings.Join(strings.Fields(head), " "); got != c.heads {
			t.Errorf("width %d: columns %q, want %q", c.width, got, c.heads)
		}
		for line := range strings.Lines(out) {
			if w := Width(strings.TrimSuffix(line, "\n")); c.width > 0 && w > c.width {
				t.Errorf("width %d: %d columns in %q", c.width, w, line)
			}
		}
		if whole := strings.Contains(out, strings.Repeat("n", 30)); whole != (c.width == 0 || c.width == 80) {
			t.Errorf("width %d: name whole is %v", c.width, whole)
		}
	}
}

// The wide form on a terminal that has no room leaves out columns without a
// value, from the right and no more than it has to; in a pipe it has all.
func TestWideOnATerminal(t *testing.T) {
	g := NewGrid(Column{Head: "NAME", Cap: 10}, Column{Head: "RACK"}, Column{Head: "LAG", Right: true}, Column{Head: "TAGS"}, Column{Head: "NOTE"})
	for _, name := range []string{"pod-a", strings.Repeat("n", 20)} {
		g.Row(Text(name), Dash(), Num(1), Dash(), Question())
	}
	g.Footer(Text("total"), Blank(), Num(2), Blank(), Blank())
	for width, want := range map[int]string{0: "NAME RACK LAG TAGS NOTE", 80: "NAME RACK LAG TAGS NOTE", 38: "NAME RACK LAG NOTE", 31: "NAME LAG NOTE", 10: "NAME LAG NOTE"} {
		head, rest, _ := strings.Cut(write(t, Options{Format: Wide, Width: width}, report{g}), "\n")
		if got := strings.Join(strings.Fields(head), " "); got != want {
			t.Errorf("width %d: columns %q, want %q", width, got, want)
		}
		if !strings.Contains(rest, strings.Repeat("n", 20)) {
			t.Errorf("width %d: a name is not whole in\n%s", width, rest)
		}
	}
}

// A column of prose is broken where a name would be shortened.
func TestLastColumnIsBroken(t *testing.T) {
	g := NewGrid(Column{Head: "KEY"}, Column{Head: "MEANING", Cap: 10, Wrap: true})
	g.Row(Text("standbys"), Text("copies of each task that the app asks for"))
	g.Row(Text("color"), Text("when"))
	want := "KEY       MEANING\nstandbys  copies of each task\n          that the app asks\n          for\ncolor     when\n"
	if got := write(t, Options{Width: 29}, report{g}); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := write(t, Options{}, report{g}); !strings.Contains(got, "copies of each task that the app asks for\n") {
		t.Errorf("in a pipe\n%s", got)
	}
}

// Several texts under one label begin with a dash each, and their further lines
// are below the text, not below the dash.
func TestItems(t *testing.T) {
	p := &Page{o: Options{Width: 30}}
	p.Facts(0, []Fact{{Label: "Assumed", Text: "the first thing of two", Item: true}, {Label: " ", Text: "short", Item: true}, {Label: "Other", Text: "one that is broken too"}})
	want := "Assumed  - the first thing of\n           two\n         - short\nOther    one that is broken\n         too\n"
	if got := p.b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestSortBy(t *testing.T) {
	g := NewGrid(Column{Head: "NAME"}, Column{Head: "TO RESTORE", Right: true})
	for _, r := range []struct {
		name string
		n    *int64
	}{{"b", new(int64)}, {"a", nil}, {"c", ptr(9)}, {"d", ptr(10)}} {
		g.Row(Text(r.name), OptNum(r.n))
	}
	for by, want := range map[string]string{
		"": "b a c d", "name": "a b c d", "-NAME": "d c b a", "to_restore": "b c d a", "TO RESTORE": "b c d a", "-to_restore": "d c b a",
	} {
		fresh := &Grid{cols: g.cols, rows: slices.Clone(g.rows)}
		if got := strings.ReplaceAll(strings.TrimSpace(write(t, Options{Format: Name, SortBy: by}, report{fresh})), "\n", " "); got != want {
			t.Errorf("sort by %q gives %q, want %q", by, got, want)
		}
	}
	var e *ColumnError
	for _, f := range []Format{Table, Wide, CSV, TSV, Name} {
		var b bytes.Buffer
		if err := Write(&b, Options{Format: f, SortBy: "nope"}, report{g}); !errors.As(err, &e) || b.Len() > 0 {
			t.Errorf("%s: error %v, %d bytes", f, err, b.Len())
		}
	}
}

func ptr(n int64) *int64 { return &n }

func TestMachineRows(t *testing.T) {
	g := NewGrid(Column{Head: "NAME"}, Column{Head: "TO RESTORE", Right: true}, Column{Head: "TEXT", In: InText}, Column{Head: "KEYED", Key: "key"})
	g.Row(Text("a,\"b\"\tc"), Num(int64(49936)).Prefix("≤"), Text("t"), Text(""))
	if got := write(t, Options{Format: TSV}, report{g}); got != "name\tto_restore\tkey\na,\"b\"\\tc\t49936\t\n" {
		t.Errorf("tsv: %q", got)
	}
	if got := write(t, Options{Format: CSV}, report{g}); got != "name,to_restore,key\n\"a,\"\"b\"\"\\tc\",49936,\n" {
		t.Errorf("csv: %q", got)
	}
	if got := write(t, Options{Format: CSV, NoHeaders: true}, report{g}); strings.HasPrefix(got, "name") {
		t.Errorf("csv without headings: %q", got)
	}
	var e *FormError
	for _, f := range []Format{CSV, TSV, Name} {
		if err := Write(io.Discard, Options{Format: f}, textOnly{}); !errors.As(err, &e) {
			t.Errorf("%s of a report without rows: %v", f, err)
		}
	}
}

func TestColourOnlyColours(t *testing.T) {
	out := write(t, Options{Color: true}, report{grid(2)})
	if !strings.Contains(out, "\x1b[33mpäivää") {
		t.Errorf("no colour in %q", out)
	}
	if plain := write(t, Options{}, report{grid(2)}); strings.Contains(plain, "\x1b") {
		t.Errorf("colour in %q", plain)
	}
}

// A report that cannot be written whole is not written at all.
func TestWriteIsOneWrite(t *testing.T) {
	w := &countingWriter{}
	if err := Write(w, Options{}, report{grid(2000)}); err != nil || w.calls != 1 {
		t.Errorf("%d writes, %v", w.calls, err)
	}
}

type countingWriter struct{ calls int }

func (w *countingWriter) Write(b []byte) (int, error) {
	w.calls++
	return len(b), nil
}

func TestParseFormat(t *testing.T) {
	for in, want := range map[string]Format{"": Table, "JSON": JSON, "wide": Wide} {
		if f, err := ParseFormat(in); err != nil || f != want {
			t.Errorf("%q is %q, %v", in, f, err)
		}
	}
	if _, err := ParseFormat("xml"); err == nil || !strings.Contains(err.Error(), `"xml"`) {
		t.Errorf("xml: %v", err)
	}
}
