package render

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"orders-0":               "orders-0",
		"Grüße 世界":               "Grüße 世界",
		"a\x1b[31mred":           `a\x1b[31mred`,
		"a\nb\tc\rd":             `a\nb\tc\rd`,
		"\x00\x7f":               `\x00\x7f`,
		"\u009b31m":              `\u009b31m`,
		"x\u202eevil\u202c":      `x\u202eevil\u202c`,
		"\u200fmark\u200e\u061c": `\u200fmark\u200e\u061c`,
		"ze\u200bro\ufeff\u2060": `ze\u200bro\ufeff\u2060`,
		"bad\xff\xc3(":           `bad\xff\xc3(`,
		"nbsp\u00a0\u3000":       `nbsp\u00a0\u3000`,
		"\U000e0041tag":          `\U000e0041tag`,
		"\u3164\u2800\u115f":     `\u3164\u2800\u115f`,
		"e\u0301":                "e\u0301",
		"\u0301e":                `\u0301e`,
		"a \u0301":               `a \u0301`,
		"z\u0300\u0301\u0302":    "z\u0300\u0301" + `\u0302`,
		`back\slash`:             `back\slash`,
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"a\x1b[2J", "\u202e", "\xff", "e\u0301\u0302\u0303", "世界", "\u200d👩\u200d💻"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := Escape(s)
		if !utf8.ValidString(out) {
			t.Fatalf("Escape(%q) is no UTF-8", s)
		}
		for _, r := range out {
			if !unicode.IsPrint(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Fatalf("Escape(%q) holds %U", s, r)
			}
		}
		if again := Escape(out); again != out {
			t.Fatalf("Escape twice: %q, then %q", out, again)
		}
		if w := Width(Shorten(out, 20)); w > 20 {
			t.Fatalf("Shorten(%q, 20) takes %d columns", out, w)
		}
	})
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 8, "short"}, {"abcdefghij", 5, "ab…ij"}, {"abcdefghij", 6, "abc…ij"}, {"世界世界世界", 7, "世…界"}, {"ab", 1, "…"},
	} {
		got := Shorten(c.in, c.width)
		if got != c.want || Width(got) > c.width {
			t.Errorf("Shorten(%q, %d) = %q (%d columns), want %q", c.in, c.width, got, Width(got), c.want)
		}
	}
}

func TestWidthCountsColumns(t *testing.T) {
	for in, want := range map[string]int{"": 0, "abc": 3, "世界": 4, "e\u0301": 1, "≤49": 3, "…": 1} {
		if got := Width(in); got != want {
			t.Errorf("Width(%q) = %d, want %d", in, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	got := Wrap("one two three four fiveandmore", 9)
	if s := strings.Join(got, "|"); s != "one two|three|four|fiveandmore" {
		t.Errorf("Wrap gives %q", s)
	}
	if got := Wrap("a  b", 0); len(got) != 1 || got[0] != "a  b" {
		t.Errorf("Wrap without width gives %q", got)
	}
}
