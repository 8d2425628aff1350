package taskrun

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// The head of each of the two first pages of a bbolt file: a page header, then
// magic, version, page size, flags, root bucket, free list, number of pages in
// use (also bbolt/internal/common).
const (
	boltMagic     = 0xED0CDAED
	boltMagicAt   = 16
	boltPageAt    = boltMagicAt + 8
	boltPagesAt   = boltMagicAt + 40
	boltHeadBytes = boltPagesAt + 8
)

// whole checks that a store file is as long as it says. Reading behind the end
// of a mapped file kills the process, which no recover prevents. A file that is
// not there is whole; what else can be wrong with one, bbolt finds itself.
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
	for at, i := int64(0), 0; i < 2; i++ {
		if _, err := f.ReadAt(head, at); errors.Is(err, io.EOF) {
			return nil // too short to be mapped
		} else if err != nil {
			return err
		}
		if binary.NativeEndian.Uint32(head[boltMagicAt:]) != boltMagic {
			return nil
		}
		page := uint64(binary.NativeEndian.Uint32(head[boltPageAt:]))
		pages := binary.NativeEndian.Uint64(head[boltPagesAt:])
		if page == 0 || pages > uint64(info.Size())/page {
			return fmt.Errorf("damaged: %d bytes, where %d pages of %d are in use", info.Size(), pages, page)
		}
		at = int64(page)
	}
	return nil
}
