package controltopic

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/twmb/franz-go/pkg/kgo"
)

var errUnpacksTooLarge = errors.New("a compressed batch becomes too large")

// unpacker decompresses batches to maxUnpacked bytes at most: a megabyte can
// unpack to gigabytes. (kgo's own, used outside of its client, has no bound.) The
// zero unpacker gives all values. It is for one goroutine.
type unpacker struct {
	wants func(key string) bool // whether the value of a record is given; nil: every one

	spare []byte // to unpack into
	used  []byte // holds what was unpacked last, and is read until copied
}

// maxSpare is how many bytes an unpacker holds on to for the next batch.
const maxSpare = 1 << 20

// copied says that nothing looks at what was unpacked any more.
func (u *unpacker) copied() {
	if u.spare == nil && cap(u.used) <= maxSpare {
		u.spare = u.used[:0]
	}
	u.used = nil
}

// Decompress is kgo's.
func (u *unpacker) Decompress(src []byte, codec kgo.CompressionCodecType) ([]byte, error) {
	switch codec {
	case kgo.CodecNone:
		return src, nil
	case kgo.CodecGzip:
		r, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return nil, err
		}
		return readAll(r)
	case kgo.CodecLz4:
		return readAll(lz4.NewReader(bytes.NewReader(src)))
	case kgo.CodecSnappy:
		into := u.spare
		u.spare = nil
		out, err := snappy(into, src)
		u.used = out
		return out, err
	case kgo.CodecZstd:
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxUnpacked))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		return d.DecodeAll(src, nil)
	}
	return nil, fmt.Errorf("unknown compression %d", codec)
}

func readAll(r io.Reader) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	if err == nil && len(out) > maxUnpacked {
		err = errUnpacksTooLarge
	}
	return out, err
}

// snappy reads both forms: one block, and the blocks with a size each that
// Java's clients write after a header of 16 bytes. It appends to out.
func snappy(out, src []byte) ([]byte, error) {
	if len(src) <= 16 || !bytes.HasPrefix(src, []byte("\x82SNAPPY\x00")) {
		return snappyBlock(out, src)
	}
	for src = src[16:]; len(src) > 0; {
		if len(src) < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		size := binary.BigEndian.Uint32(src)
		if src = src[4:]; uint64(size) > uint64(len(src)) {
			return nil, io.ErrUnexpectedEOF
		}
		var err error
		if out, err = snappyBlock(out, src[:size]); err != nil {
			return nil, err
		}
		src = src[size:]
	}
	return out, nil
}

func snappyBlock(out, src []byte) ([]byte, error) {
	n, err := s2.DecodedLen(src)
	if err != nil {
		return nil, err
	}
	if len(out)+n > maxUnpacked {
		return nil, errUnpacksTooLarge
	}
	at := len(out)
	out = slices.Grow(out, n)
	if _, err := s2.Decode(out[at:at+n], src); err != nil {
		return nil, err
	}
	return out[:at+n], nil
}
