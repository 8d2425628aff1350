package groupmeta

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf16"
)

// wireWriter appends the fields of one structure. The first thing that cannot
// be written is kept in err.
type wireWriter struct {
	buf       []byte
	structure string
	err       error
}

func (w *wireWriter) fail(field, format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("encode %s: field %q: "+format, append([]any{w.structure, field}, args...)...)
	}
}

func (w *wireWriter) int8(v int8)   { w.buf = append(w.buf, byte(v)) }
func (w *wireWriter) int16(v int16) { w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(v)) }
func (w *wireWriter) int32(v int32) { w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(v)) }
func (w *wireWriter) int64(v int64) { w.buf = binary.BigEndian.AppendUint64(w.buf, uint64(v)) }

// count writes the number of elements of an array.
func (w *wireWriter) count(field string, n int) {
	if n > math.MaxInt32 {
		w.fail(field, "%d elements are too many", n)
	}
	w.int32(int32(n))
}

// string16 writes a string with an int16 length.
func (w *wireWriter) string16(field, s string) {
	if len(s) > math.MaxInt16 {
		w.fail(field, "text of %d bytes is too long", len(s))
		return
	}
	w.int16(int16(len(s)))
	w.buf = append(w.buf, s...)
}

// nullString16 writes a nullable string; "" is null.
func (w *wireWriter) nullString16(field, s string) {
	if s == "" {
		w.int16(-1)
		return
	}
	w.string16(field, s)
}

// text32 writes bytes that hold UTF-8 text.
func (w *wireWriter) text32(field, s string) {
	w.count(field, len(s))
	w.buf = append(w.buf, s...)
}

// nullBytes32 writes nullable bytes; nil is null.
func (w *wireWriter) nullBytes32(field string, b []byte) {
	if b == nil {
		w.int32(-1)
		return
	}
	w.count(field, len(b))
	w.buf = append(w.buf, b...)
}

// utf writes Java's DataOutput string.
func (w *wireWriter) utf(field, s string) {
	at := len(w.buf)
	w.int16(0)
	w.buf = appendModifiedUTF8(w.buf, s)
	n := len(w.buf) - at - 2
	if n > math.MaxUint16 {
		w.fail(field, "text of %d bytes is too long", n)
		return
	}
	binary.BigEndian.PutUint16(w.buf[at:], uint16(n))
}

// chars writes the UTF-16 units of s and before them their number.
func (w *wireWriter) chars(field, s string) {
	if s == "" {
		w.int32(0)
		return
	}
	units := utf16.Encode([]rune(s))
	w.count(field, len(units))
	for _, u := range units {
		w.int16(int16(u))
	}
}

// finish returns the bytes, or the first problem.
func (w *wireWriter) finish() ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	return w.buf, nil
}
