package config

import (
	"errors"
	"strconv"
	"unicode/utf16"
)

// parseProperties reads a Java client properties file as Java does: ISO
// 8859-1, no expansion of ${…}, the last of several equal keys wins. No part
// of the text gets into its errors.
func parseProperties(data []byte) (map[string]string, error) {
	units := make([]uint16, len(data))
	for i, b := range data {
		units[i] = uint16(b)
	}
	return readProperties(units)
}

// parsePropertiesUTF8 reads properties text the way Java does when it is given
// characters instead of bytes.
func parsePropertiesUTF8(data []byte) (map[string]string, error) {
	return readProperties(utf16.Encode([]rune(string(data))))
}

// readProperties works on UTF-16 units, as Java does, so that two \u escapes
// can make one character.
func readProperties(in []uint16) (map[string]string, error) {
	out := map[string]string{}
	for len(in) > 0 {
		var line []uint16
		line, in = logicalLine(in)
		if len(line) == 0 {
			continue
		}
		key, value := splitProperty(line)
		k, err := unescape(key)
		if err != nil {
			return nil, err
		}
		if out[k], err = unescape(value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func propertyBlank(c uint16) bool { return c == ' ' || c == '\t' || c == '\f' }

func lineEnd(c uint16) bool { return c == '\n' || c == '\r' }

// logicalLine cuts off one line with its continuations joined; it is empty for
// blank lines and comments.
func logicalLine(in []uint16) (line, rest []uint16) {
	for {
		for len(in) > 0 && propertyBlank(in[0]) {
			in = in[1:]
		}
		comment := len(line) == 0 && len(in) > 0 && (in[0] == '#' || in[0] == '!')
		n, escaped := 0, false
		for n < len(in) && !lineEnd(in[n]) {
			escaped = in[n] == '\\' && !escaped
			n++
		}
		part := in[:n]
		if in = in[n:]; len(in) > 1 && in[0] == '\r' && in[1] == '\n' {
			in = in[1:]
		}
		if len(in) > 0 {
			in = in[1:]
		}
		if comment {
			return nil, in
		}
		if !escaped {
			return append(line, part...), in
		}
		line = append(line, part[:n-1]...)
		if len(in) == 0 {
			return line, in
		}
	}
}

// splitProperty cuts a line at the first =, : or blank that has no backslash;
// blanks around a = or : go too.
func splitProperty(line []uint16) (key, value []uint16) {
	end, escaped := 0, false
	for end < len(line) {
		c := line[end]
		if !escaped && (c == '=' || c == ':' || propertyBlank(c)) {
			break
		}
		escaped = c == '\\' && !escaped
		end++
	}
	key, value = line[:end], line[end:]
	for separators := 1; len(value) > 0; value = value[1:] {
		if value[0] == '=' || value[0] == ':' {
			separators--
		} else if !propertyBlank(value[0]) {
			break
		}
		if separators < 0 {
			break
		}
	}
	return key, value
}

// unescape replaces \uXXXX, \t, \n, \r and \f; any other backslash is dropped.
func unescape(in []uint16) (string, error) {
	out := make([]uint16, 0, len(in))
	for i := 0; i < len(in); i++ {
		c := in[i]
		if c != '\\' || i+1 == len(in) {
			if c != '\\' {
				out = append(out, c)
			}
			continue
		}
		i++
		switch c = in[i]; c {
		case 't':
			c = '\t'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 'f':
			c = '\f'
		case 'u':
			if i+4 >= len(in) {
				return "", errBadUnicode
			}
			n, err := strconv.ParseUint(string(utf16.Decode(in[i+1:i+5])), 16, 16)
			if err != nil {
				return "", errBadUnicode
			}
			c = uint16(n)
			i += 4
		}
		out = append(out, c)
	}
	return string(utf16.Decode(out)), nil
}

var errBadUnicode = errors.New(`a \u is not followed by four hex digits`)
