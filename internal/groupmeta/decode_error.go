package groupmeta

import "fmt"

// Names of the structures, as errors and the decode command spell them.
const (
	KindSubscription         = "subscription"          // SubscriptionInfo
	KindAssignment           = "assignment"            // AssignmentInfo
	KindConsumerSubscription = "consumer-subscription" // frame around a subscription
	KindConsumerAssignment   = "consumer-assignment"   // frame around an assignment
	KindMetadata             = "metadata"              // of a worker (docs/protocol/metadata.md)
	KindStreamAssignment     = "stream-assignment"     // of a worker (docs/protocol/assignment.md)
)

// DecodeError says which field of a structure could not be read, and where.
type DecodeError struct {
	Structure string // one of the Kind constants
	Field     string // path in the structure, inner names joined by dots
	Offset    int    // bytes from the start of the structure to the element, for a bad count or length to that count
	Problem   string // what is wrong with it
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("%s: field %q at offset %d: %s", e.Structure, e.Field, e.Offset, e.Problem)
}

// fieldTrailing is the field that a DecodeError about left-over bytes names.
const fieldTrailing = "trailingBytes"

// trailingError reports n bytes after the last known field of a structure of
// the given size; nil when there are none.
func trailingError(structure string, version, size, n int) *DecodeError {
	if n == 0 {
		return nil
	}
	return &DecodeError{
		Structure: structure, Field: fieldTrailing, Offset: size - n,
		Problem: fmt.Sprintf("%d bytes after the last field of version %d", n, version),
	}
}
