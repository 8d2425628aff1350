package groupmeta

import (
	"errors"
	"fmt"
	"strings"
)

// Decoded is the result of Decode.
type Decoded struct {
	Kind          string
	FormatVersion int // format or frame version; 0 when not even that could be read
	Document      any // marshals to the fields of "expected" in testdata/wire; nil when the bytes are malformed
	TrailingBytes int // bytes after the last known field of a frame newer than v3
}

// NewerFormatError says that metadata has a format that this build does not
// know. It is a result rather than a failure: the sender is newer.
type NewerFormatError struct {
	Structure string
	Version   int32 // used by the sender
	Stated    int32 // the newest format that the sender can also speak, or the group commonly supports
	Newest    int32 // known by this build
}

func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("%s: metadata version %d (minimum compatible %d) not understood: newer than this build knows (%d)",
		e.Structure, e.Version, e.Stated, e.Newest)
}

// DecodeKinds are the kinds that Decode knows.
func DecodeKinds() []string {
	return []string{KindSubscription, KindAssignment, KindConsumerSubscription, KindConsumerAssignment, KindMetadata, KindStreamAssignment}
}

// UnknownKindError says that Decode has no decoder for a kind.
type UnknownKindError struct{ Kind string }

func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("unknown kind %q: want %s", e.Kind, strings.Join(DecodeKinds(), ", "))
}

// Decode reads the metadata of one member by hand. The result and the error
// can both be there: of a newer format the two numbers, of bytes with
// something left over the known fields. The error is a *DecodeError, a
// *NewerFormatError, a *StreamVersionError or an *UnknownKindError.
func Decode(kind string, b []byte) (Decoded, error) {
	switch kind {
	case KindSubscription:
		return decodeSubscriptionKind(b)
	case KindAssignment:
		return decodeAssignmentKind(b)
	case KindConsumerSubscription:
		return decodeConsumerSubscriptionKind(b)
	case KindConsumerAssignment:
		return decodeConsumerAssignmentKind(b)
	case KindMetadata:
		return decodeMetadataKind(b)
	case KindStreamAssignment:
		return decodeStreamAssignmentKind(b)
	}
	return Decoded{Kind: kind}, &UnknownKindError{Kind: kind}
}

func decodeSubscriptionKind(b []byte) (Decoded, error) {
	s, err := DecodeSubscriptionInfo(b)
	d := Decoded{Kind: KindSubscription, FormatVersion: int(s.Version)}
	if err != nil {
		return d, err
	}
	d.Document = s.DecodedJSON()
	if s.NotUnderstood() {
		return d, &NewerFormatError{KindSubscription, s.Version, s.LatestSupportedVersion, NewestFormat}
	}
	return d, orNil(s.TrailingError(len(b)))
}

func decodeAssignmentKind(b []byte) (Decoded, error) {
	a, err := DecodeAssignmentInfo(b)
	d := Decoded{Kind: KindAssignment, FormatVersion: int(a.Version)}
	if err != nil {
		return d, err
	}
	d.Document = a.DecodedJSON()
	if a.NotUnderstood() {
		return d, &NewerFormatError{KindAssignment, a.Version, a.CommonlySupportedVersion, NewestFormat}
	}
	return d, orNil(a.TrailingError(len(b)))
}

func decodeConsumerSubscriptionKind(b []byte) (Decoded, error) {
	s, err := DecodeConsumerSubscription(b)
	d := Decoded{Kind: KindConsumerSubscription, FormatVersion: int(s.Version)}
	if err != nil {
		return d, err
	}
	doc := consumerSubscriptionDocument{
		Version: s.Version, Topics: s.Topics, GenerationID: since(s.Version, 2, max(s.Generation, NoGeneration)),
		RackID: textOrNull(s.Rack), UserDataLength: userDataLength(s.UserData),
	}
	if s.Version >= 1 {
		doc.OwnedPartitions = partitionDocuments(SortedPartitions(s.Owned))
	}
	var inner *DecodeError
	if s.UserData != nil {
		info, infoErr := DecodeSubscriptionInfo(s.UserData)
		if infoErr != nil {
			doc.UserData = newOpaqueDocument(s.UserData)
		} else {
			doc.UserData, inner = info.DecodedJSON(), info.TrailingError(len(s.UserData))
		}
	}
	d.Document = doc
	known := s.TrailingError(len(b))
	if known == nil {
		d.TrailingBytes = s.TrailingBytes
	}
	return d, orNil(known, inner)
}

func decodeConsumerAssignmentKind(b []byte) (Decoded, error) {
	a, err := DecodeConsumerAssignment(b)
	d := Decoded{Kind: KindConsumerAssignment, FormatVersion: int(a.Version)}
	if err != nil {
		return d, err
	}
	doc := consumerAssignmentDocument{
		Version: a.Version, AssignedPartitions: partitionDocuments(SortedPartitions(a.Assigned)), UserDataLength: userDataLength(a.UserData),
	}
	var inner, pairing *DecodeError
	if a.UserData != nil {
		info, infoErr := DecodeAssignmentInfo(a.UserData)
		switch {
		case infoErr != nil:
			doc.UserData = newOpaqueDocument(a.UserData)
		case info.NotUnderstood():
			doc.UserData = info.DecodedJSON()
		default:
			doc.UserData, inner = info.DecodedJSON(), info.TrailingError(len(a.UserData))
			doc.ActiveByTask, pairing = activeByTask(a.Assigned, &info)
		}
	}
	d.Document = doc
	known := a.TrailingError(len(b))
	if known == nil {
		d.TrailingBytes = a.TrailingBytes
	}
	return d, orNil(known, inner, pairing)
}

// decodeMetadataKind is Decode for the metadata of our own protocol.
func decodeMetadataKind(b []byte) (Decoded, error) {
	m, err := DecodeStreamMetadata(b)
	if m != nil {
		return Decoded{Kind: KindMetadata, FormatVersion: StreamMajor, Document: m, TrailingBytes: m.TrailingBytes}, err
	}
	return streamFailure(KindMetadata, err)
}

// decodeStreamAssignmentKind is Decode for the assignments of our own
// protocol.
func decodeStreamAssignmentKind(b []byte) (Decoded, error) {
	a, err := DecodeStreamAssignment(b)
	if a != nil {
		return Decoded{Kind: KindStreamAssignment, FormatVersion: StreamMajor, Document: a, TrailingBytes: a.TrailingBytes}, err
	}
	return streamFailure(KindStreamAssignment, err)
}

func streamFailure(kind string, err error) (Decoded, error) {
	d := Decoded{Kind: kind}
	if newer, ok := errors.AsType[*StreamVersionError](err); ok {
		d.FormatVersion = int(newer.Major)
	}
	return d, err
}

// activeByTask is the document of the pairing; null and an error when there is
// none.
func activeByTask(assigned []TopicPartitions, info *AssignmentInfo) ([]taskPartitionsDocument, *DecodeError) {
	pairs, err := PairActive(assigned, info.ActiveTasks)
	if err != nil {
		return nil, &DecodeError{Structure: KindAssignment, Field: "activeTasks", Offset: info.activeTasksOffset(), Problem: err.Error()}
	}
	out := make([]taskPartitionsDocument, 0, len(pairs))
	for _, t := range pairs {
		out = append(out, taskPartitionsDocument{taskDocument(t.Task), partitionDocuments(t.Partitions)})
	}
	return out, nil
}

// userDataLength is -1 for null.
func userDataLength(b []byte) int {
	if b == nil {
		return -1
	}
	return len(b)
}

// orNil returns the first error that is there.
func orNil(errs ...*DecodeError) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
