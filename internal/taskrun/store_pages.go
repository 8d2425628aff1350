package taskrun

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
)

// What is on the pages of a bbolt file: a header of id, flags, number of
// elements and number of further pages, then 16 bytes for each element, then
// keys and values (also bbolt/internal/common).
const (
	pageHeader  = 16
	pageElement = 16

	pageBranch = 1
	pageLeaf   = 2
	pageFree   = 0x10

	elementBucket = 1              // flag of a leaf's element whose value is a bucket
	bucketHeader  = 16             // root page, sequence
	manyFree      = math.MaxUint16 // a free list with so many counts in its first entry
	noFreeList    = math.MaxUint64

	maxPageDepth = 64 // of a tree with two children a page, more than any disk holds
)

// boltHead is what a file says of itself in one of its two heads.
type boltHead struct{ root, free, pages, tx uint64 }

// readHead reads a head; ok is false for one that bbolt does not take either.
func readHead(b []byte) (h boltHead, ok bool) {
	word := func(at int) uint64 { return binary.NativeEndian.Uint64(b[boltMagicAt+at:]) }
	sum := fnv.New64a()
	sum.Write(b[boltMagicAt : boltMagicAt+56]) //nolint:errcheck,gosec // never fails
	return boltHead{root: word(16), free: word(32), pages: word(40), tx: word(48)}, sum.Sum64() == word(56)
}

// pageWalk looks at every page that can be reached. bbolt does so too when it
// opens a file, but what it finds it says by a panic in a goroutine of its own,
// and a page number behind the end of the file kills the process.
type pageWalk struct {
	f     io.ReaderAt
	size  int      // bytes of a page
	pages uint64   // in use
	seen  []uint64 // a bit for each
	bufs  [maxPageDepth][]byte
}

// soundPages checks the tree below a head, whose pages are all in the file.
func soundPages(f io.ReaderAt, size int, h boltHead) error {
	w := &pageWalk{f: f, size: size, pages: h.pages, seen: make([]uint64, h.pages/64+1)}
	if err := w.visit(h.root, 0, nil, nil); err != nil {
		return err
	}
	if h.free == noFreeList {
		return nil
	}
	return w.freeList(h.free)
}

// page is one page, with those that follow it, or one inside a value.
type page []byte

func (p page) flags() uint16     { return binary.NativeEndian.Uint16(p[8:]) }
func (p page) count() int        { return int(binary.NativeEndian.Uint16(p[10:])) }
func (p page) overflow() uint64  { return uint64(binary.NativeEndian.Uint32(p[12:])) }
func (p page) word(i int) uint64 { return binary.NativeEndian.Uint64(p[pageHeader+8*i:]) }

// read reads a page that nothing else has been found on, into the buffer of a
// depth.
func (w *pageWalk) read(id uint64, depth int) (page, error) {
	if id < 2 || id >= w.pages || depth >= maxPageDepth {
		return nil, damagedError(fmt.Sprintf("page %d, at depth %d, of %d", id, depth, w.pages))
	}
	b := w.bufs[depth]
	if b == nil {
		b = make([]byte, w.size)
	}
	at := int64(id) * int64(w.size)
	if _, err := w.f.ReadAt(b[:w.size], at); err != nil {
		return nil, cutOff(err)
	}
	p := page(b[:w.size])
	more := p.overflow()
	if binary.NativeEndian.Uint64(p) != id || more >= w.pages-id {
		return nil, damagedError(fmt.Sprintf("page %d says that it is another", id))
	}
	for i := id; i <= id+more; i++ {
		if w.seen[i/64]&(1<<(i%64)) != 0 {
			return nil, damagedError(fmt.Sprintf("page %d is there twice", i))
		}
		w.seen[i/64] |= 1 << (i % 64)
	}
	if whole := w.size * int(1+more); more > 0 {
		if len(b) < whole {
			b = make([]byte, whole)
		}
		if _, err := w.f.ReadAt(b[:whole], at); err != nil {
			return nil, cutOff(err)
		}
		p = page(b[:whole])
	}
	w.bufs[depth] = b
	return p, nil
}

