package model

// uuidLength is the number of characters of a UUID as text.
const uuidLength = 36

// IsUUID reports whether s is a UUID in its usual form, in lower case.
func IsUUID(s string) bool {
	if len(s) != uuidLength {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f':
		default:
			return false
		}
	}
	return true
}
