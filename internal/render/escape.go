package render

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes text that comes from a broker safe and readable on a terminal:
// control characters, invalid UTF-8, bidirectional overrides and marks,
// zero-width and other invisible characters, unusual blanks, and combining
// marks that hang on nothing or pile up are written as \x1b, \u202e and so on.
// Everything else stays as it is.
func Escape(s string) string {
	i := 0
	for i < len(s) && s[i] >= ' ' && s[i] < utf8.RuneSelf-1 {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:i])
	marks := 0
	if i == 0 || s[i-1] == ' ' {
		marks = maxMarks // a mark here has no base of its own
	}
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			hexByte(&b, s[i])
			marks = maxMarks
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks > maxMarks || ignorable(r) {
				escapeRune(&b, r)
			} else {
				b.WriteRune(r)
			}
		case !unicode.IsPrint(r) || ignorable(r):
			escapeRune(&b, r)
			marks = maxMarks
		default:
			b.WriteRune(r)
			marks = 0
			if r == ' ' {
				marks = maxMarks
			}
		}
		i += n
	}
	return b.String()
}

// maxMarks is how many combining marks one character may carry.
const maxMarks = 2

// brailleBlank looks like a space but is a printable symbol.
const brailleBlank = '\u2800'

func ignorable(r rune) bool {
	return r == brailleBlank || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func escapeRune(b *strings.Builder, r rune) {
	const hex = "0123456789abcdef"
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\t':
		b.WriteString(`\t`)
	case r == '\r':
		b.WriteString(`\r`)
	case r < utf8.RuneSelf:
		hexByte(b, byte(r))
	case r <= 0xffff:
		b.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			b.WriteByte(hex[r>>shift&0xf])
		}
	default:
		b.WriteString(`\U`)
		for shift := 28; shift >= 0; shift -= 4 {
			b.WriteByte(hex[r>>shift&0xf])
		}
	}
}

func hexByte(b *strings.Builder, c byte) {
	const hex = "0123456789abcdef"
	b.WriteString(`\x`)
	b.WriteByte(hex[c>>4])
	b.WriteByte(hex[c&0xf])
}
