package taskrun

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"go.etcd.io/bbolt"
)

// boltFormat is the layout of a store file. A file of another one is started
// anew.
const boltFormat = 1

// longKey is the size from which a key is cut, since bbolt takes no keys above
// 32 KiB; the whole key is then kept with its value.
const longKey = 32_000

// bolt keeps the state of one task in a file. What was put since the last save
// is in memory; a save writes it and its mark in one transaction. Keys are
// stored behind one byte, since bbolt takes no empty ones.
type bolt struct {
	db    *bbolt.DB
	path  string
	dirty map[string][]byte // stored key → stored value, nil deletes
	under map[string][]byte // the same, what a save writes at the moment
	bytes int               // of both
	count int               // keys in the file, under left out
	mark  mark
}

// Names inside a store file.
const (
	bucketData = "data"
	bucketMeta = "meta"
	keyMark    = "mark"
)

// openBolt opens or makes a store file. One whose content is no store is removed
// and made anew; damaged says what was wrong with it. One that could not be
// opened for another reason, as when the process has too many files open or the
// disk does not answer, stays as it is.
func openBolt(path string) (s *bolt, damaged, err error) {
	s, err = tryBolt(path)
	if err == nil {
		return s, nil, nil
	}
	err = fmt.Errorf("store %q: %w", path, err)
	if !isDamage(err) {
		return nil, nil, err
	}
	damaged = err
	if err := os.Remove(path); err != nil {
		return nil, nil, damaged
	}
	s, err = tryBolt(path)
	return s, damaged, err
}

func tryBolt(path string) (_ *bolt, err error) {
	db, err := openWhole(path, &bbolt.Options{Timeout: time.Second, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	s := &bolt{db: db, path: path, dirty: map[string][]byte{}}
	err = db.View(func(tx *bbolt.Tx) error {
		meta := tx.Bucket([]byte(bucketMeta))
		if meta == nil || tx.Bucket([]byte(bucketData)) == nil {
			return errNew
		}
		return s.readMark(meta.Get([]byte(keyMark)))
	})
	if errors.Is(err, errNew) {
		err = s.create()
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// errNew is a file without a store in it.
var errNew = errors.New("no store yet")

// create makes the empty store of a new file.
func (s *bolt) create() error {
	return s.db.Update(func(tx *bbolt.Tx) error {
		if _, err := tx.CreateBucketIfNotExists([]byte(bucketData)); err != nil {
			return err
		}
		meta, err := tx.CreateBucketIfNotExists([]byte(bucketMeta))
		if err != nil {
			return err
		}
		return meta.Put([]byte(keyMark), markBytes(s.mark, s.count))
	})
}

// markBytes is the format, the position, the number of keys and the topic id.
func markBytes(m mark, count int) []byte {
	b := []byte{boltFormat}
	b = binary.BigEndian.AppendUint64(b, uint64(m.next))
	b = binary.BigEndian.AppendUint64(b, uint64(count))
	return append(b, m.topic[:]...)
}

func (s *bolt) readMark(b []byte) error {
	if len(b) != 33 || b[0] != boltFormat {
		return damagedError("not a store of this version")
	}
	s.mark.next = int64(binary.BigEndian.Uint64(b[1:]))
	s.count = int(binary.BigEndian.Uint64(b[9:]))
	copy(s.mark.topic[:], b[17:])
	if s.mark.next < 0 || s.count < 0 {
		return damagedError("a position below 0")
	}
	return nil
}

// stored gives the form of a key in the file.
func stored(key []byte) string {
	if len(key) < longKey {
		return "k" + string(key)
	}
	sum := sha256.Sum256(key)
	return "k" + string(key[:longKey]) + string(sum[:])
}

// storedValue puts a length and the key itself before the value of a cut key,
// 0 before all others.
func storedValue(key, value []byte) []byte {
	if len(key) < longKey {
		return append(append(make([]byte, 0, len(value)+1), 0), value...)
	}
	b := binary.AppendUvarint(make([]byte, 0, len(key)+len(value)+4), uint64(len(key)))
	return append(append(b, key...), value...)
}

// unstored gives key and value back.
func unstored(k string, v []byte) (key, value []byte) {
	n, w := binary.Uvarint(v)
	if w <= 0 || n > uint64(len(v)-w) {
		return []byte(k[1:]), nil
	}
	if n == 0 {
		return []byte(k[1:]), v[w:]
	}
	return v[w : w+int(n)], v[w+int(n):]
}

func (s *bolt) get(key []byte) ([]byte, bool) {
	k := stored(key)
	v, ok := s.dirty[k]
	if !ok {
		v, ok = s.under[k]
	}
	if !ok {
		_ = s.db.View(func(tx *bbolt.Tx) error {
			v = bytes.Clone(tx.Bucket([]byte(bucketData)).Get([]byte(k)))
			return nil
		})
	}
	if v == nil {
		return nil, false
	}
	_, value := unstored(k, v)
	return value, true
}

// keyBytes is about what a key costs in memory besides its own bytes.
const keyBytes = 64

func (s *bolt) put(key, value []byte) {
	k := stored(key)
	old, ok := s.dirty[k]
	if ok {
		s.bytes -= len(old)
	} else {
		s.bytes += len(k) + keyBytes
	}
	var v []byte
	if value != nil {
		v = storedValue(key, value)
	}
	s.bytes += len(v)
	s.dirty[k] = v
}

func (s *bolt) pending() int { return s.bytes }

func (s *bolt) saved() mark { return s.mark }

func (s *bolt) size() int {
	n := s.count
	_ = s.db.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(bucketData))
		for k, v := range s.fresh() {
			n += change(b.Get([]byte(k)), v)
		}
		return nil
	})
	return n
}

// fresh is what the file does not have.
func (s *bolt) fresh() map[string][]byte {
	if len(s.under) == 0 {
		return s.dirty
	}
	all := maps.Clone(s.under)
	maps.Copy(all, s.dirty)
	return all
}

// change is by how much the number of keys grows as v takes the place of old.
func change(old, v []byte) int {
	switch {
	case old == nil && v != nil:
		return 1
	case old != nil && v == nil:
		return -1
	}
	return 0
}

func (s *bolt) each(f func(key, value []byte) bool) {
	values := s.fresh()
	fresh := slices.Sorted(maps.Keys(values))
	show := func(k string, v []byte) bool {
		if v == nil {
			return true
		}
		key, value := unstored(k, bytes.Clone(v))
		return f(key, value)
	}
	_ = s.db.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(bucketData)).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			for len(fresh) > 0 && fresh[0] < string(k) {
				if !show(fresh[0], values[fresh[0]]) {
					return nil
				}
				fresh = fresh[1:]
			}
			if len(fresh) > 0 && fresh[0] == string(k) {
				continue // the newer one comes with the next key, or at the end
			}
			if !show(string(k), v) {
				return nil
			}
		}
		for _, k := range fresh {
			if !show(k, values[k]) {
				return nil
			}
		}
		return nil
	})
}

