package groupmeta

import "errors"

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
