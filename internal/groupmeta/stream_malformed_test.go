package groupmeta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// streamDecoders are both decoders as functions of bytes, each with a sound
// input.
func streamDecoders(t testing.TB) map[string]struct {
	sound  []byte
	decode func([]byte) (any, error)
} {
	t.Helper()
	m := largeMetadata(12)
	m.StreamLeaving = StreamLeaving{Leaving: true, RemainingMs: SomeInt(60000), Marks: []string{"mark-1"}}
	m.Topology = []StreamSubtopology{{ID: 0, Stateful: true, Partitions: 12, SourceTopics: []string{"orders"}, ChangelogTopics: []string{"orders-changelog"}}}
	meta, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	a := &StreamAssignment{Generation: 41, Instances: 2, Workers: 3, Leader: testInstance, Mode: StreamIncremental, Epoch: 300}
	for _, task := range m.Tasks {
		assigned := AssignedTask{ID: task.ID, Role: task.Role, Tags: task.Tags}
		if task.Tags.Has(TagLearner) {
			assigned.Reason = ReasonEvacuation
		}
		a.Tasks = append(a.Tasks, assigned)
	}
	assignment, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]struct {
		sound  []byte
		decode func([]byte) (any, error)
	}{
		KindMetadata:         {meta, func(b []byte) (any, error) { m, err := DecodeStreamMetadata(b); return m, err }},
		KindStreamAssignment: {assignment, func(b []byte) (any, error) { a, err := DecodeStreamAssignment(b); return a, err }},
	}
}

func TestStreamTruncatedAtEveryOffset(t *testing.T) {
	for kind, d := range streamDecoders(t) {
		if _, err := d.decode(d.sound); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		for n := range d.sound {
			_, err := d.decode(d.sound[:n])
			var e *DecodeError
			if !errors.As(err, &e) || e.Structure != kind || e.Field == "" || e.Offset > n || e.Offset < 0 {
				t.Errorf("%s cut to %d bytes: %v, want a decode error within them", kind, n, err)
			}
		}
	}
}

// A newer minor version may add sections, fields at the end of sections and
// flags; what is known is read all the same.
func TestStreamNewerMinor(t *testing.T) {
	for kind, d := range streamDecoders(t) {
		want, err := d.decode(d.sound)
		if err != nil {
			t.Fatal(err)
		}
		newer, added := widen(t, d.sound, 3)
		got, err := d.decode(newer)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		switch m := got.(type) {
		case *StreamMetadata:
			if m.Minor != StreamMinor+1 || m.TrailingBytes != added {
				t.Errorf("%s: minor %d with %d bytes passed over, want %d and %d", kind, m.Minor, m.TrailingBytes, StreamMinor+1, added)
			}
			m.Minor, m.TrailingBytes = StreamMinor, 0
		case *StreamAssignment:
			if m.Minor != StreamMinor+1 || m.TrailingBytes != added {
				t.Errorf("%s: minor %d with %d bytes passed over, want %d and %d", kind, m.Minor, m.TrailingBytes, StreamMinor+1, added)
			}
			m.Minor, m.TrailingBytes = StreamMinor, 0
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v\nwant %+v", kind, got, want)
		}

		newer[1] = StreamMinor // the same bytes under our minor version are malformed
		var e *DecodeError
		if _, err := d.decode(newer); !errors.As(err, &e) {
			t.Errorf("%s: extra fields in minor %d: %v", kind, StreamMinor, err)
		}
	}
}

// widen rewrites b as the next minor version would: more bytes at the end of
// each section and a section 99. It returns how many bytes a reader of this
// version passes over.
func widen(t *testing.T, b []byte, more int) (newer []byte, added int) {
	t.Helper()
	newer = []byte{StreamMajor, StreamMinor + 1, b[2]}
	for rest := b[streamHeaderSize:]; len(rest) > 0; {
		id, n := binary.Uvarint(rest)
		size, k := binary.Uvarint(rest[n:])
		body := rest[n+k : n+k+int(size)]
		rest = rest[n+k+int(size):]
		newer = binary.AppendUvarint(newer, id)
		newer = binary.AppendUvarint(newer, size+uint64(more))
		newer = append(newer, body...)
		newer = append(newer, bytes.Repeat([]byte{0xee}, more)...)
		added += more
	}
	newer = append(newer, 99, 2, 0xaa, 0xbb)
	return newer, added + 4
}

