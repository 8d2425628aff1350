package taskrun

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/streamctl/streamctl/internal/model"
)

// mark is what a stored state reflects: all records of one changelog partition
// below next.
type mark struct {
	next  int64
	topic [16]byte // id of the changelog topic; zero when unknown
}

// backing keeps the state of one task. It is used by one goroutine at a time,
// but for the write of a save. A nil value deletes. What it returns must not be
// changed.
type backing interface {
	get(key []byte) ([]byte, bool)
	put(key, value []byte) // clones both
	size() int
	each(f func(key, value []byte) bool) // in byte order
	pending() int                        // bytes that are in memory only until the next save
	begin(m mark) *saving                // to make what was put durable, together with m
	saved() mark
	discard() // goes back to what was saved
	clear() error
	close() error // without save
}

// saving is a save under way, one at a time. While write, which may take as long
// as the disk pleases, runs in one goroutine, others may get and put; neither
// discard nor clear nor close may come before end, which is given what write
// returned.
type saving struct {
	write func() error
	end   func(error)
}

// save makes what was put durable and waits for that.
func save(b backing, m mark) error {
	s := b.begin(m)
	err := s.write()
	s.end(err)
	return err
}

// memory is the state of a task without a directory. Nothing of it outlives
// the process, and going back to what was saved means to start anew.
type memory struct {
	m    map[string]string
	mark mark
}

func newMemory() *memory { return &memory{m: map[string]string{}} }

func (s *memory) get(key []byte) ([]byte, bool) {
	v, ok := s.m[string(key)]
	if !ok {
		return nil, false
	}
	return []byte(v), true
}

// put keeps key and value in one piece: a restore is put after put, and half
// the pieces are half the work for the collector.
func (s *memory) put(key, value []byte) {
	if value == nil {
		delete(s.m, string(key))
		return
	}
	var b strings.Builder
	b.Grow(len(key) + len(value))
	b.Write(key)
	b.Write(value)
	both := b.String()
	s.m[both[:len(key)]] = both[len(key):]
}

func (s *memory) size() int { return len(s.m) }

func (s *memory) each(f func(key, value []byte) bool) {
	for _, k := range slices.Sorted(maps.Keys(s.m)) {
		if v, ok := s.m[k]; ok && !f([]byte(k), []byte(v)) {
			return
		}
	}
}

func (s *memory) pending() int { return 0 }

func (s *memory) begin(m mark) *saving {
	return &saving{write: func() error { return nil }, end: func(error) { s.mark = m }}
}

func (s *memory) saved() mark  { return s.mark }
func (s *memory) discard()     { s.m, s.mark = map[string]string{}, mark{} }
func (s *memory) clear() error { s.discard(); return nil }
func (s *memory) close() error { return nil }

// clone copies a value; one without bytes stays apart from nil.
func clone(v []byte) []byte {
	if len(v) == 0 {
		return []byte{}
	}
	return bytes.Clone(v)
}

// handle is the Store that one call of Process sees. It does nothing once the
// task was taken away.
type handle struct {
	s  *stint
	mu *sync.Mutex // the task's
	st backing
}

func (h *handle) Get(key []byte) ([]byte, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.s.dead {
		return nil, false
	}
	return h.st.get(key)
}

func (h *handle) Put(key, value []byte) { h.s.write(h.st, key, value) }

func (h *handle) Delete(key []byte) { h.s.write(h.st, key, nil) }

func (h *handle) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.s.dead {
		return 0
	}
	return h.st.size()
}

func (h *handle) Range(f func(key, value []byte) bool) {
	type pair struct{ k, v []byte }
	var all []pair
	h.mu.Lock()
	if !h.s.dead {
		h.st.each(func(k, v []byte) bool {
			all = append(all, pair{k, v})
			return true
		})
	}
	h.mu.Unlock()
	for _, p := range all {
		if !f(p.k, p.v) {
			return
		}
	}
}

// misfitError says why a store cannot be restored from its changelog as it is.
type misfitError struct {
	changelog model.TopicPartition
	why       string
}

func (e *misfitError) Error() string { return "changelog \"" + e.changelog.String() + "\": " + e.why }
