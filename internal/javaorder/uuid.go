package javaorder

import (
	"cmp"
	"encoding/hex"
	"fmt"
)

// UUID is a process id as Java compares it: two signed halves.
type UUID struct{ Hi, Lo int64 }

// ParseUUID reads the form of five groups of hex digits, in either case.
func ParseUUID(s string) (UUID, error) {
	var digits [32]byte
	var raw [16]byte
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return UUID{}, fmt.Errorf("%q is not a UUID", s)
	}
	n := copy(digits[:], s[:8])
	for _, i := range [...]int{9, 14, 19} {
		n += copy(digits[n:], s[i:i+4])
	}
	copy(digits[n:], s[24:])
	if _, err := hex.Decode(raw[:], digits[:]); err != nil {
		return UUID{}, fmt.Errorf("%q is not a UUID: %w", s, err)
	}
	var hi, lo uint64
	for i := range 8 {
		hi = hi<<8 | uint64(raw[i])
		lo = lo<<8 | uint64(raw[8+i])
	}
	return UUID{Hi: int64(hi), Lo: int64(lo)}, nil
}

// Compare is UUID.compareTo: the high 64 bits as a signed number, then the low
// ones, so that ids that begin with 8 to f come before those with 0 to 7.
func (u UUID) Compare(o UUID) int {
	return cmp.Or(cmp.Compare(u.Hi, o.Hi), cmp.Compare(u.Lo, o.Lo))
}

// String gives the form in lower case, for example
// "23871ee6-f703-4fc9-8576-be61e8994eba".
func (u UUID) String() string {
	hi, lo := uint64(u.Hi), uint64(u.Lo)
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&0xffffffffffff)
}
