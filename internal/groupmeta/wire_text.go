package groupmeta

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// textCache gives equal raw bytes the same string, so that a topic or a
// topology that many tasks name is allocated once.
type textCache struct {
	lastRaw []byte
	last    string
	texts   map[string]string // by raw bytes
}

// get returns the text of raw; decode makes it when it was not seen before.
func (c *textCache) get(raw []byte, decode func([]byte) string) string {
	if len(raw) == 0 {
		return ""
	}
	if bytes.Equal(raw, c.lastRaw) {
		return c.last
	}
	s, ok := c.texts[string(raw)]
	if !ok {
		s = decode(raw)
		key := s // most often the same bytes: one allocation for both
		if key != string(raw) {
			key = string(raw)
		}
		if c.texts == nil {
			c.texts = make(map[string]string)
		}
		c.texts[key] = s
	}
	c.lastRaw, c.last = raw, s
	return s
}

// utf8Text reads UTF-8; each byte that is not UTF-8 becomes U+FFFD.
func utf8Text(raw []byte) string {
	if utf8.Valid(raw) {
		return string(raw)
	}
	return string([]rune(string(raw)))
}

// utf16Text reads big-endian UTF-16; a lone surrogate becomes U+FFFD.
func utf16Text(raw []byte) string {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = binary.BigEndian.Uint16(raw[2*i:])
	}
	return string(utf16.Decode(units))
}

// modifiedUTF8Text reads Java's modified UTF-8: NUL may be c0 80 and characters
// beyond U+FFFF are two surrogates of three bytes. It accepts what Java's
// readUTF accepts and gives "" for what it does not.
func modifiedUTF8Text(raw []byte) string {
	if isASCII(raw) {
		return string(raw)
	}
	units := make([]uint16, 0, len(raw))
	for i := 0; i < len(raw); {
		c := uint16(raw[i])
		size := 1
		switch {
		case c < 0x80:
		case c>>5 == 0b110:
			size, c = 2, c&0x1f
		case c>>4 == 0b1110:
			size, c = 3, c&0x0f
		default:
			return ""
		}
		if i+size > len(raw) {
			return ""
		}
		for _, next := range raw[i+1 : i+size] {
			if next>>6 != 0b10 {
				return ""
			}
			c = c<<6 | uint16(next&0x3f)
		}
		units = append(units, c)
		i += size
	}
	return string(utf16.Decode(units))
}

func isASCII[T string | []byte](text T) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendModifiedUTF8 writes s in modified UTF-8.
func appendModifiedUTF8(dst []byte, s string) []byte {
	if isASCII(s) && strings.IndexByte(s, 0) < 0 {
		return append(dst, s...)
	}
	for _, unit := range utf16.Encode([]rune(s)) {
		switch {
		case unit != 0 && unit < 0x80:
			dst = append(dst, byte(unit))
		case unit < 0x800:
			dst = append(dst, 0xc0|byte(unit>>6), 0x80|byte(unit&0x3f))
		default:
			dst = append(dst, 0xe0|byte(unit>>12), 0x80|byte(unit>>6&0x3f), 0x80|byte(unit&0x3f))
		}
	}
	return dst
}

// compareJavaText orders text as Java's String does, by UTF-16 units. That is
// the order of the bytes, except that characters beyond U+FFFF come before
// U+E000 to U+FFFF.
func compareJavaText(a, b string) int {
	if a == b { // at once for texts that share their bytes
		return 0
	}
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x >= 0xee && y >= 0xee && (x >= 0xf0) != (y >= 0xf0) {
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	}
	return cmp.Compare(len(a), len(b))
}