func (s *bolt) begin(m mark) *saving {
	if len(s.dirty) == 0 && m == s.mark {
		return &saving{write: func() error { return nil }, end: func(error) {}}
	}
	s.under, s.dirty = s.dirty, map[string][]byte{}
	under, size, count := s.under, s.bytes, s.count
	write := func() error {
		err := s.db.Update(func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte(bucketData))
			for _, k := range slices.Sorted(maps.Keys(under)) {
				v := under[k]
				count += change(b.Get([]byte(k)), v)
				var err error
				if v == nil {
					err = b.Delete([]byte(k))
				} else {
					err = b.Put([]byte(k), v)
				}
				if err != nil {
					return err
				}
			}
			return tx.Bucket([]byte(bucketMeta)).Put([]byte(keyMark), markBytes(m, count))
		})
		if err != nil {
			return fmt.Errorf("store %q: %w", s.path, err)
		}
		return nil
	}
	return &saving{write: write, end: func(err error) {
		if err != nil {
			s.dirty, s.under, s.bytes = s.fresh(), nil, 0
			for k, v := range s.dirty {
				s.bytes += len(k) + keyBytes + len(v)
			}
			return
		}
		s.under, s.mark, s.count = nil, m, count
		s.bytes -= size
	}}
}

// drop forgets what the file does not have.
func (s *bolt) drop() {
	s.dirty, s.under, s.bytes = map[string][]byte{}, nil, 0
}

func (s *bolt) discard() { s.drop() }

func (s *bolt) clear() error {
	s.drop()
	oldMark, oldCount := s.mark, s.count
	err := s.db.Update(func(tx *bbolt.Tx) error {
		if err := tx.DeleteBucket([]byte(bucketData)); err != nil {
			return err
		}
		if _, err := tx.CreateBucket([]byte(bucketData)); err != nil {
			return err
		}
		s.mark, s.count = mark{}, 0
		return tx.Bucket([]byte(bucketMeta)).Put([]byte(keyMark), markBytes(s.mark, s.count))
	})
	if err != nil {
		s.mark, s.count = oldMark, oldCount
		return fmt.Errorf("store %q: %w", s.path, err)
	}
	return nil
}

func (s *bolt) close() error { return s.db.Close() }
