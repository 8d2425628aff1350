package render

import (
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Width returns the columns that escaped text takes on a terminal. It does not
// depend on the locale: characters of ambiguous width count as one.
func Width(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return newCondition().StringWidth(s)
		}
	}
	return len(s)
}

func newCondition() *runewidth.Condition {
	return &runewidth.Condition{StrictEmojiNeutral: true}
}

const ellipsis = "…"

// Shorten cuts text in the middle so that it takes at most width columns.
func Shorten(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width <= 1 {
		return ellipsis
	}
	head := width / 2
	return cutRight(s, head) + ellipsis + cutLeft(s, width-1-head)
}

// cutRight keeps the first columns of s.
func cutRight(s string, width int) string {
	c, w := newCondition(), 0
	for i, r := range s {
		if w += c.RuneWidth(r); w > width {
			return s[:i]
		}
	}
	return s
}

// cutLeft keeps the last columns of s.
func cutLeft(s string, width int) string {
	c, w := newCondition(), 0
	for i := len(s); i > 0; {
		r, n := utf8.DecodeLastRuneInString(s[:i])
		if w += c.RuneWidth(r); w > width {
			return s[i:]
		}
		i -= n
	}
	return s
}

// Wrap breaks text at blanks into lines of at most width columns; words that
// are longer stay whole. Width 0 does not break.
func Wrap(s string, width int) []string {
	if width <= 0 || Width(s) <= width {
		return []string{s}
	}
	var lines []string
	var line strings.Builder
	used := 0
	for word := range strings.FieldsSeq(s) {
		w := Width(word)
		if used > 0 && used+1+w > width {
			lines = append(lines, line.String())
			line.Reset()
			used = 0
		}
		if used > 0 {
			line.WriteByte(' ')
			used++
		}
		line.WriteString(word)
		used += w
	}
	if used > 0 {
		lines = append(lines, line.String())
	}
	return lines
}
