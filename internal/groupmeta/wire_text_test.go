package groupmeta

import (
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

func TestModifiedUTF8(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"ascii", "orders", "orders"},
		{"nul in two bytes", "a\xc0\x80b", "a\x00b"},
		{"nul in one byte, which Java reads too", "a\x00b", "a\x00b"},
		{"two bytes", "\xc3\xb6", "ö"},
		{"three bytes", "\xe6\x9d\xb1", "東"},
		{"two surrogates", "\xed\xa0\xbd\xed\xb8\x80", "\U0001f600"},
		{"lone surrogate", "\xed\xa0\xbd.", "\ufffd."},
		{"four bytes are not modified UTF-8", "\xf0\x9f\x98\x80", ""},
		{"continuation first", "\x80", ""},
		{"cut in two", "a\xc3", ""},
		{"cut in three", "a\xe6\x9d", ""},
		{"no continuation", "\xc3a", ""},
	} {
		if got := modifiedUTF8Text([]byte(c.raw)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got := string(appendModifiedUTF8(nil, "a\x00ö東\U0001f600")); got != "a\xc0\x80\xc3\xb6\xe6\x9d\xb1\xed\xa0\xbd\xed\xb8\x80" {
		t.Errorf("wrote %x", got)
	}
}

func TestModifiedUTF8RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		if got := modifiedUTF8Text(appendModifiedUTF8(nil, s)); got != s {
			t.Fatalf("got %q, want %q", got, s)
		}
	})
}

// Bad UTF-8 in string and bytes fields is shown, not refused.
func TestBadUTF8IsReplaced(t *testing.T) {
	s := SubscriptionInfo{Version: 11, LatestSupportedVersion: 11, UserEndPoint: "a\xff:1"}
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeSubscriptionInfo(b)
	if err != nil || got.UserEndPoint != "a\ufffd:1" {
		t.Errorf("got %q, %v", got.UserEndPoint, err)
	}
}

func TestJavaTextOrder(t *testing.T) {
	legal := []string{"", "-", ".", "0", "A", "_", "a", "a-", "a.b", "aa"}
	for i, a := range legal {
		for j, b := range legal {
			if got := compareJavaText(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%q against %q: %d", a, b, got)
			}
		}
	}
	if compareJavaText("\U0001f600", "\uffee") >= 0 || compareJavaText("\uffee", "\U0001f600") <= 0 {
		t.Error("a surrogate pair must come before U+FFEE")
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		x, y := utf16.Encode([]rune(a)), utf16.Encode([]rune(b))
		want := 0
		for i := 0; want == 0 && i < len(x) && i < len(y); i++ {
			want = int(x[i]) - int(y[i])
		}
		if want == 0 {
			want = len(x) - len(y)
		}
		if got := compareJavaText(a, b); (got < 0) != (want < 0) || (got > 0) != (want > 0) {
			t.Fatalf("%q against %q: got %d, Java %d", a, b, got, want)
		}
	})
}
