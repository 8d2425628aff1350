package groupmeta

import (
	"bytes"
	"testing"
)

// 10,000 tasks of one worker fit in 100 KB, with roles, tags and lags.
func TestStreamMetadataSize(t *testing.T) {
	m := largeMetadata(10000)
	var known int
	for _, task := range m.Tasks {
		if task.Lag.Known {
			known++
		}
	}
	if known < 6000 {
		t.Fatalf("only %d tasks have a lag", known)
	}
	b, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 100_000 {
		t.Errorf("%d bytes for 10,000 tasks", len(b))
	}
	for i := range m.Tasks { // every one a copy that is far behind
		m.Tasks[i].Role, m.Tasks[i].Tags = "standby", TagStateful
		m.Tasks[i].Lag = SomeInt(1<<42 + int64(i)*7919)
	}
	all, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) > 100_000 {
		t.Errorf("%d bytes for 10,000 copies, each with a lag of 4 trillion records", len(all))
	}
	t.Logf("10,000 tasks: %d bytes; 10,000 copies far behind: %d bytes", len(b), len(all))
}

// The number of allocations does not grow with the tasks.
func TestStreamDecodeAllocations(t *testing.T) {
	count := func(n int) (metadata, assignment float64) {
		m := largeMetadata(n)
		a := &StreamAssignment{Instances: 1, Workers: 1, Leader: testInstance, Mode: StreamUpgrading}
		for _, task := range m.Tasks {
			a.Tasks = append(a.Tasks, AssignedTask{ID: task.ID, Role: "standby", Tags: TagStateful})
		}
		meta, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		assigned, err := a.Encode()
		if err != nil {
			t.Fatal(err)
		}
		metadata = testing.AllocsPerRun(20, func() { _, _ = DecodeStreamMetadata(meta) })
		return metadata, testing.AllocsPerRun(20, func() { _, _ = DecodeStreamAssignment(assigned) })
	}
	smallM, smallA := count(40)
	largeM, largeA := count(40000)
	if largeM > smallM || largeA > smallA {
		t.Errorf("40 tasks: %v and %v allocations; 40,000 tasks: %v and %v", smallM, smallA, largeM, largeA)
	}
}

// Whatever decodes under our version is written back byte for byte: there is
// one way to write a value.
func checkCanonical(t *testing.T, raw []byte, minor uint8, encode func() ([]byte, error)) {
	t.Helper()
	if minor > StreamMinor {
		return
	}
	b, err := encode()
	if err != nil || !bytes.Equal(b, raw) {
		t.Fatalf("decoded bytes are not written back: %v\ngot  %x\nread %x", err, b, raw)
	}
}

func FuzzStreamMetadata(f *testing.F) {
	f.Add(streamDecoders(f)[KindMetadata].sound)
	for _, v := range readStreamVectors(f, "metadata.jsonl") {
		f.Add(v.raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if m, err := DecodeStreamMetadata(raw); err == nil {
			checkCanonical(t, raw, m.Minor, m.Encode)
		}
		_, _ = ParseWorkerMetadata(ProtocolTypeConsumer, raw)
	})
}

func FuzzStreamAssignment(f *testing.F) {
	f.Add(streamDecoders(f)[KindStreamAssignment].sound)
	for _, v := range readStreamVectors(f, "assignment.jsonl") {
		f.Add(v.raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if a, err := DecodeStreamAssignment(raw); err == nil {
			checkCanonical(t, raw, a.Minor, a.Encode)
		}
		_, _ = ParseWorkerAssignment(ProtocolTypeConsumer, raw)
	})
}

func BenchmarkDecodeStreamMetadata(b *testing.B) {
	raw, err := largeMetadata(10000).Encode()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeStreamMetadata(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeStreamMetadata(b *testing.B) {
	m := largeMetadata(10000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Encode(); err != nil {
			b.Fatal(err)
		}
	}
}