// A flag that a newer minor version adds to a task is passed over, under ours
// it is reported.
func TestStreamUnknownTaskFlag(t *testing.T) {
	m := largeMetadata(0)
	m.Tasks = largeMetadata(4).Tasks[:1]
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] |= 1 << 7
	var e *DecodeError
	if _, err := DecodeStreamMetadata(b); !errors.As(err, &e) || e.Field != "tasks.flags" || e.Offset != len(b)-1 {
		t.Errorf("under minor %d: %v", StreamMinor, err)
	}
	b[1] = StreamMinor + 1
	if got, err := DecodeStreamMetadata(b); err != nil || !reflect.DeepEqual(got.Tasks, m.Tasks) {
		t.Errorf("under minor %d: %+v, %v", StreamMinor+1, got, err)
	}
}

func TestStreamNewerMajor(t *testing.T) {
	for kind, d := range streamDecoders(t) {
		for _, major := range []byte{2, 3, 255} {
			for _, raw := range [][]byte{{major}, append([]byte{major, 7}, d.sound[2:]...), {major, 0, 'x', 1, 2, 3}} {
				v, err := d.decode(raw)
				var e *StreamVersionError
				if !errors.As(err, &e) || e.Major != major || e.Structure != kind || !reflect.ValueOf(v).IsNil() {
					t.Errorf("%s major %d: %v, %v", kind, major, v, err)
					continue
				}
				for _, part := range []string{"not understood", "is newer than this streamctl understands", "(1)"} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%s: %q lacks %q", kind, err, part)
					}
				}
			}
		}
	}
	_, err := DecodeStreamMetadata([]byte{2, 0, 'M'})
	if err == nil || !strings.Contains(err.Error(), "version 2 is newer than this streamctl understands") {
		t.Errorf("version 2: %v", err)
	}
}

// One structure is never read as the other, nor are the bytes of others as ours.
func TestStreamForeignBytes(t *testing.T) {
	d := streamDecoders(t)
	for name, raw := range map[string][]byte{
		"the other structure":  d[KindStreamAssignment].sound,
		"consumer frame":       {0, 3, 0, 0, 0, 0, 0, 0, 0, 0},
		"streams metadata v11": {0, 0, 0, 11, 0, 0, 0, 11},
		"nothing":              nil,
	} {
		var e *DecodeError
		if _, err := DecodeStreamMetadata(raw); !errors.As(err, &e) || e.Structure != KindMetadata {
			t.Errorf("%s: %v", name, err)
		}
	}
	var e *DecodeError
	if _, err := DecodeStreamAssignment(d[KindMetadata].sound); !errors.As(err, &e) || e.Field != "kind" || e.Offset != 2 {
		t.Errorf("metadata as an assignment: %v", err)
	}
}

// Counts and lengths are compared with the bytes that are there before room is
// made for them.
func TestStreamHugeCounts(t *testing.T) {
	huge := binary.AppendUvarint(nil, math.MaxInt64)
	for kind, d := range streamDecoders(t) {
		for at := streamHeaderSize; at < len(d.sound); at++ {
			raw := append(append(append([]byte{}, d.sound[:at]...), huge...), d.sound[at+1:]...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := d.decode(raw)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 1<<16 {
				t.Errorf("%s, huge number at %d: %d bytes allocated", kind, at, used)
			}
			var e *DecodeError
			if err != nil && !errors.As(err, &e) {
				t.Errorf("%s, huge number at %d: %v", kind, at, err)
			}
		}
	}
	// A megabyte in which everything is a count or a task still stays small.
	m := largeMetadata(0)
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	raw := append(b[:len(b)-2:len(b)-2], 0xc0, 0x84, 0x3d) // size of the section: 1,000,000 bytes
	raw = append(raw, 0xa0, 0xc2, 0x1e)                    // 500,000 tasks
	raw = append(raw, make([]byte, 1000000-3)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := DecodeStreamMetadata(raw); err == nil {
		t.Error("a subtopology without tasks was accepted")
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("%d bytes allocated for a megabyte of zeros", used)
	}
}

func TestStreamRandomBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range streamDecoders(t) {
		for range 20000 {
			raw := bytes.Clone(d.sound)
			for range 1 + rng.IntN(3) {
				raw[rng.IntN(len(raw))] = byte(rng.Uint32())
			}
			_, _ = d.decode(raw) // must not panic
		}
	}
}
