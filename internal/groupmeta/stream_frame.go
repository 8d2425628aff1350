package groupmeta

import (
	"fmt"
	"slices"

	"github.com/streamctl/streamctl/internal/model"
)

// The protocol types of a worker group (stream-protocol.md, Modes) and the
// name of its protocol under either.
const (
	ProtocolTypeStream   = "stream"   // mode incremental: bare bytes
	ProtocolTypeConsumer = "consumer" // mode upgrading: user data of a consumer frame
	LearnerProtocol      = "learner"
)

// workerFrameVersion is the version of the consumer frames around our bytes:
// the first, which every broker and client reads and which has all we need.
const workerFrameVersion = 0

// ParseWorkerMetadata reads what a worker sent when it joined a group of the
// given protocol type. Zero bytes mean that the broker gave nothing: test for
// them before. The error is a *DecodeError of the frame or of the metadata, or
// a *StreamVersionError.
func ParseWorkerMetadata(protocolType string, raw []byte) (*StreamMetadata, error) {
	switch protocolType {
	case ProtocolTypeStream:
		return DecodeStreamMetadata(raw)
	case ProtocolTypeConsumer:
		frame, err := DecodeConsumerSubscription(raw)
		if err != nil {
			return nil, err
		}
		if e := frame.TrailingError(len(raw)); e != nil {
			return nil, e
		}
		return DecodeStreamMetadata(frame.UserData)
	}
	return nil, unknownProtocolType(protocolType)
}

// EncodeWorkerMetadata writes what a worker sends when it joins a group of the
// given protocol type. Under "consumer" the frame subscribes to the topics that
// the topology reads.
func EncodeWorkerMetadata(protocolType string, m *StreamMetadata) ([]byte, error) {
	if protocolType != ProtocolTypeStream && protocolType != ProtocolTypeConsumer {
		return nil, unknownProtocolType(protocolType)
	}
	b, err := m.Encode()
	if err != nil || protocolType == ProtocolTypeStream {
		return b, err
	}
	frame := ConsumerSubscription{Version: workerFrameVersion, Topics: m.InputTopics(), UserData: b}
	return frame.Encode()
}

// InputTopics are the topics that the worker's topology reads, in byte order.
func (m *StreamMetadata) InputTopics() []string {
	var topics []string
	for i := range m.Topology {
		topics = append(topics, m.Topology[i].SourceTopics...)
		topics = append(topics, m.Topology[i].RepartitionSourceTopics...)
	}
	slices.Sort(topics)
	return slices.Compact(topics)
}

// ParseWorkerAssignment reads what the leader gave a worker in a group of the
// given protocol type. Errors are as with ParseWorkerMetadata; zero bytes mean
// that the worker got nothing yet.
func ParseWorkerAssignment(protocolType string, raw []byte) (*StreamAssignment, error) {
	switch protocolType {
	case ProtocolTypeStream:
		return DecodeStreamAssignment(raw)
	case ProtocolTypeConsumer:
		frame, err := DecodeConsumerAssignment(raw)
		if err != nil {
			return nil, err
		}
		if e := frame.TrailingError(len(raw)); e != nil {
			return nil, e
		}
		return DecodeStreamAssignment(frame.UserData)
	}
	return nil, unknownProtocolType(protocolType)
}

// EncodeWorkerAssignment writes what the leader gives a worker in a group of
// the given protocol type. Under "consumer" the frame names the input
// partitions of the worker's active tasks, so that Kafka's own tools show them;
// under "stream" they are not written.
func EncodeWorkerAssignment(protocolType string, a *StreamAssignment, active []model.TopicPartition) ([]byte, error) {
	if protocolType != ProtocolTypeStream && protocolType != ProtocolTypeConsumer {
		return nil, unknownProtocolType(protocolType)
	}
	b, err := a.Encode()
	if err != nil || protocolType == ProtocolTypeStream {
		return b, err
	}
	frame := ConsumerAssignment{Version: workerFrameVersion, Assigned: GroupByTopic(active), UserData: b}
	return frame.Encode()
}

func unknownProtocolType(t string) error {
	return fmt.Errorf("protocol type %q is not one of a worker group (%q, %q)", t, ProtocolTypeConsumer, ProtocolTypeStream)
}
