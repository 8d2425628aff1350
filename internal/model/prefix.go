package model

import "strings"

// isPrefix reports whether name is a prefix of an id, and long enough to count as
// one.
func isPrefix(id, name string) bool {
	return len(name) >= MinPrefix && len(name) < len(id) && strings.EqualFold(id[:len(name)], name)
}

// cutsNumber reports whether the first n bytes of a member id end within a
// number: "clicks-1" of "clicks-10-…" is the name of another pod, not a short
// form of this one (commands.md, Names). Digits of a random id, which are a UUID
// or at least eight hexadecimal digits, are no number.
func cutsNumber(id string, n int) bool {
	if !isDigit(id[n-1]) || !isDigit(id[n]) {
		return false
	}
	from, to := n, n
	for from > 0 && isHex(id[from-1]) {
		from--
	}
	for to < len(id) && isHex(id[to]) {
		to++
	}
	if to-from >= 8 {
		return false
	}
	for i := max(0, n-uuidLength+1); i < n && i+uuidLength <= len(id); i++ {
		if IsUUID(strings.ToLower(id[i : i+uuidLength])) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }
