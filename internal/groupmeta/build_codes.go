package groupmeta

import "strconv"

// Kafka's error numbers that the way from snapshot to model looks at.
const (
	codeNone          = 0
	codeUnknownTopic  = 3
	codeTopicRefused  = 29
	codeGroupRefused  = 30
	codeGroupNotFound = 69
)

// codeName is Kafka's name of an error number, as far as group and topic
// requests give it; else "error N".
func codeName(code int16) string {
	switch code {
	case -1:
		return "UNKNOWN_SERVER_ERROR"
	case 1:
		return "OFFSET_OUT_OF_RANGE"
	case codeUnknownTopic:
		return "UNKNOWN_TOPIC_OR_PARTITION"
	case 5:
		return "LEADER_NOT_AVAILABLE"
	case 6:
		return "NOT_LEADER_FOR_PARTITION"
	case 7:
		return "REQUEST_TIMED_OUT"
	case 9:
		return "REPLICA_NOT_AVAILABLE"
	case 14:
		return "COORDINATOR_LOAD_IN_PROGRESS"
	case 15:
		return "COORDINATOR_NOT_AVAILABLE"
	case 16:
		return "NOT_COORDINATOR"
	case 24:
		return "INVALID_GROUP_ID"
	case codeTopicRefused:
		return "TOPIC_AUTHORIZATION_FAILED"
	case codeGroupRefused:
		return "GROUP_AUTHORIZATION_FAILED"
	case 31:
		return "CLUSTER_AUTHORIZATION_FAILED"
	case 35:
		return "UNSUPPORTED_VERSION"
	case 42:
		return "INVALID_REQUEST"
	case 56:
		return "KAFKA_STORAGE_ERROR"
	case codeGroupNotFound:
		return "GROUP_ID_NOT_FOUND"
	case 75:
		return "FENCED_LEADER_EPOCH"
	case 78:
		return "OFFSET_NOT_AVAILABLE"
	case 88:
		return "UNSTABLE_OFFSET_COMMIT"
	case 91:
		return "UNKNOWN_TOPIC_ID"
	}
	return "error " + strconv.Itoa(int(code))
}
