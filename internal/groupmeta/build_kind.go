package groupmeta

import (
	"fmt"
	"strings"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// kindOf recognises the kind of a group (commands.md, Three kinds of group).
// The second result is false when the answers say that there is no such group
// (field cases 57 and 60).
func kindOf(x *snapshotIndex, in *snapshot.Group) (model.Kind, model.KindBasis, bool) {
	if k, ok := kindOfType(in); ok {
		return k, model.BasisType, true
	}
	// A describe that is refused for a topic has found the group to be of its kind.
	if in.Streams != nil && (in.Streams.ErrorCode == codeNone || in.Streams.ErrorCode == codeTopicRefused) {
		return model.Streams, model.BasisType, true
	}
	if in.Consumer != nil && (in.Consumer.ErrorCode == codeNone || in.Consumer.ErrorCode == codeTopicRefused) {
		return model.Consumer, model.BasisType, true
	}
	if !exists(in) {
		return model.Unknown, model.BasisNone, false
	}
	k, basis := kindOfClassic(x, in)
	return k, basis, true
}

// kindOfType reads the kind off the group type that ListGroups gives.
func kindOfType(in *snapshot.Group) (model.Kind, bool) {
	if in.Listed == nil {
		return "", false
	}
	switch strings.ToLower(in.Listed.Type) {
	case "streams":
		return model.Streams, true
	case "consumer":
		return model.Consumer, true
	case "share":
		return model.Share, true
	}
	return "", false
}

// exists reports whether any answer about a group that has no type shows that
// it is there. Error 69 is read with its message: "is not a classic group"
// says that there is one.
func exists(in *snapshot.Group) bool {
	asked := false
	if c := in.Classic; c != nil {
		asked = true
		switch {
		case c.ErrorCode == codeGroupNotFound:
			if OfAnotherKind(c.ErrorMessage) {
				return true
			}
		case c.ErrorCode != codeNone, c.State != model.StateDead, len(c.Members) > 0:
			return true
		}
	}
	if s := in.Streams; s != nil {
		asked = true
		if s.ErrorCode != codeGroupNotFound || OfAnotherKind(s.ErrorMessage) {
			return in.Classic == nil || !saysGone(in.Classic)
		}
	}
	if s := in.Consumer; s != nil {
		asked = true
		if s.ErrorCode != codeGroupNotFound || OfAnotherKind(s.ErrorMessage) {
			return in.Classic == nil || !saysGone(in.Classic)
		}
	}
	return !asked
}

// IsWorkerGroup reports whether the answers say that a group is of our own
// protocol, or was when it last had members.
func IsWorkerGroup(in *snapshot.Group) bool {
	protocolType, protocol := protocolOf(in)
	return protocolType == ProtocolTypeStream || protocol == LearnerProtocol || hasWorkerData(in)
}

// saysGone reports whether DescribeGroups says plainly that no such group of
// any kind exists.
func saysGone(c *snapshot.ClassicGroup) bool {
	if c.ErrorCode == codeGroupNotFound {
		return !OfAnotherKind(c.ErrorMessage)
	}
	return c.ErrorCode == codeNone && c.State == model.StateDead && len(c.Members) == 0
}

// OfAnotherKind reports whether the message that goes with error 69 says that
// there is a group of that name, of another kind: "Group x is not a classic
// group." (broker-facts.md, section 2). It is false for no message.
func OfAnotherKind(message *string) bool {
	return message != nil && strings.Contains(*message, " is not a ")
}

// kindOfClassic recognises what a group of the classic protocol is for.
func kindOfClassic(x *snapshotIndex, in *snapshot.Group) (model.Kind, model.KindBasis) {
	protocolType, protocol := protocolOf(in)
	switch protocolType {
	case ProtocolTypeConsumer:
		switch {
		case protocol == streamsProtocol:
			return model.Classic, model.BasisProtocol
		case protocol == LearnerProtocol:
			return model.Worker, model.BasisProtocol
		case protocol != "":
			return model.Consumer, model.BasisProtocol
		}
		return kindOfUnsettled(x, in)
	case ProtocolTypeStream:
		switch {
		case protocol == LearnerProtocol:
			return model.Worker, model.BasisProtocol
		case protocol != "":
			return model.Other, model.BasisProtocol
		case hasWorkerData(in):
			return model.Worker, model.BasisMetadata
		}
		return model.Worker, model.BasisProtocol // only our protocol has this type
	case "connect":
		return model.Connect, model.BasisProtocol
	case "":
		return kindOfUnsettled(x, in)
	}
	return model.Other, model.BasisProtocol
}

// streamsProtocol is the protocol name of a classic Kafka Streams group.
const streamsProtocol = "stream"

func protocolOf(in *snapshot.Group) (protocolType, protocol string) {
	if in.Classic != nil && in.Classic.ErrorCode == codeNone {
		protocolType, protocol = in.Classic.ProtocolType, in.Classic.Protocol
	}
	if protocolType == "" && in.Listed != nil {
		protocolType = in.Listed.ProtocolType
	}
	return protocolType, protocol
}

// kindOfUnsettled infers the kind of a group whose protocol is not given: one
// that rebalances, is Empty, or could not be described.
func kindOfUnsettled(x *snapshotIndex, in *snapshot.Group) (model.Kind, model.KindBasis) {
	if hasWorkerData(in) {
		return model.Worker, model.BasisMetadata
	}
	plain := false
	threads := false
	if in.Classic != nil {
		for i := range in.Classic.Members {
			m := &in.Classic.Members[i]
			if _, n := model.SplitThread(m.ClientID); n > 0 {
				threads = true
			}
			if len(m.Assignment) == 0 {
				continue
			}
			frame, err := DecodeConsumerAssignment(m.Assignment)
			if err != nil {
				continue
			}
			if len(frame.UserData) == 0 {
				plain = plain || len(frame.Assigned) > 0
				continue
			}
			if info, err := DecodeAssignmentInfo(frame.UserData); err == nil && info.TrailingBytes == 0 {
				return model.Classic, model.BasisAssignment
			}
		}
	}
	switch {
	case threads:
		return model.Classic, model.BasisClientIDs
	case plain:
		return model.Consumer, model.BasisAssignment
	case len(x.internalTopics(in.ID, ChangelogSuffix)) > 0, len(x.internalTopics(in.ID, RepartitionSuffix)) > 0:
		return model.Classic, model.BasisTopics
	}
	return model.Unknown, model.BasisNone
}

// hasWorkerData reports whether some member's bytes are of our own protocol.
func hasWorkerData(in *snapshot.Group) bool {
	if in.Classic == nil {
		return false
	}
	for i := range in.Classic.Members {
		m := &in.Classic.Members[i]
		if IsStreamData(m.Metadata) || IsStreamData(m.Assignment) {
			return true
		}
		if sub, err := DecodeConsumerSubscription(m.Metadata); err == nil && IsStreamData(sub.UserData) {
			return true
		}
		if asg, err := DecodeConsumerAssignment(m.Assignment); err == nil && IsStreamData(asg.UserData) {
			return true
		}
	}
	return false
}

// answered reports whether the snapshot holds anything about a group.
func answered(in *snapshot.Group) bool {
	return in.Listed != nil || in.Classic != nil || in.Streams != nil || in.Consumer != nil
}

// described reports whether a describe of the group was answered.
func described(in *snapshot.Group) bool {
	return in.Classic != nil && in.Classic.ErrorCode == codeNone || in.Streams != nil && in.Streams.ErrorCode == codeNone ||
		in.Consumer != nil && in.Consumer.ErrorCode == codeNone
}

func notFound(group string) error {
	return fmt.Errorf("group %q: %w", group, ErrNotFound)
}
