package groupmeta

import (
	"fmt"
	"strconv"
)

// The version of the stream metadata and assignments that this build writes
// (docs/protocol). What each minor added:
//
//	1.0  the first
const (
	StreamMajor = 1
	StreamMinor = 0
)

// The third byte says which of the two structures it is, so that one is never
// read as the other.
const (
	streamKindMetadata   = 'M'
	streamKindAssignment = 'A'
	streamHeaderSize     = 3
)

// StreamVersionError reports bytes of a major version that is newer than this
// build: they are not malformed, but nothing in them can be relied on.
type StreamVersionError struct {
	Structure    string // KindMetadata or KindStreamAssignment
	Major, Minor uint8  // as written
}

// Error says both version numbers.
func (e *StreamVersionError) Error() string {
	return fmt.Sprintf("%s not understood: version %d is newer than this streamctl understands (%d)", e.Structure, e.Major, StreamMajor)
}

// IsStreamData reports whether raw begins like stream metadata or a stream
// assignment of any version, and not like a frame of the consumer protocol or
// the metadata of a Kafka Streams app, which all begin with a zero byte.
func IsStreamData(raw []byte) bool {
	return len(raw) >= streamHeaderSize && raw[0] != 0 && (raw[2] == streamKindMetadata || raw[2] == streamKindAssignment)
}

// OptionalInt is a number that may be absent; the zero value is absent. In
// JSON absent is null.
type OptionalInt struct {
	N     int64
	Known bool
}

// SomeInt is a number that is there.
func SomeInt(n int64) OptionalInt { return OptionalInt{N: n, Known: true} }

// MarshalJSON writes the number or null.
func (o OptionalInt) MarshalJSON() ([]byte, error) {
	if !o.Known {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, o.N, 10), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (o *OptionalInt) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*o = OptionalInt{}
		return nil
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a whole number: %w", b, err)
	}
	*o = SomeInt(n)
	return nil
}
