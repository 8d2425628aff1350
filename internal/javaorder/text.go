package javaorder

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// HashString is String.hashCode: 31*h + c over the UTF-16 units, wrapping at
// 32 bits. Bytes that are no UTF-8 count as U+FFFD, as a Java client reads
// them.
func HashString(s string) uint32 {
	var h uint32
	for _, r := range s {
		if r < 0x10000 {
			h = 31*h + uint32(r)
			continue
		}
		hi, lo := utf16.EncodeRune(r)
		h = 31*(31*h+uint32(hi)) + uint32(lo)
	}
	return h
}

// CompareStrings is String.compareTo: by UTF-16 units, so that characters
// beyond U+FFFF come before U+E000 to U+FFFF. It is negative, 0 or positive.
func CompareStrings(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) || a[i] < utf8.RuneSelf && b[i] < utf8.RuneSelf {
		return strings.Compare(a[i:], b[i:])
	}
	for i > 0 && !utf8.RuneStart(a[i]) { // back to where the differing characters begin
		i--
	}
	ra, rb := []rune(a[i:]), []rune(b[i:])
	ua, ub := utf16.Encode(ra[:1]), utf16.Encode(rb[:1])
	for k := 0; k < len(ua) && k < len(ub); k++ {
		if ua[k] != ub[k] {
			return int(ua[k]) - int(ub[k])
		}
	}
	return strings.Compare(a[i:], b[i:])
}
