package groupmeta

import (
	"encoding/binary"
	"fmt"
)

// wireReader reads one structure from its first byte on. The first problem is
// kept in err; from then on every read gives zero, so callers check err once
// per loop and at the end.
type wireReader struct {
	buf       []byte
	off       int
	structure string
	err       *DecodeError

	narrow textCache // string, bytes and utf
	wide   textCache // chars
}

func newWireReader(structure string, b []byte) *wireReader {
	return &wireReader{buf: b, structure: structure}
}

// left is the number of bytes not read yet.
func (r *wireReader) left() int { return len(r.buf) - r.off }

// fail records the first problem and makes every later read fail too.
func (r *wireReader) fail(field string, offset int, format string, args ...any) {
	if r.err == nil {
		r.err = &DecodeError{Structure: r.structure, Field: field, Offset: offset, Problem: fmt.Sprintf(format, args...)}
	}
	r.buf, r.off = nil, 0
}

// has reports whether n bytes are left, and fails if not.
func (r *wireReader) has(field string, n int) bool {
	if r.left() >= n && r.err == nil {
		return true
	}
	r.fail(field, r.off, "needs %d bytes, %d left", n, r.left())
	return false
}

func (r *wireReader) int8(field string) int8 {
	if !r.has(field, 1) {
		return 0
	}
	v := int8(r.buf[r.off])
	r.off++
	return v
}

func (r *wireReader) int16(field string) int16 {
	if !r.has(field, 2) {
		return 0
	}
	v := int16(binary.BigEndian.Uint16(r.buf[r.off:]))
	r.off += 2
	return v
}

func (r *wireReader) int32(field string) int32 {
	if !r.has(field, 4) {
		return 0
	}
	v := int32(binary.BigEndian.Uint32(r.buf[r.off:]))
	r.off += 4
	return v
}

func (r *wireReader) int64(field string) int64 {
	if !r.has(field, 8) {
		return 0
	}
	v := int64(binary.BigEndian.Uint64(r.buf[r.off:]))
	r.off += 8
	return v
}

// take returns the next n bytes, which the caller knows to be there.
func (r *wireReader) take(n int) []byte {
	b := r.buf[r.off : r.off+n : r.off+n]
	r.off += n
	return b
}

// count reads the number of elements of an array and accepts it only if that
// many of its smallest element fit in what is left.
func (r *wireReader) count(field string, smallest int) int {
	at := r.off
	n := r.int32(field)
	if r.err != nil {
		return 0
	}
	if n < 0 || int64(n)*int64(smallest) > int64(r.left()) {
		r.fail(field, at, "count %d with %d bytes left, at least %d each", n, r.left(), smallest)
		return 0
	}
	return int(n)
}

// sized returns the n bytes after a length that stood at offset at.
func (r *wireReader) sized(field string, at int, n int64) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > int64(r.left()) {
		r.fail(field, at, "length %d with %d bytes left", n, r.left())
		return nil
	}
	return r.take(int(n))
}

// string16 reads a string with an int16 length.
func (r *wireReader) string16(field string) string {
	at := r.off
	n := r.int16(field)
	return r.narrow.get(r.sized(field, at, int64(n)), utf8Text)
}

// nullString16 reads a nullable string; null is "".
func (r *wireReader) nullString16(field string) string {
	if r.left() >= 2 && r.buf[r.off] == 0xff && r.buf[r.off+1] == 0xff {
		r.off += 2
		return ""
	}
	return r.string16(field)
}

// text32 reads bytes that hold UTF-8 text.
func (r *wireReader) text32(field string) string {
	at := r.off
	n := r.int32(field)
	return r.narrow.get(r.sized(field, at, int64(n)), utf8Text)
}

// nullBytes32 reads nullable bytes: nil is null. The result is part of the
// input.
func (r *wireReader) nullBytes32(field string) []byte {
	at := r.off
	n := r.int32(field)
	if n == -1 {
		return nil
	}
	return r.sized(field, at, int64(n))
}

// utf reads Java's DataOutput string: unsigned 16-bit length and modified
// UTF-8.
func (r *wireReader) utf(field string) string {
	at := r.off
	n := uint16(r.int16(field))
	raw := r.sized(field, at, int64(n))
	s := r.narrow.get(raw, modifiedUTF8Text)
	if s == "" && len(raw) > 0 {
		r.fail(field, at, "bad modified UTF-8 in %d bytes of text", len(raw))
	}
	return s
}

// maxTopicName is how long Kafka lets the name of a topic be.
const maxTopicName = 249

// topicOf passes on the topic of partitions, which stood at offset at. A name
// that Kafka would not take is refused: thousands of partitions can share it,
// and each shows it.
func (r *wireReader) topicOf(field string, at int, topic string) string {
	if len(topic) > maxTopicName {
		r.fail(field, at, "name of %d bytes, a topic has at most %d", len(topic), maxTopicName)
		return ""
	}
	return topic
}

// topic16 is string16 for the topic of partitions.
func (r *wireReader) topic16(field string) string {
	at := r.off
	return r.topicOf(field, at, r.string16(field))
}

// topicUTF is utf for the topic of partitions.
func (r *wireReader) topicUTF(field string) string {
	at := r.off
	return r.topicOf(field, at, r.utf(field))
}

// chars reads a count of UTF-16 units and the units; no units is "".
func (r *wireReader) chars(field string) string {
	at := r.off
	n := r.int32(field)
	if n == 0 {
		return ""
	}
	return r.wide.get(r.sized(field, at, 2*int64(n)), utf16Text)
}

// finish ends the reading of a structure: the bytes left over, and the error.
func (r *wireReader) finish() (trailing int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	return r.left(), nil
}
