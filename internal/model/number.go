package model

import (
	"strconv"
	"strings"
)

// Count writes a number and its noun: "1 task", "2 copies", "1,024 tasks". The
// noun ends in a letter that takes an s, or in a y that becomes ies; "standby"
// keeps its y.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok && !strings.HasSuffix(stem, "standb") {
		return Thousands(int64(n)) + " " + stem + "ies"
	}
	return Thousands(int64(n)) + " " + noun + "s"
}

// Thousands writes a number with thousands separators, for example "49,936".
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	digits := len(s)
	if n < 0 {
		digits--
	}
	if digits <= 3 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + digits/3)
	for i := range len(s) {
		if left := len(s) - i; i > 0 && left%3 == 0 && s[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
