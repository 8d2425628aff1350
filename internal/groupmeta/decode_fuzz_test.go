package groupmeta

import (
	"errors"
	"testing"
)

// seed adds the recordings of the given kinds to a fuzz target.
func seed(f *testing.F, kinds ...string) {
	f.Helper()
	for _, fixture := range wireFixtures(f, kinds...) {
		f.Add(fixture.bytes(f))
	}
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 99, 0, 0, 0, 99, 1, 2, 3})
}

// fuzzKind checks that no bytes upset a decoder, and that what it reads
// survives being written and read again.
func fuzzKind(f *testing.F, kind string) {
	f.Helper()
	seed(f, kind)
	f.Fuzz(func(t *testing.T, b []byte) {
		checkAnyBytes(t, kind, b)
		first, err := Decode(kind, b)
		if err != nil {
			return
		}
		again, err := reencode(kind, b)
		if err != nil {
			return // what was read need not fit any more: a replaced byte is longer
		}
		second, err := Decode(kind, again)
		if err != nil {
			t.Fatalf("%x written again as %x: %v", b, again, err)
		}
		x, _ := MarshalASCII(first.Document)
		y, _ := MarshalASCII(second.Document)
		if string(x) != string(y) {
			t.Fatalf("%x written again as %x\nfirst  %s\nsecond %s", b, again, x, y)
		}
	})
}

func FuzzConsumerSubscription(f *testing.F) { fuzzKind(f, KindConsumerSubscription) }
func FuzzConsumerAssignment(f *testing.F)   { fuzzKind(f, KindConsumerAssignment) }
func FuzzSubscriptionInfo(f *testing.F)     { fuzzKind(f, KindSubscription) }
func FuzzAssignmentInfo(f *testing.F)       { fuzzKind(f, KindAssignment) }

// FuzzPairing pairs whatever frame and tasks come out of the bytes: every
// partition goes to one task, tasks and partitions in order, or none does.
func FuzzPairing(f *testing.F) {
	seed(f, KindConsumerAssignment)
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := DecodeConsumerAssignment(b)
		if err != nil {
			return
		}
		info, err := DecodeAssignmentInfo(frame.UserData)
		if err != nil {
			return
		}
		checkPairing(t, frame.Assigned, info.ActiveTasks)
	})
}

// checkPairing pairs and checks what must hold for any input.
func checkPairing(t testing.TB, assigned []TopicPartitions, active []Task) {
	t.Helper()
	pairs, err := PairActive(assigned, active)
	partitions := 0
	for i, p := range pairs {
		partitions += len(p.Partitions)
		if i > 0 && pairs[i-1].Compare(p.Task) >= 0 {
			t.Fatalf("task %s after %s", p.ID(), pairs[i-1].ID())
		}
		for k := 1; k < len(p.Partitions); k++ {
			a, b := p.Partitions[k-1], p.Partitions[k]
			if c := compareJavaText(a.Topic, b.Topic); c > 0 || c == 0 && a.Partition > b.Partition {
				t.Fatalf("partition %s after %s", b, a)
			}
		}
	}
	total := len(SortedPartitions(assigned))
	if len(pairs) != len(SortedTasks(active)) {
		t.Fatalf("%d tasks of %d entries", len(pairs), len(active))
	}
	mismatch, ok := errors.AsType[*PairingError](err)
	switch {
	case total == len(active) && (err != nil || partitions != total):
		t.Fatalf("%d of %d partitions paired: %v", partitions, total, err)
	case total != len(active) && (!ok || partitions != 0 || mismatch.Partitions != total || mismatch.Entries != len(active)):
		t.Fatalf("%d partitions, %d entries: %v", total, len(active), err)
	}
}
