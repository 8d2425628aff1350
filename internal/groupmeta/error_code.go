package groupmeta

import "fmt"

// ErrorCode is the code by which leader and members tell each other that
// something is wrong.
type ErrorCode int32

// The known codes.
const (
	ErrorNone                          ErrorCode = 0
	ErrorIncompleteSourceTopicMetadata ErrorCode = 1 // a source topic does not exist
	ErrorVersionProbing                ErrorCode = 2 // a local flag of 2.1 to 2.5
	ErrorAssignment                    ErrorCode = 3 // the leader's assignor failed
	ErrorShutdownRequested             ErrorCode = 4 // someone asked the whole application to stop
)

// String is Kafka's name of the code, or "unknown (N)".
func (c ErrorCode) String() string {
	switch c {
	case ErrorNone:
		return "NONE"
	case ErrorIncompleteSourceTopicMetadata:
		return "INCOMPLETE_SOURCE_TOPIC_METADATA"
	case ErrorVersionProbing:
		return "VERSION_PROBING"
	case ErrorAssignment:
		return "ASSIGNMENT_ERROR"
	case ErrorShutdownRequested:
		return "SHUTDOWN_REQUESTED"
	}
	return fmt.Sprintf("unknown (%d)", int32(c))
}
