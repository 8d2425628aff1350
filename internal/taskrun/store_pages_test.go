package taskrun

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// filled makes a store file with pages of all kinds: branches, long values, keys
// that are cut, and pages that are free again.
func filled(t *testing.T, path string) []byte {
	t.Helper()
	s, _, err := openBolt(path)
	ok(t, err)
	for round := range 3 {
		for i := range 2000 {
			s.put(fmt.Appendf(nil, "key %06d", i), bytes.Repeat([]byte{byte(round)}, i%300))
		}
		s.put(bytes.Repeat([]byte("long "), 8000), bytes.Repeat([]byte("v"), 30_000))
		ok(t, save(s, mark{next: int64(round)}))
	}
	ok(t, s.close())
	b, err := os.ReadFile(path)
	ok(t, err)
	return b
}

// Whatever a disk has done to the pages of a store file, the process lives: the
// file is read as it is, or made anew.
func TestGarbledPages(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "0_0.store")
	sound := filled(t, path)
	if err := whole(path); err != nil {
		t.Fatalf("a sound file: %v", err)
	}
	found := 0
	size := os.Getpagesize()
	for seed := range uint64(120) {
		rnd := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // seeds are printed
		b := bytes.Clone(sound)
		at := 2*size + rnd.IntN(len(b)-2*size)
		if seed%2 == 0 {
			at = at / size * size // a header and the first elements
		}
		for i := range 1 + rnd.IntN(200) {
			if at+i < len(b) {
				b[at+i] = byte(rnd.Uint32())
			}
		}
		ok(t, os.WriteFile(path, b, 0o600))
		s, damaged, err := openBolt(path)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if damaged != nil {
			found++
		}
		s.each(func([]byte, []byte) bool { return true })
		s.put([]byte("one more"), []byte("value"))
		if err := save(s, mark{next: 9}); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		ok(t, s.close())
	}
	if found < 25 {
		t.Errorf("only %d of 120 damages were found", found)
	}
}

// A lock file that a full disk has left damaged keeps nobody out for ever, and
// one that another instance holds stays whoever's it is.
func TestDamagedLockFile(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"cut in its first page": func(b []byte) []byte { return b[:50] },
		"cut after its heads":   func(b []byte) []byte { return b[:2*os.Getpagesize()] },
		"garbage":               func([]byte) []byte { return bytes.Repeat([]byte("garbage "), 4096) },
		"garbage after its head": func(b []byte) []byte {
			return append(b[:2*os.Getpagesize():2*os.Getpagesize()], bytes.Repeat([]byte{0xA5}, 8*os.Getpagesize())...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			l, err := lockDir(dir, "clicks")
			ok(t, err)
			ok(t, l.close())
			path := filepath.Join(dir, "host.lock")
			b, err := os.ReadFile(path)
			ok(t, err)
			ok(t, os.WriteFile(path, damage(b), 0o600))
			l, err = lockDir(dir, "clicks")
			ok(t, err)
			if _, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: 1}); err == nil {
				t.Error("it is not locked")
			}
			if _, err := lockDir(dir, "clicks"); err == nil {
				t.Error("two instances have it")
			}
			ok(t, l.close())
		})
	}
}
