//go:build realkafka

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/controltopic"
)

const markedInstance = "7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001"

// followed is what a follower of a control topic knows.
type followed struct {
	mu     sync.Mutex
	state  control.State
	wholes int
	pos    int64
}

func followTopic(t *testing.T, topic *controltopic.Topic) *followed {
	t.Helper()
	f := &followed{}
	locked := func(do func()) {
		f.mu.Lock()
		defer f.mu.Unlock()
		do()
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = topic.Follow(ctx, controltopic.Follower{
			Whole: func(c controltopic.Contents) {
				locked(func() { f.wholes, f.state = f.wholes+1, control.Fold(c.Records) })
			},
			Record:   func(r control.Record) { locked(func() { f.state.Apply(r) }) },
			ReadUpTo: func(pos int64) { locked(func() { f.pos = pos }) },
			Failed:   func(err error) { t.Logf("told: %v", err) },
			Skipped:  func(err error) { t.Logf("passed over: %v", err) },
		})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return f
}

func (f *followed) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		f.mu.Lock()
		ok := holds()
		f.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("never: %s; read up to %d, marks %v", what, f.pos, f.state.Leaving)
		}
	}
}

func controlMark(t *testing.T, id string) control.Record {
	t.Helper()
	r, err := control.Leaving{Mark: id, At: time.Now(), Who: "e2e"}.Record(markedInstance)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A control topic on a real broker: created, written, followed, with a
// transaction of a stranger in it, its beginning deleted, and made anew.
func TestControlTopic(t *testing.T) {
	c := env.cluster(t, v431)
	const group = "control-e2e"
	open := func() *controltopic.Topic {
		topic, err := controltopic.Open([]kgo.Opt{kgo.SeedBrokers(c.addrs...)}, group)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(topic.Close)
		return topic
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	follower := followTopic(t, open())
	follower.until(t, "told that there is none", func() bool { return follower.wholes == 1 })
	writer := open()
	write := func(r control.Record) int64 {
		offset, err := writer.Write(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		return offset
	}
	if offset := write(controlMark(t, "m-1")); offset != 0 {
		t.Errorf("first record at %d", offset)
	}
	follower.until(t, "m-1", func() bool { return follower.state.Leaving[markedInstance].Mark == "m-1" })

	strangerWrites(t, c, writer.Name())
	end := write(controlMark(t, "m-2")) + 1
	follower.until(t, "m-2", func() bool {
		return follower.state.Leaving[markedInstance].Mark == "m-2" && follower.pos == end
	})
	if got, err := writer.Read(ctx); err != nil || got.End != end || len(got.Records) == 0 {
		t.Errorf("%+v, %v", got, err)
	}

	var cut kadm.Offsets
	cut.Add(kadm.Offset{Topic: writer.Name(), At: end - 1})
	if _, err := c.admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "cleanup.policy", Value: kadm.StringPtr("compact,delete")}}, writer.Name()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.admin.DeleteRecords(ctx, cut); err != nil {
		t.Fatal(err)
	}
	got, err := open().Read(ctx)
	if err != nil || got.End != end || len(got.Records) != 1 || got.Records[0].Offset != end-1 {
		t.Errorf("with its beginning deleted: %+v, %v", got, err)
	}

	if _, err := c.admin.DeleteTopics(ctx, writer.Name()); err != nil {
		t.Fatal(err)
	}
	for { // deletion takes its time
		got, err := open().Read(ctx)
		if err == nil && got.Missing {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if offset := write(control.Withdrawal("7b9f2c10-4d53-4f0e-9a41-0c5d1be0a009")); offset != 0 {
		t.Errorf("first record of the new topic at %d", offset)
	}
	follower.until(t, "the new topic", func() bool { return len(follower.state.Leaving) == 0 && follower.pos == 1 })
}

// strangerWrites puts an aborted transaction, and a batch of every compression,
// into the topic.
func strangerWrites(t *testing.T, c *cluster, topic string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tx, err := kgo.NewClient(kgo.SeedBrokers(c.addrs...), kgo.TransactionalID("stranger"), kgo.DefaultProduceTopic(topic))
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	if err := tx.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := tx.ProduceSync(ctx, kgo.KeyStringRecord("mode", "garbage")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if err := tx.EndTransaction(ctx, kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
	for _, codec := range []kgo.CompressionCodec{kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()} {
		cl, err := kgo.NewClient(kgo.SeedBrokers(c.addrs...), kgo.ProducerBatchCompression(codec), kgo.DefaultProduceTopic(topic))
		if err != nil {
			t.Fatal(err)
		}
		err = cl.ProduceSync(ctx, kgo.KeyStringRecord("other", string(make([]byte, 100_000)))).FirstErr()
		cl.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The permissions that docs/protocol/control.md names are enough, and without
// them the error says what to ask for.
func TestControlTopicPermissions(t *testing.T) {
	c := env.cluster(t, "secure")
	const group = "control-secured"
	pem, err := os.ReadFile(c.pki.ca)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	topic, err := controltopic.Open([]kgo.Opt{
		kgo.SeedBrokers(c.secure...), kgo.DialTLSConfig(&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}),
		kgo.SASL(scram.Auth{User: userLeast, Pass: password(userLeast)}.AsSha512Mechanism()),
	}, group)
	if err != nil {
		t.Fatal(err)
	}
	defer topic.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	read := func() error { _, err := topic.Read(ctx); return err }
	write := func() error { _, err := topic.Write(ctx, controlMark(t, "m-1")); return err }
	// A broker may take a moment to know a new ACL.
	step := func(what string, do func() error, needs string) {
		t.Helper()
		eventually(t, 20*time.Second, what, func() bool {
			err := do()
			if needs == "" {
				return err == nil
			}
			d, ok := errors.AsType[*controltopic.DeniedError](err)
			return ok && d.Needs == needs && d.Topic == topic.Name()
		})
	}
	grant := func(ops ...kadm.ACLOperation) {
		c.allow(t, userLeast, kadm.NewACLs().Topics(topic.Name()).Operations(ops...))
	}
	step("told that READ is missing", read, "READ")
	grant(kadm.OpDescribe, kadm.OpRead)
	step("a topic that is not there is read", read, "")
	step("told that CREATE is missing", write, "CREATE")
	grant(kadm.OpCreate)
	step("told that WRITE is missing", write, "WRITE")
	grant(kadm.OpWrite)
	step("written", write, "")
	step("read", read, "")
}
