package render

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

type inner struct {
	B string `json:"b"`
	A int64  `json:"a"`
}

type word string

func (w word) MarshalText() ([]byte, error) { return []byte("<" + string(w) + ">"), nil }

type sample struct {
	Z     int              `json:"z"`
	List  []string         `json:"list"`
	Map   map[string]int64 `json:"map"`
	Bytes []byte           `json:"bytes"`
	At    time.Time        `json:"at"`
	When  *time.Time       `json:"when"`
	Text  word             `json:"text"`
	F     float64          `json:"f"`
	Nan   float64          `json:"nan"`
	Yes   bool             `json:"yes"`
	Hide  string           `json:"-"`
	local string
	inner
	Inner *inner `json:"inner"`
}

func sampleValue() sample {
	return sample{
		Z: 3, Map: map[string]int64{"y": 2, "x": math.MaxInt64}, Bytes: []byte{0, 1, 255}, At: time.Date(2026, 1, 2, 3, 4, 5, 6000000, time.FixedZone("x", 3600)),
		Text: "w", F: 2, Nan: math.NaN(), inner: inner{B: "in", A: 7}, local: "local",
	}
}

func toJSON(t *testing.T, v any, quote bool) string {
	t.Helper()
	var b bytes.Buffer
	if err := AppendJSON(&b, v, quote); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestJSONForm(t *testing.T) {
	want := `{"a":7,"at":"2026-01-02T02:04:05.006Z","b":"in","bytes":"AAH/","f":2.0,"inner":null,"list":[],` +
		`"map":{"x":9223372036854775807,"y":2},"nan":null,"text":"<w>","when":null,"yes":false,"z":3}`
	if got := toJSON(t, sampleValue(), false); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	quoted := toJSON(t, sampleValue(), true)
	for _, w := range []string{`"a":"7"`, `"x":"9223372036854775807"`, `"z":3`} {
		if !strings.Contains(quoted, w) {
			t.Errorf("quoted: no %s in %s", w, quoted)
		}
	}
	if s := toJSON(t, []byte(nil), false); s != "null" {
		t.Errorf("no bytes are %s", s)
	}
}

func TestJSONRefusesWhatNoDocumentHolds(t *testing.T) {
	for _, v := range []any{make(chan int), struct {
		F func() `json:"f"`
	}{}, map[int]string{1: "a"}} {
		if err := AppendJSON(&bytes.Buffer{}, v, false); err == nil {
			t.Errorf("%T is no error", v)
		}
	}
}

func FuzzJSONString(f *testing.F) {
	for _, s := range []string{"", "a\"b\\c", "\x00\x1f\x7f\u009b", "\u202e\u200b", "\xff\xfe", "😀\U000e0041", "<&>", "\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		quoteJSON(&b, s)
		var back string
		if err := json.Unmarshal(b.Bytes(), &back); err != nil {
			t.Fatalf("%q gives invalid %s: %v", s, b.Bytes(), err)
		}
		var want strings.Builder // each invalid byte is one U+FFFD
		for _, r := range s {
			want.WriteRune(r)
		}
		if back != want.String() {
			t.Fatalf("%q comes back as %q", s, back)
		}
		if !utf8.Valid(b.Bytes()) || bytes.ContainsAny(b.Bytes(), "\x1b\n\u202e\u009b") {
			t.Fatalf("%q is not safe as %s", s, b.Bytes())
		}
	})
}

func TestYAMLIsTheSameDocument(t *testing.T) {
	v := map[string]any{
		"a": sampleValue(),
		"strings": []string{
			"", "plain-word", "0_1", "12", "1e3", "0x1f", "yes", "No", "~", "null", "1:20", "- x", "a: b", "#c", "two\nlines", "tab\t", " lead",
			"\u202eevil\u200b", "\x1b[1m", "é", "😀\U000e0041", "=", "<<", "2026-01-02", ".inf", "%d", "'", `"`, "a\u2028b", "trail ",
		},
	}
	var b bytes.Buffer
	if err := AppendYAML(&b, v, false); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"\u202e", "\u200b", "\x1b"} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("raw %q in\n%s", bad, b.String())
		}
	}
	var fromYAML any
	if err := yaml.Unmarshal(b.Bytes(), &fromYAML); err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	again, err := json.Marshal(fromYAML)
	if err != nil {
		t.Fatal(err)
	}
	if x, y := generic(t, again), generic(t, []byte(toJSON(t, v, false))); !reflect.DeepEqual(x, y) {
		t.Errorf("YAML gives %v\nJSON gives %v\n%s", x, y, b.String())
	}
	if !strings.Contains(b.String(), "x: 9223372036854775807\n") {
		t.Errorf("a large integer is not exact:\n%s", b.String())
	}
}

func generic(t *testing.T, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return sameNumbers(v)
}

// sameNumbers writes 2 and 2.0 alike.
func sameNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = sameNumbers(e)
		}
	case []any:
		for i, e := range v {
			v[i] = sameNumbers(e)
		}
	case json.Number:
		return strings.TrimSuffix(v.String(), ".0")
	}
	return v
}
