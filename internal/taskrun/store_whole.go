package taskrun

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// The head of each of the two first pages of a bbolt file: a page header, then
// magic, version, page size, flags, root bucket, free list, number of pages in
// use (also bbolt/internal/common).
const (
	boltMagic     = 0xED0CDAED
	boltMagicAt   = 16
	boltPageAt    = boltMagicAt + 8
	boltPagesAt   = boltMagicAt + 40
	boltHeadBytes = boltMagicAt + 64
)

// damagedError says what is wrong with the content of a store file.
type damagedError string

func (e damagedError) Error() string { return "damaged: " + string(e) }

// isDamage reports whether an error is about the content of a store file, which
// no later try will find any better.
func isDamage(err error) bool {
	_, ours := errors.AsType[damagedError](err)
	return ours || errors.Is(err, berrors.ErrInvalid) || errors.Is(err, berrors.ErrVersionMismatch) ||
		errors.Is(err, berrors.ErrChecksum) || errors.Is(err, berrors.ErrIncompatibleValue)
}

// openWhole opens a bbolt file. What is wrong with its content is damage.
func openWhole(path string, o *bbolt.Options) (_ *bbolt.DB, err error) {
	// What bbolt finds in a damaged file can make it panic.
	defer func() {
		if r := recover(); r != nil {
			err = damagedError(fmt.Sprint(r))
		}
	}()
	if err := whole(path); err != nil {
		return nil, err
	}
	return bbolt.Open(path, 0o600, o)
}

// whole checks that a store file is as long as it says, and that its pages are
// what they say. Reading behind the end of a mapped file kills the process, which
// no recover prevents. A file that is not there is whole; what is wrong with its
// heads, bbolt finds itself.
func whole(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, boltHeadBytes)
	var last boltHead // that counts
	size := 0         // of a page; 0 while no head is sound
	for at, i := int64(0), 0; i < 2; i++ {
		if _, err := f.ReadAt(head, at); errors.Is(err, io.EOF) {
			if info.Size() == 0 {
				return nil // a new one
			}
			return damagedError(fmt.Sprintf("it ends after %d bytes", info.Size()))
		} else if err != nil {
			return err
		}
		if binary.NativeEndian.Uint32(head[boltMagicAt:]) != boltMagic {
			return nil
		}
		page := uint64(binary.NativeEndian.Uint32(head[boltPageAt:]))
		pages := binary.NativeEndian.Uint64(head[boltPagesAt:])
		if page == 0 || max(pages, 2) > uint64(info.Size())/page {
			return damagedError(fmt.Sprintf("%d bytes, where %d pages of %d are in use", info.Size(), pages, page))
		}
		if h, sound := readHead(head); sound && (size == 0 || h.tx > last.tx) {
			last, size = h, int(page)
		}
		at = int64(page)
	}
	if size == 0 {
		return nil
	}
	return soundPages(f, size, last)
}
