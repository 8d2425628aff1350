package controltopic

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"reflect"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/streamctl/streamctl/internal/control"
)

// aBatch is one record batch of version 2 whose checksum fits.
func aBatch(first int64, claims int32, attributes int16, records []byte) []byte {
	b := make([]byte, batchHeader, batchHeader+len(records))
	binary.BigEndian.PutUint64(b, uint64(first))
	binary.BigEndian.PutUint32(b[8:], uint32(batchHeader-12+len(records)))
	b[16] = 2
	binary.BigEndian.PutUint16(b[21:], uint16(attributes))
	binary.BigEndian.PutUint32(b[23:], uint32(max(claims, 1)-1))
	binary.BigEndian.PutUint32(b[57:], uint32(claims))
	b = append(b, records...)
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

// Whatever a broker answers, reading it goes forward and does not hang or crash.
func FuzzUnpack(f *testing.F) {
	record := []byte{0x0c, 0, 0, 0, 0x02, 'k', 0x02} // cut short
	f.Add([]byte("no batch"), int64(0))
	for codec := range int16(6) {
		f.Add(aBatch(5, 1, codec, record), int64(3))
		f.Add(append(aBatch(5, 2, codec, []byte{0x10, 0, 0, 0, 0x02, 'k', 0x02, 'v', 0}), aBatch(7, -1, 0, nil)...), int64(6))
	}
	f.Add(bombs(200, 1<<10), int64(0))
	f.Add(aBatch(1<<62, 1<<30, 0, record), int64(0))
	f.Fuzz(func(t *testing.T, raw []byte, from int64) {
		p := kmsg.NewFetchResponseTopicPartition()
		p.RecordBatches = raw
		records, next, _ := unpack("t", &p, from, &unpacker{})
		if next < from {
			t.Fatalf("from %d back to %d", from, next)
		}
		for _, r := range records {
			if r.Offset < from {
				t.Fatalf("asked from %d, got %d", from, r.Offset)
			}
		}
		// The same bytes with checksums that fit reach further.
		p.RecordBatches = nil
		for {
			b, rest, ok := nextBatch(raw)
			if !ok {
				break
			}
			fixed := append([]byte(nil), b.raw...)
			if len(fixed) > batchHeader && fixed[16] == 2 {
				binary.BigEndian.PutUint32(fixed[17:], crc32.Checksum(fixed[21:], crc32.MakeTable(crc32.Castagnoli)))
			}
			p.RecordBatches = append(p.RecordBatches, fixed...)
			raw = rest
		}
		if _, next, _ := unpack("t", &p, from, &unpacker{}); next < from {
			t.Fatalf("from %d back to %d", from, next)
		}
	})
}

// bombs are so many batches, each of which unpacks to a record of value bytes
// from a few.
func bombs(n, value int) []byte {
	body := binary.AppendVarint([]byte{0, 0, 0, 2, 'k'}, int64(value)) // no attributes, no deltas, key k
	body = append(append(body, make([]byte, value)...), 0)             // no headers
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(append(binary.AppendVarint(nil, int64(len(body))), body...))
	_ = w.Close()
	var raw []byte
	for i := range n {
		raw = append(raw, aBatch(int64(i), 1, 1, packed.Bytes())...)
	}
	return raw
}

// A small answer does not become gigabytes: it is given in parts, none of which
// is much more than one batch may be, and all of it in the end.
func TestUnpackInParts(t *testing.T) {
	const n = 200
	for _, value := range []int{control.MaxValue, 2 << 20} {
		p := kmsg.NewFetchResponseTopicPartition()
		p.RecordBatches = bombs(n, value)
		parts, read := 0, 0
		for next := int64(0); next < n; parts++ {
			records, to, skipped := unpack("t", &p, next, &unpacker{})
			if to <= next || skipped != nil {
				t.Fatalf("from %d to %d, %v", next, to, skipped)
			}
			unpacked := 0
			for _, r := range records {
				unpacked += len(r.Value) + r.TooLarge
				if cap(r.Value) > 2*control.MaxValue {
					t.Fatalf("a value of %d bytes keeps %d", len(r.Value), cap(r.Value))
				}
			}
			if unpacked > maxUnpacked+value {
				t.Fatalf("%d bytes at once", unpacked)
			}
			read += len(records)
			next = to
		}
		if least := n * value / (maxUnpacked + value); read != n || parts < least {
			t.Errorf("%d records in %d parts; wanted %d in at least %d", read, parts, n, least)
		}
	}
}

// One record of a batch made by hand is read, so the seeds are what they claim.
func TestUnpack(t *testing.T) {
	p := kmsg.NewFetchResponseTopicPartition()
	p.RecordBatches = aBatch(5, 1, 0, []byte{0x10, 0, 0, 0, 0x02, 'k', 0x02, 'v', 0})
	records, next, skipped := unpack("t", &p, 5, &unpacker{})
	if len(records) != 1 || records[0].Key != "k" || string(records[0].Value) != "v" || next != 6 || skipped != nil {
		t.Fatalf("%+v, next %d, %v", records, next, skipped)
	}
}

// What was unpacked into the same memory before is not seen in later values, and
// a value that nobody wants is told by its size.
func TestUnpackerUsesItsMemoryAgain(t *testing.T) {
	u := &unpacker{wants: func(key string) bool { return key != "status" }}
	p := kmsg.NewFetchResponseTopicPartition()
	// One record each, in a block of Snappy's: its length, a literal, the bytes.
	for at, rec := range []string{
		"\x1c\x00\x00\x00\x02k\x0efirst..\x00", "\x1e\x00\x00\x00\x0cstatus\x06abc\x00", "\x1a\x00\x00\x00\x02k\x0csecond\x00", "\x18\x00\x00\x00\x0cstatus\x00\x00",
	} {
		rec = string(rune(2*(len(rec)-1))) + rec[1:]
		block := append([]byte{byte(len(rec)), byte(len(rec)-1) << 2}, rec...)
		p.RecordBatches = append(p.RecordBatches, aBatch(int64(at), 1, 2, block)...)
	}
	records, next, skipped := unpack("t", &p, 0, u)
	want := []control.Record{
		{Key: "k", Value: []byte("first..")}, {Key: "status", Offset: 1, Unread: 3}, {Key: "k", Value: []byte("second"), Offset: 2}, {Key: "status", Offset: 3},
	}
	if !reflect.DeepEqual(records, want) || next != 4 || skipped != nil {
		t.Fatalf("%+v, next %d, %v", records, next, skipped)
	}
	if cap(u.spare) == 0 || records[1].Tombstone() || !records[3].Tombstone() {
		t.Errorf("keeps %d bytes; tombstones %v %v", cap(u.spare), records[1].Tombstone(), records[3].Tombstone())
	}
}
