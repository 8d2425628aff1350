package model

import (
	"strconv"
	"strings"
)

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
