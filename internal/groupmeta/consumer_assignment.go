package groupmeta

// The consumer assignment frame: assignedPartitions, then userData. All of v0
// to v3 are the same bytes. A higher version is read as v3; what follows is
// counted.

// ConsumerAssignment is what the group's leader gives a member's consumer.
type ConsumerAssignment struct {
	Version       int16
	Assigned      []TopicPartitions // as on the wire, in no order that means anything
	UserData      []byte            // nil: null on the wire; part of the bytes that were decoded
	TrailingBytes int               // bytes after the last known field
}

// DecodeConsumerAssignment reads an assignment frame. On an error the value
// holds the fields before it. Trailing bytes are no error here: see
// TrailingBytes and TrailingError.
func DecodeConsumerAssignment(b []byte) (ConsumerAssignment, error) {
	r := newWireReader(KindConsumerAssignment, b)
	var a ConsumerAssignment
	a.Version = r.frameVersion()
	a.Assigned = r.topicPartitions("assignedPartitions", "assignedPartitions.topic", "assignedPartitions.partitions")
	a.UserData = r.nullBytes32("userData")
	var err error
	a.TrailingBytes, err = r.finish()
	return a, err
}

// TrailingError reports bytes after the last field of a frame version that is
// known here; nil when there are none, or the frame is newer. size is the
// length of the frame.
func (a *ConsumerAssignment) TrailingError(size int) *DecodeError {
	if a.Version > newestFrame {
		return nil
	}
	return trailingError(KindConsumerAssignment, int(a.Version), size, a.TrailingBytes)
}

// Encode writes the frame in a.Version.
func (a *ConsumerAssignment) Encode() ([]byte, error) {
	w := &wireWriter{structure: KindConsumerAssignment}
	w.frameVersion(a.Version)
	w.topicPartitions("assignedPartitions", a.Assigned)
	w.nullBytes32("userData", a.UserData)
	return w.finish()
}