// cutOff makes damage of an end of the file that came too early.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return damagedError("it ends before its last page")
	}
	return err
}

// element is one element of a page.
type element struct {
	key, value []byte
	child      uint64 // of a branch
	bucket     bool   // of a leaf
}

func (p page) element(i int) (e element, ok bool) {
	at := uint64(pageHeader + pageElement*i)
	if at+pageElement > uint64(len(p)) {
		return e, false
	}
	word := func(n uint64) uint64 { return uint64(binary.NativeEndian.Uint32(p[at+4*n:])) }
	var key, value, pos uint64
	if p.flags() == pageBranch {
		pos, key, e.child = word(0), word(1), binary.NativeEndian.Uint64(p[at+8:])
	} else {
		e.bucket, pos, key, value = word(0)&elementBucket != 0, word(1), word(2), word(3)
	}
	from := at + pos
	if from+key+value > uint64(len(p)) {
		return e, false
	}
	e.key, e.value = p[from:from+key], p[from+key:from+key+value]
	return e, true
}

// visit checks a page and what is below it: keys go up, and are at least low and
// below high, where these are given.
func (w *pageWalk) visit(id uint64, depth int, low, high []byte) error {
	p, err := w.read(id, depth)
	if err != nil {
		return err
	}
	wrong := damagedError(fmt.Sprintf("page %d does not hold what it says", id))
	if p.flags() != pageLeaf && (p.flags() != pageBranch || p.count() == 0) {
		return wrong
	}
	for i := range p.count() {
		e, ok := p.element(i)
		if !ok || !inOrder(e.key, low, i == 0) || high != nil && bytes.Compare(e.key, high) >= 0 {
			return wrong
		}
		switch {
		case e.bucket:
			err = w.bucket(e.value, depth)
		case p.flags() == pageBranch:
			next := high
			if i+1 < p.count() {
				following, ok := p.element(i + 1)
				if !ok {
					return wrong
				}
				next = following.key
			}
			err = w.visit(e.child, depth+1, e.key, next)
		}
		if err != nil {
			return err
		}
		low = e.key
	}
	return nil
}

// inOrder reports whether a key follows the one before, which the first one may
// be equal to.
func inOrder(key, before []byte, first bool) bool {
	if before == nil {
		return true
	}
	c := bytes.Compare(before, key)
	return c < 0 || c == 0 && first
}

// bucket checks a bucket: its pages, or the one that a small one has inside.
func (w *pageWalk) bucket(value []byte, depth int) error {
	wrong := damagedError("a bucket does not hold what it says")
	if len(value) < bucketHeader {
		return wrong
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return w.visit(root, depth+1, nil, nil)
	}
	p := page(value[bucketHeader:])
	if len(p) < pageHeader || p.flags() != pageLeaf {
		return wrong
	}
	var before []byte
	for i := range p.count() {
		e, ok := p.element(i)
		if !ok || e.bucket || !inOrder(e.key, before, i == 0) {
			return wrong
		}
		before = e.key
	}
	return nil
}

// freeList checks that the pages that are called free are, after all others have
// been visited.
func (w *pageWalk) freeList(id uint64) error {
	p, err := w.read(id, 0)
	if err != nil {
		return err
	}
	wrong := damagedError("the list of free pages does not hold what it says")
	n, from := uint64(p.count()), 0
	if n == manyFree && len(p) >= pageHeader+8 {
		n, from = p.word(0), 1
	}
	if p.flags() != pageFree || n > uint64(len(p)-pageHeader)/8-uint64(from) {
		return wrong
	}
	for i := range int(n) {
		free := p.word(from + i)
		if free < 2 || free >= w.pages || w.seen[free/64]&(1<<(free%64)) != 0 {
			return wrong
		}
	}
	return nil
}
