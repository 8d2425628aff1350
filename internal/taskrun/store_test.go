package taskrun

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	berrors "go.etcd.io/bbolt/errors"
	"pgregory.net/rapid"
)

// A file that is no store, and one that is cut, are started anew: the changelog
// brings all back.
func TestDamagedStoreFile(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"garbage": func([]byte) []byte { return bytes.Repeat([]byte("garbage "), 4096) },
		"empty":   func([]byte) []byte { return nil },
		"cut":     func(b []byte) []byte { return b[:len(b)/3] },
		"short":   func(b []byte) []byte { return b[:50] },
		"head":    func(b []byte) []byte { return b[:os.Getpagesize()+100] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 1)
			dir := t.TempDir()
			r.put(clog, numbered(0, 100, 100)...)
			h, _ := r.host(dir, nil)
			ok(t, h.Copy(task0()))
			r.caughtUp(h, 100)
			ok(t, h.Shutdown(soon(t)))
			path := filepath.Join(dir, "0_0.store")
			b, err := os.ReadFile(path)
			ok(t, err)
			ok(t, os.WriteFile(path, damage(b), 0o600))
			h, _ = r.host(dir, nil)
			ok(t, h.Copy(task0()))
			r.caughtUp(h, 100)
			if p := h.position(task0()); p.Restored != 100 {
				t.Fatalf("%+v", p)
			}
		})
	}
}

// A file that cannot be opened for now is not damaged: it stays, and the error
// names it.
func TestStoreThatCannotBeOpenedStays(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]func(path string) error{
		"a link to itself": func(path string) error { return os.Symlink(path, path) },
		"a directory":      func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		path := filepath.Join(t.TempDir(), "0_0.store")
		ok(t, block(path))
		s, damaged, err := openBolt(path)
		if s != nil || damaged != nil || err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: damaged %v, error %v", name, damaged, err)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, err := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EIO, syscall.EROFS, syscall.ENOSPC, syscall.EACCES, berrors.ErrTimeout} {
		if isDamage(fmt.Errorf("open: %w", &os.PathError{Err: err})) {
			t.Errorf("%v counts as damage", err)
		}
	}
}

// A store on disk shows what one in memory shows, whatever is put, saved, taken
// back and opened again.
func TestStoresAgree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "s.store")
		_ = os.Remove(path)
		s, damaged, err := openBolt(path)
		if err != nil || damaged != nil {
			t.Fatal(err, damaged)
		}
		defer func() { _ = s.close() }()
		s.db.NoSync = true // the machine does not crash here
		long := strings.Repeat("x", longKey)
		keys := []string{"", "a", "b", "c\x00", "\xff", long + "1", long + "2", long[1:]}
		now, saved := newMemory(), newMemory()
		for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				if err := save(s, mark{next: int64(i)}); err != nil {
					t.Fatal(err)
				}
				saved = newMemory()
				now.each(func(k, v []byte) bool { saved.put(k, v); return true })
				saved.mark.next = int64(i)
			case 2: // a save that takes a while, and may fail
				under := newMemory()
				now.each(func(k, v []byte) bool { under.put(k, v); return true })
				x := s.begin(mark{next: int64(i)})
				for range rapid.IntRange(0, 3).Draw(t, "meanwhile") {
					k := rapid.SampledFrom(keys).Draw(t, "key")
					s.put([]byte(k), []byte("new"))
					now.put([]byte(k), []byte("new"))
				}
				same(t, s, now)
				if rapid.Bool().Draw(t, "fails") {
					x.end(errors.New("disk"))
					break
				}
				if err := x.write(); err != nil {
					t.Fatal(err)
				}
				x.end(nil)
				saved = under
				saved.mark.next = int64(i)
			case 1: // a crash
				_ = s.close()
				if s, damaged, err = openBolt(path); err != nil || damaged != nil {
					t.Fatal(err, damaged)
				}
				s.db.NoSync = true
				now = newMemory()
				saved.each(func(k, v []byte) bool { now.put(k, v); return true })
				if s.saved().next != saved.mark.next {
					t.Fatal(s.saved(), saved.mark)
				}
			default:
				k := rapid.SampledFrom(keys).Draw(t, "key")
				var v []byte
				if rapid.Bool().Draw(t, "put") {
					v = []byte(rapid.StringN(0, 3, 3).Draw(t, "value"))
				}
				s.put([]byte(k), v)
				now.put([]byte(k), v)
			}
			same(t, s, now)
		}
	})
}

func same(t *rapid.T, s *bolt, m *memory) {
	got := map[string]string{}
	s.each(func(k, v []byte) bool { got[string(k)] = string(v); return true })
	if len(got) != m.size() || s.size() != m.size() {
		t.Fatalf("%d keys, size says %d, not %d", len(got), s.size(), m.size())
	}
	for k, v := range m.m {
		one, ok := s.get([]byte(k))
		if got[k] != string(v) || !ok || string(one) != string(v) {
			t.Fatalf("%.10q is %q and %q, not %q", k, got[k], one, v)
		}
	}
}
