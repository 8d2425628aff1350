package groupmeta

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// streamReader reads the building blocks of docs/protocol, section "Building
// blocks". Field names are those of its tables.
type streamReader struct {
	wireReader
	minor   uint8
	newer   bool // the minor version is newer: what is not known is passed over
	skipped int  // bytes passed over
}

// openStream reads the header of a structure. An error is a *DecodeError or,
// for a newer major version, a *StreamVersionError.
func openStream(structure string, kind byte, b []byte) (*streamReader, error) {
	r := &streamReader{wireReader: wireReader{buf: b, structure: structure}}
	if !r.has("version", 1) {
		return nil, r.err
	}
	major := b[0]
	switch {
	case major == 0:
		r.fail("version", 0, "major version 0 does not exist")
		return nil, r.err
	case major > StreamMajor:
		e := &StreamVersionError{Structure: structure, Major: major}
		if len(b) > 1 {
			e.Minor = b[1]
		}
		return nil, e
	}
	r.off = 1
	r.minor = uint8(r.int8("minor"))
	r.newer = r.minor > StreamMinor
	if got := byte(r.int8("kind")); r.err == nil && got != kind {
		r.fail("kind", 2, "kind is 0x%02x, want 0x%02x (%q)", got, kind, kind)
	}
	if r.err != nil {
		return nil, r.err
	}
	return r, nil
}

// sections reads all sections. names[i] is the name of section i+1, read reads
// it. Sections come in the order of their numbers, those named all of them.
func (r *streamReader) sections(names []string, read func(section int)) error {
	last := 0
	for r.err == nil && r.left() > 0 {
		at := r.off
		id := int(r.uvarint("section", math.MaxInt32))
		if r.err == nil && id <= last {
			r.fail("section", at, "section %d after section %d", id, last)
		}
		if r.err == nil && last < len(names) && id > last+1 {
			r.fail(names[last], at, "section %d is missing", last+1)
		}
		known := id <= len(names)
		if r.err == nil && !known && !r.newer {
			r.fail("section", at, "version %d.%d has no section %d", StreamMajor, r.minor, id)
		}
		name := "section"
		if known && r.err == nil {
			name = names[id-1]
		}
		size := r.size(name)
		if r.err != nil {
			break
		}
		if !known {
			r.off += size
			r.skipped += r.off - at
			last = id
			continue
		}
		r.section(name, size, func() { read(id) })
		last = id
	}
	if r.err == nil && last < len(names) {
		r.fail(names[last], r.off, "section %d is missing", last+1)
	}
	if r.err != nil {
		return r.err
	}
	return nil
}

// section reads the next size bytes with read, which cannot reach past them.
func (r *streamReader) section(name string, size int, read func()) {
	whole, end := r.buf, r.off+size
	r.buf = whole[:end:end]
	read()
	if r.err != nil {
		return
	}
	if rest := r.left(); rest > 0 && !r.newer {
		r.fail(name, r.off, "%d bytes after the last field of the section", rest)
		return
	}
	r.skipped += end - r.off
	r.buf, r.off = whole, end
}

// uvarint reads a number of at most limit, seven bits a byte, the lowest first.
func (r *streamReader) uvarint(field string, limit uint64) uint64 {
	if r.off < len(r.buf) && r.buf[r.off] < 0x80 {
		v := uint64(r.buf[r.off])
		if v <= limit {
			r.off++
			return v
		}
	}
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.buf[r.off:])
	switch {
	case n == 0:
		r.fail(field, r.off, "ends within a number")
		return 0
	case n < 0:
		r.fail(field, r.off, "number of more than 64 bits")
		return 0
	case n > 1 && r.buf[r.off+n-1] == 0:
		r.fail(field, r.off, "number %d is written in %d bytes, more than it needs", v, n)
		return 0
	case v > limit:
		r.fail(field, r.off, "%d is more than %d", v, limit)
		return 0
	}
	r.off += n
	return v
}

func (r *streamReader) uint31(field string) int32 { return int32(r.uvarint(field, math.MaxInt32)) }
func (r *streamReader) uint63(field string) int64 { return int64(r.uvarint(field, math.MaxInt64)) }

// uint31From reads a number that may not be below low.
func (r *streamReader) uint31From(field string, low int32) int32 {
	at := r.off
	v := r.uint31(field)
	if r.err == nil && v < low {
		r.fail(field, at, "%d is less than %d", v, low)
	}
	return v
}

// size reads a number of bytes that are all there.
func (r *streamReader) size(field string) int { return r.elements(field, 1) }

// elements reads a number of elements, each of at least smallest bytes, that
// fit in what is left.
func (r *streamReader) elements(field string, smallest int) int {
	at := r.off
	n := r.uvarint(field, math.MaxInt64)
	if r.err == nil && n > uint64(r.left()/smallest) {
		r.fail(field, at, "count %d with %d bytes left, at least %d each", n, r.left(), smallest)
		return 0
	}
	return int(n)
}

// flags reads a byte of which only the bits in known may be set, unless the
// minor version is newer: then the others are cleared.
func (r *streamReader) flags(field string, known byte) byte {
	at := r.off
	b := byte(r.int8(field))
	if b&^known != 0 && !r.newer {
		r.fail(field, at, "unknown flags 0x%02x", b&^known)
		return 0
	}
	return b & known
}

// optional reads a number that is there when flag is set.
func (r *streamReader) optional(field string, set bool) OptionalInt {
	if !set {
		return OptionalInt{}
	}
	n := r.uint63(field)
	return OptionalInt{N: n, Known: r.err == nil}
}

// text reads a length and as many bytes of UTF-8.
func (r *streamReader) text(field string, smallest int) string {
	at := r.off
	n := r.size(field)
	if r.err != nil {
		return ""
	}
	raw := r.take(n)
	switch {
	case n < smallest:
		r.fail(field, at, "is empty")
		return ""
	case !utf8.Valid(raw):
		r.fail(field, at, "is not valid UTF-8")
		return ""
	}
	return r.narrow.get(raw, utf8Text)
}

// texts reads a list of texts in byte order, each once; no elements give nil.
func (r *streamReader) texts(field string) []string {
	n := r.elements(field, 2) // a length and a byte
	if n == 0 {
		return nil
	}
	out := make([]string, 0, n)
	for range n {
		at := r.off
		s := r.text(field, 1)
		if r.err == nil && len(out) > 0 && s <= out[len(out)-1] {
			r.fail(field, at, "%q after %q: not in order", s, out[len(out)-1])
		}
		if r.err != nil {
			return nil
		}
		out = append(out, s)
	}
	return out
}

// uuid reads 16 bytes in the order of the printed form.
func (r *streamReader) uuid(field string) string {
	if !r.has(field, 16) {
		return ""
	}
	return formatInstance(r.take(16))
}
