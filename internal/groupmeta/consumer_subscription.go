package groupmeta

// The consumer subscription frame, by version:
//
//	v0  topics, userData
//	v1  ownedPartitions
//	v2  generationId
//	v3  rackId
//
// A higher version is read as v3; what follows is counted.

// newestFrame is the newest version of both consumer frames known here.
const newestFrame = 3

// NoGeneration is the generation of a member that has not been in one.
const NoGeneration = -1

// ConsumerSubscription is what a member's consumer tells the group's leader.
type ConsumerSubscription struct {
	Version       int16
	Topics        []string          // as on the wire
	UserData      []byte            // nil: null on the wire; part of the bytes that were decoded
	Owned         []TopicPartitions // v1: filled at a cooperative rejoin; nil before v1
	Generation    int32             // v2; NoGeneration where there is none
	Rack          string            // v3; "" is none
	TrailingBytes int               // bytes after the last known field
}

// DecodeConsumerSubscription reads a subscription frame. On an error the value
// holds the fields before it. Trailing bytes are no error here: see
// TrailingBytes and TrailingError.
func DecodeConsumerSubscription(b []byte) (ConsumerSubscription, error) {
	r := newWireReader(KindConsumerSubscription, b)
	s := ConsumerSubscription{Generation: NoGeneration}
	s.Version = r.frameVersion()
	n := r.count("topics", 2)
	s.Topics = make([]string, 0, n)
	for i := 0; i < n && r.err == nil; i++ {
		s.Topics = append(s.Topics, r.string16("topics"))
	}
	s.UserData = r.nullBytes32("userData")
	if s.Version >= 1 {
		s.Owned = r.topicPartitions("ownedPartitions", "ownedPartitions.topic", "ownedPartitions.partitions")
	}
	if s.Version >= 2 {
		s.Generation = r.int32("generationId")
	}
	if s.Version >= 3 {
		s.Rack = r.nullString16("rackId")
	}
	var err error
	s.TrailingBytes, err = r.finish()
	return s, err
}

// TrailingError reports bytes after the last field of a frame version that is
// known here; nil when there are none, or the frame is newer. size is the
// length of the frame.
func (s *ConsumerSubscription) TrailingError(size int) *DecodeError {
	if s.Version > newestFrame {
		return nil
	}
	return trailingError(KindConsumerSubscription, int(s.Version), size, s.TrailingBytes)
}

// Encode writes the frame in s.Version; a version above v3 has the fields of
// v3. Fields that the version does not have are left out.
func (s *ConsumerSubscription) Encode() ([]byte, error) {
	w := &wireWriter{structure: KindConsumerSubscription}
	w.frameVersion(s.Version)
	w.count("topics", len(s.Topics))
	for _, t := range s.Topics {
		w.string16("topics", t)
	}
	w.nullBytes32("userData", s.UserData)
	if s.Version >= 1 {
		w.topicPartitions("ownedPartitions", s.Owned)
	}
	if s.Version >= 2 {
		w.int32(s.Generation)
	}
	if s.Version >= 3 {
		w.nullString16("rackId", s.Rack)
	}
	return w.finish()
}
