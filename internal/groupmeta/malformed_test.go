package groupmeta

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Bytes cut anywhere give an error that says where.
func TestTruncatedAtEveryOffset(t *testing.T) {
	for _, f := range wireFixtures(t) {
		whole := f.bytes(t)
		for n := range len(whole) {
			_, err := Decode(f.Kind, whole[:n])
			d, ok := errors.AsType[*DecodeError](err)
			if !ok {
				t.Fatalf("%s cut to %d bytes: %v", f.name(), n, err)
			}
			if d.Structure != f.Kind || d.Field == "" || d.Offset < 0 || d.Offset > n || d.Problem == "" {
				t.Fatalf("%s cut to %d bytes: %+v", f.name(), n, d)
			}
		}
	}
}

// Each byte of each recording is changed in turn: whatever comes out, nothing
// panics, and errors name a place inside the bytes.
func TestChangedBytes(t *testing.T) {
	for _, f := range wireFixtures(t) {
		b := f.bytes(t)
		for i := range b {
			for _, x := range []byte{0x00, 0x7f, 0xff} {
				changed := bytes.Clone(b)
				changed[i] = x
				checkAnyBytes(t, f.Kind, changed)
			}
		}
	}
}

func TestRandomBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		b := make([]byte, random.IntN(200))
		for i := range b {
			if random.IntN(3) > 0 { // small numbers get further than wild ones
				b[i] = byte(random.IntN(12)) * byte(random.IntN(2))
			} else {
				b[i] = byte(random.Uint32())
			}
		}
		for _, kind := range DecodeKinds()[:4] {
			checkAnyBytes(t, kind, b)
		}
	}
}

// checkAnyBytes decodes bytes of any origin and checks what must hold for all.
func checkAnyBytes(t testing.TB, kind string, b []byte) {
	t.Helper()
	out, err := Decode(kind, b)
	if err == nil {
		if out.Document == nil {
			t.Fatalf("%s %x: neither document nor error", kind, b)
		}
		if _, err := MarshalASCII(out.Document); err != nil {
			t.Fatalf("%s %x: %v", kind, b, err)
		}
		return
	}
	if _, ok := errors.AsType[*NewerFormatError](err); ok {
		return
	}
	d, ok := errors.AsType[*DecodeError](err)
	if !ok || d.Field == "" || d.Offset < 0 || d.Offset > len(b) {
		t.Fatalf("%s %x: %#v", kind, b, err)
	}
}

// Counts and lengths that the bytes cannot hold are refused before anything is
// allocated for them.
func TestHugeCounts(t *testing.T) {
	var before, after runtime.MemStats
	for _, f := range wireFixtures(t) {
		b := f.bytes(t)
		for i := 0; i+4 <= len(b); i++ {
			runtime.ReadMemStats(&before)
			for _, n := range []uint32{0x7fffffff, 0x40000000, 0x80000000, 0x00ffffff} {
				changed := bytes.Clone(b)
				binary.BigEndian.PutUint32(changed[i:], n)
				_, _ = Decode(f.Kind, changed)
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
				t.Fatalf("%s with huge numbers at %d: %d bytes allocated", f.name(), i, used)
			}
		}
	}
}

// A megabyte of the smallest elements stays far under 64 MiB.
func TestWorstAmplification(t *testing.T) {
	const size = 1 << 20
	head := map[string]string{
		"flat sums":      "0000000b0000000b" + strings.Repeat("00", 16) + "00000000",
		"nested sums":    "0000000900000009" + strings.Repeat("00", 16) + "00000000",
		"previous tasks": "0000000600000006" + strings.Repeat("00", 16),
		"active tasks":   "0000000b0000000b",
		"standby tasks":  "0000000b0000000b00000000",
		"dictionary":     "0000000b0000000b0000000000000000",
		"topics":         "0003",
	}
	smallest := map[string]int{"flat sums": 18, "nested sums": 8, "previous tasks": 8, "active tasks": 12, "standby tasks": 16, "dictionary": 6, "topics": 2}
	var before, after runtime.MemStats
	for name, h := range head {
		b, err := hex.DecodeString(h)
		if err != nil {
			t.Fatal(err)
		}
		b = binary.BigEndian.AppendUint32(b, uint32((size-len(b)-4)/smallest[name]))
		b = append(b, make([]byte, size-len(b))...)
		runtime.ReadMemStats(&before)
		_, _ = DecodeSubscriptionInfo(b)
		_, _ = DecodeAssignmentInfo(b)
		_, _ = DecodeConsumerSubscription(b)
		_, _ = DecodeConsumerAssignment(b)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
			t.Errorf("%s: %d MiB allocated", name, used>>20)
		}
	}
}

// A frame that repeats topics and names as long as they can be is sorted and
// paired in a moment: long names are not compared for every two partitions.
func TestPairingOfAbsurdFrames(t *testing.T) {
	const n = 40_000
	long := strings.Repeat("x", 1<<15-2)
	repeated := make([]TopicPartitions, n)
	wide := []TopicPartitions{{Topic: long + "b"}, {Topic: long + "a"}}
	active := make([]Task, n)
	for i := range n {
		repeated[i] = TopicPartitions{Topic: "orders", Partitions: []int32{int32(n - i)}}
		wide[i%2].Partitions = append(wide[i%2].Partitions, int32(n-i))
	}
	start := time.Now()
	for _, assigned := range [][]TopicPartitions{repeated, wide} {
		pairs, err := PairActive(assigned, active)
		if err != nil || len(pairs) != 1 || len(pairs[0].Partitions) != n {
			t.Fatalf("%d tasks, %v", len(pairs), err)
		}
	}
	if spent := time.Since(start); spent > 5*time.Second {
		t.Errorf("took %v", spent)
	}
}
