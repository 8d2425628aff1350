package taskrun

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A position that stands still below the end is worth a question to the leader
// only after enough answered fetches, and enough time.
func TestQuietTail(t *testing.T) {
	t.Parallel()
	at := time.Unix(0, 0)
	for _, c := range []struct {
		name    string
		next    int64
		leader  int32
		fetches int64
		after   time.Duration
		want    bool
	}{
		{"enough of both", 5, 1, 10 + quietFetches, quietTime, true},
		{"too few fetches", 5, 1, 10 + quietFetches - 1, time.Hour, false},
		{"too soon", 5, 1, 1000, quietTime - 1, false},
		{"it moved", 6, 1, 1000, time.Hour, false},
		{"another leader", 5, 2, 1000, time.Hour, false},
		{"no leader", 5, -1, 1000, time.Hour, false},
	} {
		var q quiet
		q.look(5, 1, 10, at)
		q.look(c.next, c.leader, c.fetches, at.Add(c.after))
		if q.suspect != c.want {
			t.Errorf("%s: %v", c.name, q.suspect)
		}
	}
}

// Only fetches that were answered count.
func TestFetchCounter(t *testing.T) {
	t.Parallel()
	c := fetchCounter{n: map[int32]int64{}}
	c.OnBrokerE2E(kgo.BrokerMetadata{NodeID: 1}, int16(kmsg.Fetch), kgo.BrokerE2E{})
	c.OnBrokerE2E(kgo.BrokerMetadata{NodeID: 1}, int16(kmsg.Fetch), kgo.BrokerE2E{ReadErr: errors.New("cut")})
	c.OnBrokerE2E(kgo.BrokerMetadata{NodeID: 1}, int16(kmsg.Produce), kgo.BrokerE2E{})
	if c.of(1) != 1 || c.of(2) != 0 {
		t.Fatal(c.n)
	}
}

// batch is a record batch of so many offsets and records, from an offset on.
func batch(base int64, offsets, records int) []byte {
	b := make([]byte, 61)
	binary.BigEndian.PutUint64(b, uint64(base))
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	b[16] = 2
	binary.BigEndian.PutUint32(b[23:], uint32(offsets-1))
	binary.BigEndian.PutUint32(b[57:], uint32(records))
	return b
}

// Only batches without records make a tail that nothing is in.
func TestEmptyBatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		bytes   []byte
		next    int64
		records bool
	}{
		{"none", nil, 10, false},
		{"empty ones", slices.Concat(batch(10, 5, 0), batch(15, 3, 0)), 18, false},
		{"one that begins before", slices.Concat(batch(4, 3, 3), batch(7, 5, 0)), 12, false},
		{"records", slices.Concat(batch(10, 5, 0), batch(15, 3, 1)), 15, true},
		{"cut", batch(10, 5, 0)[:60], 10, true},
		{"size of nothing", append(make([]byte, 16), append([]byte{2}, make([]byte, 60)...)...), 10, true},
		{"old format", func() []byte { b := batch(10, 5, 0); b[16] = 1; return b }(), 10, true},
	} {
		if next, records := emptyBatches(c.bytes, 10); next != c.next || records != c.records {
			t.Errorf("%s: %d, %v", c.name, next, records)
		}
	}
}

// The leader knows whether records are below the end that the client has not
// brought.
func TestBareTail(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	h, _ := r.host("", nil)
	ok(t, h.Copy(task0()))
	r.put(clog, numbered(0, 20, 5)...)
	r.until("a position", func() bool { return h.position(task0()).Next == 20 })
	tk := h.tasks[task0()]
	ask := func(from, end int64) bool { return h.bare(context.Background(), tk, tk.topic, from, end) }
	if ask(19, 20) || ask(0, 20) || !ask(20, 20) || ask(20, 21) {
		t.Errorf("a log with records up to 20: %v %v %v %v", ask(19, 20), ask(0, 20), ask(20, 20), ask(20, 21))
	}
}
