package controltopic_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/controltopic"
)

func compacted() map[string]*string {
	return map[string]*string{
		"cleanup.policy": kadm.StringPtr("compact"), "max.message.bytes": kadm.StringPtr("16000000"),
	}
}

func mustRead(t *testing.T, topic *controltopic.Topic) (controltopic.Contents, control.State) {
	t.Helper()
	c, err := topic.Read(within(t, 10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return c, control.Fold(c.Records)
}

// Whatever strangers write, the records that are ours are read.
func TestForeignRecords(t *testing.T) {
	r := newRig(t)
	r.create(compacted())
	good := mark(t, "m-1")
	huge := strings.Repeat(" ", control.MaxValue)
	r.put(
		text("", "no key"), &kgo.Record{Value: []byte("nil key")}, text("readme", "hello"), text("leaving/", "{}"), text("status/../../x", "{}"),
		text(good.Key, string(good.Value)),
		text("mode", "\x00\x01\xff"), text("leaving/"+instanceB, `{"schema_version":2}`), text("standbys", huge+"{}"),
		&kgo.Record{Key: []byte("\xff\xfe"), Value: []byte("x"), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("v")}}},
	)
	c, s := mustRead(t, r.open())
	if c.End != 10 || c.Skipped != nil || s.Leaving[instanceA].Mark != "m-1" || len(s.Leaving) != 1 || s.Mode != nil || s.Standbys != nil {
		t.Errorf("contents %+v, state %+v", c, s)
	}
	if p := s.Problems(); len(p) != 3 || p[0].Key != "leaving/"+instanceB || p[1].Key != "mode" || p[2].Key != "standbys" ||
		!strings.Contains(p[2].Err.Error(), "1000002 bytes") {
		t.Errorf("problems: %+v", p)
	}
	for _, rec := range c.Records {
		if len(rec.Value) > control.MaxValue {
			t.Errorf("the value of %q was kept: %d bytes", rec.Key, len(rec.Value))
		}
	}
}

// Batches of every compression are read; one that unpacks to far more than it
// says is passed over, and what comes after it is read.
func TestCompressedBatches(t *testing.T) {
	for name, codec := range map[string]kgo.CompressionCodec{
		"gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.create(compacted())
			cl, err := kgo.NewClient(kgo.SeedBrokers(r.c.ListenAddrs()...), kgo.ProducerBatchCompression(codec), kgo.DisableIdempotentWrite(),
				kgo.ProducerBatchMaxBytes(64<<20), kgo.BrokerMaxWriteBytes(128<<20), kgo.DefaultProduceTopic(topicName))
			if err != nil {
				t.Fatal(err)
			}
			defer cl.Close()
			first, last := mark(t, "m-1"), markOf(t, "m-2", instanceB)
			for _, rec := range []*kgo.Record{
				text(first.Key, string(first.Value)), text("bomb", strings.Repeat("a", 17<<20)), text(last.Key, string(last.Value)),
			} {
				if err := cl.ProduceSync(within(t, 10*time.Second), rec).FirstErr(); err != nil {
					t.Fatal(err)
				}
			}
			c, s := mustRead(t, r.open())
			if c.End != 3 || s.Leaving[instanceA].Mark != "m-1" || s.Leaving[instanceB].Mark != "m-2" {
				t.Errorf("contents %+v, state %+v", c, s)
			}
			if c.Skipped == nil || !strings.Contains(c.Skipped.Error(), "before offset 2") {
				t.Errorf("skipped: %v", c.Skipped)
			}
			// Who follows is told once of what was there, once of what comes, and
			// not that the topic cannot be read.
			f := follow(t, r.open())
			f.until(t, "told of the bomb", func() bool { return len(f.passed) == 1 && f.pos == 3 })
			if err := cl.ProduceSync(within(t, 10*time.Second), text("bomb", strings.Repeat("b", 17<<20))).FirstErr(); err != nil {
				t.Fatal(err)
			}
			f.until(t, "told of the next", func() bool { return len(f.passed) == 2 && f.pos == 4 })
			r.put(text(last.Key, string(last.Value)))
			f.until(t, "the record after it", func() bool { return f.pos == 5 })
			f.locked(func() {
				if len(f.errs) != 0 || len(f.passed) != 2 {
					t.Errorf("failed %v, passed over %v", f.errs, f.passed)
				}
			})
		})
	}
}

// Compaction leaves gaps, and tombstones; the last record of a key is the truth.
func TestCompactedTopic(t *testing.T) {
	r := newRig(t)
	r.create(compacted())
	for i := range 20 {
		m := mark(t, fmt.Sprintf("m-%d", i))
		r.put(text(m.Key, string(m.Value)))
		gone := markOf(t, "gone", instanceB)
		r.put(text(gone.Key, string(gone.Value)), &kgo.Record{Key: []byte(gone.Key)})
	}
	r.c.Compact()
	c, s := mustRead(t, r.open())
	if c.End != 60 || s.Leaving[instanceA].Mark != "m-19" || len(s.Leaving) != 1 || len(c.Records) != 1 {
		t.Errorf("contents %+v", c)
	}
}

// The beginning of the log may be gone.
func TestLogThatStartsLater(t *testing.T) {
	r := newRig(t)
	r.create(map[string]*string{"cleanup.policy": kadm.StringPtr("compact,delete")})
	for _, id := range []string{"m-1", "m-2", "m-3"} {
		m := mark(t, id)
		r.put(text(m.Key, string(m.Value)))
	}
	var cut kadm.Offsets
	cut.Add(kadm.Offset{Topic: topicName, At: 2})
	if _, err := r.adm.DeleteRecords(within(t, 5*time.Second), cut); err != nil {
		t.Fatal(err)
	}
	if c, s := mustRead(t, r.open()); c.End != 3 || s.Leaving[instanceA].Mark != "m-3" {
		t.Errorf("contents %+v", c)
	}
}

// More than a reader keeps is an error, and costs no more memory than that.
func TestTooMuch(t *testing.T) {
	r := newRig(t)
	r.create(compacted())
	value := strings.Repeat("x", control.MaxValue)
	for i := range 70 {
		r.put(text(fmt.Sprintf("status/7b9f2c10-4d53-4f0e-9a41-%012x", i), value))
	}
	_, err := r.open().Read(within(t, 20*time.Second))
	if err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Fatal(err)
	}
}
