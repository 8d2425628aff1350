package groupmeta

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"unicode/utf8"
)

// streamWriter writes what streamReader reads.
type streamWriter struct {
	wireWriter
}

// newStreamWriter starts a structure; hint is about how many bytes it will have.
func newStreamWriter(structure string, kind byte, hint int) *streamWriter {
	w := &streamWriter{wireWriter{buf: make([]byte, 0, hint), structure: structure}}
	w.buf = append(w.buf, StreamMajor, StreamMinor, kind)
	return w
}

// section writes one section: its number, its size, and what body writes.
func (w *streamWriter) section(id int, body func()) {
	w.buf = binary.AppendUvarint(w.buf, uint64(id))
	at := len(w.buf)
	body()
	size := len(w.buf) - at
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(size))
	w.buf = slices.Insert(w.buf, at, head[:n]...)
}

// number writes a number that may not be below low.
func (w *streamWriter) number(field string, v, low int64) {
	if v < low {
		w.fail(field, "%d is less than %d", v, low)
		return
	}
	w.buf = binary.AppendUvarint(w.buf, uint64(v))
}

// optional writes a number if it is there; its flag stands elsewhere.
func (w *streamWriter) optional(field string, o OptionalInt, low int64) {
	if o.Known {
		w.number(field, o.N, low)
	}
}

// flags writes one byte; set[i] is bit i.
func (w *streamWriter) flags(set ...bool) {
	var b byte
	for i, s := range set {
		if s {
			b |= 1 << i
		}
	}
	w.buf = append(w.buf, b)
}

// text writes a length and the text.
func (w *streamWriter) text(field, s string, smallest int) {
	switch {
	case len(s) < smallest:
		w.fail(field, "is empty")
	case !utf8.ValidString(s):
		w.fail(field, "%q is not valid UTF-8", s)
	}
	w.number(field, int64(len(s)), 0)
	w.buf = append(w.buf, s...)
}

// texts writes a list in byte order; an element that is there twice is refused.
func (w *streamWriter) texts(field string, list []string) {
	if !slices.IsSorted(list) {
		list = slices.Sorted(slices.Values(list))
	}
	w.number(field, int64(len(list)), 0)
	for i, s := range list {
		if i > 0 && s == list[i-1] {
			w.fail(field, "%q is there twice", s)
		}
		w.text(field, s, 1)
	}
}

// uuid writes the 16 bytes of a UUID in its printed form.
func (w *streamWriter) uuid(field, s string) {
	raw, ok := parseInstance(s)
	if !ok {
		w.fail(field, "%q is no UUID in lower case", s)
	}
	w.buf = append(w.buf, raw[:]...)
}

// formatInstance gives the printed form of the 16 bytes of an instance's UUID.
func formatInstance(raw []byte) string {
	var b [36]byte
	hex.Encode(b[0:8], raw[0:4])
	hex.Encode(b[9:13], raw[4:6])
	hex.Encode(b[14:18], raw[6:8])
	hex.Encode(b[19:23], raw[8:10])
	hex.Encode(b[24:36], raw[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// parseInstance reads what formatInstance writes, and nothing else.
func parseInstance(s string) (raw [16]byte, ok bool) {
	if len(s) != 36 {
		return raw, false
	}
	digits := s[0:8] + s[9:13] + s[14:18] + s[19:23] + s[24:36]
	if _, err := hex.Decode(raw[:], []byte(digits)); err != nil {
		return raw, false
	}
	return raw, formatInstance(raw[:]) == s
}
