package control

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	topicSuffix  = "-streamctl-control"
	maxTopicName = 249 // characters of a topic's name
	hashBytes    = 4
)

// TopicName gives the name of a group's control topic
// (docs/protocol/control.md, The topic). It is a legal topic name for any
// group id.
func TopicName(group string) string {
	clean := cleanName(group)
	if clean == group && len(group)+len(topicSuffix) <= maxTopicName {
		return group + topicSuffix
	}
	sum := sha256.Sum256([]byte(group))
	hash := "-" + hex.EncodeToString(sum[:hashBytes])
	return clean[:min(len(clean), maxTopicName-len(topicSuffix)-len(hash))] + hash + topicSuffix
}

// IsTopicName reports whether a topic has the name of some group's control topic.
func IsTopicName(topic string) bool { return strings.HasSuffix(topic, topicSuffix) }

// cleanName puts _ in the place of each byte that a topic's name may not have.
func cleanName(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
			b.WriteByte(c)
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}
